"""`lookalike labels import|export|stats`."""

from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.console import (
    JsonOption,
    WorkspaceOption,
    next_step,
    number,
    plural,
    print_json,
    say,
    table,
)
from lookalike.rank.pairs import Unusable

labels = typer.Typer(help="Labels in and out, and what they are worth.", no_args_is_help=True)


FormatOption = Annotated[
    str | None,
    typer.Option("--format", help="table or qrels.", show_default="by the file's name and first lines"),
]


@labels.command("import")
def import_(
    file: Annotated[
        Path,
        typer.Argument(help="CSV or Parquet with query, candidate, label; or TREC qrels (.gz)."),
    ],
    workspace: WorkspaceOption = Path(),
    format: FormatOption = None,
    skip_invalid: Annotated[
        bool, typer.Option("--skip-invalid", help="Import the rows that can be used.")
    ] = False,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the labels of the same pairs.")] = False,
    json: JsonOption = False,
) -> None:
    """Add labels from a file, all of them or none."""
    from lookalike.recipes.labels import import_labels, label_statistics
    from lookalike.store.workspace import Workspace

    opened = Workspace(workspace)
    read, added = import_labels(opened, file, format=format, skip_invalid=skip_invalid, replace=replace)
    found = label_statistics(opened)
    if json:
        faults = [
            {"reason": fault.reason, "count": fault.count, "where": fault.where} for fault in read.faults
        ]
        print_json(
            {
                "added": added,
                "already_there": len(read.labels) - added,
                "invalid": faults,
                "on_left_out_images": read.on_left_out,
                "blank": read.blank,
                "unjudged": read.unjudged,
                "labels": found.labels,
                "unusable": _as_json(found.unusable),
            }
        )
        return
    say(*read.notes)
    say(f"{added:,} labels added, {len(read.labels) - added:,} were there already; {found.labels:,} in all.")
    if read.blank:
        say(f"{read.blank:,} rows have no label yet.")
    if read.unjudged:
        said, were = ("says", "was") if read.unjudged == 1 else ("say", "were")
        say(f"{plural(read.unjudged, 'line')} {said} unjudged (a relevance below 0) and {were} passed over.")
    if read.on_left_out:
        say(f"{read.on_left_out:,} rows on images that were left out of the catalog were passed over.")
    for fault in read.faults:
        say(f"{fault.count:,} rows passed over, {fault.reason}: {fault.where}")
    _tell_unusable(found.unusable)
    next_step("lookalike evaluate" if opened.encoders else "lookalike embed ENCODER", workspace=workspace)


@labels.command("export")
def export(
    file: Annotated[Path, typer.Argument(help="Where to write: .csv, .parquet, .qrels or .qrels.gz.")],
    workspace: WorkspaceOption = Path(),
    format: Annotated[
        str | None, typer.Option("--format", help="table or qrels.", show_default="by the file's name")
    ] = None,
    level: Annotated[
        str | None,
        typer.Option(
            help="Of qrels: what measures at item or image level use, in the ids of that level's runs.",
            show_default="all labels, by image ids",
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write all labels to a file; importing it elsewhere and exporting again gives the same bytes."""
    from lookalike.recipes.labels import export_labels
    from lookalike.store.workspace import Workspace

    done = export_labels(Workspace(workspace), file, format=format, level=level)
    if json:
        print_json({"labels": done.labels, "file": str(file), "left_out": _as_json(done.left_out)})
        return
    say(f"{done.labels:,} labels written to {file}.")
    for part in done.left_out:
        say(f"{part.count:,} labels left out: {part.reason}.")


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
                "unusable": _as_json(found.unusable),
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
    _tell_unusable(found.unusable)
    next_step(
        "lookalike evaluate" if found.labels else "lookalike labels import labels.csv", workspace=workspace
    )


def _tell_unusable(unusable: tuple[Unusable, ...]) -> None:
    for part in unusable:
        query, candidate = part.examples[0]
        say(
            f"{part.count:,} left out of all measures, {part.reason} (for instance {query!r}, {candidate!r})."
        )


def _as_json(unusable: tuple[Unusable, ...]) -> list[dict[str, object]]:
    return [
        {"reason": u.reason, "count": u.count, "examples": [list(pair) for pair in u.examples]}
        for u in unusable
    ]
