"""Style families: where in the space of attributes the items of a studio stand.

The space of each kind is cut into cells: a low and a high half of every silhouette and proportion number,
a material with one of its colours, an ornament. A family owns one cell, no two families own the same one, and
its items stay near the middle of it. Items of two families therefore always differ clearly in at least one
respect, which is what lets `truth.positives` look inside the family only.

Families come in trios: the second and the third differ from the first in one respect only, and are the same thing in
another colour, in another material, with another ornament or another outline. These are the hard negatives.
"""

from typing import NamedTuple

import numpy as np

from lookalike.catalog.studio.attributes import COLOURS, KINDS, MADE_OF, ORNAMENTS, PLAIN
from lookalike.catalog.studio.draws import Draws, hashed

SMALLEST, LARGEST = 8, 15
TRIO = 3
_LEVELS = (0.2, 0.8)
_PLAIN_SHARE = 0.25  # on top of one in seven: a shop full of patterns tires the eye


class Cell(NamedTuple):
    """One cell of a kind's attribute space: 4 silhouette bits, 3 proportion bits, material, colour, ornament."""

    silhouette: int
    proportion: int
    material: int
    colour: int
    ornament: int


class Families(NamedTuple):
    """One row per family: its number of items, their kind, which trio it is of, its cell's number in each respect."""

    size: np.ndarray
    kind: np.ndarray
    trio: np.ndarray
    cell: np.ndarray


def families(items: int, seed: int) -> Families:
    """Families of 8 to 15 items until all have one; a rest of 4 or more is a family, a smaller rest joins the last.

    >>> drawn = families(100, seed=0)
    >>> int(drawn.size.sum()), len(set(map(tuple, drawn.cell.tolist()))) == len(drawn.size)
    (100, True)
    """
    size = _sizes(items, seed)
    rounds = -(-len(size) // len(KINDS))
    order = hashed(seed, "kind", np.arange(rounds * len(KINDS))).reshape(rounds, len(KINDS))
    kind = np.argsort(order, axis=1, kind="stable").ravel()[: len(size)].astype(np.int8)
    cell = np.empty((len(size), len(Cell._fields)), dtype=np.int8)
    trio = np.empty(len(size), dtype=np.int64)
    for each in range(len(KINDS)):
        rows = np.flatnonzero(kind == each)
        cell[rows] = _cells(each, len(rows), seed)
        trio[rows] = rows[np.arange(len(rows)) // TRIO * TRIO]
    return Families(size, kind, trio, cell)


def levels(bits: np.ndarray, count: int) -> np.ndarray:
    """The middle of the half that each bit names: (n,) numbers -> (n, count) of 0.2 and 0.8.

    >>> levels(np.array([0b01]), 2).tolist()
    [[0.8, 0.2]]
    """
    high = (bits[:, None].astype(np.int64) >> np.arange(count)) & 1
    return np.asarray(np.where(high == 1, _LEVELS[1], _LEVELS[0]))


def _sizes(items: int, seed: int) -> np.ndarray:
    spread = LARGEST - SMALLEST + 1
    drawn = SMALLEST + (hashed(seed, "size", np.arange(items // SMALLEST + 1)) % np.uint64(spread)).astype(
        np.int64
    )
    whole = int(np.searchsorted(np.cumsum(drawn), items, side="right"))
    size = drawn[:whole].copy()
    rest = items - int(size.sum())
    if rest and (whole == 0 or 2 * rest >= SMALLEST):
        return np.append(size, rest)
    size[-1] += rest
    return size


def _cells(kind: int, count: int, seed: int) -> np.ndarray:
    draws = Draws(seed, "cells", kind)
    taken: set[Cell] = set()
    cells = np.empty((count, len(Cell._fields)), dtype=np.int8)
    first = _any_cell(kind, draws)
    for row in range(count):
        if row % TRIO == 0:
            cell = first = _free_cell(kind, draws, taken)
        else:
            cell = _relative(first, kind, draws, taken)
        taken.add(cell)
        cells[row] = cell
    return cells


def _free_cell(kind: int, draws: Draws, taken: set[Cell]) -> Cell:
    while (cell := _any_cell(kind, draws)) in taken:  # the largest studio fills less than half of them
        pass
    return cell


def _relative(first: Cell, kind: int, draws: Draws, taken: set[Cell]) -> Cell:
    for _ in range(32):
        cell = _other(first, kind, draws)
        if cell not in taken:
            return cell
    return _free_cell(kind, draws, taken)


def _any_cell(kind: int, draws: Draws) -> Cell:
    looks = [
        (material, colour) for material in MADE_OF[KINDS[kind]] for colour in range(len(COLOURS[material]))
    ]
    material, colour = looks[draws.below(len(looks))]
    return Cell(draws.below(16), draws.below(8), material, colour, _ornament(draws))


def _other(cell: Cell, kind: int, draws: Draws) -> Cell:
    """The cell with one respect changed."""
    respect = draws.below(5)
    if respect == 0:
        return cell._replace(silhouette=cell.silhouette ^ (1 + draws.below(15)))
    if respect == 1:
        return cell._replace(proportion=cell.proportion ^ (1 + draws.below(7)))
    if respect == 2:
        return cell._replace(colour=draws.below(len(COLOURS[cell.material])))
    if respect == 3:
        material = draws.one_of(MADE_OF[KINDS[kind]])
        return cell._replace(material=material, colour=_nearest_colour(cell, material))
    return cell._replace(ornament=_ornament(draws))


def _ornament(draws: Draws) -> int:
    return PLAIN if draws.chance(_PLAIN_SHARE) else draws.below(len(ORNAMENTS))


def _nearest_colour(cell: Cell, material: int) -> int:
    apart = COLOURS[material] - COLOURS[cell.material][cell.colour]
    return int(np.argmin(apart[:, 0] * apart[:, 0] + apart[:, 1] * apart[:, 1] + apart[:, 2] * apart[:, 2]))
