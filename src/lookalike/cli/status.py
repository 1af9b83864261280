"""`lookalike status`."""

from pathlib import Path

from lookalike.cli.console import JsonOption, WorkspaceOption, next_step, print_json, say, table


def status(workspace: WorkspaceOption = Path(), json: JsonOption = False) -> None:
    """What is in the workspace, what is stale, and what comes next."""
    from lookalike.recipes.status import LOOKED_AT, next_command
    from lookalike.recipes.status import status as look
    from lookalike.store.workspace import Workspace

    found = look(Workspace(workspace))
    if json:
        print_json(
            {**vars(found), "encoders": [vars(one) for one in found.encoders], "next": next_command(found)}
        )
        return
    say(f"{found.source}{' (generated)' if found.generated else ''}")
    rows = [
        ("images", f"{found.images:,} of {found.items:,} items in {found.categories:,} categories"),
        ("left out", f"{found.left_out:,}"),
        (
            "pool",
            "none yet" if found.pool is None else f"{found.pool:,} pairs, {found.pool_labelled:,} labelled",
        ),
        ("labels", f"{found.labels:,}"),
    ]
    table(["", ""], rows, left=2)
    if found.photos_missing:
        say(
            f"Of the first {min(found.images, LOOKED_AT):,} photos {found.photos_missing:,} are no longer there."
        )
    if found.encoders:
        say("")
        table(
            ["encoder", "made by", "", "dimension"],
            [(e.name, e.spec, e.state, f"{e.dimension:,}") for e in found.encoders],
            left=3,
        )
    next_step(next_command(found), workspace=workspace)
