"""Micro AUC and PR-AUC as folds over sorted pairs, for any weights of the queries."""

import numpy as np
from jaxtyping import Float64

from lookalike.core.types import Pooled


def folded(
    parts: Pooled, weights: Float64[np.ndarray, "replicates queries"]
) -> Float64[np.ndarray, " replicates"]:
    """The measure with each query's pairs counted as often as its weight says, once per row of weights.

    AUC = sum over positives i of w_i (N(<i) + N(<=i)) / 2, over W N: N(<i) the weight of negatives that score
    below i, W and N the weights of all positives and negatives (EDS 4, Eq. 4 over all pairs).
    AP = sum over positives i of w_i P(>=i) / (P(>=i) + N(>=i)), over W. Both are NaN where W is 0, AUC where N is 0.
    """
    from lookalike.evaluate.pooled_kernels import ap, auc  # the compiler is loaded when something is measured

    lanes, queries = np.ascontiguousarray(weights.T), weights.shape[1]
    peers = np.bincount(parts.positive, minlength=queries) @ lanes
    others = np.bincount(parts.negative, minlength=queries) @ lanes
    total = np.zeros(len(weights))
    if parts.fold == "auc":
        auc(parts.positive, parts.negative, parts.under, parts.not_over, lanes, total)
        over = 2.0 * peers * others
    else:
        over = peers.copy()
        ap(parts.positive, parts.negative, parts.under, parts.lower, lanes, peers, others, total)
    return np.divide(total, over, out=np.full(len(total), np.nan), where=over > 0)
