"""The few nearest neighbours of each of many points within a radius, without comparing all pairs.

Points fall into cells around pivots drawn from among themselves, 512 points to a cell on average. A point is
compared with those in the cells that its neighbours can lie in, the nearest first and at most `PROBES` of them:
n x 4,096 comparisons at most, and n x n / 512 with pivots, all of them in products of thin matrices. Up to
`ONE_CELL` points there is one cell, and the answer is exact.

A neighbour is one number: the bits of the squared distance, then the row. So the nearest are the least, and they are
the same in whatever order and on whatever machines cells are searched.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Int, UInt64

ONE_CELL = 4_096
IN_A_CELL = 512  # points in a cell on average
PROBES = 8
MOST_IN_A_CELL = 8 * IN_A_CELL  # larger cells are cut: where so many lie so close, neighbours are many
NONE = np.iinfo(np.uint64).max  # in place of a neighbour: further than all
_ROW = np.uint64(32)  # bits of a row in a neighbour
_BLOCK = 1 << 22  # numbers in one product: 16 MB


class Cell(NamedTuple):
    """The rows that are compared with each other, ascending: those that ask, and those that lie in the cell."""

    asking: Int[np.ndarray, " asking"]
    inside: Int[np.ndarray, " inside"]


def near_pairs(points: np.ndarray, radius: float, most: int) -> np.ndarray:
    """Pairs (a < b) of rows at most `radius` apart (pairs x 2), of each row with its `most` nearest.

    A pair is there if either of the two has it among its nearest `most`.
    """
    return pairs_of(nearest(points, cells_of(points, radius), radius, most))


def cells_of(points: np.ndarray, radius: float) -> list[Cell]:
    """All cells. A row lies in one of them, and can ask in several."""
    count = len(points)
    if count <= ONE_CELL:
        return [Cell(np.arange(count), np.arange(count))]
    pivots = np.random.default_rng(0).choice(count, int(np.ceil(count / IN_A_CELL)), replace=False)
    visited = _visits(points, pivots, radius)
    home = np.argsort(visited[:, 0], kind="stable")
    first = np.searchsorted(visited[home, 0], np.arange(len(pivots) + 1))
    visits = np.argsort(visited, axis=None, kind="stable")
    begin = np.searchsorted(visited.ravel()[visits], np.arange(len(pivots) + 1))
    cells = []
    for cell in range(len(pivots)):
        asking = visits[begin[cell] : begin[cell + 1]] // visited.shape[1]
        inside = home[first[cell] : first[cell + 1]]
        for start in range(0, len(inside), MOST_IN_A_CELL):
            part = inside[start : start + MOST_IN_A_CELL]
            cells.append(Cell(asking if len(inside) <= MOST_IN_A_CELL else part, part))
    return cells


def nearest(
    points: np.ndarray, cells: Sequence[Cell], radius: float, most: int
) -> UInt64[np.ndarray, "rows most"]:
    """The nearest neighbours of each row in these cells, the nearest first; `NONE` where there are fewer."""
    points = np.ascontiguousarray(points, dtype=np.float32)
    squares = np.einsum("ij,ij->i", points, points)
    found = np.full((len(points), most), NONE, np.uint64)
    for cell in cells:
        step = max(1, _BLOCK // max(1, len(cell.inside)))
        for start in range(0, len(cell.asking), step):
            rows = cell.asking[start : start + step]
            furthest = np.fmin(_squares(found[rows, -1]), np.float32(radius * radius))
            at, neighbour = _close(points, squares, rows, cell.inside, furthest)
            which, least = _least(at, neighbour, most)
            found[rows[which]] = merged(found[rows[which]], least)
    return found


def merged(
    one: UInt64[np.ndarray, "rows most"], other: UInt64[np.ndarray, "rows most"]
) -> UInt64[np.ndarray, "rows most"]:
    """The nearest of both tables."""
    return np.sort(np.hstack([one, other]), axis=1)[:, : one.shape[1]]


def pairs_of(found: UInt64[np.ndarray, "rows most"]) -> Int[np.ndarray, "pairs 2"]:
    """The pairs (a < b) of rows of which one has the other among its nearest."""
    known = found != NONE
    other = rows_in(found[known])
    row = np.repeat(np.arange(len(found)), known.sum(axis=1))
    key = np.minimum(row, other) * len(found)
    key += np.maximum(row, other, out=other)
    del row, other
    key.sort()
    key = key[np.diff(key, prepend=-1) > 0]
    return np.stack(np.divmod(key, max(1, len(found))), axis=1)


def rows_in(neighbours: UInt64[np.ndarray, "*shape"]) -> Int[np.ndarray, "*shape"]:
    """The rows of neighbours."""
    return neighbours.astype(np.uint32).astype(np.int64)


def of_rows(
    neighbours: UInt64[np.ndarray, "*shape"], rows: Int[np.ndarray, " rows"]
) -> UInt64[np.ndarray, "*shape"]:
    """Neighbours named by their place in `rows`, ascending, as neighbours named by row."""
    known, made = neighbours != NONE, neighbours.copy()
    made[known] = neighbours[known] >> _ROW << _ROW | rows[rows_in(neighbours[known])].astype(np.uint64)
    return made


def _squares(neighbours: np.ndarray) -> np.ndarray:
    """Their squared distances; not a number for `NONE`."""
    return (neighbours >> _ROW).astype(np.uint32).view(np.float32)


def _close(
    points: np.ndarray, squares: np.ndarray, rows: np.ndarray, inside: np.ndarray, furthest: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Places of rows, ascending, and their neighbours in this cell that are not too far, the nearest first."""
    square = squares[rows, None] - 2 * points[rows] @ points[inside].T + squares[inside]
    at, column = np.nonzero(square <= furthest[:, None])
    apart = rows[at] != inside[column]
    at, column = at[apart], column[apart]
    bits = np.maximum(square[at, column], 0).view(np.uint32).astype(np.uint64)
    width = np.uint64(len(inside).bit_length())
    # One number sorts fastest; places and columns of a block share 24 bits.
    key = np.sort(((at.astype(np.uint64) << np.uint64(32) | bits) << width) | column.astype(np.uint64))
    column = (key & np.uint64((1 << int(width)) - 1)).astype(np.int64)
    key >>= width
    return (key >> _ROW).astype(np.int64), key << _ROW | inside[column].astype(np.uint64)


def _least(at: np.ndarray, neighbour: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Which places there are, and a table of the first neighbours of each."""
    which, begins, count = np.unique(at, return_index=True, return_counts=True)
    turn = np.arange(len(at)) - np.repeat(begins, count)
    table = np.full((len(which), most), NONE, np.uint64)
    use = turn < most
    table[np.repeat(np.arange(len(which)), count)[use], turn[use]] = neighbour[use]
    return which, table


def _visits(points: np.ndarray, pivots: np.ndarray, radius: float) -> np.ndarray:
    """Cells each point asks in (points x probes), its own first; -1 where none is left that can help.

    If b lies within r of a, and in the cell of pivot c, then |a - c| <= |a - a's own pivot| + 2 r.
    """
    squares = np.einsum("ij,ij->i", points, points)
    probes = min(PROBES, len(pivots))
    visited = np.empty((len(points), probes), np.int32)
    step = max(1, _BLOCK // len(pivots))
    for start in range(0, len(points), step):
        part = slice(start, start + step)
        square = squares[part, None] - 2 * points[part] @ points[pivots].T + squares[pivots]
        closest = np.argpartition(square, probes - 1, axis=1)[:, :probes]
        far = np.sqrt(np.take_along_axis(square, closest, axis=1).clip(0))
        order = np.argsort(far, axis=1, kind="stable")
        closest, far = (np.take_along_axis(table, order, axis=1) for table in (closest, far))
        visited[part] = np.where(far <= far[:, :1] + 2 * radius, closest, -1)
    return visited
