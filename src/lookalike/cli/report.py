"""`lookalike report`."""

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.console import JsonOption, WorkspaceOption, print_json, progress, say


def report(
    workspace: WorkspaceOption = Path(),
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Where to write it.", show_default="reports/report.html"),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Write one HTML file with pictures, figures and scores; it opens anywhere."""
    from lookalike.recipes.report import report as write
    from lookalike.store.workspace import Workspace

    with progress("Ranking", quiet=json) as bar:
        path = write(Workspace(workspace), datetime.now().astimezone(), output, progress=bar)
    size = path.stat().st_size
    if json:
        print_json({"report": str(path.resolve()), "bytes": size})
    else:
        say(f"The report is {path.resolve()} ({size / 1e6:.1f} MB). Open it in a browser, or forward it.")
