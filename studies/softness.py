"""How far and how soft (VSD Table 4): L from 2 to 7 hops, beta from 0.1 to 2, SupCon.

    python studies/softness.py studio --journal studio.jsonl --out FOLDER
    python studies/softness.py people --journal people.jsonl --out FOLDER --data DATA

Every cell is scored on the truth of the test split. Which cell the validation labels would have chosen stands below.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from studio import ground_of, studio_options
from study import CHOOSERS, WAYS, journal_of, run, trials, write

from lookalike.research.trials.run import LAST, PRETRAINED
from lookalike.store.journal import Entry

HOPS = (2, 3, 4, 5, 6, 7)
BETAS = (0.1, 0.3, 0.5, 0.7, 0.9, 2.0)
PAPER = (7, 0.7)
SHOWN = ("AUC_mic", "AUC_mac", "HR@5")
Cells = dict[tuple[int, float], list[Entry]]


def main(arguments: list[str]) -> None:
    """Run what is left of the trials and tell."""
    parser = studio_options(__doc__)
    parser.add_argument("on", choices=("studio", "people"))
    parser.add_argument("--hops", type=int, nargs="+", default=HOPS)
    parser.add_argument("--betas", type=float, nargs="+", default=BETAS)
    asked = parser.parse_args(arguments)
    plain = next(way for way in WAYS if way.loss == "supcon" and way.soft is None)
    grid = [(hops, beta) for hops in asked.hops for beta in asked.betas]
    ways = [plain, *(plain.changed(positives="soft", max_distance=hops, beta=beta) for hops, beta in grid)]
    ground = ground_of(asked, parser)
    found = run({ground.name: ground}, trials(ways, asked), journal_of(asked))
    cells = {cell: found[place + 1 :: len(ways)] for place, cell in enumerate(grid)}
    for measure in SHOWN:
        print(
            f"\n{measure} on the truth, last epoch, mean of {asked.splits} splits\n\n{layout(cells, measure)}"
        )
    print("\n" + chosen(cells, found[:: len(ways)]))
    write(asked, f"softness-{asked.on}.csv", as_csv(cells))


def layout(cells: Cells, measure: str) -> str:
    """Hops in rows, beta in columns, as Markdown."""
    betas = list(dict.fromkeys(beta for _, beta in cells))
    rows = ["| L | " + " | ".join(f"beta {beta:g}" for beta in betas) + " |", "|---" * (len(betas) + 1) + "|"]
    for hops in dict.fromkeys(hops for hops, _ in cells):
        values = (f"{np.mean(truth(cells[hops, beta], LAST, measure)):.3f}" for beta in betas)
        rows.append(f"| {hops} | " + " | ".join(values) + " |")
    return "\n".join(rows)


def chosen(cells: Cells, plain: list[Entry]) -> str:
    """What the cell that the validation labels choose, split by split, is worth beside fixed ones."""
    names = list(cells)
    rows = ["| cell | " + " | ".join(SHOWN) + " | cells chosen |", "|---" * (len(SHOWN) + 2) + "|"]

    def row(name: str, picked: list[tuple[Entry, str]], said: str = "") -> None:
        values = (
            np.mean([entry["values"][by]["truth"][measure] for entry, by in picked]) for measure in SHOWN
        )
        rows.append(f"| {name} | " + " | ".join(f"{value:.3f}" for value in values) + f" | {said} |")

    row("pretrained", [(entry, PRETRAINED) for entry in plain])
    row("labels alone", [(entry, LAST) for entry in plain])
    if PAPER in cells:
        row("the paper's, L 7, beta 0.7", [(entry, LAST) for entry in cells[PAPER]])
    for measure in CHOOSERS:
        best = np.argmax([[entry["validation"][measure] for entry in cells[name]] for name in names], axis=0)
        picked = [(cells[names[cell]][split], measure) for split, cell in enumerate(best)]
        times = {names[cell]: int(np.sum(best == cell)) for cell in best}
        most = sorted(times.items(), key=lambda one: -one[1])[:3]
        said = ", ".join(f"L {hops} beta {beta:g}: {count}" for (hops, beta), count in most)
        row(f"chosen by {measure} of the validation labels, epoch too", picked, said)
    mean = [np.mean(truth(cells[name], LAST, SHOWN[0])) for name in names]
    hops, beta = names[int(np.argmax(mean))]
    row(f"best on the truth: L {hops}, beta {beta:g}", [(entry, LAST) for entry in cells[hops, beta]])
    return "\n".join(rows)


def truth(entries: list[Entry], chosen_by: str, measure: str) -> list[float]:
    """Values on the truth by split."""
    return [entry["values"][chosen_by]["truth"][measure] for entry in entries]


def as_csv(cells: Cells) -> str:
    """A line for each cell."""
    lines = ["L,beta,splits," + ",".join(SHOWN)]
    for (hops, beta), entries in cells.items():
        values = ",".join(f"{np.mean(truth(entries, LAST, measure)):.6g}" for measure in SHOWN)
        lines.append(f"{hops},{beta:g},{len(entries)},{values}")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
