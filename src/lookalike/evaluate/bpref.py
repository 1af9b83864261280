"""BPREF, binary preference (Buckley and Voorhees 2004, as trec_eval computes it; VSD 4)."""

import numpy as np

from lookalike.core.types import JudgedRanks, Score
from lookalike.evaluate.fold import better_and_tied, mean_over_queries, per_query

NO_POSITIVE = "no query has a positive label"


def bpref(judged: JudgedRanks) -> Score:
    """BPREF_q = 1/R sum over positives of 1 - min(negatives ranked better, R) / min(R, N).

    R positives and N negatives of the query; a negative that ties with the positive counts half; with no
    negative every positive earns 1. The whole ranking is looked at. A query without positives is not averaged.
    Depends on ranks only. Range 0 to 1.
    """
    positive = judged.label == 1
    _, code = judged.query_codes
    positives, negatives = per_query(judged, positive), per_query(judged, ~positive)
    better, tied = better_and_tied(judged, ~positive)
    worse_than = np.minimum(better + tied / 2.0, positives[code])
    least = np.minimum(positives, negatives)[code]
    preferred = 1.0 - np.divide(worse_than, least, out=np.zeros(len(judged)), where=least > 0)
    total = per_query(judged, np.where(positive, preferred, 0.0))
    mean = np.divide(total, positives, out=np.zeros_like(total), where=positives > 0)
    return mean_over_queries(judged, mean, positives > 0, NO_POSITIVE)
