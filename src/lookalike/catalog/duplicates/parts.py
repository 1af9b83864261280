"""The search for near duplicates in parts: runs of cells, each of which can be searched on another machine.

A part has all that its search needs. Cells of a part are near each other, so few rows are in many parts. All parts
together give the pairs of `duplicate_pairs`: the nearest few of a row are the nearest of those in each part.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int, UInt8, UInt64

from lookalike.catalog.duplicates.groups import LOOKED_AT, RADIUS, distances, features
from lookalike.catalog.duplicates.neighbours import (
    NONE,
    Cell,
    cells_of,
    merged,
    nearest,
    of_rows,
    pairs_of,
    rows_in,
)

PART = 2**16  # photos that lie in the cells of a part


@dataclass(frozen=True, eq=False)
class CellRun:
    """Cells that are searched together. `rows` are those that ask or lie in them, ascending; cells count in these."""

    rows: Int[np.ndarray, " rows"]
    signatures: UInt8[np.ndarray, "rows bytes"]
    points: Float[np.ndarray, "rows features"]
    cells: tuple[Cell, ...]


@dataclass(frozen=True, eq=False)
class NearInCells:
    """What a search of some cells found: the nearest of each row there, and the pairs of these that are duplicates."""

    rows: Int[np.ndarray, " rows"]
    nearest: UInt64[np.ndarray, "rows most"]
    pairs: Int[np.ndarray, "pairs 2"]


def cell_runs(looks: UInt8[np.ndarray, "looks bytes"]) -> Iterator[CellRun]:
    """The parts of the search among distinct signatures, at least one."""
    points = features(looks)
    cells = _side_by_side(points, cells_of(points, RADIUS))
    before = np.cumsum([0, *(len(cell.inside) for cell in cells)])[:-1]
    for run in np.split(np.arange(len(cells)), np.flatnonzero(np.diff(before // PART)) + 1):
        sides = [side for at in run for side in cells[at]]
        rows, place = np.unique(np.concatenate(sides), return_inverse=True)
        places = np.split(place, np.cumsum([len(side) for side in sides])[:-1])
        inner = tuple(map(Cell, places[::2], places[1::2]))
        yield CellRun(rows, looks[rows], points[rows], inner)


def search(run: CellRun) -> NearInCells:
    """Search a part."""
    found = nearest(run.points, run.cells, RADIUS, LOOKED_AT)
    pairs = pairs_of(found)
    pairs = pairs[distances(run.signatures, pairs[:, 0], pairs[:, 1]) <= 1]
    return NearInCells(run.rows, of_rows(found, run.rows), run.rows[pairs])


def joined_pairs(count: int, parts: Iterable[NearInCells]) -> Int[np.ndarray, "pairs 2"]:
    """The pairs of `duplicate_pairs` among `count` signatures, from what was found in all parts, in any order."""
    found, pairs = np.full((count, LOOKED_AT), NONE), [np.empty((0, 2), np.int64)]
    for part in parts:
        found[part.rows] = merged(found[part.rows], part.nearest)
        pairs.append(part.pairs)
    a, b = np.unique(np.concatenate(pairs), axis=0).T
    among = (rows_in(found[a]) == b[:, None]) | (rows_in(found[b]) == a[:, None])
    return np.stack([a, b], axis=1)[among.any(axis=1)]


def _side_by_side(points: np.ndarray, cells: Sequence[Cell]) -> list[Cell]:
    """Cells in an order in which near ones follow each other: halved along the widest axis, again and again."""
    if len(cells) == 1:
        return list(cells)
    centres = np.stack([points[cell.inside].mean(axis=0) for cell in cells])

    def halved(some: np.ndarray) -> list[int]:
        if len(some) == 1:
            return some.tolist()
        off = centres[some] - centres[some].mean(axis=0)
        widest = np.linalg.eigh(off.T @ off)[1][:, -1]
        one, other = np.array_split(some[np.argsort(off @ widest, kind="stable")], 2)
        return halved(one) + halved(other)

    return [cells[at] for at in halved(np.arange(len(cells)))]
