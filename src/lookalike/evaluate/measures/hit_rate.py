"""Top-K measures: HR@K, EHR@K and coverage@K (VSD 5), and Recall@K, as EDS 6.3 words HR@K."""

import numpy as np
from jaxtyping import Float64

from lookalike.core.types import JudgedRanks, Score
from lookalike.evaluate.measures.fold import (
    NO_POSITIVE,
    mean_over_queries,
    per_query,
    queries_that_count,
    ratio,
)
from lookalike.evaluate.measures.parameters import check_k, check_word


def membership(judged: JudgedRanks, k: int) -> Float64[np.ndarray, " pairs"]:
    """w = clip((K - above) / (tied + 1), 0, 1): the share of tie orders that put the candidate in the top K.

    Without ties this is 1 for rank < K, else 0. With ties it is what a random order of equals would give, so
    a constant scorer gets neither 0 nor 1 by luck of file names. A row that stands nowhere in the list has 0.
    """
    w = np.clip((check_k(k) - judged.above) / (judged.tied + 1.0), 0.0, 1.0)
    return np.asarray(np.where(judged.above < judged.candidates, w, 0.0))


def _share(
    members: Float64[np.ndarray, " queries"], most: Float64[np.ndarray, " queries"] | int
) -> Float64[np.ndarray, " queries"]:
    """Members / most, never over 1: where a ties with b and b with c but a not with c, shares can add up to more."""
    return np.minimum(members / most, 1.0)


def hit_rate(judged: JudgedRanks, k: int, *, of: str = "k") -> Score:
    """HR@K = positives in the top K / K, mean over queries that have a label (VSD 5).

    An unjudged candidate earns nothing, so with incomplete labels this is a lower bound. With `of="possible"`
    hits are divided by min(K, R), R the query's positives, so that 1 can be reached (identification, EDS 6.5); then a
    query without positives is undefined (0/0) and not averaged. Range 0 to 1.
    """
    positive = judged.label == 1
    hits = per_query(judged, membership(judged, k) * positive)
    if check_word("of", of) == "k":
        return mean_over_queries(judged, _share(hits, k), queries_that_count(judged), NO_POSITIVE)
    positives = per_query(judged, positive)
    share = _share(hits, np.clip(positives, 1, k))
    return mean_over_queries(judged, share, positives > 0, NO_POSITIVE)


def recall(judged: JudgedRanks, k: int, *, average: str = "micro") -> Score:
    """Recall@K = positives in the top K / all labelled positives: HR@K as EDS 6.3 words it.

    micro: sum over all queries of w over positives / number of positive pairs, so every positive pair weighs the same
    (the "average of all query-candidate examples" of EDS). macro: the share of each query's R positives, mean over
    queries with one. It never falls with K, and cannot reach 1 where R > K. Undefined without a positive. Range 0 to 1.
    """
    positive = judged.label == 1
    hits, all_of = per_query(judged, membership(judged, k) * positive), per_query(judged, positive)
    if check_word("average", average) == "micro":
        return ratio(judged, hits, all_of, NO_POSITIVE)
    return mean_over_queries(judged, hits / np.maximum(all_of, 1), all_of > 0, NO_POSITIVE)


def estimated_hit_rate(judged: JudgedRanks, k: int) -> Score:
    """EHR@K = positives in the top K / labelled in the top K, mean over queries with one (VSD 5).

    Queries without a labelled candidate in the top K take the mean of the others, so they do not move it;
    where no query has one it is undefined. With every candidate of the top K labelled it equals HR@K.
    """
    w = membership(judged, k)
    positive, labelled = per_query(judged, w * (judged.label == 1)), per_query(judged, w)
    covered = (labelled > 0) & queries_that_count(judged)
    share = np.divide(positive, labelled, out=np.zeros_like(positive), where=covered)
    return mean_over_queries(judged, share, covered, f"no query has a labelled candidate in its top {k}")


def coverage(judged: JudgedRanks, k: int) -> Score:
    """coverage@K = labelled in the top K / K, mean over queries that have a label (VSD 5)."""
    labelled = _share(per_query(judged, membership(judged, k)), k)
    return mean_over_queries(judged, labelled, queries_that_count(judged), NO_POSITIVE)
