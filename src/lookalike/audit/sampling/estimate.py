"""The true value of HR@K, or of a difference of two, from a drawn sample of open questions."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float64, Int64
from scipy.special import stdtrit

from lookalike.audit.sampling.bootstrap import bootstrap_ends
from lookalike.audit.sampling.design import Design, Units
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


@dataclass(frozen=True, eq=False)
class Estimates:
    """Values of many draws of one design with all answers; the columns of `Estimate`."""

    value: Float64[np.ndarray, " draws"]
    low: Float64[np.ndarray, " draws"]
    high: Float64[np.ndarray, " draws"]
    method: Method
    coefficient: Float64[np.ndarray, " draws"]
    error: Float64[np.ndarray, " draws"]


def estimate(
    units: Units,
    design: Design,
    label: Float64[np.ndarray, " drawn"],
    *,
    level: float = LEVEL,
    looks: int = 1,
) -> Estimate:
    """The value known + sum of weight x answer over all units, from the drawn ones; `label` NaN: no answer.

    See `estimates` for the formulas. `looks` fixed beforehand share 1 - level equally (Bonferroni). Where all units
    have an answer the value is exact.

    Drawn units without an answer may be anything: the ends are the outermost ones with all of them 0 or all of them 1.
    The value is in the middle.

    >>> units = Units(np.full(40, 0.01), np.zeros(40, int), known=0.3)
    >>> drawn = Design(np.arange(20), np.full(20, 0.5), seed=0)
    >>> found = estimate(units, drawn, np.tile([1.0, 0.0], 10))
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3), found.method
    (0.5, 0.436, 0.564, 'Wilson')
    """
    unknown = np.isnan(label)
    rising = units.weight[design.unit] > 0
    ends = np.stack([np.where(unknown, rising == most, label) for most in (False, True)])
    return estimate_between(units, design, ends, int(unknown.sum()), level=level, looks=looks)


def estimate_between(
    units: Units,
    design: Design,
    ends: Float64[np.ndarray, "2 drawn"],
    unanswered: int,
    *,
    level: float = LEVEL,
    looks: int = 1,
) -> Estimate:
    """`estimate` with answers that make the value least and most; they differ in `unanswered` units."""
    share = 1.0 - (1.0 - level) / at_least(looks, 1, "looks")
    order = np.argsort(units.stratum[design.unit], kind="stable")
    found = estimates(units, np.stack([design.unit[order]] * 2), ends[:, order], share)
    shown = bootstrap_ends(units, design.unit, ends, found.coefficient, share, seed=design.seed)
    return Estimate(
        float(found.value.mean()),
        float(found.low[0]),
        float(found.high[1]),
        found.method,
        len(design) - unanswered,
        unanswered,
        float(found.coefficient[0]),
        float(found.error.max()),
        shown,
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
    strata = _Strata(units, unit)
    sides = [_Side(units, v, strata.each, sign) for sign in (1.0, -1.0) if (sign * units.weight > 0).any()]
    if (strata.count == 0).any():
        nothing = nothing * np.nan
        return Estimates(nothing, nothing, nothing, "t+", nothing, nothing)
    f = np.zeros_like(v) if units.covariate is None else units.covariate[unit]
    z, g = (v * sum(side.here * (x - side.mean(x)[:, None]) for side in sides) for x in (label, f))
    answers = max(float((strata.count - 1.0).sum()), 1.0)
    freedom = max(answers - (units.covariate is not None), 1.0)
    coefficient = strata.slope(z, g, freedom)
    e = z - coefficient[:, None] * g
    t = float(stdtrit(freedom, (1.0 + level) / 2.0))
    value, below, above, square = (np.zeros(len(unit)) for _ in range(4))
    for side in sides:
        rate = side.mean(label)
        if units.covariate is not None:
            rate = rate + coefficient * (side.known_mean(units.covariate) - side.mean(f))
        rate = rate if units.whole else np.clip(rate, 0.0, 1.0)
        weight, middle = (side.typical / 2.0, rate * 0.0 + 0.5) if units.whole else (side.typical, rate)
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


class _Strata:
    """Sizes of the strata, and sums within them over the drawn units' columns.

    `each` is 1 / pi of every column. The variance of a total is `spread` x the variance within each stratum.
    """

    def __init__(self, units: Units, unit: Int64[np.ndarray, "draws drawn"]) -> None:
        names, place = units.strata
        self.of = place[unit[0]]
        self.there = np.bincount(place, minlength=len(names)).astype(np.float64)
        self.count = np.bincount(self.of, minlength=len(names)).astype(np.float64)
        self.start = np.concatenate([[0], np.cumsum(self.count)[:-1]]).astype(np.int64)
        filled = np.maximum(self.count, 1.0)
        self.spread = self.there**2 * (1.0 - self.count / self.there) / filled
        self.each = (self.there / filled)[self.of]

    def total(self, x: Float64[np.ndarray, "*any drawn"]) -> Float64[np.ndarray, "*any strata"]:
        """The sum within each stratum."""
        return np.add.reduceat(x, self.start, axis=-1)

    def centred(self, x: Float64[np.ndarray, "*any drawn"]) -> Float64[np.ndarray, "*any drawn"]:
        """Less the mean of the stratum."""
        return x - (self.total(x) / self.count)[..., self.of]

    def variance(self, x: Float64[np.ndarray, "draws drawn"]) -> Float64[np.ndarray, "draws strata"]:
        """The sample variance within each stratum; 0 for one label."""
        return self.total(self.centred(x) ** 2) / np.maximum(self.count - 1.0, 1.0)

    def slope(
        self, z: Float64[np.ndarray, "draws drawn"], g: Float64[np.ndarray, "draws drawn"], freedom: float
    ) -> Float64[np.ndarray, " draws"]:
        """The coefficient with the least estimated variance, shrunk by its own noise; 0 where g does not vary."""
        heavy = (self.spread / np.maximum(self.count - 1.0, 1.0))[self.of]
        own, other = self.centred(g), self.centred(z)
        moving, along, square = (own * own) @ heavy, (own * other) @ heavy, (other * other) @ heavy
        some = along**2 > 1e-12 * moving * square
        noise = np.divide(moving * square - along**2, along**2 * freedom, out=np.ones(len(z)), where=some)
        raw = np.divide(along, moving, out=np.zeros(len(z)), where=some)
        return raw * np.clip(1.0 - noise, 0.0, 1.0)

    def with_two_more(
        self,
        e: Float64[np.ndarray, "draws drawn"],
        weight: Float64[np.ndarray, " strata"],
        rate: Float64[np.ndarray, " draws"],
    ) -> Float64[np.ndarray, "draws strata"]:
        """The variance within each stratum with a similar and a dissimilar label of this weight more."""
        similar, dissimilar = np.outer(1.0 - rate, weight), np.outer(-rate, weight)
        total, square = self.total(e) + similar + dissimilar, self.total(e * e) + similar**2 + dissimilar**2
        return (square - total**2 / (self.count + 2.0)) / (self.count + 1.0)


class _Side:
    """The units whose answers raise the value (`sign` 1) or lower it (-1), of all strata."""

    def __init__(
        self,
        units: Units,
        v: Float64[np.ndarray, "draws drawn"],
        each: Float64[np.ndarray, " drawn"],
        sign: float,
    ) -> None:
        self.sign, self.here = sign, sign * v > 0
        self.heavy = np.abs(v) * self.here * each
        size = self.heavy.sum(axis=1)
        self.size = np.where(size > 0, size, np.nan)
        self.weight = np.maximum(sign * units.weight, 0.0)
        self.total = float(self.weight.sum())
        place = units.strata[1]
        self.typical = np.bincount(place, self.weight) / np.maximum(np.bincount(place, self.weight > 0), 1.0)

    def mean(self, x: Float64[np.ndarray, "draws drawn"]) -> Float64[np.ndarray, " draws"]:
        """The mean over the drawn by weight and 1 / pi."""
        return (self.heavy * x).sum(axis=1) / self.size

    def known_mean(self, x: Float64[np.ndarray, " units"]) -> float:
        """The mean over all units by weight."""
        return float(self.weight @ x) / self.total

    def worth(
        self, rate: Float64[np.ndarray, " draws"], variance: Float64[np.ndarray, " draws"]
    ) -> Float64[np.ndarray, " draws"]:
        """How many labels of equal weight, drawn from endlessly many, would give this variance."""
        n = self.here.sum(axis=1)
        rate = (n * rate + 1.0) / (n + 2.0)
        return rate * (1.0 - rate) * self.total**2 / np.maximum(variance, 1e-300)
