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
