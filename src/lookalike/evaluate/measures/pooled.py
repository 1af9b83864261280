"""What is folded by compiled loops: micro AUC and PR-AUC for any weights of the queries; who ranks before whom."""

import numpy as np
from jaxtyping import Bool, Float64, Int, Int64

from lookalike.core.types import Pooled


def folded(
    parts: Pooled, weights: Float64[np.ndarray, "replicates queries"]
) -> Float64[np.ndarray, " replicates"]:
    """The measure with each query's pairs counted as often as its weight says, once per row of weights.

    AUC = sum over positives i of w_i (N(<i) + N(<=i)) / 2, over W N: N(<i) the weight of negatives that score
    below i, W and N the weights of all positives and negatives (EDS 4, Eq. 4 over all pairs).
    AP = sum over positives i of w_i P(>=i) / (P(>=i) + N(>=i)), over W. Both are NaN where W is 0, AUC where N is 0.
    """
    from lookalike.evaluate.measures.pooled_kernels import (  # the compiler is loaded when something is measured
        ap,
        auc,
    )

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


def merged(
    values: Float64[np.ndarray, " values"], bounds: Float64[np.ndarray, " bounds"], with_equal: bool
) -> Int64[np.ndarray, " bounds"]:
    """For each bound how many values lie under it, equal ones counted or not; both ascend."""
    from lookalike.evaluate.measures.pooled_kernels import merge

    count = np.empty(len(bounds), np.int64)
    merge(values, bounds, with_equal, count)
    return count


def ahead_of_each(
    order: Int[np.ndarray, " pairs"],
    code: Int[np.ndarray, " pairs"],
    rank: Float64[np.ndarray, " pairs"],
    positive: Bool[np.ndarray, " pairs"],
) -> Int64[np.ndarray, "4 pairs"]:
    """Per pair: better ones of its query, those of the same rank, and the positives among either."""
    from lookalike.evaluate.measures.pooled_kernels import ahead

    counts = np.empty((4, len(order)), np.int64)
    ahead(order, code, rank, positive, counts)
    return counts


def expected_first(
    above: Int[np.ndarray, " groups"],
    equals: Int[np.ndarray, " groups"],
    positives: Int[np.ndarray, " groups"],
    cut: int,
) -> Float64[np.ndarray, " groups"]:
    """Expected 1 / (place + 1) of the first of some positives among equals, 0 from the place `cut` on."""
    from lookalike.evaluate.measures.pooled_kernels import first

    value = np.empty(len(above), np.float64)
    first(above, equals, positives, cut, value)
    return value
