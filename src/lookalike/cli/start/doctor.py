"""`lookalike doctor`."""

from typing import Annotated

import typer

from lookalike.cli import options
from lookalike.cli.console import print_json, progress, say, table
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.core.text import plural
from lookalike.workflows.start.doctor import Diagnosis, diagnose


@result(Diagnosis)
def doctor(
    workspace: options.Workspace = HERE,
    deep: Annotated[bool, typer.Option("--deep", help="Read every photo and every vector.")] = False,
    json: options.Json = False,
) -> None:
    """Check this machine and the workspace for problems, and say how to fix them.

    The exit status is 1 if something is broken.
    """
    with progress("Reading photos", quiet=json) as bar:
        found = diagnose(workspace, deep=deep, progress=bar)
    if json:
        print_json(found)
    else:
        table(["", ""], [(one.what, one.found) for one in found.findings], left=2)
        for one in found.findings:
            if one.fix:
                say(f"{'Problem' if one.serious else 'Hint'}: {one.what}: {one.fix}")
        broken = sum(one.serious for one in found.findings)
        say("No problems found." if found.sound else f"{plural(broken, 'problem')} to fix.")
    raise typer.Exit(0 if found.sound else 1)
