"""Exposure as the page shows it: a row per encoder, and the groups of the column by which items differ most."""

from dataclasses import dataclass

from lookalike.audit.exposure import Exposure
from lookalike.core.text import count, percent, plural, value
from lookalike.report.content import ExposurePart
from lookalike.report.parts.cells import ShownCell, ShownColumn, ShownRow

ENCODERS, GROUPS = 5, 4  # rows of the two tables
COLUMNS = ("never shown", "by chance", "times shown", "at most", "Gini")
OF_GROUP = ("items", "times shown", "never shown")


@dataclass(frozen=True)
class ShownExposure:
    """The tables ready for the page. `column` is the one with groups ("": none); `left` counts rows not shown."""

    encoder: str
    asked: str
    columns: tuple[ShownColumn, ...]
    rows: tuple[ShownRow, ...]
    column: str
    of_group: tuple[ShownColumn, ...]
    groups: tuple[ShownRow, ...]
    left: str


def shown_exposure(part: ExposurePart) -> ShownExposure:
    """The part ready for the page, groups by the first encoder's column with the largest difference."""
    first = part.found[0]
    column = first.columns[0] if first.columns else None
    groups = column.groups if column else ()
    half = GROUPS // 2
    chosen = groups if len(groups) <= GROUPS else (*groups[:half], *groups[-half:])
    sample = "all" if first.queries == first.all_queries else f"a random sample of {first.queries:,} of"
    return ShownExposure(
        first.encoder,
        f"the first {first.k} results of {sample} {plural(first.all_queries, 'query image')}",
        tuple(map(ShownColumn, COLUMNS)),
        tuple(ShownRow(one.encoder, "", _cells(one)) for one in part.found[:ENCODERS]),
        column.column if column else "",
        tuple(map(ShownColumn, OF_GROUP)),
        tuple(
            ShownRow(
                one.group,
                "",
                (ShownCell(count(one.items)), ShownCell(value(one.mean, 1)), ShownCell(percent(one.never))),
            )
            for one in chosen
        ),
        " and ".join(
            plural(left, what)
            for left, what in ((len(part.found) - ENCODERS, "encoder"), (len(groups) - len(chosen), "group"))
            if left > 0
        ),
    )


def _cells(one: Exposure) -> tuple[ShownCell, ...]:
    most = one.most_shown[0].times if one.most_shown else 0
    return (
        ShownCell(percent(one.never)),
        ShownCell(percent(one.by_chance)),
        ShownCell(value(one.mean, 1)),
        ShownCell(count(most)),
        ShownCell(value(one.gini, 2)),
    )
