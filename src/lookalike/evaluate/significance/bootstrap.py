"""Scores on other queries: bootstrap replicates and the jackknife, from parts, never by ranking again."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float64, Int, Shaped
from threadpoolctl import threadpool_limits

from lookalike.core.checks import codes, strings
from lookalike.core.cores import cores
from lookalike.core.progress import Progress
from lookalike.core.types import Score
from lookalike.evaluate.measures.pooled import folded

HELD = 1 << 22  # weights held in memory together
AT_ONCE = 64  # replicates at once at most; their number does not change what is drawn


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
        for rows in blocks(self.replicates, size):
            drawn = random.integers(0, size, (len(rows), size)) + np.arange(len(rows))[:, None] * size
            counts = np.bincount(drawn.ravel(), minlength=len(rows) * size)
            yield counts.reshape(len(rows), size).astype(np.float64)


def queries_of(scores: Iterable[Score]) -> Shaped[np.ndarray, " queries"]:
    """The queries of all scores, each once, in order of appearance."""
    seen: list[np.ndarray] = []
    for score in scores:
        if not any(score.query is other or np.array_equal(score.query, other) for other in seen):
            seen.append(score.query)
    return seen[0] if len(seen) == 1 else codes(np.concatenate([strings(()), *seen]))[0]


def replicates(
    scores: Sequence[Score], resampling: Resampling, progress: Progress | None = None
) -> Float64[np.ndarray, "replicates scores"]:
    """Every score on every replicate; NaN where the measure is undefined on the queries drawn."""
    if len(resampling.queries) == 0:
        return np.full((resampling.replicates, len(scores)), np.nan)
    parts = ScoreParts(scores, resampling.queries)
    return stacked(parts.values, resampling.weights(), (resampling.replicates, len(scores)), progress)


def without_each(
    scores: Sequence[Score],
    queries: Shaped[np.ndarray, " queries"],
    progress: Progress | None = None,
    *,
    most: int | None = None,
) -> Float64[np.ndarray, "left_out scores"]:
    """Every score without each query in turn (the jackknife); row i leaves out query i.

    Of a ratio this is (N - n_i) / (D - d_i); what compares pairs of all queries is folded once per row. With more
    queries than `most`, row i leaves out every query whose place is i modulo `most`.
    """
    parts, size = ScoreParts(scores, queries), len(queries)
    rows = size if most is None else min(size, most)
    values = np.empty((rows, len(scores)))
    values[:, parts.ratio] = parts.ratios_without_each(rows)
    at = [i for i, score in enumerate(scores) if score.pooled is not None]
    if at:
        pooled = ScoreParts([scores[i] for i in at], queries)
        values[:, at] = stacked(pooled.values, _one_out(size, rows), (rows, len(at)), progress)
    return values


class ScoreParts:
    """The parts of several scores, aligned on one list of queries."""

    def __init__(self, scores: Sequence[Score], queries: np.ndarray) -> None:
        self.scores = scores
        self.at = _all_places(scores, queries)
        self.ratio = [i for i, score in enumerate(scores) if score.pooled is None]
        self.numerator = np.zeros((len(queries), len(self.ratio)))
        self.denominator = np.zeros((len(queries), len(self.ratio)))
        for column, i in enumerate(self.ratio):
            self.numerator[self.at[i], column] = scores[i].numerator
            self.denominator[self.at[i], column] = scores[i].denominator

    def values(self, weights: np.ndarray) -> np.ndarray:
        """One value per row of weights and score."""
        values = np.empty((len(weights), len(self.scores)))
        values[:, self.ratio] = divided(weights @ self.numerator, weights @ self.denominator)
        for i, score in enumerate(self.scores):
            if score.pooled is not None:
                values[:, i] = folded(score.pooled, weights[:, self.at[i]])
        return values

    def ratios_without_each(self, rows: int) -> np.ndarray:
        """The ratios without each of `rows` sets of queries; NaN where no other query counts."""
        over, under = _set_sums(self.numerator, rows), _set_sums(self.denominator, rows)
        counts = _set_sums((self.denominator > 0).astype(np.float64), rows)
        others = counts.sum(axis=0) - counts > 0
        return divided(over.sum(axis=0) - over, np.where(others, under.sum(axis=0) - under, 0.0))


def _set_sums(values: np.ndarray, rows: int) -> np.ndarray:
    """Column sums over the places that are equal modulo `rows`."""
    times = -(-len(values) // rows) if rows else 0
    padded = np.zeros((times * rows, values.shape[1]))
    padded[: len(values)] = values
    return np.asarray(padded.reshape(times, rows, values.shape[1]).sum(axis=0))


def divided(numerator: np.ndarray, denominator: np.ndarray) -> np.ndarray:
    """The ratio, NaN where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.full(denominator.shape, np.nan), where=denominator > 0)


def blocks(count: int, size: int) -> Iterator[range]:
    """Replicates in order, in blocks whose weights of `size` queries stay small."""
    step = max(1, min(AT_ONCE, HELD // max(size, 1)))
    for first in range(0, count, step):
        yield range(first, min(first + step, count))


def _one_out(size: int, rows: int) -> Iterator[np.ndarray]:
    """Weights that leave out each query in turn, or each set of queries that are equal modulo `rows`."""
    for block in blocks(rows, size):
        weights = np.ones((len(block), size))
        for at, row in enumerate(block):
            weights[at, row::rows] = 0.0
        yield weights


def stacked(
    values: Callable[[np.ndarray], np.ndarray],
    weights: Iterable[np.ndarray],
    shape: tuple[int, int],
    progress: Progress | None,
) -> np.ndarray:
    """The rows of values of all blocks of weights, in order; few blocks wait at any time.

    One thread per core, each with one thread for its products.
    """
    table, done = np.empty(shape), 0
    waiting: deque[Future[np.ndarray]] = deque()

    def take() -> None:
        nonlocal done
        block = waiting.popleft().result()
        table[done : done + len(block)] = block
        done += len(block)
        if progress is not None:
            progress(done, shape[0])

    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(cores()) as pool:
        for block in weights:
            waiting.append(pool.submit(values, block))
            if len(waiting) > cores():
                take()
        while waiting:
            take()
    return table


def _all_places(scores: Sequence[Score], queries: np.ndarray) -> list[Int[np.ndarray, " own"]]:
    """The places of each score's queries among the resampled ones; equal lists of queries share one array."""
    known: dict[int, np.ndarray] = {id(queries): np.arange(len(queries))}
    place: dict[str, int] = {}
    for score in scores:
        if id(score.query) not in known:
            if np.array_equal(score.query, queries):
                known[id(score.query)] = known[id(queries)]
            else:
                place = place or {query: i for i, query in enumerate(queries)}
                known[id(score.query)] = np.array([place[query] for query in score.query], dtype=np.int64)
    return [known[id(score.query)] for score in scores]
