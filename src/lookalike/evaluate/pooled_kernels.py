"""The inner loops of the measures. Compiled, without the interpreter lock."""

from collections.abc import Callable
from inspect import unwrap
from typing import Any, TypeVar

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """numba's compiler, without the interpreter lock and without checkers around it; typed as what it was given."""
    jit: Callable[[F], F] = numba.njit(nogil=True, cache=True)
    return jit(unwrap(function))


@compiled
def _running(places: np.ndarray, weight: np.ndarray, total: np.ndarray) -> None:
    """total[j] is the weight of the first j pairs."""
    total[0] = 0.0
    for j in range(len(places)):
        total[j + 1] = total[j] + weight[places[j]]


@compiled
def auc(
    positive: np.ndarray,
    negative: np.ndarray,
    under: np.ndarray,
    not_over: np.ndarray,
    lower: np.ndarray,
    weights: np.ndarray,
    values: np.ndarray,
) -> None:
    """One AUC per row of weights."""
    below = np.empty(len(negative) + 1)
    for b in range(len(weights)):
        _running(negative, weights[b], below)
        won, all_positives = 0.0, 0.0
        for i in range(len(positive)):
            w = weights[b, positive[i]]
            all_positives += w
            won += w * (below[under[i]] + below[not_over[i]])
        pairs = all_positives * below[-1]
        values[b] = won / (2.0 * pairs) if pairs > 0 else np.nan


@compiled
def ap(
    positive: np.ndarray,
    negative: np.ndarray,
    under: np.ndarray,
    not_over: np.ndarray,
    lower: np.ndarray,
    weights: np.ndarray,
    values: np.ndarray,
) -> None:
    """One average precision per row of weights."""
    below, peers = np.empty(len(negative) + 1), np.empty(len(positive) + 1)
    for b in range(len(weights)):
        _running(negative, weights[b], below)
        _running(positive, weights[b], peers)
        precision = 0.0
        for i in range(len(positive)):
            w = weights[b, positive[i]]
            if w > 0:
                found = peers[-1] - peers[lower[i]]
                precision += w * found / (found + below[-1] - below[under[i]])
        values[b] = precision / peers[-1] if peers[-1] > 0 else np.nan


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
