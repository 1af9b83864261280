"""The true value of HR@K, or of a difference of two, from a drawn sample of open questions."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float64, Int64
from scipy.special import stdtrit

from lookalike.audit.sampling.design import Design, Units
from lookalike.audit.trust import wilson
from lookalike.core.checks import at_least

LEVEL = 0.95
Method = Literal["t+", "Wilson", "MOVER", "exact"]


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


def estimate(
    units: Units,
    design: Design,
    label: Float64[np.ndarray, " drawn"],
    *,
    level: float = LEVEL,
    looks: int = 1,
) -> Estimate:
    """The value known + sum of weight x answer over all units, from the drawn ones; `label` NaN: no answer.

    Difference estimator with covariate f and weights v, pi the inclusion probabilities (SPEC 17; Saerndal 1992, 6.3):

        known + lambda sum_U v f + sum_drawn v (y - lambda f) / pi

    lambda = design covariance of v y and v f / design variance of v f, both within strata (0 without covariate). The
    interval is t with sum (n_h - 1) degrees of freedom, one less with a covariate, and ("t+") each stratum's variance
    computed as if it had one similar and one dissimilar label more, if that is larger. Without a covariate it is
    Wilson's (all weights of one sign) or, for a difference, Wilson's of both sides joined by their squares (MOVER; Zou
    and Donner 2008). `looks` fixed beforehand share 1 - level equally (Bonferroni). Where all units have an answer the
    value is exact.

    Drawn units without an answer may be anything: the ends are the outermost ones with all of them 0 or all of them 1.
    The value is in the middle.

    >>> units = Units(np.full(40, 0.01), np.zeros(40, int), known=0.3)
    >>> drawn = Design(np.arange(20), np.full(20, 0.5), seed=0)
    >>> found = estimate(units, drawn, np.tile([1.0, 0.0], 10))
    >>> round(found.value, 3), round(found.low, 3), round(found.high, 3), found.method
    (0.5, 0.44, 0.56, 'Wilson')
    """
    share = 1.0 - (1.0 - level) / at_least(looks, 1, "looks")
    unknown = np.isnan(label)
    rising = units.weight[design.unit] > 0
    ends = [
        _complete(units, design, np.where(unknown, rising == most, label), share)
        for most in ((False, True) if unknown.any() else (False,))
    ]
    middle = sum(one.value for one in ends) / len(ends)
    return Estimate(
        middle,
        ends[0].low,
        ends[-1].high,
        ends[0].method,
        int((~unknown).sum()),
        int(unknown.sum()),
        ends[0].coefficient,
        max(one.error for one in ends),
    )


def _complete(units: Units, design: Design, label: Float64[np.ndarray, " drawn"], level: float) -> Estimate:
    """The estimate where every drawn unit has an answer."""
    names, place = np.unique(units.stratum, return_inverse=True)
    there = np.bincount(place, minlength=len(names)).astype(np.float64)
    of = place[design.unit]
    count = np.bincount(of, minlength=len(names)).astype(np.float64)
    if (count == 0).any():
        nothing = float("nan")
        return Estimate(nothing, nothing, nothing, "t+", len(label), 0, nothing, nothing)
    v, each = units.weight[design.unit], there[of] / count[of]
    z = v * label
    g = np.zeros_like(z) if units.covariate is None else v * units.covariate[design.unit]
    spread = there**2 * (1.0 - count / there) / count
    moving = float(spread @ _covariance(of, len(names), g, g))
    slope = float(spread @ _covariance(of, len(names), z, g)) / moving if moving > 0 else 0.0
    whole = 0.0 if units.covariate is None else float(units.weight @ units.covariate)
    value = units.known + slope * whole + float(((z - slope * g) * each).sum())
    mean_v, mean_g = (np.bincount(of, weights=column, minlength=len(names)) / count for column in (v, g))
    variance = spread @ _with_two_more(of, count, z - slope * g, mean_v - slope * mean_g, -slope * mean_g)
    error = math.sqrt(max(float(variance), 0.0))
    freedom = float((count - 1).sum()) - (units.covariate is not None)
    if len(label) == len(units):
        return Estimate(value, value, value, "exact", len(label), 0, slope, 0.0)
    if units.covariate is None:
        low, high = _without_covariate(units, design, label, each, level)
        method: Method = "Wilson" if (units.weight > 0).all() or (units.weight < 0).all() else "MOVER"
        return Estimate(value, low, high, method, len(label), 0, 0.0, error)
    half = float(stdtrit(max(freedom, 1.0), (1.0 + level) / 2.0)) * error
    return Estimate(value, value - half, value + half, "t+", len(label), 0, slope, error)


def _covariance(
    of: Int64[np.ndarray, " drawn"],
    strata: int,
    a: Float64[np.ndarray, " drawn"],
    b: Float64[np.ndarray, " drawn"],
) -> Float64[np.ndarray, " strata"]:
    """The sample covariance within each stratum; 0 for one label."""
    count = np.bincount(of, minlength=strata)
    away = [x - (np.bincount(of, weights=x, minlength=strata) / np.maximum(count, 1))[of] for x in (a, b)]
    return np.bincount(of, weights=away[0] * away[1], minlength=strata) / np.maximum(count - 1, 1)


def _with_two_more(
    of: Int64[np.ndarray, " drawn"],
    count: Float64[np.ndarray, " strata"],
    e: Float64[np.ndarray, " drawn"],
    similar: Float64[np.ndarray, " strata"],
    dissimilar: Float64[np.ndarray, " strata"],
) -> Float64[np.ndarray, " strata"]:
    """The sample variance within each stratum, or that with these two values more if it is larger."""
    total = np.bincount(of, weights=e, minlength=len(count)) + similar + dissimilar
    square = np.bincount(of, weights=e * e, minlength=len(count)) + similar**2 + dissimilar**2
    more = (square - total**2 / (count + 2)) / (count + 1)
    return np.maximum(more, _covariance(of, len(count), e, e))


def _without_covariate(
    units: Units,
    design: Design,
    label: Float64[np.ndarray, " drawn"],
    each: Float64[np.ndarray, " drawn"],
    level: float,
) -> tuple[float, float]:
    """Wilson's interval of the units that raise the value, less that of those that lower it, joined by squares."""
    value, below, above = units.known, 0.0, 0.0
    for sign in (1.0, -1.0):
        mine, drawn = sign * units.weight > 0, sign * units.weight[design.unit] > 0
        if not mine.any():
            continue
        weight = np.abs(units.weight[design.unit][drawn])
        whole = float(np.abs(units.weight[mine]).sum())
        rate = float((weight * label[drawn] * each[drawn]).sum()) / whole
        low, high = wilson(min(rate, 1.0), _worth(weight, int(mine.sum())), level)
        value += sign * whole * rate
        ends = whole * (rate - low), whole * (high - rate)
        below, above = math.hypot(below, ends[sign < 0]), math.hypot(above, ends[sign > 0])
    return value - below, value + above


def _worth(weight: Float64[np.ndarray, " drawn"], there: int) -> float:
    """How many labels of equal weight and of an endless stratum these are worth: Kish's size by the finite stratum."""
    kish = float(weight.sum() ** 2 / (weight**2).sum()) if len(weight) else 0.0
    left = there - len(weight)
    return kish * (there - 1) / left if left > 0 else math.inf
