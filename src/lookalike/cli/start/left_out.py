"""`lookalike catalog left-out`, and the photos left out as other commands print them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lookalike.cli import options
from lookalike.cli.console import elsewhere, print_json, say, table
from lookalike.cli.lazy import result
from lookalike.cli.options import HERE
from lookalike.core.text import plural
from lookalike.core.types import LeftOut
from lookalike.store.workspace import Workspace

SHOWN = 10


@dataclass(frozen=True)
class LeftOutPhotos:
    """The photos that the catalog leaves out, in the order of the source."""

    left_out: tuple[LeftOut, ...]


@result(LeftOutPhotos)
def left_out(workspace: options.Workspace = HERE, json: options.Json = False) -> None:
    """List the photos that the catalog leaves out, with the reasons."""
    found = Workspace(workspace).catalog.left_out
    if json:
        print_json(LeftOutPhotos(found))
    elif not found:
        say("No photo is left out.")
    else:
        _list(found)


def print_left_out(left_out: Sequence[LeftOut], workspace: Path) -> None:
    """The first photos that were left out, and the command that lists them all."""
    _list(left_out[:SHOWN])
    if len(left_out) > SHOWN:
        say(
            f"{plural(len(left_out) - SHOWN, 'more photo')}. To list all: lookalike catalog left-out"
            f"{elsewhere(workspace)}"
        )


def _list(left_out: Sequence[LeftOut]) -> None:
    if left_out:
        table(["left out", "reason"], [(one.image, one.reason) for one in left_out], left=2)
