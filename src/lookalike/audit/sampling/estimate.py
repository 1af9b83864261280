"""The true value of HR@K, or of a difference of two, from a drawn sample of open questions."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float64, Int64
from scipy.special import stdtrit

from lookalike.audit.sampling.bootstrap import bootstrap_ends
from lookalike.audit.sampling.design import Units
from lookalike.audit.sampling.strata import Strata, sides_of
from lookalike.audit.trust import wilson_ends
from lookalike.core.checks import at_least

LEVEL = 0.95
Method = Literal["t+", "Wilson", "MOVER", "exact"]


@dataclass(frozen=True)
class Estimate:
    """A value with its interval; `method` made the ends. `labels` of the drawn units had an answer, `open` had none.

    `coefficient` is that of the covariate (0 without one), `error` the standard error of the value. `bootstrap` has the
    ends of a bootstrap interval, for information. NaN where a stratum has no answer.
    """

    value: float
    low: float
    high: float
    method: Method
    labels: int
    open: int
    coefficient: float
    error: float
    bootstrap: tuple[float, float] = (math.nan, math.nan)


def exactly(value: float) -> Estimate:
    """A value that needs no more labels."""
    return Estimate(value, value, value, "exact", 0, 0, 0.0, 0.0, (value, value))


@dataclass(frozen=True, eq=False)
class Estimates:
    """Values of many draws of one design with all answers; the columns of `Estimate`."""

    value: Float64[np.ndarray, " draws"]
    low: Float64[np.ndarray, " draws"]
    high: Float64[np.ndarray, " draws"]
    method: Method
    coefficient: Float64[np.ndarray, " draws"]
    error: Float64[np.ndarray, " draws"]


def extremes(
    label: Float64[np.ndarray, " drawn"], weight: Float64[np.ndarray, " drawn"]
) -> Float64[np.ndarray, "2 drawn"]:
    """The answers that make a value least and most, where a label can be anything (NaN).

    >>> extremes(np.array([1.0, np.nan, np.nan, np.nan]), np.array([0.1, 0.1, -0.1, 0.0])).tolist()
    [[1.0, 0.0, 1.0, 0.0], [1.0, 1.0, 0.0, 0.0]]
    """
    unknown = np.isnan(label)
    return np.stack([np.where(unknown, up, label) for up in (weight < 0, weight > 0)]).astype(np.float64)


def estimate(
    units: Units,
    unit: Int64[np.ndarray, " drawn"],
    label: Float64[np.ndarray, "*ends drawn"],
    *,
    level: float = LEVEL,
    looks: int = 1,
    replicates: int = 0,
) -> Estimate:
    """The value known + sum of weight x answer over all units, from the drawn ones.

    See `estimates` for the formulas. `looks` fixed beforehand share 1 - level equally (Bonferroni). Where all units
    have an answer the value is exact. The bootstrap takes `replicates` (0: there is none).

    Drawn units without an answer may be anything: two rows of `label` are the `extremes`, and the ends are the
    outermost ones. The value is in the middle.

    >>> units = Units(np.full(40, 0.01), np.zeros(40, int), known=0.3)
    >>> found = estimate(units, np.arange(20), np.tile([1.0, 0.0], 10))
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3), found.method
    (0.5, 0.436, 0.564, 'Wilson')
    """
    share = 1.0 - (1.0 - level) / at_least(looks, 1, "looks")
    order = np.argsort(units.stratum[unit], kind="stable")
    unit, ends = unit[order], np.broadcast_to(label, (2, len(unit)))[:, order]
    found = estimates(units, np.stack([unit, unit]), ends, share)
    unanswered = int((ends[0] != ends[1]).sum())
    return Estimate(
        float(found.value.mean()),
        float(found.low[0]),
        float(found.high[1]),
        found.method,
        len(unit) - unanswered,
        unanswered,
        float(found.coefficient[0]),
        float(found.error.max()),
        bootstrap_ends(units, unit, ends, found.coefficient, share, replicates=replicates)
        if replicates
        else (math.nan, math.nan),
    )


def estimates(
    units: Units,
    unit: Int64[np.ndarray, "draws drawn"],
    label: Float64[np.ndarray, "draws drawn"],
    level: float = LEVEL,
) -> Estimates:
    """The estimates of draws of one design. A draw's units are in order of strata, which have the same sizes in all.

    Difference estimator with covariate f, weights v and inclusion probabilities pi (SPEC 17; Saerndal, Swensson and
    Wretman 1992, 6.3), the sums of |v| of the units that raise and of those that lower the value (`side` +, -) being
    known (Hajek's ratio, 5.7 there):

        known + sum over sides of +-V (lambda F + m),    m = sum_drawn |v| (y - lambda f) / pi / sum_drawn |v| / pi

    V = sum_U |v| and F = sum_U |v| f / V over the side; its rate lambda F + m is kept within 0 to 1. With equal weights
    and one stratum per side this is known + lambda sum_U v f + sum_drawn v (y - lambda f) / pi. lambda (0 without
    covariate) is the design covariance of v (y - mean) and v (f - mean) over the design variance of the latter, times
    max(0, 1 - its own squared relative error): a covariate that says nothing costs next to nothing.

    Each side's variance is that of its residuals v (y - lambda f - m) within the strata, or that with one similar and
    one dissimilar label of mean weight more if it is larger. The interval of a side is Wilson's, for as many labels as
    would give this variance at the estimated rate, with t's quantile for sum (n_h - 1) degrees of freedom, one less
    with a covariate. Two sides are joined by the squares of their half-widths (MOVER; Zou and Donner 2008). Whole
    queries of a difference have t's interval instead, with two queries more whose answers are 1/4 and -1/4 ("t+").

    >>> units = Units(np.full(40, 0.01), np.zeros(40, int), 0.3, np.tile([0.8, 0.1], 20))
    >>> found = estimates(units, np.array([np.arange(20)]), np.tile([1.0, 0.0], 10)[None])
    >>> found.value.round(3).tolist(), found.coefficient.round(2).tolist(), found.method
    ([0.5], [1.43], 'Wilson')
    """
    v, nothing = units.weight[unit], np.zeros(len(unit))
    if unit.shape[1] == len(units):
        exact = units.known + (v * label).sum(axis=1)
        return Estimates(exact, exact, exact, "exact", nothing, nothing)
    strata = Strata(units, unit[0])
    if (strata.count == 0).any():
        nothing = nothing * np.nan
        return Estimates(nothing, nothing, nothing, "t+", nothing, nothing)
    sides = sides_of(units, unit, strata.each)
    f = np.zeros_like(v) if units.covariate is None else units.covariate[unit]
    z, g = (v * sum(side.here * (x - side.mean(x)[:, None]) for side in sides) for x in (label, f))
    answers = max(float((strata.count - 1.0).sum()), 1.0)
    freedom = max(answers - (units.covariate is not None), 1.0)
    coefficient = strata.slope(z, g, freedom)
    e = z - coefficient[:, None] * g
    t = float(stdtrit(freedom, (1.0 + level) / 2.0))
    value, below, above, square = (np.zeros(len(unit)) for _ in range(4))
    for side in sides:
        rate, typical = side.rate(label, coefficient), side.typical()
        weight, middle = (typical / 2.0, np.full(len(unit), 0.5)) if units.whole else (typical, rate)
        own = e * side.here
        variance = np.maximum(strata.variance(own), strata.with_two_more(own, weight, middle))
        spread = variance @ strata.spread * answers / freedom
        value, square = value + side.sign * side.total * rate, square + spread
        if not units.whole:
            low, high = wilson_ends(rate, side.worth(rate, spread), t)
            ends = side.total * (rate - low), side.total * (high - rate)
            below, above = np.hypot(below, ends[side.sign < 0]), np.hypot(above, ends[side.sign > 0])
    value, error = units.known + value, np.sqrt(square)
    if units.whole:
        return Estimates(value, value - t * error, value + t * error, "t+", coefficient, error)
    method: Method = "Wilson" if len(sides) == 1 else "MOVER"
    return Estimates(value, value - below, value + above, method, coefficient, error)
