"""Rows and columns as lines of text; where they are wider than the page, one group of columns below another."""

from collections.abc import Iterable, Sequence
from itertools import groupby

GAP, LEVEL = "  ", " / "  # LEVEL parts the levels of a column's head

Line = tuple[tuple[str, ...], Sequence[str]]  # the names of a row, and its cells


def grid(
    labels: Sequence[str], columns: Sequence[str], rows: Iterable[Line], width: int | None = None
) -> list[str]:
    """Lines of a table: words to the left, figures to the right, a line of heads per level.

    What does not fit into `width` is parted between groups of columns, largest groups first. Each part has the rows'
    names again, and only the rows with a cell in it.
    """
    listed = list(rows)
    lines = _lines(labels, columns, listed)
    if width is None or not columns or max(map(len, lines)) <= width:
        return lines
    parts = _parted(labels, columns, listed, range(len(columns)), 0, width)
    return [line for at, part in enumerate(parts) for line in ([""] * (at > 0) + part)]


def deepest(columns: Sequence[str]) -> int:
    """How many levels of heads are above the last one."""
    return max(column.count(LEVEL) for column in columns)


def _parted(
    labels: Sequence[str],
    columns: Sequence[str],
    rows: list[Line],
    chosen: Sequence[int],
    level: int,
    width: int,
) -> list[list[str]]:
    """Parts of the chosen columns: groups of one level side by side while they fit; one too wide is parted deeper."""

    def drawn(which: Sequence[int]) -> list[str]:
        there = [
            (names, [cells[at] for at in which]) for names, cells in rows if any(cells[at] for at in which)
        ]
        return _lines(labels, [columns[at] for at in which], there)

    def fits(which: Sequence[int]) -> bool:
        return max(map(len, drawn(which))) <= width

    parts: list[list[str]] = []
    waiting: list[int] = []
    for _, run in groupby(chosen, key=lambda at: columns[at].split(LEVEL)[: level + 1]):
        group = list(run)
        if waiting and not fits([*waiting, *group]):
            parts.append(drawn(waiting))
            waiting = []
        if fits(group) or level >= deepest([columns[at] for at in group]):
            waiting += group
        else:
            parts += _parted(labels, columns, rows, group, level + 1, width)
    return [*parts, drawn(waiting)] if waiting else parts


def _lines(labels: Sequence[str], columns: Sequence[str], rows: Iterable[Line]) -> list[str]:
    body = [[*names, *cells] for names, cells in rows]
    heads = [_levels(head, deepest(columns)) for head in (*labels, *columns)]
    widths = [
        max(len(heads[at][-1]), *(len(row[at]) for row in body)) if body else len(heads[at][-1])
        for at in range(len(heads))
    ]
    above = [_group_line(heads, widths, level, len(labels)) for level in range(len(heads[0]) - 1) if heads]
    lines = [line for line in above if line]
    for row in ([head[-1] for head in heads], *body):
        lines.append(
            GAP.join(
                cell.ljust(width) if at < len(labels) else cell.rjust(width)
                for at, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
        )
    return lines


def _levels(head: str, most: int) -> list[str]:
    """A head's levels from the top; the last one is directly above the figures."""
    parts = head.split(LEVEL)
    return parts[:-1] + [""] * (most + 1 - len(parts)) + parts[-1:]


def _group_line(heads: list[list[str]], widths: list[int], level: int, labels: int) -> str:
    """One line of group heads, each at the first of its columns; a long one widens the last of them."""
    parts = []
    columns = range(len(heads))
    for prefix, run in groupby(columns, key=lambda at: ("", at) if at < labels else heads[at][: level + 1]):
        group = list(run)
        name = str(prefix[level]) if group[0] >= labels else ""
        room = sum(widths[at] for at in group) + len(GAP) * (len(group) - 1)
        widths[group[-1]] += max(0, len(name) - room)
        parts.append(name.ljust(max(room, len(name))))
    return GAP.join(parts).rstrip()
