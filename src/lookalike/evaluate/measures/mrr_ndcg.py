"""Measures of a list that earn by the place: MRR, RR and NDCG; EMRR and ENDCG on its labelled candidates alone.

One idea carries them. A candidate with a better ones and t others that tie takes each of the places a, ..., a + t with
equal chance, so with C_j the gain of the first j places together and nothing beyond the top K its expected gain is

    (C_min(a + t + 1, K) - C_min(a, K)) / (t + 1).
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float64, Int

from lookalike.core.types import JudgedRanks, Score
from lookalike.evaluate.measures.fold import (
    NO_POSITIVE,
    mean_over_queries,
    per_query,
    queries_that_count,
    rows_above,
)
from lookalike.evaluate.measures.parameters import check_k, check_word
from lookalike.evaluate.measures.pooled import expected_first

EXACT = 10**6
NOT_LISTED = "no query has a labelled candidate in its list"
Gain = Callable[[Float64[np.ndarray, " places"]], Float64[np.ndarray, " places"]]


def reciprocal(place: Float64[np.ndarray, " places"]) -> Float64[np.ndarray, " places"]:
    """1 / (place + 1), places from 0."""
    return 1.0 / (place + 1.0)


def discount(place: Float64[np.ndarray, " places"]) -> Float64[np.ndarray, " places"]:
    """1 / log2(place + 2), the gain of a positive in DCG."""
    return 1.0 / np.log2(place + 2.0)


def harmonic(k: Float64[np.ndarray, " n"] | int) -> Float64[np.ndarray, " n"]:
    """H_k = 1 + 1/2 + ... + 1/k; beyond a million by ln k + gamma + 1/(2k) - 1/(12 k^2), off by less than 1e-24.

    >>> harmonic(5).tolist()
    [2.283333333333333]
    """
    asked_for = np.atleast_1d(np.asarray(k, np.int64))
    sums = _sums(reciprocal, int(min(asked_for.max(initial=0), EXACT)))
    far = np.maximum(asked_for, 1).astype(np.float64)
    formula = np.log(far) + np.euler_gamma + 1 / (2 * far) - 1 / (12 * far**2)
    return np.where(asked_for <= EXACT, sums[np.minimum(asked_for, len(sums) - 1)], formula)


def mrr(judged: JudgedRanks, k: int, *, of: str = "k") -> Score:
    """MRR@K = sum over positives in the top K of 1 / (rank + 1), over H_K, mean over queries with a label (EDS 6.3).

    H_K = 1 + ... + 1/K: without it MRR@5 could not lie above MRR@9, as it does in EDS Tables 4 and 5. An unjudged
    candidate earns nothing. With `of="possible"` it is divided by H_min(K, R), the best that R positives can
    earn, which EDS does not (docs/research/papers.md, Table 4); then a query without positives is undefined (0/0) and
    not averaged. Range 0 to 1.
    """
    positive = judged.label == 1
    earned = per_query(judged, np.where(positive, _gains(judged, k, reciprocal), 0.0))
    if check_word("of", of) == "k":
        return mean_over_queries(
            judged, np.minimum(earned / harmonic(k), 1.0), queries_that_count(judged), NO_POSITIVE
        )
    positives = per_query(judged, positive)
    share = np.minimum(earned / harmonic(np.clip(positives, 1, k)), 1.0)
    return mean_over_queries(judged, share, positives > 0, NO_POSITIVE)


def estimated_mrr(judged: JudgedRanks, k: int) -> Score:
    """EMRR@K on the list condensed to its labelled candidates: what positives earn there over what all labelled earn.

    sum over positives of 1/(place + 1) / sum over labelled of 1/(place + 1), both within the top K of the condensed
    list (Sakai 2007): EHR's idea (VSD 5) with MRR's weights. Without ties the divisor is H_min(K, labelled). Unjudged
    candidates are not seen. With every candidate labelled and K of them or more it equals MRR@K. Mean over queries
    with a label. Range 0 to 1.
    """
    gain = _condensed_gains(judged, k, reciprocal)
    earned, all_earned = per_query(judged, gain * (judged.label == 1)), per_query(judged, gain)
    listed = (all_earned > 0) & queries_that_count(judged)
    share = np.divide(earned, all_earned, out=np.zeros_like(earned), where=listed)
    return mean_over_queries(judged, share, listed, NOT_LISTED)


def ndcg(judged: JudgedRanks, k: int) -> Score:
    """NDCG@K = sum over positives in the top K of 1 / log2(rank + 2), over the same sum of the best order.

    The best order has the query's R labelled positives in the first places. An unjudged candidate earns nothing. A
    query without positives is undefined (0/0) and not averaged; trec_eval counts it as 0. Range 0 to 1.
    """
    return _ndcg(judged, k, discounted(judged, k))


def discounted(judged: JudgedRanks, k: int) -> Float64[np.ndarray, " pairs"]:
    """What each row earns in DCG@K if it is positive: 1 / log2(rank + 2), the mean over tie orders; 0 beyond K."""
    return _gains(judged, k, discount)


def estimated_ndcg(judged: JudgedRanks, k: int) -> Score:
    """ENDCG@K: NDCG@K on the condensed list (Sakai 2007) of labelled candidates, so that unjudged ones are not seen.

    With every candidate labelled it equals NDCG@K. A query without positives is undefined and not averaged.
    """
    return _ndcg(judged, k, _condensed_gains(judged, k, discount))


def reciprocal_rank(judged: JudgedRanks, k: int | None = None) -> Score:
    """RR = 1 / (rank of the first positive + 1), mean over queries with a label; with K, 0 beyond the top K.

    A query whose list has no positive earns 0, as in trec_eval. Among equals it is the mean over all their orders:
    sum over j of P(j) / (above + j + 1), P(j) = C(m - 1 - j, p - 1) / C(m, p) the chance that the first of
    the p positives among m equals is the j-th of them, counted from 0. Range 0 to 1.
    """
    code, order = judged.query_codes[1], judged.list_order
    found = order[(judged.label[order] == 1) & (judged.above[order] < judged.candidates[order])]
    query, first = np.unique(code[found], return_index=True)
    best, earned = found[first], np.zeros(len(judged.query_codes[0]))
    above, equals = judged.above[best], judged.tied[best] + 1
    cut = int(np.max(above + equals, initial=1)) if k is None else check_k(k)
    positives = np.minimum(rows_above(judged).tied_positive[best], equals)
    earned[query] = expected_first(above, equals, positives, cut)
    return mean_over_queries(judged, earned, queries_that_count(judged), NO_POSITIVE)


def _ndcg(judged: JudgedRanks, k: int, gain: Float64[np.ndarray, " pairs"]) -> Score:
    """Gains of the positives over the best possible; ties that are not transitive cannot bring it above 1."""
    positive = judged.label == 1
    positives = per_query(judged, positive).astype(np.int64)
    best = _sums(discount, min(k, int(positives.max(initial=0))))
    ideal = best[np.minimum(positives, len(best) - 1)]
    earned = per_query(judged, np.where(positive, gain, 0.0))
    share = np.divide(earned, ideal, out=np.zeros_like(earned), where=positives > 0)
    return mean_over_queries(judged, np.minimum(share, 1.0), positives > 0, NO_POSITIVE)


def _gains(judged: JudgedRanks, k: int, gain: Gain) -> Float64[np.ndarray, " pairs"]:
    """Each row's expected gain in the whole list."""
    return _expected(judged.above, judged.tied, judged.above < judged.candidates, k, gain)


def _condensed_gains(judged: JudgedRanks, k: int, gain: Gain) -> Float64[np.ndarray, " pairs"]:
    """Each row's expected gain in the list of the labelled candidates; those that stand nowhere come last there."""
    count = rows_above(judged)
    return _expected(count.better, count.tied - 1, judged.above < judged.candidates, k, gain)


def _expected(
    above: Int[np.ndarray, " pairs"],
    tied: Int[np.ndarray, " pairs"],
    listed: Bool[np.ndarray, " pairs"],
    k: int,
    gain: Gain,
) -> Float64[np.ndarray, " pairs"]:
    """The module's equation; 0 for a row that stands nowhere in the list."""
    end = above + tied + 1
    sums = _sums(gain, int(min(check_k(k), np.max(end, initial=1, where=listed))))
    last = len(sums) - 1
    return np.where(listed, (sums[np.minimum(end, last)] - sums[np.minimum(above, last)]) / (tied + 1.0), 0.0)


def _sums(gain: Gain, places: int) -> Float64[np.ndarray, " places_and_one"]:
    """C: what the first 0, 1, ..., `places` places earn together."""
    return np.append(0.0, np.cumsum(gain(np.arange(places, dtype=np.float64))))
