"""A paper's table and ours as text, in the layout of the paper; and as plain cells for a file.

Where both have the same rows, ours are further columns of these rows, and rows of encoders that the paper does
not have follow those of their group. Where the columns are other ones (the generators of EDS Table 2), ours follows.
What is wider than the page is split (`grid`), so that ours are then below.
"""

import textwrap
from collections.abc import Sequence
from string import ascii_lowercase
from typing import NamedTuple

from lookalike.research.papers.computed import UNDEFINED, ComputedFigure, ComputedTable
from lookalike.research.papers.grid import LEVEL, deepest, grid
from lookalike.research.papers.published import MEAN, PublishedTable

WIDTH = 110
PAPER, OURS = "paper", "this catalog"


class CellPair(NamedTuple):
    """One cell for a file: the paper's as printed, ours unrounded; None where one side has none."""

    names: tuple[str, ...]
    column: str
    paper: str | None
    ours: ComputedFigure | None


def text_of(published: PublishedTable, ours: ComputedTable | None, width: int | None = None) -> str:
    """The table with its title, gist, sources and notes; tables wider than `width` are parted (None: never)."""

    def filled(text: str, hang: str = "") -> str:
        return _filled(text, min(WIDTH, width or WIDTH), hang)

    parts = [filled(f"{published.paper} {published.number} ({published.section}): {published.title}")]
    parts += [filled(published.gist), ""]
    if ours is not None and _beside(published, ours):
        parts += [*grid(published.labels, *_joined(published, ours), width), ""]
    else:
        if published.rows:
            parts += [*grid(published.labels, published.columns, _marked(published), width), ""]
        if ours is not None:
            rows = [(row.names, _printed(ours, row.figures)) for row in ours.rows]
            parts += [
                *([f"On {OURS}:"] if published.rows else []),
                *grid(published.labels, ours.columns, rows, width),
                "",
            ]
    parts += [] if ours is None else [filled(remark) for remark in (*ours.remarks, *_undefined(ours))]
    if published.notes:
        parts += ["", "What to know about the paper's numbers:"]
    parts += [
        filled(f"{mark + ')' if mark else '-'} {note.text}", "  ")
        for mark, note in zip(_marks(published), published.notes, strict=True)
    ]
    return "\n".join(parts).replace("\n\n\n", "\n\n") + "\n"


def cells_of(published: PublishedTable, ours: ComputedTable | None) -> list[CellPair]:
    """Every cell of both sides; cells of one row and column are together."""
    theirs = {
        (published.key_of(row.names), column): (row.names, cell)
        for row in (*published.rows, *published.means)
        for column, cell in zip(published.columns, row.cells, strict=True)
    }
    mine = {
        (published.key_of(row.names), column): (row.names, figure)
        for row in (ours.rows if ours is not None else ())
        for column, figure in zip(ours.columns if ours is not None else (), row.figures, strict=True)
        if figure is not None
    }
    found = [
        CellPair(names, at[1], cell, mine.get(at, (names, None))[1]) for at, (names, cell) in theirs.items()
    ]
    return found + [
        CellPair(names, at[1], None, figure) for at, (names, figure) in mine.items() if at not in theirs
    ]


def _beside(published: PublishedTable, ours: ComputedTable) -> bool:
    """Whether the paper has each of our columns, alone or under the name of a dataset."""
    return bool(published.rows) and all(
        any(theirs == column or theirs.endswith(LEVEL + column) for theirs in published.columns)
        for column in ours.columns
    )


def _joined(
    published: PublishedTable, ours: ComputedTable
) -> tuple[list[str], list[tuple[tuple[str, ...], list[str]]]]:
    """Columns and rows of both sides on one grid, rows of one group (a measure, a coverage) together."""
    columns = [PAPER + LEVEL + column for column in published.columns]
    mine = {published.key_of(row.names): row for row in ours.rows}
    none_theirs, none_mine = [""] * len(published.columns), [""] * len(ours.columns)
    rows = [
        (
            names,
            [
                *cells,
                *(
                    _printed(ours, mine[published.key_of(names)].figures)
                    if published.key_of(names) in mine
                    else none_mine
                ),
            ],
        )
        for names, cells in _marked(published)
    ]
    known = {published.key_of(names) for names, _ in rows}
    rows += [
        (row.names, [*none_theirs, *_printed(ours, row.figures)])
        for row in ours.rows
        if published.key_of(row.names) not in known
    ]
    groups = {
        group: at
        for at, group in reversed(
            list(enumerate(published.key_of(_group(published, row)) for row, _ in rows))
        )
    }
    rows.sort(key=lambda row: (groups[published.key_of(_group(published, row[0]))], row[0][-1] == MEAN))
    deeper = deepest(published.columns) - deepest(ours.columns)  # a dataset's name is between
    return columns + [OURS + LEVEL * (1 + max(0, deeper)) + column for column in ours.columns], rows


def _group(published: PublishedTable, names: tuple[str, ...]) -> tuple[str, ...]:
    """What rows are kept together by: the measure; of the coverage tables it is named second."""
    return names[1:] if published.labels[0] == "COV" else names[:-1]


def _printed(ours: ComputedTable, figures: Sequence[ComputedFigure | None]) -> list[str]:
    return [
        "-" if figure is None else figure.printed(decimals)
        for figure, decimals in zip(figures, ours.decimals, strict=True)
    ]


def _marks(published: PublishedTable) -> list[str]:
    """A letter for every note that is tied to cells."""
    letters = iter(ascii_lowercase)
    return [next(letters) if note.cells else "" for note in published.notes]


def _marked(published: PublishedTable) -> list[tuple[tuple[str, ...], list[str]]]:
    """The paper's rows, cells with the letters of their notes; each group ends with its mean, where there is one."""
    marks: dict[tuple[int, int], str] = {}
    for mark, note in zip(_marks(published), published.notes, strict=True):
        for cell in note.cells:
            marks[cell] = marks.get(cell, "") + mark
    room = {
        column: max(len(mark) for at, mark in marks.items() if at[1] == column) for _, column in marks
    }  # so that figures with and without a letter are aligned
    lines = [
        (
            row.names,
            [
                cell + f" {marks.get((i, j), ''):<{room[j]}}" if j in room else cell
                for j, cell in enumerate(row.cells)
            ],
        )
        for i, row in enumerate((*published.rows, *published.means))
    ]
    groups = list(dict.fromkeys(_group(published, names) for names, _ in lines))
    return (
        sorted(lines, key=lambda line: groups.index(_group(published, line[0]))) if published.means else lines
    )


def _undefined(ours: ComputedTable) -> tuple[str, ...]:
    """Why figures are undefined, in one sentence."""
    reasons = dict.fromkeys(one.reason for row in ours.rows for one in row.figures if one and one.reason)
    return (f"{UNDEFINED}: undefined, because {'; or '.join(reasons)}.",) if reasons else ()


def _filled(text: str, width: int, hang: str = "") -> str:
    return textwrap.fill(text, width, subsequent_indent=hang, break_long_words=False, break_on_hyphens=False)
