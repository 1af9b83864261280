"""A reproduced table as plain values."""

import math
from dataclasses import dataclass
from typing import Any

from lookalike.research.papers.computed import ComputedFigure
from lookalike.research.papers.layout import CellPair, cells_of
from lookalike.research.papers.published import DataSource, PublishedTable, keys, published
from lookalike.research.papers.reproduce import Reproduction, needs


@dataclass(frozen=True)
class TableEntry:
    """A table or figure of a paper, what our figures need ("": nothing makes them) and the paper's data."""

    table: str
    paper: str
    number: str
    title: str
    ours_need: str | None
    data: list[str]


@dataclass(frozen=True)
class TableEntries:
    """All tables and figures."""

    tables: list[TableEntry]


@dataclass(frozen=True)
class TableNote:
    """What to know about some cells, each named by its row and column."""

    text: str
    cells: list[list[str]]


@dataclass(frozen=True)
class TableCell:
    """A cell as printed in the paper, and ours: value, spread, n, p, low, high and reason, as far as known."""

    row: dict[str, str]
    column: str
    paper: str | None
    ours: dict[str, Any] | None


@dataclass(frozen=True)
class TableResult:
    """A table of a paper next to our figures; `missing` says why there are none."""

    table: str
    paper: str
    number: str
    section: str
    title: str
    cells: list[TableCell]
    remarks: list[str] | None
    missing: str | None
    notes: list[TableNote]
    data: tuple[DataSource, ...]


def table_entries() -> TableEntries:
    """All tables and figures that can be reproduced."""
    tables = [published(key) for key in keys()]
    return TableEntries(
        [
            TableEntry(
                one.key,
                one.paper,
                one.number,
                one.title,
                needs(one.key) or None,
                [source.name for source in one.sources],
            )
            for one in tables
        ]
    )


def table_result(found: Reproduction) -> TableResult:
    """One table as plain values."""
    one = found.published
    return TableResult(
        table=one.key,
        paper=one.paper,
        number=one.number,
        section=one.section,
        title=one.title,
        cells=[_cell(cell, one) for cell in cells_of(one, found.ours)],
        remarks=None if found.ours is None else list(found.ours.remarks),
        missing=found.missing or None,
        notes=[
            TableNote(note.text, [[*one.rows[row].names, one.columns[column]] for row, column in note.cells])
            for note in one.notes
        ],
        data=tuple(one.sources),
    )


def _cell(cell: CellPair, table: PublishedTable) -> TableCell:
    names = dict(zip(table.labels, cell.names, strict=True))
    return TableCell(names, cell.column, cell.paper, None if cell.ours is None else _figure(cell.ours))


def _figure(one: ComputedFigure) -> dict[str, Any]:
    """What is known of a figure; an undefined value stays, with its reason."""
    known = {
        name: value for name, value in vars(one).items() if value not in (None, "") and not _is_nan(value)
    }
    return {"value": one.value, **known}


def _is_nan(value: object) -> bool:
    return isinstance(value, float) and math.isnan(value)
