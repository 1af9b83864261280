"""The compiled loops of correlations over weighted queries."""

import numpy as np

from lookalike.core.compiled import compiled


@compiled
def correlate_weighted(
    place: np.ndarray,
    cell: np.ndarray,
    x: np.ndarray,
    y: np.ndarray,
    x_group: np.ndarray,
    y_group: np.ndarray,
    weights: np.ndarray,
    fewest: int,
    found: np.ndarray,
) -> None:
    """Points are in order of x; query i has the weight at `place[i]` and belongs to point `cell[i]`."""
    n, xs, ys = len(x), x_group[-1] + 1, y_group.max() + 1
    w, x_weight, y_weight = np.empty(n), np.empty(xs), np.empty(ys)
    x_rank, y_rank, tree = np.empty(xs), np.empty(ys), np.empty(ys + 1)
    for b in range(len(weights)):
        x_weight[:] = 0.0
        y_weight[:] = 0.0
        w[:] = 0.0
        for i in range(len(place)):
            w[cell[i]] += weights[b, place[i]]
        for i in range(n):
            x_weight[x_group[i]] += w[i]
            y_weight[y_group[i]] += w[i]
        total, x_ties = _midranks(x_weight, x_rank)
        _, y_ties = _midranks(y_weight, y_rank)
        pairs = total * (total - 1.0) / 2.0
        if total < fewest or x_ties >= pairs or y_ties >= pairs:
            continue
        found[b, 0] = _pearson(x_rank, x_group, y_rank, y_group, w, total)
        score = _concordance(x_group, y_group, w, tree)
        found[b, 1] = score / np.sqrt((pairs - x_ties) * (pairs - y_ties))
        found[b, 2] = _linear(x, y, w, total)


@compiled
def _midranks(weight: np.ndarray, rank: np.ndarray) -> tuple[float, float]:
    """The mid-rank of each group of equals; the weight of all, and how many pairs are equal."""
    below, ties = 0.0, 0.0
    for g in range(len(weight)):
        rank[g] = below + (weight[g] - 1.0) / 2.0
        below += weight[g]
        ties += weight[g] * (weight[g] - 1.0) / 2.0
    return below, ties


@compiled
def _pearson(
    x_rank: np.ndarray,
    x_group: np.ndarray,
    y_rank: np.ndarray,
    y_group: np.ndarray,
    w: np.ndarray,
    total: float,
) -> float:
    """Of mid-ranks, whose mean is (total - 1) / 2."""
    mean = (total - 1.0) / 2.0
    xy, xx, yy = 0.0, 0.0, 0.0
    for i in range(len(w)):
        a, b = x_rank[x_group[i]] - mean, y_rank[y_group[i]] - mean
        xy += w[i] * a * b
        xx += w[i] * a * a
        yy += w[i] * b * b
    return xy / np.sqrt(xx * yy)


@compiled
def _linear(x: np.ndarray, y: np.ndarray, w: np.ndarray, total: float) -> float:
    """Pearson of the values."""
    x_mean, y_mean = 0.0, 0.0
    for i in range(len(w)):
        x_mean += w[i] * x[i]
        y_mean += w[i] * y[i]
    x_mean, y_mean = x_mean / total, y_mean / total
    xy, xx, yy = 0.0, 0.0, 0.0
    for i in range(len(w)):
        a, b = x[i] - x_mean, y[i] - y_mean
        xy += w[i] * a * b
        xx += w[i] * a * a
        yy += w[i] * b * b
    return xy / np.sqrt(xx * yy)


@compiled
def _concordance(x_group: np.ndarray, y_group: np.ndarray, w: np.ndarray, tree: np.ndarray) -> float:
    """Concordant minus discordant pairs, by a Fenwick tree of the weights met so far."""
    tree[:] = 0.0
    size, n, met, score = len(tree) - 1, len(w), 0.0, 0.0
    first = 0
    while first < n:
        last = first
        while last < n and x_group[last] == x_group[first]:
            if w[last] > 0:
                below, at = 0.0, y_group[last]
                while at > 0:
                    below += tree[at]
                    at -= at & -at
                up_to, at = 0.0, y_group[last] + 1
                while at > 0:
                    up_to += tree[at]
                    at -= at & -at
                score += w[last] * (below - (met - up_to))
            last += 1
        for i in range(first, last):
            met += w[i]
            at = y_group[i] + 1
            while at <= size:
                tree[at] += w[i]
                at += at & -at
        first = last
    return score
