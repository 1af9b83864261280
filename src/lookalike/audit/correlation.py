"""Rank and linear correlation of a few encoders' scores, with p-values and bootstrap intervals."""

from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations
from math import factorial, nan

import numpy as np
from jaxtyping import Bool, Float, Float64

from lookalike.evaluate.significance.intervals import LEVEL, MOST_UNDEFINED, NO_VALUE, percentile

FEWEST = 3
EXACT = 8  # up to here every order of the encoders is tried
DIGITS = 12  # scores that differ in later digits only are equal
TOO_FEW = "fewer than 3 encoders have both scores"
CONSTANT = "all scores are equal"
KINDS = ("spearman", "kendall", "pearson")


@dataclass(frozen=True)
class Correlation:
    """One coefficient over `n` points, NaN with a `reason` where undefined.

    `p` is two-sided against no correlation, by the `test` named: "exact" (all orders), "t" or "normal"; NaN where none
    is made. `low` and `high` bound the 95% bootstrap interval over queries, in which `undefined` replicates had no
    value. They are NaN where none was made: `no_interval` says why, "" where none was requested.
    """

    value: float
    n: int
    p: float = nan
    test: str = ""
    low: float = nan
    high: float = nan
    undefined: int = 0
    reason: str = ""
    no_interval: str = ""


@dataclass(frozen=True)
class Correlations:
    """Spearman (SC), Kendall's tau-b (KT) and Pearson (r) of the same points."""

    spearman: Correlation
    kendall: Correlation
    pearson: Correlation

    @property
    def reason(self) -> str:
        """Why they are undefined, "" where they are not."""
        return self.spearman.reason


def correlate(x: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"]) -> Correlations:
    """All three coefficients of the points where both values are defined.

    Spearman: Pearson of the ranks, ties at mid-rank. Kendall's tau-b: (concordant - discordant pairs) /
    sqrt(pairs untied in x * pairs untied in y). Pearson: covariance / (sd x * sd y). Undefined below three points
    and where either side is constant. Their p: Spearman exact over all orders to 8 points, t above; Kendall exact
    without ties, else normal; Pearson t. A p by t is never below the least an exact test could give, 2 / n!.
    """
    both = np.isfinite(x) & np.isfinite(y)
    a, b = np.round(x[both], DIGITS), np.round(y[both], DIGITS)
    n = len(a)
    if n < FEWEST or np.ptp(a) == 0 or np.ptp(b) == 0:
        none = Correlation(nan, n, reason=TOO_FEW if n < FEWEST else CONSTANT)
        return Correlations(none, none, none)
    spearman, kendall, pearson = coefficients(a[None], b[None])[0].tolist()
    p_spearman = _exact(a, b, spearman) if n <= EXACT else _by_t(spearman, n)
    p_kendall, test = _kendall_p(a, b)
    return Correlations(
        Correlation(spearman, n, p_spearman, "exact" if n <= EXACT else "t"),
        Correlation(kendall, n, p_kendall, test),
        Correlation(pearson, n, _by_t(pearson, n), "t"),
    )


def coefficients(
    x: Float[np.ndarray, "sets n"], y: Float[np.ndarray, "sets n"]
) -> Float64[np.ndarray, "sets 3"]:
    """Spearman, Kendall's tau-b and Pearson of each row; NaN where a value is, or where a side is constant."""
    if x.shape[1] < FEWEST:
        return np.full((len(x), 3), nan)
    a, b = np.round(x, DIGITS), np.round(y, DIGITS)
    first, second = np.triu_indices(x.shape[1], 1)
    with np.errstate(invalid="ignore"):  # a NaN compares with nothing, and is taken out below
        steps = [np.sign(side[:, first] - side[:, second]) for side in (a, b)]
        ranks = [_ranks(side) for side in (a, b)]
    found = np.stack(
        [_cosine(*(_centred(r) for r in ranks)), _cosine(*steps), _cosine(_centred(a), _centred(b))], 1
    )
    found[~(np.isfinite(x) & np.isfinite(y)).all(axis=1)] = nan
    return found


def with_interval(
    found: Correlations, replicates: Float64[np.ndarray, "replicates 3"], level: float = LEVEL
) -> Correlations:
    """The same with percentile intervals; replicates that are undefined are counted and left out.

    No interval, with a reason: the value is undefined, or more than 5% of the replicates are.
    """
    parts = {}
    for kind, column in zip(KINDS, replicates.T, strict=True):
        one: Correlation = getattr(found, kind)
        defined = column[np.isfinite(column)]
        undefined = len(column) - len(defined)
        why_not = _why_no_interval(one.value, undefined, len(column))
        if not why_not:
            low, high = percentile(defined, level)
            one = replace(one, low=low, high=high)
        parts[kind] = replace(one, undefined=undefined, no_interval=why_not)
    return Correlations(**parts)


def possible_values(n: int) -> int:
    """How many values Spearman's coefficient of n points can take without ties, over all orders of them.

    >>> possible_values(3), possible_values(4)
    (4, 11)
    """
    return len(np.unique(_orders(n) @ np.arange(n)))


def defined_points(*sides: Float[np.ndarray, " n"]) -> Bool[np.ndarray, " n"]:
    """Where every side has a value."""
    return np.asarray(np.isfinite(np.stack(sides)).all(axis=0))


def _why_no_interval(value: float, undefined: int, replicates: int) -> str:
    if np.isnan(value):
        return NO_VALUE
    if undefined > MOST_UNDEFINED * replicates:
        return f"{undefined:,} of {replicates:,} replicates have no value"
    return ""


def _centred(values: np.ndarray) -> np.ndarray:
    return values - values.mean(axis=1, keepdims=True)


def _cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Row by row, NaN where a side has no length."""
    length = np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
    product = (a * b).sum(axis=1)
    found = np.divide(product, length, out=np.full(len(a), nan), where=length > 0)
    return np.clip(np.round(found, DIGITS), -1.0, 1.0)


def _ranks(values: np.ndarray) -> np.ndarray:
    """Twice the mid-rank of each value in its row."""
    higher = values[:, :, None] > values[:, None, :]
    lower = values[:, :, None] < values[:, None, :]
    return (higher.sum(axis=2) - lower.sum(axis=2)).astype(np.float64)


def _by_t(r: float, n: int) -> float:
    from scipy.special import stdtr

    least = 2.0 / factorial(min(n, 20))
    if abs(r) >= 1:
        return least
    t = abs(r) * np.sqrt((n - 2) / (1 - r * r))
    return float(max(2 * stdtr(n - 2, -t), least))


def _exact(a: np.ndarray, b: np.ndarray, spearman: float) -> float:
    """The share of all orders of the second side with a coefficient at least as far from 0."""
    x, y = (_ranks(side[None])[0] for side in (a, b))
    reached = np.abs(y[_orders(len(x))] @ x)
    return float(np.mean(reached >= abs(x @ y) - 1e-9)) if np.isfinite(spearman) else nan


@cache
def _orders(n: int) -> np.ndarray:
    return np.array(list(permutations(range(n))), np.int8)


def _kendall_p(a: np.ndarray, b: np.ndarray) -> tuple[float, str]:
    from scipy.stats import kendalltau

    tied = len(np.unique(a)) < len(a) or len(np.unique(b)) < len(b)
    exact = not tied and len(a) <= 33
    return float(
        kendalltau(a, b, method="exact" if exact else "asymptotic").pvalue
    ), "exact" if exact else "normal"
