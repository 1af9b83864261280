"""Intervals and tests from their definitions, one loop per sum. Nothing here comes from src."""

from collections.abc import Callable, Sequence
from itertools import product
from math import floor
from statistics import NormalDist, fmean

NORMAL = NormalDist()


def quantile(values: Sequence[float], share: float) -> float:
    """Linear between order statistics, the first at 0 and the last at 1."""
    listed = sorted(values)
    at = share * (len(listed) - 1)
    low = min(floor(at), len(listed) - 2)
    return listed[low] + (at - low) * (listed[low + 1] - listed[low])


def percentile(replicates: Sequence[float], level: float) -> tuple[float, float]:
    """Efron's first interval."""
    return quantile(replicates, (1 - level) / 2), quantile(replicates, (1 + level) / 2)


def bca(
    value: float, replicates: Sequence[float], left_out: Sequence[float], level: float
) -> tuple[float, float]:
    """Efron 1987, word by word."""
    below = sum(r < value - 1e-12 for r in replicates) + sum(abs(r - value) <= 1e-12 for r in replicates) / 2
    z0 = NORMAL.inv_cdf(below / len(replicates))
    mean = fmean(left_out)
    cubes, squares = sum((mean - v) ** 3 for v in left_out), sum((mean - v) ** 2 for v in left_out)
    a = cubes / (6 * squares**1.5)
    shares = []
    for share in ((1 - level) / 2, (1 + level) / 2):
        z = z0 + NORMAL.inv_cdf(share)
        shares.append(NORMAL.cdf(z0 + z / (1 - a * z)))
    return quantile(replicates, shares[0]), quantile(replicates, shares[1])


def every_swap(
    one: Sequence[float], other: Sequence[float], difference: Callable[[list[float], list[float]], float]
) -> float:
    """Share of all 2^n ways to exchange what two encoders have on a query that differ by as much."""
    least = abs(difference(list(one), list(other))) - 1e-12
    as_large = 0
    for swaps in product((False, True), repeat=len(one)):
        a = [y if swap else x for x, y, swap in zip(one, other, swaps, strict=True)]
        b = [x if swap else y for x, y, swap in zip(one, other, swaps, strict=True)]
        as_large += abs(difference(a, b)) >= least
    return as_large / 2 ** len(one)


def holm(p: Sequence[float]) -> list[float]:
    """Holm 1979: p is the least level at which the step-down procedure rejects this hypothesis."""
    adjusted = []
    for own in p:
        worst = 0.0
        for other in p:
            if other <= own:
                still_there = sum(third >= other for third in p)
                worst = max(worst, still_there * other)
        adjusted.append(min(worst, 1.0))
    return adjusted
