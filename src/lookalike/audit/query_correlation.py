"""Correlations over queries, for any whole weights of the queries: one bootstrap replicate per row of weights."""

from math import nan

import numpy as np
from jaxtyping import Float, Float64

from lookalike.audit.correlate import DIGITS, FEWEST
from lookalike.evaluate.pooled_kernels import compiled


class OverQueries:
    """Spearman, Kendall's tau-b and Pearson of two values per query; queries that lack one are left out.

    A query with weight w counts as w equal queries. Spearman is Pearson of mid-ranks; tau-b is (concordant -
    discordant) / sqrt((pairs - ties in x) (pairs - ties in y)). Undefined below three queries, and where a side
    is constant.
    """

    def __init__(self, x: Float[np.ndarray, " queries"], y: Float[np.ndarray, " queries"]) -> None:
        here = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        a, b = np.round(x[here], DIGITS), np.round(y[here], DIGITS)
        (xs, i), (ys, j) = (np.unique(side, return_inverse=True) for side in (a, b))
        points, cell = np.unique(
            i * len(ys) + j, return_inverse=True
        )  # equal queries are one point, in order of x
        self.place, self.cell, self.n = here, cell.astype(np.int64), len(here)
        if self.n:
            self.x_group, self.y_group = np.divmod(points, len(ys))
            self.x, self.y = xs[self.x_group], ys[self.y_group]

    def of(self, weights: Float64[np.ndarray, "replicates queries"]) -> Float64[np.ndarray, "replicates 3"]:
        """One row of coefficients per row of weights."""
        found = np.full((len(weights), 3), nan)
        if self.n:
            groups = self.x_group, self.y_group
            _correlate(self.place, self.cell, self.x, self.y, *groups, weights, FEWEST, found)
        return np.clip(np.round(found, DIGITS), -1.0, 1.0)

    def plain(self, queries: int) -> Float64[np.ndarray, " 3"]:
        """The coefficients with every query counted once."""
        return self.of(np.ones((1, queries)))[0]


@compiled
def _correlate(
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
    """Points come in order of x; query i stands at `place[i]` among the weights and belongs to point `cell[i]`."""
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
