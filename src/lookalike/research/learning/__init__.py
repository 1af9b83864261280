"""The methods that the papers train, and every method on every encoder of a workspace.

cells = cells_of(["dino2"], table_methods("vsd-table-2"), {"part": "network", "epochs": 10})
for found in train_cells(workspace, cells):
    print(found.cell.name, found.reason or found.outcome.value)
"""
