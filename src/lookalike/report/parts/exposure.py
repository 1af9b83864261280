"""Exposure as the page shows it: a row per encoder, and the groups of the column by which items differ most."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from lookalike.audit.exposure import HEADS
from lookalike.core.text import plural
from lookalike.report.content import ExposurePart
from lookalike.report.parts.cells import ShownCell, ShownColumn, ShownRow

ENCODERS, GROUPS = 5, 4  # rows of the two tables


@dataclass(frozen=True)
class ShownExposure:
    """The rows ready for the page. `column` is the one with groups ("": none); `left` counts rows not shown."""

    columns: ClassVar = tuple(map(ShownColumn, HEADS))
    of_group: ClassVar = tuple(map(ShownColumn, ("items", "times shown", "never shown")))
    encoder: str
    lists: str
    rows: tuple[ShownRow, ...]
    column: str
    groups: tuple[ShownRow, ...]
    left: str


def shown_exposure(part: ExposurePart) -> ShownExposure:
    """The part ready for the page, groups by the first encoder's column with the largest difference."""
    first = part.found[0]
    column = first.columns[0] if first.columns else None
    groups = column.ends(GROUPS) if column else ()
    left = {"encoder": len(part.found) - ENCODERS, "group": len(column.groups) - len(groups) if column else 0}
    return ShownExposure(
        first.encoder,
        first.lists,
        tuple(_row(one.encoder, one.cells) for one in part.found[:ENCODERS]),
        column.column if column else "",
        tuple(_row(one.group, one.cells) for one in groups),
        " and ".join(plural(more, what) for what, more in left.items() if more > 0),
    )


def _row(name: str, cells: Sequence[str]) -> ShownRow:
    return ShownRow(name, "", tuple(map(ShownCell, cells)))
