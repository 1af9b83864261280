"""`lookalike labels import|export|stats`."""

from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.console import JsonOption, WorkspaceOption, next_step, number, print_json, table
from lookalike.cli.labels_export import export
from lookalike.cli.labels_import import import_
from lookalike.cli.labels_told import as_json, tell_unusable

labels = typer.Typer(help="Labels and votes in and out, and what they are worth.", no_args_is_help=True)
labels.command("import")(import_)
labels.command("export")(export)


@labels.command("stats")
def stats(
    workspace: WorkspaceOption = Path(),
    level: Annotated[str, typer.Option(help="item or image.")] = "item",
    json: JsonOption = False,
) -> None:
    """How many labels there are, of which kind, and which of them no measure can use."""
    from lookalike.recipes.labels import label_statistics
    from lookalike.store.workspace import Workspace

    found = label_statistics(Workspace(workspace), level)
    if json:
        print_json(
            {
                "labels": found.labels,
                "similar": found.similar,
                "dissimilar": found.dissimilar,
                "queries": found.queries,
                "labels_per_query": number(found.per_query),
                "usable": found.usable,
                "unusable": as_json(found.unusable),
                "pool_pairs": found.pool_pairs,
                "pool_labelled": found.pool_labelled,
            }
        )
        return
    share = f"{100 * found.similar / found.labels:.0f} % similar" if found.labels else "none yet"
    rows = [
        ("labels", f"{found.labels:,} ({share})"),
        ("queries with a label", f"{found.queries:,}"),
        (f"usable at {level} level", f"{found.usable:,}"),
    ]
    if found.pool_pairs is not None:
        rows.append(("pairs of the pool labelled", f"{found.pool_labelled:,} of {found.pool_pairs:,}"))
    table(["", ""], rows)
    tell_unusable(found.unusable)
    next_step(
        "lookalike evaluate" if found.labels else "lookalike labels import labels.csv", workspace=workspace
    )
