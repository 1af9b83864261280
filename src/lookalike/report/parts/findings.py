"""What the labels show by each main measure, and one measure by category, as the page shows them."""

from dataclasses import dataclass

from lookalike.core.errors import ArgumentError
from lookalike.core.text import count, plural, value
from lookalike.evaluate.significance.sentence import full
from lookalike.report.content import GroupRow, GroupTable, MeasureCell, MeasureTable
from lookalike.report.parts.cautions import cautions
from lookalike.report.parts.cells import (
    ShownCell,
    ShownColumn,
    ShownRow,
    highest,
    interval_of,
    is_defined,
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
            one.measure,
            table.measures.index(one.measure) + 1 if one.measure in table.measures else 0,
            " ".join(cautions(table, one.measure)) if one.measure in table.measures else "",
            tuple(map(full, one.sentences)),
        )
        for one in table.findings
        if one.sentences
    )


def shown_groups(table: GroupTable) -> ShownGroups:
    """The table by group ready for the page."""
    rows = tuple(_group(table, row) for row in table.rows)
    cells = [cell for row in table.rows for cell in row.cells if is_defined(cell)]
    missing = sum(not interval_of(cell) for cell in cells) if any(cell.interval for cell in cells) else 0
    without = f"{plural(missing, 'value')} of {count(len(cells))} without an interval" if missing else ""
    partly = any(cell.queries != row.queries for row in table.rows for cell in row.cells if cell.queries)
    columns = tuple(map(ShownColumn, table.encoders))
    return ShownGroups(table.measure, table.column, columns, rows, without, partly)


def _group(table: GroupTable, row: GroupRow) -> ShownRow:
    if len(row.cells) != len(table.encoders):
        raise ArgumentError(
            f"The group {row.value!r} has {len(row.cells)} values for {len(table.encoders)} encoders.",
            fix="Give every group one MeasureCell per encoder; an undefined value is NaN with a reason.",
        )
    counts = {cell.queries for cell in row.cells if is_defined(cell)}
    same = counts.pop() if len(counts) == 1 else row.queries
    best = highest(list(row.cells))
    cells = tuple(_cell(cell, row.queries, same, best) for cell in row.cells)
    return ShownRow(row.value or "(none)", f"{_of(same, row.queries)} queries", cells)


def _of(counted: int, queries: int) -> str:
    return count(queries) if counted == queries else f"{count(counted)} of {count(queries)}"


def _cell(cell: MeasureCell, queries: int, same: int, best: str) -> ShownCell:
    defined = is_defined(cell)
    why = reason(cell) if not defined else cell.interval.reason if cell.interval else ""
    return ShownCell(
        text=value(cell.value),
        interval=interval_of(cell),
        best=value(cell.value) == best,
        count=_of(cell.queries, queries) if defined and cell.queries != same else "",
        hover=f"{queries_of(cell.queries)}: {why}" if why else queries_of(cell.queries),
    )
