"""The inner loops of the measures. Compiled, without the interpreter lock."""

import numpy as np

from lookalike.core.compiled import compiled


@compiled
def auc(
    positive: np.ndarray,
    negative: np.ndarray,
    under: np.ndarray,
    not_over: np.ndarray,
    weights: np.ndarray,
    total: np.ndarray,
) -> None:
    """Twice the weight of the pairs won, from the lowest score up, all replicates side by side."""
    lanes = weights.shape[1]
    below, up_to = np.zeros(lanes), np.zeros(lanes)
    j, k = 0, 0
    for i in range(len(positive)):
        while j < under[i]:
            query = negative[j]
            for b in range(lanes):
                below[b] += weights[query, b]
            j += 1
        while k < not_over[i]:
            query = negative[k]
            for b in range(lanes):
                up_to[b] += weights[query, b]
            k += 1
        query = positive[i]
        for b in range(lanes):
            total[b] += weights[query, b] * (below[b] + up_to[b])


@compiled
def ap(
    positive: np.ndarray,
    negative: np.ndarray,
    under: np.ndarray,
    lower: np.ndarray,
    weights: np.ndarray,
    peers: np.ndarray,
    others: np.ndarray,
    total: np.ndarray,
) -> None:
    """Sum of precisions, from the lowest score up; `peers` and `others` are the weights not yet passed."""
    lanes = weights.shape[1]
    j, k = 0, 0
    for i in range(len(positive)):
        while j < under[i]:
            query = negative[j]
            for b in range(lanes):
                others[b] -= weights[query, b]
            j += 1
        while k < lower[i]:
            query = positive[k]
            for b in range(lanes):
                peers[b] -= weights[query, b]
            k += 1
        query = positive[i]
        for b in range(lanes):  # the least number keeps 0 / 0, where nothing was drawn, at 0
            total[b] += weights[query, b] * peers[b] / max(peers[b] + others[b], 1e-300)


@compiled
def merge(values: np.ndarray, bounds: np.ndarray, with_equal: bool, count: np.ndarray) -> None:
    """Both sides are walked once."""
    j = 0
    for i in range(len(bounds)):
        bound = bounds[i]
        while j < len(values) and (values[j] < bound or (with_equal and values[j] == bound)):
            j += 1
        count[i] = j


@compiled
def ahead(
    order: np.ndarray, code: np.ndarray, rank: np.ndarray, positive: np.ndarray, counts: np.ndarray
) -> None:
    """Rows of `counts`, per row: better ones, those of the same rank, and the positives among either."""
    better = positives = first = 0
    while first < len(order):
        row = order[first]
        if first > 0 and code[order[first - 1]] != code[row]:
            better = positives = 0
        last, among = first, 0
        while last < len(order) and code[order[last]] == code[row] and rank[order[last]] == rank[row]:
            among += positive[order[last]]
            last += 1
        for i in range(first, last):
            at = order[i]
            counts[0, at], counts[1, at] = better, last - first
            counts[2, at], counts[3, at] = positives, among
        better += last - first
        positives += among
        first = last


@compiled
def first(above: np.ndarray, equals: np.ndarray, positives: np.ndarray, cut: int, value: np.ndarray) -> None:
    """P(0) = p / m and P(j + 1) = P(j) (m - p - j) / (m - 1 - j): the first j are none of them, the next is one."""
    for i in range(len(above)):
        m, p = equals[i], positives[i]
        chance, total = p / m, 0.0
        for j in range(min(m - p + 1, cut - above[i])):
            total += chance / (above[i] + j + 1)
            chance *= (m - p - j) / max(m - 1 - j, 1)
        value[i] = total
