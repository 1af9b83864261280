"""Queries as units of a sample, and queries as a sample of all that could be asked."""

import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float64, Int64
from scipy.special import stdtrit

from lookalike.audit.sampling.design import Units, probability
from lookalike.audit.sampling.estimate import LEVEL, Estimate, extremes
from lookalike.core.checks import at_least


@dataclass(frozen=True, eq=False)
class ByQuery:
    """One value query by query: an answer to `question[i]` adds weight[i] x answer to the part of `query[i]`.

    A question can serve two queries, and then has two rows. `known` is each query's part of the labels that are there;
    all parts together are the value.
    """

    query: Int64[np.ndarray, " rows"]
    question: Int64[np.ndarray, " rows"]
    weight: Float64[np.ndarray, " rows"]
    known: Float64[np.ndarray, " queries"]

    def sums(self, x: Float64[np.ndarray, " rows"]) -> Float64[np.ndarray, " queries"]:
        """The sum of each query's rows."""
        return np.bincount(self.query, weights=x, minlength=len(self.known)).astype(np.float64)

    def units(
        self, guess: Float64[np.ndarray, " questions"] | None = None
    ) -> tuple[Units, Int64[np.ndarray, " units"]]:
        """Whole queries as units, and which queries they are: those with an open question.

        With W = sum of |w| over a query's rows its answer is sum of w y / W, from -1 to 1, and its covariate sum of
        w f / W: what the query adds to the value is W times that, as for any unit. One encoder's answers are 0 to 1.

        >>> two = ByQuery(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([0.2, -0.2, 0.2]), np.zeros(3))
        >>> units, which = two.units(np.array([0.9, 0.4]))
        >>> units.weight.tolist(), units.covariate.round(2).tolist(), which.tolist()
        ([0.4, 0.2], [0.25, 0.4], [0, 1])
        """
        heavy = self.sums(np.abs(self.weight))
        which = np.flatnonzero(heavy > 0)
        covariate = (
            None if guess is None else self.sums(self.weight * guess[self.question])[which] / heavy[which]
        )
        strata = np.zeros(len(which), np.int64)
        signed = bool((self.weight < 0).any())
        return Units(heavy[which], strata, float(self.known.sum()), covariate, whole=signed), which

    def labels_of(self) -> Float64[np.ndarray, " queries_and_none"]:
        """How many labels 0, 1, ... of the queries with an open question take on average, drawn at random.

        A question of k of the Q queries is asked if one of them is drawn: 1 - C(Q - k, m) / C(Q, m) for m drawn.

        >>> ByQuery(np.array([0, 0, 1]), np.array([0, 1, 1]), np.ones(3), np.zeros(2)).labels_of().tolist()
        [0.0, 1.5, 2.0]
        """
        size = len(np.unique(self.query))
        drawn, asked = np.arange(size + 1.0), np.zeros(size + 1)
        none = np.ones(size + 1)
        times = np.bincount(np.bincount(self.question))
        for k in range(1, len(times)):
            none = none * np.maximum(size - drawn - k + 1.0, 0.0) / max(size - k + 1.0, 1.0)
            asked += times[k] * (1.0 - none)
        return np.round(asked, 9)

    def answers(
        self, queries: Int64[np.ndarray, " drawn"], label: Float64[np.ndarray, " questions"]
    ) -> Float64[np.ndarray, "2 drawn"]:
        """The answers of whole queries, for `estimate`: the least and the most that they can be.

        They differ where a question has no answer (NaN).

        >>> two = ByQuery(np.array([0, 0, 1]), np.array([0, 1, 1]), np.array([0.2, -0.2, 0.2]), np.zeros(2))
        >>> two.answers(np.array([0, 1]), np.array([1.0, np.nan])).tolist()
        [[0.0, 0.0], [0.5, 1.0]]
        """
        heavy = np.maximum(self.sums(np.abs(self.weight)), 1e-300)
        ends = extremes(label[self.question], self.weight)
        return np.stack([(self.sums(self.weight * one) / heavy)[queries] for one in ends])


def between_queries(
    by_query: ByQuery,
    units: Units,
    unit: Int64[np.ndarray, " drawn"],
    label: Float64[np.ndarray, " drawn"],
    coefficient: float,
) -> float:
    """The variance of the value if its queries are drawn from endlessly many: Q x variance of the queries' true parts.

    `question` of `by_query` are places among `units` here. With r = y - lambda f of the drawn, m the mean of r over the
    units of the same sign by weight / pi, and w the weights of a query's rows, its part is estimated as

        t = known + sum w (lambda f + m) + sum_drawn w (r - m) / pi

    and Q times their variance, Q / (Q - 1) sum (t - mean t)^2, less what the draw of units adds to it,
    sum_drawn (w (r - m))^2 (1 - pi) / pi^2. At least 0. An answer that serves two queries is in both parts.

    >>> parts = ByQuery(np.arange(4), np.arange(4), np.full(4, 0.25), np.zeros(4))
    >>> units = Units(np.full(4, 0.25), np.zeros(4, int))
    >>> round(between_queries(parts, units, np.arange(4), np.array([1.0, 0, 0, 1]), 0.0), 4)
    0.0833
    """
    size = len(by_query.known)
    if size < 2:
        return math.nan
    guess = np.zeros(len(units)) if units.covariate is None else coefficient * units.covariate
    pi = probability(units, unit)
    side = (units.weight > 0).astype(np.int64)
    heavy, r = np.abs(units.weight[unit]) / pi, label - guess[unit]
    sums = [np.bincount(side[unit], weights=x, minlength=2) for x in (heavy * r, heavy)]
    mean = sums[0] / np.maximum(sums[1], 1e-300)
    away, excess = np.zeros(len(units)), np.zeros(len(units))
    away[unit] = (r - mean[side[unit]]) / pi
    excess[unit] = away[unit] ** 2 * (1.0 - pi)
    w, at = by_query.weight, by_query.question
    part = by_query.known + by_query.sums(w * (guess + mean[side] + away)[at])
    added = float((w**2 * excess[at]).sum())
    return max(float(((part - part.mean()) ** 2).sum()) * size / (size - 1) - added, 0.0)


def expected_between(by_query: ByQuery, chance: Float64[np.ndarray, " questions"]) -> float:
    """What `between_queries` is expected to find, if a question is similar with this chance, whatever the others are.

        Q / (Q - 1) sum (e - mean e)^2 + sum w^2 p (1 - p), with e = known + sum w p of each query

    NaN for fewer than two queries.

    >>> parts = ByQuery(np.arange(4), np.arange(4), np.full(4, 0.25), np.zeros(4))
    >>> expected_between(parts, np.full(4, 0.5))
    0.0625
    """
    size = len(by_query.known)
    if size < 2:
        return math.nan
    p, w = chance[by_query.question], by_query.weight
    part = by_query.known + by_query.sums(w * p)
    spread = float((w**2 * p * (1.0 - p)).sum())
    return float(((part - part.mean()) ** 2).sum()) * size / (size - 1) + spread


def half_between(between: float, queries: int, *, level: float = LEVEL, looks: int = 1) -> float:
    """The half-width that a variance between queries gives, by t with queries - 1 degrees of freedom.

    >>> round(half_between(0.0016, 100), 4)
    0.0794
    """
    share = 1.0 - (1.0 - level) / at_least(looks, 1, "looks")
    return float(stdtrit(max(queries - 1, 1), (1.0 + share) / 2.0)) * math.sqrt(between)


def with_queries_drawn(
    found: Estimate, between: float, queries: int, *, level: float = LEVEL, looks: int = 1
) -> Estimate:
    """The estimate where queries are a sample too: `between` is added to the variance, half-widths join by squares.

        low = value - sqrt((value - low)^2 + (t between^(1/2))^2), t with queries - 1 degrees of freedom

    >>> fixed = Estimate(0.5, 0.44, 0.56, "Wilson", 50, 0, 0.0, 0.03)
    >>> round(with_queries_drawn(fixed, 0.0016, 100).low, 3)
    0.401
    """
    half = half_between(between, queries, level=level, looks=looks)

    def wider(low: float, high: float) -> tuple[float, float]:
        below, above = math.hypot(found.value - low, half), math.hypot(high - found.value, half)
        return found.value - below, found.value + above

    low, high = wider(found.low, found.high)
    error = math.hypot(found.error, math.sqrt(between))
    return replace(found, low=low, high=high, error=error, bootstrap=wider(*found.bootstrap))
