"""Samples, all pairs and the positive rate (EDS 3.3.1), slowly, from the definitions. Nothing is from src."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product
from math import comb, floor

from oracles.ranking import Photo, Rules, candidate_units, may_be_query

Pair = tuple[str, str]  # query image, candidate item


def possible_random_pairs(photos: Sequence[Photo], queries: Sequence[int]) -> list[Pair]:
    """A: every query with every item it has as a candidate."""
    return [(photos[q].image, item) for q in queries for item in candidate_units(photos, q, Rules())]


def askable(
    photos: Sequence[Photo], values: Mapping[str, Sequence[str]], wanted: Sequence[Pair]
) -> list[int]:
    """Rows that are eligible as queries and have, in each column named, one of the values named for it."""
    columns = {column for column, _ in wanted}
    return [
        row
        for row, photo in enumerate(photos)
        if may_be_query(photo, None)
        and all(any(values[column][row] == v for c, v in wanted if c == column) for column in columns)
    ]


def least_squares(sizes: Sequence[int], count: int) -> Fraction:
    """The least possible sum of squared distances from the exact shares, every stratum having at least one place."""
    return min(distance(sizes, given, count) for given in whole_shares(sizes, count))


def distance(sizes: Sequence[int], given: Sequence[int], count: int) -> Fraction:
    """Sum over strata of (given - exact share)^2."""
    exact = [Fraction(count * size, sum(sizes)) for size in sizes]
    return sum(((n - share) ** 2 for n, share in zip(given, exact, strict=True)), Fraction(0))


def whole_shares(sizes: Sequence[int], count: int) -> Iterator[tuple[int, ...]]:
    """Every way to share `count` places so that each stratum has one and none more than it has members."""
    for given in product(*(range(1, size + 1) for size in sizes)):
        if sum(given) == count:
            yield given


def largest_remainder(sizes: Sequence[int], count: int) -> list[int]:
    """Hamilton's method word by word: whole parts first, then one each by the largest remainder."""
    exact = [Fraction(count * size, sum(sizes)) for size in sizes]
    given = [floor(share) for share in exact]
    order = sorted(range(len(sizes)), key=lambda s: (given[s] - exact[s], s))
    for s in order[: count - sum(given)]:
        given[s] += 1
    return given


def posterior(labelled: int, positives: int, lower_bound: float, steps: int) -> list[tuple[float, float]]:
    """(p, mass) on a fine grid of [p_LB, 1]: uniform prior times binomial likelihood, summing to 1."""
    width = (1 - lower_bound) / steps
    grid = [lower_bound + (step + 0.5) * width for step in range(steps)]
    weight = [
        comb(labelled, positives) * p**positives * (1 - p) ** (labelled - positives) if 0 < p < 1 else 0.0
        for p in grid
    ]
    total = sum(weight)
    return [(p, w / total) for p, w in zip(grid, weight, strict=True)]


def highest_density(grid: Sequence[tuple[float, float]], level: float) -> tuple[float, float]:
    """The ends of the smallest set of grid points that holds `level` of the mass: the densest points first."""
    held, mass = [], 0.0
    for p, weight in sorted(grid, key=lambda point: -point[1]):
        held.append(p)
        mass += weight
        if mass >= level:
            break
    return min(held), max(held)
