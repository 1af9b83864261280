"""ROC-AUC and PR-AUC over labelled pairs, per query and over all pairs (EDS 4, Eq. 4 and 5; EDS 6.3).

Eq. 5 prints 1/|D| where the mean over queries, 1/|Q|, is meant.
"""

import numpy as np

from lookalike.core.types import JudgedRanks, Score
from lookalike.evaluate.measures.fold import NO_POSITIVE, mean_over_queries, per_query, pooled, rows_above

ONE_SIDED = "no query has both a positive and a negative label"
NO_PAIR = "the labels are not of both kinds"


def auc_macro(judged: JudgedRanks) -> Score:
    """AUC per query, mean over queries with both labels (EDS Eq. 4, 5; 1/|Q| for the printed 1/|D|).

    AUC_q = the share of (positive, negative) pairs of the query in which the positive ranks better;
    equal ranks count half. Depends on ranks only. Range 0 to 1; 0.5 for a constant scorer.
    """
    positive = judged.label == 1
    count = rows_above(judged)
    better, tied = count.better - count.better_positive, count.tied - count.tied_positive
    positives, negatives = per_query(judged, positive), per_query(judged, ~positive)
    lost = per_query(judged, np.where(positive, better + tied / 2.0, 0.0))
    both = (positives > 0) & (negatives > 0)
    share = np.divide(lost, positives * negatives, out=np.zeros_like(lost), where=both)
    return mean_over_queries(judged, 1.0 - share, both, ONE_SIDED)


def auc_micro(judged: JudgedRanks) -> Score:
    """AUC over the scores of all labelled pairs together (EDS 6.3).

    The share of (positive, negative) pairs, of whichever queries, in which the positive scores higher; scores
    within the tie tolerance (1e-6 of cosine) are equal and count half. Undefined unless there are labels of both kinds.
    """
    return pooled(judged, "auc", NO_PAIR)


def pr_auc_macro(judged: JudgedRanks) -> Score:
    """Average precision per query over its labelled candidates, mean over queries with a positive (EDS 6.3).

    AP_q = mean over positives of (positives ranked as well or better) / (labelled ranked as well or better),
    so equals enter together, as in scikit-learn. Depends on ranks only.
    """
    positive, count = judged.label == 1, rows_above(judged)
    precision = (count.better_positive + count.tied_positive) / np.maximum(count.better + count.tied, 1)
    positives = per_query(judged, positive)
    total = per_query(judged, np.where(positive, precision, 0.0))
    mean = np.divide(total, positives, out=np.zeros_like(total), where=positives > 0)
    return mean_over_queries(judged, mean, positives > 0, NO_POSITIVE)


def pr_auc_micro(judged: JudgedRanks) -> Score:
    """Average precision over the scores of all labelled pairs together; equal scores enter together."""
    return pooled(judged, "ap", "no label is positive")
