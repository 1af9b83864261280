"""DCS, the discounted credit score (VSD 4, Eq. 1 and 2)."""

import math

import numpy as np
from jaxtyping import Float, Float64, Int

from lookalike.core.types import JudgedRanks, Score
from lookalike.evaluate.measures.fold import per_query, ratio
from lookalike.evaluate.measures.parameters import check_alpha, check_half, check_word, one_alpha

ALONE = "every labelled candidate is the only candidate of its query, so it has no percentile rank"


def percentile(judged: JudgedRanks) -> Float64[np.ndarray, " pairs"]:
    """p = 1 - r / (n - 1): 1 at the top, 0 at the bottom, NaN where the candidate is alone (n = 1)."""
    others = judged.candidates - 1.0
    return 1.0 - np.divide(judged.rank, others, out=np.full(len(judged), np.nan), where=others > 0)


def phi(p: Float[np.ndarray, " n"], alpha: float) -> Float64[np.ndarray, " n"]:
    """phi(p, alpha) = (e^(alpha p) - 1) / (e^alpha - 1) (VSD Eq. 2), for any alpha.

    Written as e^(alpha (p - 1)) (1 - e^(-alpha p)) / (1 - e^(-alpha)) for alpha > 0, which neither
    overflows nor loses digits. alpha -> 0 is the limit p; alpha -> inf gives 1 at p = 1 and 0 below,
    alpha -> -inf gives 0 at p = 0 and 1 above.

    >>> phi(np.array([0.0, 0.5, 1.0]), 0.0).tolist()
    [0.0, 0.5, 1.0]
    >>> phi(np.array([0.0, 0.9, 1.0]), 1e6).tolist()
    [0.0, 0.0, 1.0]
    """
    p = np.asarray(p, np.float64)
    if check_alpha(alpha) == 0:
        return p.copy()
    if alpha < 0:
        return np.asarray(1.0 - phi(1.0 - p, -alpha))
    if np.isinf(alpha):
        return np.where(np.isnan(p), np.nan, (p >= 1).astype(np.float64))
    if alpha < 1e-6:  # e^(alpha p) - 1 = alpha p (1 + alpha p / 2 + ...)
        return p * (1 + alpha * (p - 1) / 2)
    return _above_zero(p, alpha)


def alpha_of_half(half: float, candidates: Int[np.ndarray, " n"]) -> Float64[np.ndarray, " n"]:
    """The alpha with which the credit of a similar pair is halved at rank `half`: (n - 1) ln 2 / half.

    With it, phi = (2^(-r/half) - e^-alpha) / (1 - e^-alpha) at the zero-based rank r, so 1/2 at r = half as far as the
    list is much longer than that (e^-alpha is .001 for a list of ten times `half`). 0 for a list of one (n = 1).

    >>> alpha_of_half(7.0, np.array([102])).round(3).tolist()
    [10.001]
    """
    return np.asarray((np.asarray(candidates) - 1.0) * np.log(2.0) / check_half(half))


def half_credit(alpha: float) -> float:
    """Share of the ranking after which a similar pair has lost half of its credit.

    Solves phi(1 - x) = 1/2 of VSD Eq. 2: x = 1 - ln((e^alpha + 1) / 2) / alpha.

    >>> round(half_credit(10.0), 3), round(half_credit(1e-9), 3)
    (0.069, 0.5)
    """
    if alpha < 1e-4:
        return 0.5
    return (math.log(2) - math.log1p(math.exp(-alpha))) / alpha


def credit(
    p: Float[np.ndarray, " n"], label: Int[np.ndarray, " n"], alpha: float, alpha_negative: float
) -> Float64[np.ndarray, " n"]:
    """C(p, y, alpha) = phi^y (1 - phi)^(1 - y) (VSD Eq. 1): phi for a positive, 1 - phi for a negative."""
    return np.where(label == 1, phi(p, alpha), 1.0 - phi(p, alpha_negative))


def dcs(
    judged: JudgedRanks,
    *,
    alpha: float | None = None,
    alpha_negative: float | None = None,
    half: float | None = None,
    average: str = "micro",
) -> Score:
    """Mean credit over labelled pairs (VSD 4); `average="macro"` averages within each query first.

    Positives near the top and negatives near the bottom earn credit; `alpha` (default 10) sets how narrow "the top" is,
    `alpha_negative` (default alpha) does so for negatives. `half` gives alpha by the rank at which the credit of a
    positive is halved, so that "the top" is as deep in a catalog of any size. Unjudged pairs earn nothing and cost
    nothing. Pairs alone in their list (n = 1) have no percentile and are left out. Range 0 to 1.
    """
    check_word("average", average)
    p = percentile(judged)
    ranked = ~np.isnan(p)
    one_alpha(alpha=alpha, alpha_negative=alpha_negative, half=half)
    if half is None:
        alpha = 10.0 if alpha is None else alpha
        values = credit(p, judged.label, alpha, alpha if alpha_negative is None else alpha_negative)
    else:
        near = _above_zero(p, alpha_of_half(half, judged.candidates))
        values = np.where(judged.label == 1, near, 1.0 - near)
    total, count = per_query(judged, np.where(ranked, values, 0.0)), per_query(judged, ranked)
    if average == "micro":
        return ratio(judged, total, count, ALONE)
    mean = np.divide(total, count, out=np.zeros_like(total), where=count > 0)
    return ratio(judged, mean, (count > 0).astype(np.float64), ALONE)


def _above_zero(p: Float[np.ndarray, " n"], alpha: float | np.ndarray) -> Float64[np.ndarray, " n"]:
    """phi for any alpha above 0, one for all rows or one for each; NaN where p is."""
    with np.errstate(invalid="ignore"):  # a list of one candidate: p is NaN and alpha 0
        return np.asarray(np.exp(alpha * (p - 1)) * np.expm1(-alpha * p) / np.expm1(-alpha))
