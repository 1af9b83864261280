"""What the labels prove by each main measure, and one measure by category, as the page shows them."""

import math
from dataclasses import dataclass

from lookalike.core.errors import ArgumentError
from lookalike.evaluate.sentence import full
from lookalike.report.cautions import cautions
from lookalike.report.content import Cell, GroupRow, GroupTable, MeasureTable
from lookalike.report.formats import plural, value, whole
from lookalike.report.table import interval_of, reason


@dataclass(frozen=True)
class ShownFinding:
    """One measure's sentences; `card` is the number of its explanation, `caution` why it may mislead here."""

    measure: str
    card: int
    caution: str
    sentences: tuple[str, ...]


@dataclass(frozen=True)
class GroupCell:
    """One encoder's value in one group; `queries` where encoders count different ones."""

    text: str
    interval: str
    best: bool
    queries: str
    hover: str


@dataclass(frozen=True)
class ShownGroup:
    """One group's line."""

    value: str
    queries: str
    cells: tuple[GroupCell, ...]


@dataclass(frozen=True)
class ShownGroups:
    """One measure by group; `without` says how many values have no interval, "" where all have one.

    `partly`: some row has queries that do not count.
    """

    measure: str
    column: str
    encoders: tuple[str, ...]
    rows: tuple[ShownGroup, ...]
    without: str
    partly: bool


def shown_findings(table: MeasureTable) -> tuple[ShownFinding, ...]:
    """The findings ready for the page; measures without a sentence are left out."""
    return tuple(
        ShownFinding(
            one.measure,
            table.measures.index(one.measure) + 1 if one.measure in table.measures else 0,
            " ".join(cautions(table, one.measure)) if one.measure in table.measures else "",
            tuple(full(said) for said in one.sentences),
        )
        for one in table.findings
        if one.sentences
    )


def shown_groups(table: GroupTable) -> ShownGroups:
    """The table by group ready for the page."""
    rows = tuple(_group(table, row) for row in table.rows)
    cells = [cell for row in table.rows for cell in row.cells if math.isfinite(cell.value)]
    missing = sum(not interval_of(cell) for cell in cells) if any(cell.interval for cell in cells) else 0
    without = f"{plural(missing, 'value')} of {whole(len(cells))} without an interval" if missing else ""
    partly = any(cell.queries != row.queries for row in table.rows for cell in row.cells if cell.queries)
    return ShownGroups(table.measure, table.column, table.encoders, rows, without, partly)


def _group(table: GroupTable, row: GroupRow) -> ShownGroup:
    if len(row.cells) != len(table.encoders):
        raise ArgumentError(
            f"The group {row.value!r} has {len(row.cells)} values for {len(table.encoders)} encoders.",
            fix="Give every group one Cell per encoder; an undefined value is Cell(nan, queries, reason).",
        )
    known = [cell.value for cell in row.cells if math.isfinite(cell.value)]
    highest = value(max(known)) if known and value(min(known)) != value(max(known)) else ""
    counts = {cell.queries for cell in row.cells if math.isfinite(cell.value)}
    same = counts.pop() if len(counts) == 1 else row.queries
    return ShownGroup(
        row.value or "(none)",
        _of(same, row.queries),
        tuple(_group_cell(cell, row.queries, same, highest) for cell in row.cells),
    )


def _of(counted: int, queries: int) -> str:
    return whole(queries) if counted == queries else f"{whole(counted)} of {whole(queries)}"


def _group_cell(cell: Cell, queries: int, same: int, highest: str) -> GroupCell:
    defined = math.isfinite(cell.value)
    why = reason(cell) if not defined else cell.interval.reason if cell.interval else ""
    counted = plural(cell.queries, "query", "queries")
    return GroupCell(
        text=value(cell.value),
        interval=interval_of(cell),
        best=value(cell.value) == highest,
        queries=_of(cell.queries, queries) if defined and cell.queries != same else "",
        hover=f"{counted}: {why}" if why else counted,
    )
