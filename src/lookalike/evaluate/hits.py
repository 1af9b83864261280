"""Top-K measures: HR@K, EHR@K and coverage@K (VSD 5)."""

import numpy as np
from jaxtyping import Float64

from lookalike.core.errors import MeasureError
from lookalike.core.types import JudgedRanks, Score
from lookalike.evaluate.fold import mean_over_queries, per_query


def membership(judged: JudgedRanks, k: int) -> Float64[np.ndarray, " pairs"]:
    """w = clip((K - above) / (tied + 1), 0, 1): the share of tie orders that put the candidate in the top K.

    Without ties this is 1 for rank < K, else 0. With ties it is what a random order of equals would give, so
    a constant scorer gets neither 0 nor 1 by luck of file names.
    """
    if k < 1:
        raise MeasureError(
            f"K is {k}; a list has at least one place.", fix="Give K of 1 or more, as in HR@5."
        )
    return np.asarray(np.clip((k - judged.above) / (judged.tied + 1.0), 0.0, 1.0))


def _share(members: Float64[np.ndarray, " queries"], k: int) -> Float64[np.ndarray, " queries"]:
    """Members / K, never over 1: where a ties with b and b with c but a not with c, shares can add up to more."""
    return np.minimum(members / k, 1.0)


def hit_rate(judged: JudgedRanks, k: int) -> Score:
    """HR@K = positives in the top K / K, mean over queries that have a label (VSD 5).

    An unjudged candidate earns nothing, so with incomplete labels this is a lower bound. Range 0 to 1.
    """
    hits = _share(per_query(judged, membership(judged, k) * (judged.label == 1)), k)
    return mean_over_queries(judged, hits, np.ones(len(hits), bool), "")


def estimated_hit_rate(judged: JudgedRanks, k: int) -> Score:
    """EHR@K = positives in the top K / labelled in the top K, mean over queries with one (VSD 5).

    Queries without a labelled candidate in the top K take the mean of the others, so they do not move it;
    where no query has one it is undefined. With every candidate of the top K labelled it equals HR@K.
    """
    w = membership(judged, k)
    positive, labelled = per_query(judged, w * (judged.label == 1)), per_query(judged, w)
    covered = labelled > 0
    share = np.divide(positive, labelled, out=np.zeros_like(positive), where=covered)
    return mean_over_queries(judged, share, covered, f"no query has a labelled candidate in its top {k}")


def coverage(judged: JudgedRanks, k: int) -> Score:
    """coverage@K = labelled in the top K / K, mean over queries that have a label (VSD 5)."""
    labelled = _share(per_query(judged, membership(judged, k)), k)
    return mean_over_queries(judged, labelled, np.ones(len(labelled), bool), "")
