"""The measure table as the page shows it: best values, undefined values with their reasons, cautions."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lookalike.core.errors import ArgumentError
from lookalike.evaluate.significance import Settings
from lookalike.report.cautions import caution
from lookalike.report.content import Cell, MeasureRow, MeasureTable
from lookalike.report.explanations import MeasureName
from lookalike.report.formats import ends, listed, plural, significant, value


@dataclass(frozen=True)
class ShownColumn:
    """One measure's heading. `queries` is "240 queries" where that holds for every encoder, else "".

    `card` is the number of the measure's explanation on the page, from 1; 0 where it has none.
    """

    measure: str
    queries: str
    card: int


@dataclass(frozen=True)
class ShownCell:
    """One value. `footnote` counts from 1; 0 is none. `queries` stands here where the heading has none.

    `interval` is "0.708–0.750", or "" where there is none.
    """

    text: str
    interval: str
    best: bool
    queries: str
    hover: str
    footnote: int
    caution: str


@dataclass(frozen=True)
class ShownRow:
    """One encoder's line."""

    encoder: str
    kind: str
    cells: tuple[ShownCell, ...]


@dataclass(frozen=True)
class ShownTable:
    """The whole table, and under it the reasons of its undefined values.

    `level` is the intervals' confidence in %, "" without intervals; `without` says which values have none, and why.
    """

    columns: tuple[ShownColumn, ...]
    rows: tuple[ShownRow, ...]
    footnotes: tuple[str, ...]
    cautious: bool
    level: str
    without: tuple[str, ...]


def shown_table(table: MeasureTable, explained: Sequence[str], cautious: bool = True) -> ShownTable:
    """The table ready for the page; `explained` are the measures with a card.

    Without `cautious` no cell is marked: every pair is known.
    """
    check(table)
    columns = [[row.values[j] for row in table.rows] for j in range(len(table.measures))]
    headings = tuple(
        ShownColumn(
            measure, _same_queries(cells), explained.index(measure) + 1 if measure in explained else 0
        )
        for measure, cells in zip(table.measures, columns, strict=True)
    )
    best = [_best(measure, cells) for measure, cells in zip(table.measures, columns, strict=True)]
    footnotes = tuple(dict.fromkeys(reason(c) for row in table.rows for c in row.values if _undefined(c)))
    headed = tuple(zip(headings, best, strict=True))
    rows = tuple(_shown_row(table, row, headed, footnotes, cautious) for row in table.rows)
    marked = any(shown.caution for row in rows for shown in row.cells)
    level = confidence(table.settings) if any(cell.interval for row in rows for cell in row.cells) else ""
    return ShownTable(headings, rows, footnotes, marked, level, without(table))


def check(table: MeasureTable) -> None:
    """Refuse a row that has more or fewer values than the table has measures."""
    for row in table.rows:
        if len(row.values) != len(table.measures):
            raise ArgumentError(
                f"The row of encoder {row.encoder!r} has {len(row.values)} values; "
                f"the table has {len(table.measures)} measures.",
                fix="Give every row one Cell per measure; an undefined value is Cell(nan, queries, reason).",
            )


def confidence(settings: Settings | None) -> str:
    """The confidence of intervals in %: "95"; "" where no query was drawn."""
    return significant(100 * settings.level) if settings else ""


def without(table: MeasureTable) -> tuple[str, ...]:
    """Why defined values have no interval, one sentence for each reason."""
    defined = [
        (measure, cell)
        for row in table.rows
        for measure, cell in zip(table.measures, row.values, strict=True)
        if not _undefined(cell) and cell.interval is not None
    ]
    found: dict[str, list[str]] = {}
    for measure, cell in defined:
        if cell.interval is not None and cell.interval.reason:
            found.setdefault(cell.interval.reason, []).append(measure)
    return tuple(
        f"No interval for {_which(concerned, len(defined))}: {why}." for why, concerned in found.items()
    )


def _which(concerned: Sequence[str], of: int) -> str:
    return "any value" if len(concerned) == of else f"some values of {listed(list(dict.fromkeys(concerned)))}"


def interval_of(cell: Cell) -> str:
    """The interval of a value as it is written; "" where there is none."""
    around = cell.interval
    return "" if around is None or _undefined(cell) else ends(around.low, around.high)


def kind(row: MeasureRow) -> str:
    """The word that tells generators from the other encoders."""
    return "generator" if row.is_generator else "not a generator"


def reason(cell: Cell) -> str:
    """Why a value is undefined, as a sentence part that is never empty."""
    return cell.reason or "No reason was recorded."


def _shown_row(
    table: MeasureTable,
    row: MeasureRow,
    headed: Sequence[tuple[ShownColumn, str]],
    footnotes: tuple[str, ...],
    cautious: bool,
) -> ShownRow:
    cells = []
    for cell, (heading, highest) in zip(row.values, headed, strict=True):
        text, undefined, queries = (
            value(cell.value),
            _undefined(cell),
            plural(cell.queries, "query", "queries"),
        )
        cells.append(
            ShownCell(
                text=text,
                interval=interval_of(cell),
                best=text == highest,
                queries="" if heading.queries or undefined else queries,
                hover=reason(cell) if undefined else f"{heading.measure} of {row.encoder}: {queries}",
                footnote=footnotes.index(reason(cell)) + 1 if undefined else 0,
                caution=caution(table, row, heading.measure) if cautious else "",
            )
        )
    return ShownRow(row.encoder, kind(row), tuple(cells))


def _undefined(cell: Cell) -> bool:
    return not math.isfinite(cell.value)


def _same_queries(cells: Sequence[Cell]) -> str:
    counts = {cell.queries for cell in cells if not _undefined(cell)}
    return plural(counts.pop(), "query", "queries") if len(counts) == 1 else ""


def _best(measure: str, cells: Sequence[Cell]) -> str:
    """The highest printed value of a column; "" where none is above another, or where high is not good."""
    defined = [cell.value for cell in cells if not _undefined(cell)]
    if not defined or MeasureName.of(measure).base == "coverage":
        return ""
    highest = value(max(defined))
    return "" if value(min(defined)) == highest else highest
