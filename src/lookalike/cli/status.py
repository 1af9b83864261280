"""`lookalike status`."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lookalike.cli.console import (
    JsonOption,
    WorkspaceOption,
    elsewhere,
    next_step,
    plural,
    print_json,
    say,
    table,
)

if TYPE_CHECKING:
    from lookalike.catalog.duplicates import DuplicateCount
    from lookalike.recipes.status import EncoderStatus


def status(
    workspace: WorkspaceOption = Path(),
    duplicates: Annotated[
        bool, typer.Option("--duplicates", help="List the groups of duplicate photos.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """What is in the workspace, what is stale, and what comes next."""
    if duplicates:
        _list_duplicates(workspace, json)
        return
    from lookalike.recipes.status import LOOKED_AT, cost, next_command
    from lookalike.recipes.status import status as look
    from lookalike.store.workspace import Workspace

    found = look(Workspace(workspace))
    if json:
        print_json(
            {
                **vars(found),
                "duplicates": vars(found.duplicates),
                "encoders": [vars(one) for one in found.encoders],
                "next": next_command(found),
                "cost": cost(found),
            }
        )
        return
    say(f"{found.source}{' (generated)' if found.generated else ''}")
    rows = [
        ("images", f"{found.images:,} of {found.items:,} items in {found.categories:,} categories"),
        ("left out", f"{found.left_out:,}"),
        ("duplicates", _counted(found.duplicates)),
        (
            "pool",
            "none yet" if found.pool is None else f"{found.pool:,} pairs, {found.pool_labelled:,} labelled",
        ),
        ("labels", f"{found.labels:,}"),
    ]
    if found.people:
        waiting = f"{plural(found.people, 'person', 'people')}, {plural(found.open_pairs, 'pair')}"
        rows.append(("labelling", f"{waiting} open"))
    table(["", ""], rows, left=2)
    if found.photos_missing:
        say(
            f"Of the first {min(found.images, LOOKED_AT):,} photos {found.photos_missing:,} are no longer there."
        )
    if found.encoders:
        say("")
        table(
            ["encoder", "made by", "", "dimension"],
            [(e.name, _brief(e.spec), _state(e), f"{e.dimension:,}") for e in found.encoders],
            left=3,
        )
    for name in found.unfinished:
        say(f"The vectors of {name} are unfinished: embed it again to go on where it stopped.")
    if found.trained:
        say(f"Trained here: {', '.join(found.trained)} (in models/).")
    for name, command in zip(found.unfinished_runs, found.run_commands, strict=True):
        say(*_unfinished(name, command and command + elsewhere(workspace)))
    say(f"The next step: {cost(found)}")
    next_step(next_command(found), workspace=workspace)


def _unfinished(name: str, command: str) -> tuple[str, str]:
    """How to go on with a training run, and how to be rid of it."""
    if not command:
        return (
            f"The training run {name} is unfinished and cannot be gone on from: its run.json or its encoder is gone.",
            f"  Begin afresh under its name with --replace, or delete models/{name}.",
        )
    return (
        f"The training run {name} is unfinished. To go on where it stopped: {command}",
        f"  Add --replace to begin afresh, or delete models/{name} to discard it.",
    )


def _state(encoder: "EncoderStatus") -> str:
    """What is to be known of an encoder: that it is stale or damaged, and that it was trained here."""
    return ", ".join(filter(None, (encoder.state, "trained on these labels" if encoder.trained else "")))


def _brief(spec: str) -> str:
    """An encoder string without its options, which the report tells in full; "" for damaged vectors."""
    head, mark, _ = spec.rpartition("?")
    return f"{head}?..." if mark else spec


def _counted(found: "DuplicateCount") -> str:
    if not found.photos:
        return "none"
    across = f" ({found.across_items:,} across items)" if found.across_items else ""
    return (
        f"{plural(found.photos, 'photo')} ({found.exact:,} exact, {found.near:,} near) "
        f"in {plural(found.groups, 'group')}{across}"
    )


def _list_duplicates(workspace: Path, json: bool) -> None:
    from lookalike.catalog.duplicates import count_duplicates
    from lookalike.recipes.status import duplicate_groups
    from lookalike.store.workspace import Workspace

    catalog = Workspace(workspace).catalog
    groups, count = duplicate_groups(catalog), count_duplicates(catalog)
    if json:
        print_json({"duplicates": vars(count), "groups": [asdict(group) for group in groups]})
        return
    if not groups:
        say("No photo of the catalog is a duplicate of another.")
        return
    say(f"Duplicates: {_counted(count)}.")
    for across, words in ((True, "Across items"), (False, "Within one item (harmless)")):
        rows = [
            (str(at), photo.image, photo.item, photo.split, photo.kind)
            for at, group in enumerate(groups, 1)
            if group.across_items == across
            for photo in group.photos
        ]
        if rows:
            say("", f"{words}:")
            table(["group", "image", "item", "split", "kind"], rows, left=5)
    say("", "A result list shows one photo of a group, and drawn splits keep a group together.")
