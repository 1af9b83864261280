"""The true value of HR@K, or of a difference of two, from a drawn sample of open questions."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float64, Int64
from scipy.special import stdtrit

from lookalike.audit.sampling.design import Design, Units
from lookalike.audit.trust import wilson_ends
from lookalike.core.checks import at_least

LEVEL = 0.95
Method = Literal["t", "t+", "Wilson", "MOVER", "exact"]


@dataclass(frozen=True)
class Estimate:
    """A value with its interval; `method` made the ends. `labels` of the drawn units had an answer, `open` had none.

    `coefficient` is that of the covariate (0 without one), `error` the standard error of the value. NaN where a stratum
    has no answer.
    """

    value: float
    low: float
    high: float
    method: Method
    labels: int
    open: int
    coefficient: float
    error: float


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
    (0.5, 0.44, 0.56, 'Wilson')
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
    return Estimate(
        float(found.value.mean()),
        float(found.low[0]),
        float(found.high[1]),
        found.method,
        len(design) - unanswered,
        unanswered,
        float(found.coefficient[0]),
        float(found.error.max()),
    )


def estimates(
    units: Units,
    unit: Int64[np.ndarray, "draws drawn"],
    label: Float64[np.ndarray, "draws drawn"],
    level: float = LEVEL,
) -> Estimates:
    """The estimates of draws of one design. A draw's units are in order of strata, which have the same sizes in all.

    Difference estimator with covariate f and weights v, pi the inclusion probabilities (SPEC 17; Saerndal 1992, 6.3):

        known + lambda sum_U v f + sum_drawn v (y - lambda f) / pi

    lambda = design covariance of v y and v f / design variance of v f, both within strata (0 without covariate).
    Where strata hold units of other weights' signs, or of weight 0 (drawn for another value), v itself is a covariate
    too: then lambda are two numbers, and the sum of v over the drawn is as good as known.

    The interval is t with sum (n_h - 1) degrees of freedom, one less for each covariate; residuals' variances are
    divided by as many. Each stratum's variance is computed as if it had one similar and one dissimilar label of mean
    weight more, if that is larger ("t+"); not for whole queries ("t"). Without a covariate the interval is Wilson's
    (all weights of one sign) or, for a difference, Wilson's of both sides joined by their squares (MOVER; Zou and
    Donner 2008).

    >>> units = Units(np.full(40, 0.01), np.zeros(40, int), 0.3, np.tile([0.8, 0.1], 20))
    >>> found = estimates(units, np.array([np.arange(20)]), np.tile([1.0, 0.0], 10)[None])
    >>> found.value.round(3).tolist(), found.coefficient.round(2).tolist(), found.method
    ([0.5], [1.43], 't+')
    """
    strata = _Strata(units, unit)
    draws = len(unit)
    if (strata.count == 0).any():
        nothing = np.full(draws, np.nan)
        return Estimates(nothing, nothing, nothing, "t+", nothing, nothing)
    g = _covariates(units)
    z, moved = units.weight[unit] * label, g[:, unit]
    slope = strata.slope(z, moved)
    e = z - np.einsum("dc,cdn->dn", slope, moved)
    value = units.known + slope @ g.sum(axis=1) + e @ strata.each
    own = slope[:, -1] if units.covariate is not None else np.zeros(draws)
    if unit.shape[1] == len(units):
        return Estimates(value, value, value, "exact", own, np.zeros(draws))
    variance = strata.variance(e)
    if not units.whole:
        variance = np.maximum(variance, strata.with_two_more(e, *_typical(units, g, slope)))
    answers = float((strata.count - 1.0).sum())
    freedom = max(answers - len(g), 1.0)
    error = np.sqrt(variance @ strata.spread * max(answers, 1.0) / freedom)
    if len(g) == 0 and not units.whole:
        below, above = _without_covariate(units, unit, label, strata, level)
        method: Method = "Wilson" if (units.weight > 0).all() or (units.weight < 0).all() else "MOVER"
        return Estimates(value, value - below, value + above, method, own, error)
    half = float(stdtrit(freedom, (1.0 + level) / 2.0)) * error
    return Estimates(value, value - half, value + half, "t" if units.whole else "t+", own, error)


class _Strata:
    """Sizes of the strata, and sums within them over the drawn units' columns.

    `each` is 1 / pi of every column. The variance of a total is `spread` x the variance within each stratum.
    """

    def __init__(self, units: Units, unit: Int64[np.ndarray, "draws drawn"]) -> None:
        names, place = np.unique(units.stratum, return_inverse=True)
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
        self, z: Float64[np.ndarray, "draws drawn"], g: Float64[np.ndarray, "covariates draws drawn"]
    ) -> Float64[np.ndarray, "draws covariates"]:
        """The coefficients with the least estimated variance; 0 for a covariate that does not vary."""
        if not len(g):
            return np.zeros((len(z), 0))
        heavy = (self.spread / np.maximum(self.count - 1.0, 1.0))[self.of]
        own, other = self.centred(g), self.centred(z)
        square = np.einsum("cdn,edn,n->dce", own, own, heavy)
        product = np.einsum("cdn,dn,n->dc", own, other, heavy)
        return np.einsum("dce,de->dc", np.linalg.pinv(square, rcond=1e-9, hermitian=True), product)

    def with_two_more(
        self,
        e: Float64[np.ndarray, "draws drawn"],
        similar: Float64[np.ndarray, "draws strata"],
        dissimilar: Float64[np.ndarray, "draws strata"],
    ) -> Float64[np.ndarray, "draws strata"]:
        """The variance within each stratum with these two values more."""
        total, square = self.total(e) + similar + dissimilar, self.total(e * e) + similar**2 + dissimilar**2
        return (square - total**2 / (self.count + 2.0)) / (self.count + 1.0)


def is_mixed(units: Units) -> bool:
    """Whether some stratum holds weights of several signs, 0 being one of them."""
    signs = np.unique(np.stack([units.stratum, np.sign(units.weight)], axis=1), axis=0)
    return len(np.unique(signs[:, 0])) < len(signs)


def _covariates(units: Units) -> Float64[np.ndarray, "covariates units"]:
    """What is known of the units before the draw, times their weights."""
    weights = [units.weight] if is_mixed(units) and not units.whole else []
    guesses = [] if units.covariate is None else [units.weight * units.covariate]
    return np.array([*weights, *guesses]).reshape(-1, len(units))


def _typical(
    units: Units, g: Float64[np.ndarray, "covariates units"], slope: Float64[np.ndarray, "draws covariates"]
) -> tuple[Float64[np.ndarray, "draws strata"], Float64[np.ndarray, "draws strata"]]:
    """The residuals of a similar and of a dissimilar label of a stratum's mean unit, units of weight 0 left out."""
    names, place = np.unique(units.stratum, return_inverse=True)
    sign = np.sign(units.weight)
    sums = [np.bincount(place, weights=sign * x, minlength=len(names)) for x in (sign, units.weight, *g)]
    weight, *moved = np.array(sums[1:]) / np.maximum(sums[0], 1.0)
    turned = np.where(np.bincount(place, weights=sign, minlength=len(names)) < 0, -1.0, 1.0)
    dissimilar = -(slope @ np.reshape(moved, (len(g), len(names)))) * turned
    return weight * turned + dissimilar, dissimilar


def _without_covariate(
    units: Units,
    unit: Int64[np.ndarray, "draws drawn"],
    label: Float64[np.ndarray, "draws drawn"],
    strata: _Strata,
    level: float,
) -> tuple[Float64[np.ndarray, " draws"], Float64[np.ndarray, " draws"]]:
    """How far Wilson's interval goes below and above: units that raise the value, less those that lower it."""
    below, above = np.zeros(len(unit)), np.zeros(len(unit))
    for sign in (1.0, -1.0):
        mine, drawn = sign * units.weight > 0, sign * units.weight[unit[0]] > 0
        if not mine.any():
            continue
        weight = np.abs(units.weight[unit[:, drawn]])
        whole = float(np.abs(units.weight[mine]).sum())
        rate = np.minimum((weight * label[:, drawn]) @ strata.each[drawn] / whole, 1.0)
        low, high = wilson_ends(rate, _worth(weight, int(mine.sum())), level)
        ends = whole * (rate - low), whole * (high - rate)
        below, above = np.hypot(below, ends[sign < 0]), np.hypot(above, ends[sign > 0])
    return below, above


def _worth(weight: Float64[np.ndarray, "draws drawn"], there: int) -> Float64[np.ndarray, " draws"]:
    """How many labels of equal weight and of an endless stratum these are worth: Kish's size by the finite stratum."""
    kish = weight.sum(axis=1) ** 2 / (weight**2).sum(axis=1)
    left = there - weight.shape[1]
    return kish * (there - 1) / left if left > 0 else np.full(len(weight), math.inf)
