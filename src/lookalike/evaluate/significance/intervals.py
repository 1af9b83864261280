"""Bootstrap intervals over queries, from the parts of scores, without ranking again."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from jaxtyping import Float64
from scipy.special import ndtr, ndtri

Method = Literal["bca", "percentile"]
METHODS = get_args(Method)
METHOD: Method = "bca"
CORRECTED = "corrected"  # a bootstrap interval with the error of HR@K corrected
LEVEL = 0.95
REPLICATES = 2000
FEWEST_QUERIES = 10  # fewer queries give intervals that are too narrow: docs/research/calibration.md
FEWEST_REPLICATES = 100
MOST_REPLICATES = 1_000_000  # one number is kept for each of them and each score
LEAST_LEVEL = 0.5
NO_VALUE = "the value is undefined"  # why a value has no interval
MOST_UNDEFINED = 0.05  # share of replicates without a value
SAME = 1e-12  # values that differ by less are equal: sums of fractions in another order


@dataclass(frozen=True)
class Interval:
    """Where the value would lie for all queries like these, with a confidence of `level`.

    `replicates` were drawn, `undefined` of them had no value and were left out. Where the interval is undefined its
    ends are NaN and `reason` says why. `method` is the one that made the ends.
    """

    low: float
    high: float
    level: float
    method: str
    replicates: int
    undefined: int
    reason: str = ""


def interval(
    value: float,
    queries: int,
    replicates: Float64[np.ndarray, " replicates"],
    without_each: Float64[np.ndarray, " queries"],
    *,
    level: float = LEVEL,
    method: str = METHOD,
) -> Interval:
    """The interval of a value over a number of queries, from its bootstrap replicates and its jackknife.

    Undefined: the value is; fewer than 10 queries count; more than 5 % of the replicates have no value; or no replicate
    differs from another, which does not mean certainty: other queries may differ. BCa takes
    the percentile ends where all replicates lie on one side of the value, and says so in `method`.
    """
    known = replicates[~np.isnan(replicates)]
    undefined = len(replicates) - len(known)
    reason = _reason(value, queries, known, undefined)
    if reason:
        return Interval(np.nan, np.nan, level, method, len(replicates), undefined, reason)
    low, high = bca(value, known, without_each, level) if method == "bca" else (np.nan, np.nan)
    if np.isnan(low):
        method = "percentile"
        low, high = percentile(known, level)
    return Interval(low, high, level, method, len(replicates), undefined)


def percentile(replicates: Float64[np.ndarray, " replicates"], level: float) -> tuple[float, float]:
    """The quantiles (1 - level) / 2 and (1 + level) / 2 of the replicates (Efron 1979)."""
    low, high = np.quantile(replicates, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high)


def bca(
    value: float,
    replicates: Float64[np.ndarray, " replicates"],
    without_each: Float64[np.ndarray, " queries"],
    level: float,
) -> tuple[float, float]:
    """Bias corrected and accelerated (Efron 1987): the quantiles Phi(z0 + (z0 + z) / (1 - a (z0 + z))), z = -+z_level.

    z0 = Phi^-1(share of replicates below the value, ties half) corrects bias, a = sum d^3 / (6 (sum d^2)^1.5)
    with d = mean of the jackknife - its values corrects for a spread that grows with the value. NaN where
    z0 is infinite or the correction turns the ends around.
    """
    z = ndtri((1.0 - level) / 2.0) * np.array([1.0, -1.0])
    z0 = ndtri(_share_below(replicates, value))
    a = acceleration(without_each)
    scale = 1.0 - a * (z0 + z)
    if not np.isfinite(z0) or scale.min() <= 0.0:
        return float("nan"), float("nan")
    low, high = np.quantile(replicates, ndtr(z0 + (z0 + z) / scale))
    return float(low), float(high)


def acceleration(without_each: Float64[np.ndarray, " queries"]) -> float:
    """a = sum d^3 / (6 (sum d^2)^1.5), d = mean of the jackknife - its values; 0 where they are all equal."""
    known = without_each[~np.isnan(without_each)]
    d = known.mean() - known if len(known) else known
    if np.abs(d).max(initial=0.0) <= SAME:
        return 0.0
    return float(np.sum(d**3) / (6.0 * np.sum(d**2) ** 1.5))


def too_few(queries: int) -> str:
    """Why so few queries have no interval; empty where they have one."""
    if queries >= FEWEST_QUERIES:
        return ""
    counted = f"{queries} {'query counts' if queries == 1 else 'queries count'}"
    return f"only {counted}, and an interval needs {FEWEST_QUERIES}"


def _reason(value: float, queries: int, known: np.ndarray, undefined: int) -> str:
    """Why there is no interval."""
    if np.isnan(value):
        return NO_VALUE
    if too_few(queries):
        return too_few(queries)
    if undefined > MOST_UNDEFINED * (undefined + len(known)):
        return f"{undefined:,} of {undefined + len(known):,} replicates have no value"
    if np.ptp(known) <= SAME:
        return "all queries give the same value, so resampling them shows no spread"
    return ""


def _share_below(replicates: np.ndarray, value: float) -> float:
    """The share of replicates below the value, equal ones half."""
    return float(np.mean(replicates < value - SAME) + np.mean(replicates <= value + SAME)) / 2.0
