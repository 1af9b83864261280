"""The measure table as the page shows it: best values, undefined values with their reasons, cautions."""

from collections.abc import Sequence
from dataclasses import dataclass

from lookalike.core.text import listed, percent, value
from lookalike.evaluate.measures.table import parse
from lookalike.evaluate.significance.results import ScoreResult
from lookalike.evaluate.significance.summary import Settings
from lookalike.report.content import MeasureTable
from lookalike.report.parts.cautions import caution
from lookalike.report.parts.cells import (
    ShownCell,
    ShownColumn,
    ShownRow,
    highest,
    interval_of,
    kind,
    queries_of,
    reason,
)


@dataclass(frozen=True)
class ShownTable:
    """The whole table, and under it the reasons of its undefined values.

    `level` is the intervals' confidence, "" without intervals; `without` says which values have none, and why.
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
    columns = {name: [row[name] for row in table.values.values()] for name in table.measures}
    headings = tuple(
        ShownColumn(
            measure,
            _same_queries(cells),
            explained.index(measure) + 1 if measure in explained else 0,
            table.distrusted.get(measure, ""),
        )
        for measure, cells in columns.items()
    )
    best = [
        # high coverage is no quality, and no encoder is best by a measure that is not to be trusted
        "" if parse(measure).family == "coverage" or measure in table.distrusted else highest(cells)
        for measure, cells in columns.items()
    ]
    every = [cell for row in table.values.values() for cell in row.values()]
    footnotes = tuple(dict.fromkeys(reason(cell) for cell in every if not cell.is_defined))
    rows = tuple(
        ShownRow(
            encoder,
            kind(encoder in table.generators),
            tuple(
                _shown_cell(table, encoder, heading, top, footnotes, cautious)
                for heading, top in zip(headings, best, strict=True)
            ),
        )
        for encoder in table.values
    )
    marked = any(cell.caution for row in rows for cell in row.cells)
    level = confidence(table.settings) if any(cell.interval for row in rows for cell in row.cells) else ""
    return ShownTable(headings, rows, footnotes, marked, level, without(table))


def confidence(settings: Settings | None) -> str:
    """The confidence of intervals: "95%"; "" where no query was drawn."""
    return f"{percent(settings.level, 1).removesuffix('%').removesuffix('.0')}%" if settings else ""


def without(table: MeasureTable) -> tuple[str, ...]:
    """Why defined values have no interval, one sentence for each reason."""
    found: dict[str, list[str]] = {}
    defined = 0
    for row in table.values.values():
        for measure, cell in row.items():
            if cell.is_defined and cell.interval is not None:
                defined += 1
                if cell.interval.reason:
                    found.setdefault(cell.interval.reason, []).append(measure)
    return tuple(
        "No interval for "
        + ("any value" if len(measures) == defined else f"some values of {listed(dict.fromkeys(measures))}")
        + f": {why}."
        for why, measures in found.items()
    )


def _shown_cell(
    table: MeasureTable,
    encoder: str,
    heading: ShownColumn,
    top: str,
    footnotes: tuple[str, ...],
    cautious: bool,
) -> ShownCell:
    cell = table.values[encoder][heading.name]
    defined, queries = cell.is_defined, queries_of(cell.queries)
    return ShownCell(
        text=value(cell.value),
        interval=interval_of(cell),
        hover=f"{heading.name} of {encoder}: {queries}" if defined else reason(cell),
        count=queries if defined and not heading.note else "",
        best=value(cell.value) == top,
        footnote=0 if defined else footnotes.index(reason(cell)) + 1,
        caution=caution(table, encoder, heading.name) if cautious else "",
    )


def _same_queries(cells: Sequence[ScoreResult]) -> str:
    """Over how many queries a measure is, where that holds for every encoder."""
    counts = {cell.queries for cell in cells if cell.is_defined}
    return queries_of(counts.pop()) if len(counts) == 1 else ""
