"""Scores on other queries: bootstrap replicates and the jackknife, from parts, never by ranking again."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int, Shaped

from lookalike.core.types import Score
from lookalike.evaluate.pooled import folded

AT_ONCE = 64  # replicates held in memory together; their number does not change what is drawn


@dataclass(frozen=True, eq=False)
class Resampling:
    """Draws of queries with replacement, the same for every measure and encoder, so that differences are paired.

    A replicate counts each query as often as it was drawn. Replicate b depends on the seed and on the
    number of queries only.
    """

    queries: Shaped[np.ndarray, " queries"]
    replicates: int = 2000
    seed: int = 0

    def weights(self) -> Iterator[Float64[np.ndarray, "replicates queries"]]:
        """How often each query was drawn, some replicates at a time."""
        size = len(self.queries)
        random = np.random.Generator(np.random.PCG64(self.seed))
        for first in range(0, self.replicates, AT_ONCE):
            rows = min(AT_ONCE, self.replicates - first)
            drawn = random.integers(0, size, (rows, size)) + np.arange(rows)[:, None] * size
            yield np.bincount(drawn.ravel(), minlength=rows * size).reshape(rows, size).astype(np.float64)


def replicates(scores: Sequence[Score], resampling: Resampling) -> Float64[np.ndarray, "replicates scores"]:
    """Every score on every replicate; NaN where the measure is undefined on the queries drawn."""
    if len(resampling.queries) == 0:
        return np.full((resampling.replicates, len(scores)), np.nan)
    parts = _Parts(scores, resampling.queries)
    return np.concatenate([parts.values(weights) for weights in resampling.weights()])


def without_each(
    scores: Sequence[Score], queries: Shaped[np.ndarray, " queries"]
) -> Float64[np.ndarray, "queries scores"]:
    """Every score without each query in turn (the jackknife); row i leaves out query i."""
    parts, size = _Parts(scores, queries), len(queries)
    values = np.empty((size, len(scores)))
    for first in range(0, size, AT_ONCE):
        last = min(first + AT_ONCE, size)
        weights = np.ones((last - first, size))
        weights[np.arange(last - first), np.arange(first, last)] = 0.0
        values[first:last] = parts.values(weights)
    return values


class _Parts:
    """The parts of several scores, aligned on one list of queries."""

    def __init__(self, scores: Sequence[Score], queries: np.ndarray) -> None:
        place = {query: i for i, query in enumerate(queries)}
        self.scores = scores
        self.at = [_places(score.query, queries, place) for score in scores]
        self.ratio = [i for i, score in enumerate(scores) if score.pooled is None]
        self.numerator = np.zeros((len(queries), len(self.ratio)))
        self.denominator = np.zeros((len(queries), len(self.ratio)))
        for column, i in enumerate(self.ratio):
            self.numerator[self.at[i], column] = scores[i].numerator
            self.denominator[self.at[i], column] = scores[i].denominator

    def values(self, weights: np.ndarray) -> np.ndarray:
        """One value per row of weights and score."""
        values = np.empty((len(weights), len(self.scores)))
        over = weights @ self.denominator
        values[:, self.ratio] = np.divide(
            weights @ self.numerator, over, out=np.full(over.shape, np.nan), where=over > 0
        )
        for i, score in enumerate(self.scores):
            if score.pooled is not None:
                values[:, i] = folded(score.pooled, weights[:, self.at[i]])
        return values


def _places(own: np.ndarray, queries: np.ndarray, place: dict[str, int]) -> Int[np.ndarray, " own"]:
    """Where each of a score's queries stands among those that are drawn."""
    if own is queries or np.array_equal(own, queries):
        return np.arange(len(queries))
    return np.array([place[query] for query in own], dtype=np.int64)
