"""Two encoders on the same queries: their difference, how sure it is, and how large."""

from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from jaxtyping import Float64
from scipy.special import stdtr

from lookalike.core.errors import NotComparableError
from lookalike.core.types import Score
from lookalike.evaluate.measures.fold import refolded
from lookalike.evaluate.significance.intervals import MOST_UNDEFINED, SAME, Interval


@dataclass(frozen=True)
class Comparison:
    """One measure of two encoders, on the queries that count for both; `left_out` count for one only.

    `difference` is the first value minus the second. `p_t` (paired t-test) and the effect size `d_z` exist for means
    over queries, `p_permutation` and `won` (share of queries on which the first is ahead, ties half) where a measure
    has parts per query, `p_bootstrap` always; NaN otherwise. `p` is the permutation's, or the bootstrap's where
    there is none; `p_holm` is adjusted for the `family`: all pairs of encoders by this measure. `least_p` is the least
    that this number of replicates can give for any difference.
    """

    measure: str
    encoders: tuple[str, str]
    values: tuple[float, float]
    difference: float
    interval: Interval
    queries: int
    left_out: int
    p_t: float
    p_permutation: float
    p_bootstrap: float
    p_holm: float
    family: int
    d_z: float
    won: float
    least_p: float = 0.0

    @property
    def p(self) -> float:
        """The p-value before Holm's adjustment."""
        return self.p_bootstrap if np.isnan(self.p_permutation) else self.p_permutation

    @property
    def drawn_too_few(self) -> bool:
        """Whether p is the least possible, and only Holm's adjustment makes it not significant."""
        return bool(self.p <= self.least_p + SAME and self.p_holm >= 1.0 - self.interval.level)

    @property
    def replicates_needed(self) -> int:
        """How many replicates let the least p decide in this family; more by those without a value."""
        drawn, enough = self.interval, round(self.family / (1.0 - self.interval.level), 6)
        return ceil(enough * drawn.replicates / max(drawn.replicates - drawn.undefined, 1))

    @property
    def swapped(self) -> "Comparison":
        """The same, the other way round."""
        ends = replace(self.interval, low=-self.interval.high, high=-self.interval.low)
        return replace(
            self,
            encoders=self.encoders[::-1],
            values=self.values[::-1],
            difference=-self.difference,
            interval=ends,
            d_z=-self.d_z,
            won=1.0 - self.won,
        )


def on_both(a: Score, b: Score) -> tuple[Score, Score]:
    """Both scores on the queries that count for both: others keep no part of the value.

    A score that loses no query is returned as it is. What compares pairs of all queries loses none.
    """
    if not np.array_equal(a.query, b.query) or (a.pooled is None) != (b.pooled is None):
        raise NotComparableError(
            f"The two scores of {a.measure} are not over the same queries.",
            fix="Evaluate both encoders again in one call, on the same catalog, labels and options.",
        )
    if a.pooled is not None:
        return a, b
    both = (a.denominator > 0) & (b.denominator > 0)
    return _on(a, both), _on(b, both)


def left_out(a: Score, b: Score) -> int:
    """How many queries count for one of the two only."""
    return 0 if a.pooled is not None else int(np.sum((a.denominator > 0) ^ (b.denominator > 0)))


def _on(score: Score, which: np.ndarray) -> Score:
    """The score of some queries; those left out stay in the list with parts of 0."""
    if not np.any((score.denominator > 0) & ~which):
        return score
    numerator, denominator = np.where(which, score.numerator, 0.0), np.where(which, score.denominator, 0.0)
    return refolded(score, numerator, denominator, score.reason or "no query counts for both encoders")


def per_query_differences(a: Score, b: Score) -> Float64[np.ndarray, " queries"]:
    """a - b on each query that counts for both, as the value the query alone would have; empty for pooled measures."""
    if a.pooled is not None:
        return np.empty(0)
    both = (a.denominator > 0) & (b.denominator > 0)
    return a.numerator[both] / a.denominator[both] - b.numerator[both] / b.denominator[both]


def are_means(a: Score, b: Score) -> bool:
    """Whether both are plain means over queries: every query that counts weighs the same."""
    weights = [score.denominator[score.denominator > 0] for score in (a, b)]
    return a.pooled is None and len(set(np.concatenate(weights).tolist())) == 1


def t_test(differences: Float64[np.ndarray, " queries"], error: float | None = None) -> float:
    """Two-sided p of the paired t-test: t = mean / (s / sqrt(n)) with n - 1 degrees of freedom (VSD 7).

    `error` is another standard error of the mean than s / sqrt(n). 1 where all differences are 0; undefined for one
    query, and where all differ by the same.
    """
    n = len(differences)
    if n < 2:
        return float("nan")
    if np.ptp(differences) <= SAME:
        return 1.0 if abs(differences[0]) <= SAME else float("nan")
    t = differences.mean() / (differences.std(ddof=1) / np.sqrt(n) if error is None else error)
    return float(2.0 * stdtr(n - 1, -abs(t)))


def effect(differences: Float64[np.ndarray, " queries"]) -> float:
    """Cohen's d_z = mean / standard deviation of the differences; 0 where all are 0, else undefined without spread."""
    if len(differences) < 2:
        return float("nan")
    if np.ptp(differences) <= SAME:
        return 0.0 if abs(differences[0]) <= SAME else float("nan")
    return float(differences.mean() / differences.std(ddof=1))


def share_won(differences: Float64[np.ndarray, " queries"]) -> float:
    """The share of queries with a difference above 0, ties half; undefined without queries."""
    if len(differences) == 0:
        return float("nan")
    return float(np.mean(differences > SAME) + np.mean(np.abs(differences) <= SAME) / 2.0)


def bootstrap_p(difference: float, replicates: Float64[np.ndarray, " replicates"]) -> float:
    """(count + 1) / (B + 1) of replicates at least as far from the difference as it is from 0 (Smucker et al. 2007).

    The replicates, shifted to a mean of 0, show the differences to expect where there is none.
    Undefined where more than 5 % of the replicates are.
    """
    known = replicates[~np.isnan(replicates)]
    if len(known) < (1.0 - MOST_UNDEFINED) * len(replicates):
        return float("nan")
    return float((np.sum(np.abs(known - difference) >= abs(difference) - SAME) + 1) / (len(known) + 1))


def holm(p: Float64[np.ndarray, " family"]) -> Float64[np.ndarray, " family"]:
    """Holm's step-down adjustment: the i-th least of m becomes max over j <= i of (m - j + 1) p_(j), at most 1.

    Undefined ones stay undefined and do not count.

    >>> holm(np.array([0.01, 0.04, 0.03])).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    adjusted = np.full(len(p), np.nan)
    order = np.argsort(p)[: int(np.sum(~np.isnan(p)))]
    steps = p[order] * np.arange(len(order), 0, -1)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps), 1.0)
    return adjusted
