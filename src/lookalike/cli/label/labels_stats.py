"""`lookalike labels stats`."""

from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli import options
from lookalike.cli.console import FILL_IN, next_step, print_json, say, table
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.core.text import percent, plural
from lookalike.rank.pairs import CONTRADICTED, Unusable
from lookalike.store.sql.schema import MAIN_POOL
from lookalike.store.workspace import Workspace
from lookalike.workflows.label.labels import LabelStatistics, label_statistics, write_contradictions

LIST_CONTRADICTIONS = "lookalike labels stats --contradictions contradictions.csv"


@result(LabelStatistics)
def stats(
    workspace: options.Workspace = HERE,
    pool: options.Pool = MAIN_POOL,
    level: Annotated[options.Level, typer.Option(help="Count what measures at this level use.")] = "item",
    contradictions: Annotated[
        Path | None,
        typer.Option(
            "--contradictions",
            help="Write the pairs whose labels contradict each other to this file.",
            metavar="FILE",
        ),
    ] = None,
    json: options.Json = False,
) -> None:
    """Count the labels, by kind, and those that no measure can use."""
    opened = Workspace(workspace, pool=pool)
    written = None if contradictions is None else write_contradictions(opened, contradictions, level)
    found = label_statistics(opened, level)
    if json:
        print_json(found)
        return
    share = f"{percent(found.similar / found.labels, 0)} similar" if found.labels else "none yet"
    rows = [
        ("labels", f"{found.labels:,} ({share})"),
        ("queries with a label", f"{found.queries:,}"),
        (f"usable at {level} level", f"{found.usable:,}"),
    ]
    if found.pool_pairs is not None:
        rows.append(("labelled pairs of the pool", f"{found.pool_labelled:,} of {found.pool_pairs:,}"))
    table(["", ""], rows)
    print_unusable(found.unusable)
    if written is not None:
        say(f"Wrote {plural(written.rows, 'pair')} to {written.file}. {FILL_IN}")
        next_step(f"lookalike labels import {written.file} --replace", workspace=workspace)
        return
    if contradictions is not None:
        say(f"No labels contradict each other, so {contradictions} was not written.")
    next_step(
        "lookalike evaluate" if found.labels else "lookalike labels import labels.csv", workspace=workspace
    )


def print_unusable(unusable: tuple[Unusable, ...]) -> None:
    """Say how many labels no measure uses, by reason."""
    for part in unusable:
        query, candidate = part.examples[0]
        say(
            f"{plural(part.count, 'label')} not used by measures: {part.reason} (for example {query!r}, {candidate!r})."
        )
        if part.reason in CONTRADICTED:
            say(f"To list all and correct them: {LIST_CONTRADICTIONS}")
