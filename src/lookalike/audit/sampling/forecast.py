"""How precise a sample of n labels will be, of pairs and of whole queries, before a label is there."""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int64
from scipy.special import stdtrit

from lookalike.audit.sampling.design import SampleUnit, Units, sizes
from lookalike.audit.sampling.estimate import LEVEL
from lookalike.audit.sampling.queries import ByQuery
from lookalike.core.checks import at_least


@dataclass(frozen=True)
class SampleStep:
    """What a number of labels buys: expected half-widths of the interval by drawn pairs and by drawn whole queries.

    `queries` is how many queries the labels are enough for. NaN where these are too few.
    """

    labels: int
    pairs: float
    whole_queries: float
    queries: int

    @property
    def unit(self) -> SampleUnit:
        """What gives the narrower interval."""
        return "query" if self.whole_queries < self.pairs else "pair"

    @property
    def half_width(self) -> float:
        """The half-width of what gives the narrower interval."""
        return self.whole_queries if self.unit == "query" else self.pairs


def forecast(
    units: Units,
    by_query: ByQuery,
    labels: int,
    chance: Float64[np.ndarray, " questions"],
    which: Int64[np.ndarray, " units"],
    *,
    guess: Float64[np.ndarray, " questions"] | None = None,
    alike: float = 0.0,
    level: float = LEVEL,
    looks: int = 1,
) -> SampleStep:
    """Half-widths of one value by both designs at the same number of labels, level and looks.

    `chance` is P(similar) of every question of `by_query`, given all that is known before the draw: a rate, the
    corrected curve, or a judge's opinion set right on known labels. `which` are the questions of `units`; `guess` is
    the covariate of each question, as in `units`. `alike` is the correlation of two answers of one query given
    `chance` (`alike_within_queries`).

    A stratum's variance is that of v (E y - lambda f), each less its side's mean, plus the mean of v^2 Var y. For a
    pair E y = p and Var y = p (1 - p). For a whole query v y = sum of w y; its variance adds alike x the covariances of
    its places. The two labels more of `estimates` are in it. Half-width:
    t x sqrt(sum of N_h^2 (1 - n_h / N_h) / n_h x that).

    >>> rows = ByQuery(np.repeat(np.arange(40), 5), np.arange(200), np.full(200, 0.005), np.zeros(40))
    >>> units = Units(np.full(200, 0.005), np.zeros(200, int))
    >>> found = forecast(units, rows, 50, np.full(200, 0.5), np.arange(200), alike=0.3)
    >>> round(found.pairs, 3), round(found.whole_queries, 3), found.unit
    (0.123, 0.228, 'pair')
    """
    share = 1.0 - (1.0 - level) / at_least(looks, 1, "looks")
    p = chance[which]
    pairs = _half_width(units, p, p * (1 - p), labels, share)
    w, each, spread = by_query.weight, chance[by_query.question], np.sqrt(chance * (1 - chance))
    whole, queries = by_query.units(guess)
    own = w * spread[by_query.question]
    alone = by_query.sums(own**2)
    together = alone + alike * (by_query.sums(own) ** 2 - alone)
    affordable = int(np.searchsorted(by_query.labels_of(), labels, side="right")) - 1
    if affordable < 2:
        return SampleStep(labels, pairs, math.nan, affordable)
    mean, noise = by_query.sums(w * each)[queries] / whole.weight, together[queries] / whole.weight**2
    of_queries = _half_width(whole, mean, noise, affordable, share)
    return SampleStep(labels, pairs, of_queries, affordable)


def alike_within_queries(
    query: Int64[np.ndarray, " rows"],
    label: Float64[np.ndarray, " rows"],
    chance: Float64[np.ndarray, " rows"],
) -> float:
    """The correlation of two answers of one query, beyond what `chance` says, from labels that are there; 0 to 1.

    With r = (y - p) / sqrt(p (1 - p)): the sum over queries of (sum r)^2 - sum r^2, over that of n (n - 1). 0 where
    no query has two labels. Rows whose chance is 0 or 1 are left out.

    >>> alike_within_queries(np.array([0, 0, 1, 1]), np.array([1.0, 1, 0, 0]), np.full(4, 0.5))
    1.0
    """
    here = (chance > 0) & (chance < 1)
    p, at = chance[here], query[here]
    r = (label[here] - p) / np.sqrt(p * (1 - p))
    sums, squares, n = np.bincount(at, weights=r), np.bincount(at, weights=r * r), np.bincount(at)
    pairs = float((n * (n - 1.0)).sum())
    return min(max(float((sums**2 - squares).sum()) / pairs, 0.0), 1.0) if pairs else 0.0


def _half_width(
    units: Units,
    expected: Float64[np.ndarray, " units"],
    noise: Float64[np.ndarray, " units"],
    labels: int,
    level: float,
) -> float:
    """t x the expected standard error, if answers have these means and variances."""
    taken = sizes(units, labels)
    if taken.sum() >= len(units):
        return 0.0
    names, place = units.strata
    there = np.bincount(place, minlength=len(names)).astype(np.float64)
    spread = there**2 * (1.0 - taken / there) / taken
    side, heavy = (units.weight > 0).astype(np.int64), np.abs(units.weight)

    def away(x: np.ndarray) -> np.ndarray:
        """Weight x the distance from the side's mean."""
        mean = np.bincount(side, heavy * x, 2) / np.maximum(np.bincount(side, heavy, 2), 1e-300)
        return np.asarray(units.weight * (x - mean[side]))

    def covariance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        left = [x - (np.bincount(place, weights=x) / there)[place] for x in (a, b)]
        return np.asarray(np.bincount(place, weights=left[0] * left[1]) / np.maximum(there - 1.0, 1.0))

    e = away(expected)
    if units.covariate is not None:
        g = away(units.covariate)
        moving = float(spread @ covariance(g, g))
        e = e - g * (float(spread @ covariance(e, g)) / moving if moving > 0 else 0.0)
    variance = covariance(e, e) + np.bincount(place, weights=units.weight**2 * noise) / there
    typical = np.bincount(place, weights=heavy) / there / (2.0 if units.whole else 1.0)
    rate = np.bincount(place, weights=heavy * expected) / np.maximum(
        np.bincount(place, weights=heavy), 1e-300
    )
    rate = np.full(len(names), 0.5) if units.whole else np.clip(rate, 0.0, 1.0)
    more = typical**2 * (rate**2 + (1.0 - rate) ** 2 - (1.0 - 2.0 * rate) ** 2 / (taken + 2.0))
    variance = spread @ np.maximum(variance, ((taken - 1.0) * variance + more) / (taken + 1.0))
    freedom = max(float((taken - 1).sum()) - (units.covariate is not None), 1.0)
    return float(stdtrit(freedom, (1.0 + level) / 2.0)) * math.sqrt(variance)
