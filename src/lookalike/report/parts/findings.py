"""What the labels show by each main measure, and one measure by category, as the page shows them."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lookalike.core.text import count, plural, value
from lookalike.evaluate.significance.results import GroupResult, GroupsResult, ScoreResult
from lookalike.evaluate.significance.sentence import full
from lookalike.report.content import MeasureTable
from lookalike.report.figures.measures import Mark
from lookalike.report.parts.cautions import cautions
from lookalike.report.parts.cells import (
    ShownCell,
    ShownColumn,
    ShownRow,
    highest,
    interval_of,
    queries_of,
    reason,
)


@dataclass(frozen=True)
class ShownFinding:
    """One measure's sentences; `card` is the number of its explanation, `caution` why it may mislead here."""

    measure: str
    card: int
    caution: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class ShownGroups:
    """One measure by group; `without` says how many values have no interval, "" where all have one.

    `partly`: some row has queries for which the measure is undefined.
    """

    measure: str
    column: str
    columns: tuple[ShownColumn, ...]
    rows: tuple[ShownRow, ...]
    without: str
    partly: bool


def shown_findings(table: MeasureTable) -> tuple[ShownFinding, ...]:
    """The findings ready for the page; measures without a sentence are left out."""
    return tuple(
        ShownFinding(
            measure,
            table.measures.index(measure) + 1 if measure in table.measures else 0,
            " ".join(cautions(table, measure)),
            tuple(map(full, sentences)),
        )
        for measure, sentences in table.findings.items()
        if sentences
    )


def differences(table: MeasureTable, measure: str) -> tuple[str, list[Mark]]:
    """The best encoder by a measure and its difference from each other one; "" if no encoder has a value."""
    known = {name: of[measure].value for name, of in table.values.items() if math.isfinite(of[measure].value)}
    best = max(known, key=known.__getitem__, default="")
    fed, marks = table.generators, []
    for pair in table.comparisons.get(measure, ()):
        if best in pair.encoders:
            one = pair if pair.encoders[0] == best else pair.swapped
            other, around = one.encoders[1], one.interval
            marks.append(Mark(other, other in fed, one.difference, low=around.low, high=around.high))
    return best, marks


def shown_groups(found: GroupsResult) -> ShownGroups:
    """The table of one measure by group ready for the page."""
    encoders = tuple(found.groups[0].scores)
    (measure,) = found.groups[0].scores[encoders[0]]
    table = [(group, [group.scores[encoder][measure] for encoder in encoders]) for group in found.groups]
    rows = tuple(_group(group, cells) for group, cells in table)
    cells = [cell for _, row in table for cell in row if cell.is_defined]
    missing = sum(not interval_of(cell) for cell in cells) if any(cell.interval for cell in cells) else 0
    without = f"{plural(missing, 'value')} of {count(len(cells))} without an interval" if missing else ""
    partly = any(cell.queries != group.queries for group, row in table for cell in row if cell.queries)
    return ShownGroups(measure, found.column, tuple(map(ShownColumn, encoders)), rows, without, partly)


def _group(group: GroupResult, cells: Sequence[ScoreResult]) -> ShownRow:
    counts = {cell.queries for cell in cells if cell.is_defined}
    same = counts.pop() if len(counts) == 1 else group.queries
    best = highest(cells)
    shown = tuple(_cell(cell, group.queries, same, best) for cell in cells)
    return ShownRow(
        group.value or "(none)",
        f"{_of(same, group.queries)} {'query' if group.queries == 1 else 'queries'}",
        shown,
    )


def _of(counted: int, queries: int) -> str:
    return count(queries) if counted == queries else f"{count(counted)} of {count(queries)}"


def _cell(cell: ScoreResult, queries: int, same: int, best: str) -> ShownCell:
    why = reason(cell) if not cell.is_defined else cell.interval.reason if cell.interval else ""
    return ShownCell(
        text=value(cell.value),
        interval=interval_of(cell),
        best=value(cell.value) == best,
        count=_of(cell.queries, queries) if cell.is_defined and cell.queries != same else "",
        hover=f"{queries_of(cell.queries)}: {why}" if why else queries_of(cell.queries),
    )
