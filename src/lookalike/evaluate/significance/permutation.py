"""Paired permutation: what differences come out when it does not matter which encoder a query's part came from."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from jaxtyping import Float64

from lookalike.core.progress import Progress
from lookalike.core.types import Score
from lookalike.evaluate.significance.bootstrap import ScoreParts, blocks, stacked

AS_LARGE = 1e-12  # a difference smaller by no more than this is as large
FINE = 3  # swaps for each that Holm's adjustment needs at least: what 2,000 are for eight encoders
MOST_SWAPS = 100_000  # that are made beyond the replicates asked for


class ScorePair(NamedTuple):
    """Places of two scores among those that are compared."""

    a: int
    b: int


def swaps(family: int, replicates: int, level: float) -> int:
    """How many random swaps: the replicates, or as many as a family of so many comparisons takes.

    The least p is 1 / (swaps + 1), which Holm multiplies by the family: with fewer than family / (1 - level) swaps no
    two encoders could be separated, whatever their difference.

    >>> swaps(3, 2000, 0.95), swaps(105, 2000, 0.95), swaps(105, 2000, 0.9999)
    (2000, 6300, 100000)
    """
    return max(replicates, min(FINE * round(family / (1.0 - level)), MOST_SWAPS))


def permutation_p(
    scores: Sequence[Score],
    pairs: Sequence[ScorePair],
    queries: np.ndarray,
    *,
    replicates: int,
    seed: int,
    progress: Progress | None = None,
) -> Float64[np.ndarray, " pairs"]:
    """Two-sided p of each pair of scores that have parts: the share of swaps with a difference as large.

    A swap exchanges numerator and denominator of the two encoders on a random half of the queries; of a mean
    that is the flip of the sign of the query's difference. All 2^m swaps of the m queries that differ where these
    are no more than the replicates, else (count + 1) / (replicates + 1) over random ones, shared by all pairs.
    """
    parts, result = ScoreParts(scores, queries), np.empty(len(pairs))
    drawn = []
    for at, pair in enumerate(pairs):
        halves = _Halves(parts, [pair])
        differ = halves.differ[:, 0]
        if 2 ** min(int(differ.sum()), 62) <= replicates:
            result[at] = _exact(halves, differ)
        else:
            drawn.append(at)
    if drawn:
        random = np.random.Generator(np.random.PCG64([seed, 1]))
        result[drawn] = _random(_Halves(parts, [pairs[at] for at in drawn]), replicates, random, progress)
    return result


class _Halves:
    """The parts of the encoders of several pairs, and the differences that swaps of queries make of them."""

    def __init__(self, parts: ScoreParts, pairs: Sequence[ScorePair]) -> None:
        used = sorted({place for pair in pairs for place in pair})
        self.numerator, self.denominator = parts.numerator[:, used], parts.denominator[:, used]
        self.over, self.under = self.numerator.sum(axis=0), self.denominator.sum(axis=0)
        place = {column: i for i, column in enumerate(used)}
        self.a = np.array([place[pair.a] for pair in pairs])
        self.b = np.array([place[pair.b] for pair in pairs])
        self.found = np.abs(self._difference(np.zeros((1, len(self.numerator)))))

    @property
    def differ(self) -> np.ndarray:
        """Queries whose parts are not the same for both encoders of a pair."""
        apart = np.abs(self.numerator[:, self.b] - self.numerator[:, self.a]) > AS_LARGE
        return apart | (self.denominator[:, self.b] != self.denominator[:, self.a])

    def as_large(self, swapped: np.ndarray) -> np.ndarray:
        """How many rows of swaps (1: exchange this query) make each pair differ as much as no swap does."""
        return np.sum(np.abs(self._difference(swapped)) >= self.found - AS_LARGE, axis=0, keepdims=True)

    def _difference(self, swapped: np.ndarray) -> np.ndarray:
        over, under = swapped @ self.numerator, swapped @ self.denominator
        a, b = self.a, self.b
        over, under = over[:, b] - over[:, a], under[:, b] - under[:, a]
        first = (self.over[a] + over) / (self.under[a] + under)
        return np.asarray(first - (self.over[b] - over) / (self.under[b] - under))


def _exact(halves: _Halves, differ: np.ndarray) -> float:
    """Over all swaps of the queries that differ; the others change nothing."""
    at = np.flatnonzero(differ)
    swapped = np.zeros((2 ** len(at), len(differ)))
    swapped[:, at] = (np.arange(2 ** len(at))[:, None] >> np.arange(len(at))) & 1
    return float(halves.as_large(swapped)[0, 0] / len(swapped))


def _random(
    halves: _Halves, replicates: int, random: np.random.Generator, progress: Progress | None
) -> np.ndarray:
    """Over random swaps, the given order counted with them."""
    steps = list(blocks(replicates, len(halves.numerator)))
    size = len(halves.numerator)
    swaps = (random.integers(0, 2, (len(rows), size), dtype=np.uint8).astype(np.float64) for rows in steps)
    counts = stacked(halves.as_large, swaps, (len(steps), len(halves.a)), progress)
    return np.asarray((counts.sum(axis=0) + 1) / (replicates + 1))
