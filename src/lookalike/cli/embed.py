"""`lookalike embed`."""

import math
import shlex
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from lookalike.core.errors import ArgumentError

if TYPE_CHECKING:
    from lookalike.encode.estimate import Estimate
    from lookalike.store.workspace import Workspace


def embed(
    encoder: Annotated[
        list[str] | None,
        typer.Argument(
            help="Encoder strings, e.g. descriptor:color+hog, timm:resnet50 or precomputed:vectors.npy.",
            metavar="ENCODER...",
            show_default=False,
        ),
    ] = None,
    workspace: WorkspaceOption = Path(),
    name: Annotated[
        str | None, typer.Option(help="Short name of the encoder.", show_default="made from the string")
    ] = None,
    stale: Annotated[
        bool, typer.Option("--stale", help="Bring every encoder up to date with the catalog.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(help="Processes that read photos.", show_default="one per core", min=1, max=256),
    ] = None,
    remove: Annotated[
        list[str] | None, typer.Option(help="Delete the vectors of an encoder, by name. Repeatable.")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Overwrite the vectors of another encoder of this name.")
    ] = False,
    json: JsonOption = False,
) -> None:
    """Turn the catalog's photos into vectors, or take in vectors you have.

    A run that was stopped goes on where it stood; photos that did not change are not computed again.
    """
    from lookalike.encode.spec import parse
    from lookalike.recipes.embed import embed as make
    from lookalike.store.workspace import Workspace

    opened = Workspace(workspace)
    if remove:
        _remove(opened, remove, bool(encoder) or stale, workspace, as_json=json)
        return
    told = []
    for text, called in _asked(opened, encoder or [], name, stale):
        started = time.monotonic()
        with progress(f"Embedding {called or parse(text).short_name}", quiet=json) as bar:
            made = make(
                opened,
                text,
                name=called,
                stored=stale,
                replace=replace,
                workers=workers,
                begin=None if json else _tell,
                progress=bar,
            )
        rows, dimension = made.vectors.shape
        told.append({"encoder": made.encoder, "spec": made.spec, "images": rows, "dimension": dimension})
        if not json:
            spent = time.monotonic() - started
            say(f"{made.encoder}: {rows:,} vectors of {dimension:,} numbers in {spent:.1f} s.")
    if json:
        print_json({"encoders": told})
        return
    if stale and not told:
        say("No encoder is stale.")
    _next(opened, workspace)


def _asked(
    opened: "Workspace", encoders: list[str], name: str | None, stale: bool
) -> list[tuple[str, str | None]]:
    """Encoder strings and the names they are to have."""
    from lookalike.recipes.embed import again
    from lookalike.recipes.embed import stale as find

    if bool(encoders) == stale:
        raise ArgumentError(
            "No encoder is named." if not encoders else "--stale goes without encoder strings.",
            fix="For instance: lookalike embed descriptor:color descriptor:hog, or lookalike embed --stale",
        )
    if stale:
        return [(again(opened, one), one) for one in find(opened)]
    if name is not None and len(encoders) > 1:
        raise ArgumentError(
            f"--name {name} goes with one encoder, but {len(encoders)} are given.",
            fix="Embed them one by one.",
        )
    return [(text, name) for text in encoders]


def _remove(opened: "Workspace", names: list[str], more: bool, workspace: Path, *, as_json: bool) -> None:
    if more:
        raise ArgumentError("--remove goes alone.", fix="Remove first, then embed.")
    freed = [opened.remove_embeddings(name) for name in names]
    if as_json:
        print_json({"removed": names, "bytes": sum(freed)})
        return
    say(f"Removed the vectors of {', '.join(names)}: {megabytes(sum(freed))} free again.")
    next_step("lookalike status", workspace=workspace)


def _tell(ahead: "Estimate") -> None:
    """What a long run will cost, before it begins."""
    if ahead.beneath:
        say(f"The head is applied to the vectors of {ahead.beneath}; no photo is read.")
        return
    if not ahead.compute:
        say(f"All {plural(ahead.known, 'photo')} are known: their vectors are copied.")
        return
    known = f" ({ahead.known:,} more are known)" if ahead.known else ""
    if not math.isnan(ahead.seconds):
        say(
            f"{plural(ahead.compute, 'photo')} to embed{known}: about {duration(ahead.seconds)}, "
            f"{megabytes(ahead.bytes)} on disk."
        )
    elif known:
        say(f"{plural(ahead.compute, 'photo')} to embed{known}.")


def duration(seconds: float) -> str:
    """A time people read.

    >>> duration(7), duration(200), duration(5000)
    ('7 s', '3 min', '1 h 23 min')
    """
    if seconds < 100:
        return f"{max(seconds, 1):.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _next(opened: "Workspace", workspace: Path) -> None:
    """The step after vectors."""
    if opened.label_count():
        next_step("lookalike evaluate", workspace=workspace)
    elif len(opened.encoders) > 1:
        next_step(f"lookalike discover --generators {','.join(opened.encoders)} --top 5", workspace=workspace)
    else:
        say("Several encoders make a better pool than one.")
        first = opened.catalog.image[0]
        example = f"-- {shlex.quote(first)}" if first.startswith("-") else shlex.quote(first)
        next_step(
            "lookalike embed descriptor:hog" if opened.photos else "lookalike embed precomputed:other.npy",
            f"lookalike search --encoder {opened.encoders[0]} {example}",
            workspace=workspace,
        )
