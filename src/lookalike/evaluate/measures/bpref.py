"""BPREF, binary preference (Buckley and Voorhees 2004, as trec_eval computes it; VSD 4)."""

import numpy as np

from lookalike.core.types import JudgedRanks, Score
from lookalike.evaluate.measures.fold import NO_POSITIVE, mean_over_queries, per_query, rows_above
from lookalike.evaluate.measures.hit_rate import membership


def bpref(judged: JudgedRanks, *, depth: int | None = None) -> Score:
    """BPREF_q = 1/R sum over positives of 1 - min(negatives ranked better, R) / min(R, N).

    R positives and N negatives of the query; a negative that ties with the positive counts half; with no
    negative every positive earns 1. The whole ranking is looked at, or with `depth` the first that many as if a
    run file ended there: a positive beyond earns nothing. Where equals stand on both sides of the cut a positive
    earns by its share of the places before it, and of the negatives that tie as many stand before it as on average
    in those places. A query without positives is not averaged. Depends on ranks only. Range 0 to 1.
    """
    positive, count = judged.label == 1, rows_above(judged)
    _, code = judged.query_codes
    positives, negatives = per_query(judged, positive), per_query(judged, ~positive)
    better, tied = count.better - count.better_positive, count.tied - count.tied_positive
    half, retrieved = np.full(len(judged), 0.5), np.ones(len(judged))
    if depth is not None:
        retrieved = membership(judged, depth)
        places = np.clip(
            depth - judged.above, 1, judged.tied + 1
        )  # of its equals' places, those before the cut
        half = np.divide(places - 1, 2.0 * judged.tied, out=half, where=judged.tied > 0)
    worse_than = np.minimum(better + tied * half, positives[code])
    least = np.minimum(positives, negatives)[code]
    preferred = 1.0 - np.divide(worse_than, least, out=np.zeros(len(judged)), where=least > 0)
    total = per_query(judged, np.where(positive, retrieved * preferred, 0.0))
    mean = np.divide(total, positives, out=np.zeros_like(total), where=positives > 0)
    return mean_over_queries(judged, mean, positives > 0, NO_POSITIVE)
