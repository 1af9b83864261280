"""`lookalike backup` and `lookalike restore`."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from lookalike.cli.console import (
    JsonOption,
    WorkspaceOption,
    megabytes,
    next_step,
    plural,
    print_json,
    progress,
    say,
)

NAMES = {
    "image": "image",
    "label": "label",
    "pool_pair": "pair of the pool",
    "question": "question",
    "vote": "row of votes",
    "annotator": "annotator",
}
MANY = {"pool_pair": "pairs of the pool", "vote": "rows of votes"}


def backup(
    file: Annotated[Path, typer.Argument(help="Where to write; best on another disk.")],
    workspace: WorkspaceOption = Path(),
    json: JsonOption = False,
) -> None:
    """Write the database (catalog, pool, votes, labels, accounts) to one file, while others go on labelling."""
    from lookalike.recipes.backup import backup as make
    from lookalike.store.workspace import Workspace

    with progress("Backing up", quiet=json) as bar:
        done = make(Workspace(workspace), file, bar)
    if json:
        print_json({"file": str(file), **asdict(done)})
        return
    say(f"{file} ({megabytes(done.size)}) holds {_listed(done.rows)}.")
    say("It holds password hashes and the secret that signs sessions: keep it as you keep passwords.")
    say("Not in it, and part of the workspace:", *(f"  {one}" for one in done.not_in_it))
    next_step(f"lookalike restore {file}", workspace=workspace)


def restore(
    file: Annotated[Path, typer.Argument(help="What `lookalike backup` wrote.")],
    workspace: WorkspaceOption = Path(),
    replace: Annotated[
        bool, typer.Option("--replace", help="Put it in the place of a database that holds something.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Put a backup in the place of the workspace's database, SQLite or PostgreSQL: all of it or nothing."""
    from lookalike.recipes.backup import restore as put_back

    with progress("Restoring", quiet=json) as bar:
        done = put_back(workspace, file, replace=replace, progress=bar)
    if json:
        print_json({"file": str(file), **asdict(done)})
        return
    say(f"Restored: {_listed(done.rows)}.")
    if done.lost or done.back:
        say(
            f"The catalog is that of the backup: {plural(done.lost, 'image')} that were here are not in it, "
            f"{plural(done.back, 'image')} are in it that were not here."
        )
    if done.photos_missing:
        say(f"{done.photos_missing:,} of {plural(done.photos, 'photo')} looked for are not in their folder.")
    next_step("lookalike status", workspace=workspace)


def _listed(rows: dict[str, int]) -> str:
    parts = [plural(count, NAMES[name], MANY.get(name, "")) for name, count in rows.items()]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"
