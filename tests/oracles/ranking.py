"""Candidates and ranks of a query, one loop per sentence of the definition. Nothing here comes from src.

Vectors are lists of whole numbers, so every comparison is exact: two candidates tie when they tie on paper.
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from math import fsum, sqrt
from typing import NamedTuple

Vector = Sequence[int]


class Photo(NamedTuple):
    """One row of a catalog."""

    image: str
    item: str
    role: str = "both"
    split: str = "train"


class Rules(NamedTuple):
    """Which candidates a query has, and by what they are ranked."""

    level: str = "item"
    similarity: str = "cosine"
    own_item: bool = False
    split: str | None = None


class Place(NamedTuple):
    """The rank of one candidate: better ones, equal ones (itself not counted), all of them, its score."""

    above: int
    tied: int
    candidates: int
    score: float


def may_be_query(photo: Photo, split: str | None) -> bool:
    """Role query or both, and of the split if one is named."""
    return photo.role in ("query", "both") and split in (None, photo.split)


def may_be_found(photo: Photo, split: str | None) -> bool:
    """Role gallery or both, and of the split if one is named."""
    return photo.role in ("gallery", "both") and split in (None, photo.split)


def candidate_rows(photos: Sequence[Photo], query: int, rules: Rules) -> list[int]:
    """All gallery images but the query itself and, by default, its own item."""
    found = []
    for row, photo in enumerate(photos):
        if not may_be_found(photo, rules.split) or row == query:
            continue
        if photo.item == photos[query].item and not rules.own_item:
            continue
        found.append(row)
    return found


def candidate_units(photos: Sequence[Photo], query: int, rules: Rules) -> dict[str, list[int]]:
    """What is ranked, by name, in catalog order: items with their images, or single images."""
    units: dict[str, list[int]] = {}
    for row in candidate_rows(photos, query, rules):
        name = photos[row].item if rules.level == "item" else photos[row].image
        units.setdefault(name, []).append(row)
    return units


def dot(a: Vector, b: Vector) -> int:
    """Sum of products."""
    return sum(x * y for x, y in zip(a, b, strict=True))


def nearness(query: Vector, other: Vector, similarity: str) -> Fraction:
    """A number that orders the candidates of one query exactly as the similarity does.

    Cosine: the query's length is common to all, and x -> x |x| keeps the order, so dot |dot| / |other|^2.
    """
    product = dot(query, other)
    if similarity == "cosine":
        return Fraction(product * abs(product), dot(other, other))
    if similarity == "dot":
        return Fraction(product)
    return Fraction(-sum((x - y) ** 2 for x, y in zip(query, other, strict=True)))


def shown(query: Sequence[float], other: Sequence[float], similarity: str) -> float:
    """The score people read: cosine, dot product, or minus the distance."""
    product = fsum(x * y for x, y in zip(query, other, strict=True))
    if similarity == "cosine":
        return product / sqrt(fsum(x * x for x in query)) / sqrt(fsum(y * y for y in other))
    if similarity == "dot":
        return product
    return -sqrt(fsum((x - y) ** 2 for x, y in zip(query, other, strict=True)))


def counted_on(query: Sequence[float], other: Sequence[float], similarity: str) -> float:
    """The score ranks are counted on: as shown, but minus half the squared distance for the distance."""
    score = shown(query, other, similarity)
    return -(score**2) / 2 if similarity == "euclidean" else score


def best_of(rows: Sequence[int], near: Callable[[int], Fraction]) -> int:
    """The row of a unit it is ranked by: its nearest image, the first in the catalog among equals."""
    best = rows[0]
    for row in rows[1:]:
        if near(row) > near(best):
            best = row
    return best


def place(photos: Sequence[Photo], vectors: Sequence[Vector], query: int, name: str, rules: Rules) -> Place:
    """Judged rank of one candidate: count those strictly better and those exactly equal."""

    def near(row: int) -> Fraction:
        return nearness(vectors[query], vectors[row], rules.similarity)

    units = candidate_units(photos, query, rules)
    mine = best_of(units[name], near)
    above = tied = 0
    for other, rows in units.items():
        score = near(best_of(rows, near))
        above += other != name and score > near(mine)
        tied += other != name and score == near(mine)
    return Place(above, tied, len(units), counted_on(vectors[query], vectors[mine], rules.similarity))


def top(photos: Sequence[Photo], vectors: Sequence[Vector], query: int, k: int, rules: Rules) -> list[int]:
    """Rows of the K best distinct units, each at its best image; equals in catalog order."""

    def near(row: int) -> Fraction:
        return nearness(vectors[query], vectors[row], rules.similarity)

    rows = [best_of(rows, near) for rows in candidate_units(photos, query, rules).values()]
    return sorted(rows, key=near, reverse=True)[:k]
