"""The few nearest neighbours of each of many points within a radius, without comparing all pairs.

Points fall into cells around pivots drawn from among themselves, 512 points to a cell on average. A point is
compared with those in the cells that its neighbours can lie in, the nearest first and at most `PROBES` of them:
n x 4,096 comparisons at most, and n x n / 512 with pivots, all of them in products of thin matrices. Up to
`ONE_CELL` points there is one cell, and the answer is exact.
"""

from collections.abc import Iterator

import numpy as np

ONE_CELL = 4_096
IN_A_CELL = 512  # points in a cell on average
PROBES = 8
MOST_IN_A_CELL = 8 * IN_A_CELL  # larger cells are cut: where so many lie so close, neighbours are many
_BLOCK = 1 << 22  # numbers in one product: 16 MB


def near_pairs(points: np.ndarray, radius: float, most: int) -> np.ndarray:
    """Pairs (a < b) of rows at most `radius` apart (pairs x 2), of each row with its `most` nearest.

    A pair is there if either of the two has it among its nearest `most`.
    """
    points = np.ascontiguousarray(points, dtype=np.float32)
    squares = np.einsum("ij,ij->i", points, points)
    nearest = np.full((len(points), most), -1, np.int32)
    far = np.full((len(points), most), np.inf, np.float32)
    for asking, within in _meetings(points, squares, radius):
        for row, other, square in _close(points, squares, asking, within, radius):
            _keep(nearest, far, row, other, square)
    row, turn = np.nonzero(nearest >= 0)
    other = nearest[row, turn]
    key = np.unique(np.minimum(row, other) * len(points) + np.maximum(row, other))
    return np.stack(np.divmod(key, max(1, len(points))), axis=1)


def _meetings(
    points: np.ndarray, squares: np.ndarray, radius: float
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Which points are to be compared with which, cell by cell: (rows that ask, rows in the cell)."""
    count = len(points)
    if count <= ONE_CELL:
        yield np.arange(count), np.arange(count)
        return
    pivots = np.random.default_rng(0).choice(count, int(np.ceil(count / IN_A_CELL)), replace=False)
    visited = _visits(points, squares, pivots, radius)
    home = np.argsort(visited[:, 0], kind="stable")
    first = np.searchsorted(visited[home, 0], np.arange(len(pivots) + 1))
    visits = np.argsort(visited, axis=None, kind="stable")
    begin = np.searchsorted(visited.ravel()[visits], np.arange(len(pivots) + 1))
    for cell in range(len(pivots)):
        asking = visits[begin[cell] : begin[cell + 1]] // visited.shape[1]
        inside = home[first[cell] : first[cell + 1]]
        for start in range(0, len(inside), MOST_IN_A_CELL):
            part = inside[start : start + MOST_IN_A_CELL]
            yield (asking if len(inside) <= MOST_IN_A_CELL else part), part


def _visits(points: np.ndarray, squares: np.ndarray, pivots: np.ndarray, radius: float) -> np.ndarray:
    """Cells each point asks in (points x probes), its own first; -1 where none is left that can help.

    If b lies within r of a, and in the cell of pivot c, then |a - c| <= |a - a's own pivot| + 2 r.
    """
    probes = min(PROBES, len(pivots))
    visited = np.empty((len(points), probes), np.int32)
    step = max(1, _BLOCK // len(pivots))
    for start in range(0, len(points), step):
        part = slice(start, start + step)
        square = squares[part, None] - 2 * points[part] @ points[pivots].T + squares[pivots]
        nearest = np.argpartition(square, probes - 1, axis=1)[:, :probes]
        far = np.sqrt(np.take_along_axis(square, nearest, axis=1).clip(0))
        order = np.argsort(far, axis=1, kind="stable")
        nearest, far = (np.take_along_axis(table, order, axis=1) for table in (nearest, far))
        visited[part] = np.where(far <= far[:, :1] + 2 * radius, nearest, -1)
    return visited


def _close(
    points: np.ndarray, squares: np.ndarray, asking: np.ndarray, within: np.ndarray, radius: float
) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Rows in ascending order, the rows near them in this cell, and squared distances."""
    step = max(1, _BLOCK // max(1, len(within)))
    for start in range(0, len(asking), step):
        rows = asking[start : start + step]
        square = squares[rows, None] - 2 * points[rows] @ points[within].T + squares[within]
        at, column = np.nonzero(square <= radius * radius)
        apart = rows[at] != within[column]
        at, column = at[apart], column[apart]
        yield rows[at], within[column], square[at, column]


def _keep(
    nearest: np.ndarray, far: np.ndarray, row: np.ndarray, other: np.ndarray, square: np.ndarray
) -> None:
    """Put what was found for each row among its nearest, and let go of what there is no place for."""
    most = nearest.shape[1]
    order = np.lexsort((other, square, row))
    row, other, square = row[order], other[order], square[order]
    begins = np.flatnonzero(np.diff(row, prepend=-1))
    turn = np.arange(len(row)) - np.repeat(begins, np.diff(np.append(begins, len(row))))
    rows, at = row[begins], np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(row))))
    use = turn < most
    found = np.full((len(rows), most), -1, np.int32)
    found_far = np.full((len(rows), most), np.inf, np.float32)
    found[at[use], turn[use]], found_far[at[use], turn[use]] = other[use], square[use]
    both, both_far = np.hstack([nearest[rows], found]), np.hstack([far[rows], found_far])
    best = np.argsort(both_far, axis=1, kind="stable")[:, :most]
    nearest[rows] = np.take_along_axis(both, best, axis=1)
    far[rows] = np.take_along_axis(both_far, best, axis=1)
