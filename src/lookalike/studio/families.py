"""Style families: groups of items that are close in the space of attributes.

A family owns a look (a material in one of its colours), a kind of ornament and a shape word, and no two families of a
kind of furniture own the same three. Its items stay near the middle of what it owns. Two families must never look so
alike that a person would call their items alternatives to each other, or the truth would contradict the eye. Therefore:

- The looks of a kind keep apart: two that differ neither in colour nor in an obvious material are not both used.
- There are two kinds of ornament, of one colour and of two: striped and dotted sofas, all else equal, are not two
  families, and neither are plain and panelled ones.
- A shape word is five bits: a low or high half of each of the two silhouette numbers that show most
  (`attributes.SHOWS`) and of the three proportion numbers. The two silhouette bits set the proportions, so that two
  families in one look and ornament differ in their silhouette.

A kind with more families than that leaves room for (in a studio of more than some 30,000 images) counts every
ornament of two colours for itself; then it takes 2, 4 or 8 times the shape words (from some 65,000 images on), so that
some of its families differ in one or two of the proportions only; at last it counts each relief for itself (from some
500,000). The two silhouette numbers that show less may differ within a family: see `items`.

Families come in trios: the second and the third differ from the first in one respect only, and are the same thing in
another colour, in an obviously different material, with another kind of ornament, in other proportions or in another
outline and proportions. These are the hard negatives.
"""

from typing import NamedTuple

import numpy as np

from lookalike.studio.attributes import (
    COLOURS,
    CONTRAST,
    KINDS,
    ORNAMENTS,
    PAINTED,
    PLAIN,
    RELIEFS,
    STRONG,
    Look,
    colour_distance,
    looks_of,
    obviously,
)
from lookalike.studio.seeded import RandomStream, hashed

SMALLEST, LARGEST = 10, 16
_FEW, _FEW_SIZES = 400, (8, 11)  # so few items need smaller families, or each kind would have but one
TRIO = 3
SHAPE, PROPORTION, ORNAMENT, MATERIAL, COLOUR = range(5)
_LEVELS = (0.2, 0.8)
_PLAIN_SHARE = 0.25  # on top of one in seven: a shop full of patterns tires the eye
_CLEAR = 0.35  # a sibling's colour is this far from the first one's, where the material has such a colour
_TURNED = (0b000, 0b101, 0b110, 0b011, 0b111, 0b100, 0b010, 0b001)
"""Proportion bits turned: the first 1, 2, 4 or 8 of these are the words of small, larger and the largest kinds."""
_ROOM = 1.15  # cells for each family, so that a free one is soon found


class Cell(NamedTuple):
    """What a family owns: 4 silhouette bits, 3 proportion bits, material, colour, ornament."""

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
    """Families of 10 to 16 items (8 to 11 where there are fewer than 400), a rest spread over the smallest families.

    >>> drawn = families(100, seed=0)
    >>> int(drawn.size.sum()), len(set(map(tuple, drawn.cell.tolist()))) == len(drawn.size)
    (100, True)
    """
    size = _sizes(items, seed)
    shops = [_shop(kind, seed) for kind in range(len(KINDS))]
    kind = _kinds([shop.cells(_CROWDS[-1]) for shop in shops], len(size), seed)
    cell = np.empty((len(size), len(Cell._fields)), dtype=np.int8)
    trio = np.empty(len(size), dtype=np.int64)
    for each, shop in enumerate(shops):
        rows = np.flatnonzero(kind == each)
        cell[rows] = _cells(shop, len(rows))
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
    smallest, largest = _FEW_SIZES if items < _FEW else (SMALLEST, LARGEST)
    spread = np.uint64(largest - smallest + 1)
    drawn = smallest + (hashed(seed, "size", np.arange(items // smallest + 1)) % spread).astype(np.int64)
    whole = int(np.searchsorted(np.cumsum(drawn), items, side="right"))
    size = drawn[:whole].copy()
    rest = items - int(size.sum())
    if rest >= smallest or whole == 0:
        return np.append(size, rest)
    for _ in range(rest):
        size[np.argmin(size)] += 1
    return size


def _kinds(most: list[int], count: int, seed: int) -> np.ndarray:
    """The kinds in rounds, each round in another order; a kind that is full sits out."""
    rounds = next(n for n in range(1, count + 2) if sum(min(n, each) for each in most) >= count)
    order = hashed(seed, "kind", np.arange(rounds * len(KINDS))).reshape(rounds, len(KINDS))
    kind = np.argsort(order, axis=1, kind="stable")
    free = np.arange(rounds)[:, None] < np.array(most)[kind]
    return kind[free][:count].astype(np.int8)


class _Shop(NamedTuple):
    """What the cells of one kind are drawn from."""

    strong: int
    stream: RandomStream
    looks: tuple[Look, ...]
    # in the same material, another colour
    clear: dict[Look, tuple[Look, ...]]
    # in an obviously different material, a colour close by, where there is one
    other: dict[Look, tuple[Look, ...]]
    turns: tuple[int, ...]  # the proportion bits of each strong silhouette

    def cells(self, crowd: "_Crowd") -> int:
        """How many families there is room for."""
        return int(len(self.turns) * crowd.turned * len(self.looks) * crowd.ornaments / _ROOM)


class _Crowd(NamedTuple):
    """How crowded a kind is: the number of proportion words in use, and of ornaments that count separately."""

    turned: int
    ornaments: int


_CROWDS = (_Crowd(1, 2), *(_Crowd(n, 1 + len(PAINTED)) for n in (1, 2, 4, 8)), _Crowd(8, len(ORNAMENTS)))


def _shop(kind: int, seed: int) -> _Shop:
    stream = RandomStream(seed, "cells", kind)
    one, other = stream.below(8), stream.below(8)
    turns = (one, other, other ^ 0b111, one ^ 0b111)
    looks = looks_of(kind, stream)
    colour = np.array([COLOURS[material][place] for material, place in looks])
    clear, akin = {}, {}
    for look, own in zip(looks, colour, strict=True):
        apart = colour_distance(colour, own).tolist()
        same = [(far, one) for far, one in zip(apart, looks, strict=True) if one[0] == look[0]]
        least = min(_CLEAR, max(far for far, _ in same))
        clear[look] = tuple(one for far, one in same if far >= least)
        close = [(far, one) for far, one in zip(apart, looks, strict=True) if obviously(one, look)]
        akin[look] = tuple(one for far, one in sorted(close)[:2] if far < _CLEAR)
    return _Shop(STRONG[kind], stream, looks, clear, akin, turns)


def _cells(shop: _Shop, count: int) -> np.ndarray:
    crowd = next(crowd for crowd in _CROWDS if shop.cells(crowd) >= count)
    cells = np.empty((count, len(Cell._fields)), dtype=np.int8)
    taken: set[Cell] = set()
    first = _any_cell(shop, crowd)
    for row in range(count):
        cell = _sibling(first, shop, crowd, taken) if row % TRIO else None
        while cell is None or _own(cell, shop, crowd) in taken:
            cell = _any_cell(shop, crowd)
        first = first if row % TRIO else cell
        taken.add(_own(cell, shop, crowd))
        cells[row] = cell
    return cells


def _own(cell: Cell, shop: _Shop, crowd: _Crowd) -> Cell:
    """What no other family may have: the cell without what shows too little for two families to differ in it alone."""
    ornament = cell.ornament
    if crowd.ornaments < len(ORNAMENTS) and ornament in RELIEFS:
        ornament = RELIEFS[0]
    if crowd.ornaments == 2 and ornament in PAINTED:
        ornament = PAINTED[0]
    return cell._replace(silhouette=cell.silhouette & shop.strong, ornament=ornament)


def _any_cell(shop: _Shop, crowd: _Crowd) -> Cell:
    stream = shop.stream
    material, colour = stream.one_of(shop.looks)
    ornament = PLAIN if stream.chance(_PLAIN_SHARE) else stream.below(len(ORNAMENTS))
    silhouette, turned = stream.below(16), _TURNED[stream.below(crowd.turned)]
    word = turned ^ shop.turns[_strong_bits(silhouette, shop.strong)]
    return Cell(silhouette, word, material, colour, ornament)


def _strong_bits(silhouette: int, strong: int) -> int:
    low = strong & -strong
    return int(silhouette & low > 0) + 2 * int(silhouette & (strong ^ low) > 0)


def _sibling(first: Cell, shop: _Shop, crowd: _Crowd, taken: set[Cell]) -> Cell | None:
    """A free cell that differs from the first in one respect; None if there is none."""
    for _ in range(32):
        cell = _other(first, shop)
        if _own(cell, shop, crowd) not in taken:
            return cell
    return None


def _other(cell: Cell, shop: _Shop) -> Cell:
    """The cell with one respect changed, glaringly."""
    stream, respect = shop.stream, shop.stream.below(5)
    if respect == SHAPE:
        return cell._replace(silhouette=cell.silhouette ^ shop.strong, proportion=cell.proportion ^ 0b111)
    if respect == PROPORTION:
        wide, tall = cell.proportion & 1, cell.proportion >> 1 & 1
        # A photo shows no scale: narrow and low looks like wide and tall, so only one of the two is turned then.
        return cell._replace(
            proportion=cell.proportion ^ (0b111 if wide != tall else stream.one_of((0b101, 0b110)))
        )
    if respect == ORNAMENT:
        return cell._replace(ornament=stream.one_of(CONTRAST[cell.ornament]))
    look = (cell.material, cell.colour)
    others = shop.other[look] if respect == MATERIAL and shop.other[look] else shop.clear[look]
    material, colour = stream.one_of(others)
    return cell._replace(material=material, colour=colour)
