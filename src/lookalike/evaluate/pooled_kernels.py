"""The inner loops of the measures over all pairs at once. Compiled, without the interpreter lock."""

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
