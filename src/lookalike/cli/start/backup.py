"""`lookalike backup` and `lookalike restore`."""

from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli import options
from lookalike.cli.console import next_step, print_json, progress, say
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.core.text import megabytes, plural
from lookalike.store.workspace import Workspace
from lookalike.workflows.start import backup as workflow


@result(workflow.BackedUp)
def backup(
    file: Annotated[Path, typer.Argument(help="File to write, ideally on another disk.", metavar="FILE")],
    workspace: options.Workspace = HERE,
    force: options.Force = False,
    json: options.Json = False,
) -> None:
    """Write the database to one file: catalog, pool, votes, labels and accounts. Labelling can go on meanwhile."""
    options.require_new(file, force=force)
    with progress("Backing up", quiet=json) as bar:
        done = workflow.backup(Workspace(workspace), file, bar)
    if json:
        print_json(done)
        return
    say(f"Wrote {file} ({megabytes(done.size)}): {_counts(done.rows)}.")
    say("The file contains password hashes and the key that signs sessions. Store it safely.")
    say("Not included (back up these files yourself):", *(f"  {one}" for one in done.not_in_it))
    next_step(f"lookalike restore {file}", workspace=workspace)


@result(workflow.Restored)
def restore(
    file: Annotated[Path, typer.Argument(help="File written by `lookalike backup`.", metavar="FILE")],
    workspace: options.Workspace = HERE,
    overwrite: options.Overwrite = False,
    json: options.Json = False,
) -> None:
    """Replace the database of the workspace, SQLite or PostgreSQL, with a backup: all of it or nothing."""
    with progress("Restoring", quiet=json) as bar:
        done = workflow.restore(workspace, file, replace=overwrite, progress=bar)
    if json:
        print_json(done)
        return
    say(f"Restored from {file}: {_counts(done.rows)}.")
    if done.lost or done.back:
        say(
            f"The catalog is now that of the backup: {plural(done.lost, 'image')} removed, "
            f"{plural(done.back, 'image')} added."
        )
    if done.photos_missing:
        say(f"{done.photos_missing:,} of the {plural(done.photos, 'photo')} checked are not in their folder.")
    next_step("lookalike status", workspace=workspace)


def _counts(rows: dict[str, int]) -> str:
    return ", ".join(plural(count, name.replace("_", " ")) for name, count in rows.items())
