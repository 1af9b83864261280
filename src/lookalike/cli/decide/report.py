"""`lookalike report`."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli import options
from lookalike.cli.console import print_json, progress, say
from lookalike.cli.decide.after_measuring import next_after_measuring
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.core.text import megabytes
from lookalike.store.sql.schema import MAIN_POOL
from lookalike.store.workspace import Workspace
from lookalike.workflows.report.report import report as write


@dataclass(frozen=True)
class WrittenReport:
    """The file, its size, and the commands that follow."""

    report: str
    bytes: int
    next: tuple[str, ...]


@result(WrittenReport)
def report(
    workspace: options.Workspace = HERE,
    pool: options.Pool = MAIN_POOL,
    output: Annotated[
        Path | None, options.output("Write the page to this file.", default="reports/report.html")
    ] = None,
    title: Annotated[
        str | None,
        typer.Option(help="Title of the page.", show_default="the name of the photo folder or table"),
    ] = None,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Write one HTML page with photos, figures and scores. It needs no server and no other files."""
    options.require_new(output, force=force)
    opened = Workspace(workspace, pool=pool)
    with progress("Ranking", quiet=json) as bar:
        found = write(opened, datetime.now().astimezone(), output, title=title, progress=bar)
    path, size = found.path.resolve(), found.path.stat().st_size
    if json:
        print_json(WrittenReport(str(path), size, found.next))
    else:
        say(f"Wrote {path} ({megabytes(size)}). Open it in a browser or send it to others.")
        next_after_measuring(opened, *found.next)
