"""`lookalike doctor`."""

from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.console import JsonOption, WorkspaceOption, print_json, progress, say, table


def doctor(
    workspace: WorkspaceOption = Path(),
    deep: Annotated[bool, typer.Option("--deep", help="Read every photo and every vector.")] = False,
    json: JsonOption = False,
) -> None:
    """Look for what is missing or wrong on this machine and in the workspace, and say how to mend it.

    Ends with status 1 if something is broken.
    """
    from lookalike.recipes.doctor import machine, workspace_findings

    with progress("Reading photos", quiet=json) as bar:
        found = [*machine(workspace), *workspace_findings(workspace, deep=deep, progress=bar)]
    broken = [one for one in found if one.serious]
    if json:
        print_json({"sound": not broken, "findings": [vars(one) for one in found]})
    else:
        table(["", ""], [(one.what, one.found) for one in found], left=2)
        for one in found:
            if one.fix:
                say(f"{'!' if one.serious else '-'} {one.what}: {one.fix}")
        say("All is sound." if not broken else f"{len(broken):,} to mend.")
    raise typer.Exit(1 if broken else 0)
