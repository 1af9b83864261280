"""Counting around labelled units in finished rows of scores, of the whole gallery or of a part of it."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int, Int64

from lookalike.core.progress import Progress
from lookalike.core.types import JudgedRanks
from lookalike.rank.engine.blocks import each_block, kernels_of
from lookalike.rank.engine.machine import Machine
from lookalike.rank.engine.vectors import Shaped, tie_tolerance
from lookalike.rank.gallery import Gallery
from lookalike.rank.pairs import JudgedPairs


@dataclass(frozen=True)
class JudgedQueries:
    """Labelled units, those of query i from start[i] to start[i + 1]; `code` as in `JudgedPairs`.

    `score` are the scores of their best images where these are known before the product.
    """

    row: Int64[np.ndarray, " queries"]
    start: Int64[np.ndarray, " queries_and_one"]
    code: Int[np.ndarray, " pairs"]
    score: Float32[np.ndarray, " pairs"] | None = None

    @classmethod
    def of(cls, pairs: JudgedPairs) -> "JudgedQueries":
        """The queries of pairs, which are sorted by query."""
        row, count = np.unique(pairs.query_row, return_counts=True)
        return cls(row, np.concatenate([[0], np.cumsum(count)]).astype(np.int64), pairs.code)


@dataclass(frozen=True)
class Counts:
    """Per labelled unit its score, the units above it, and those above or tied; per query its candidates.

    A labelled unit that is in the gallery is tied with itself here.
    """

    score: Float32[np.ndarray, " pairs"]
    above: Int64[np.ndarray, " pairs"]
    near: Int64[np.ndarray, " pairs"]
    candidates: Int64[np.ndarray, " queries"]

    def ranks(
        self, encoder: str, pairs: JudgedPairs, judged: JudgedQueries, score: np.ndarray, tolerance: float
    ) -> JudgedRanks:
        """The judged ranks of pairs that were counted in the whole gallery."""
        return JudgedRanks(
            encoder=encoder,
            query=pairs.query,
            candidate=pairs.candidate,
            label=pairs.label,
            above=self.above,
            tied=self.near - self.above - 1,
            score=score,
            candidates=np.repeat(self.candidates, np.diff(judged.start)),
            basis=pairs.basis,
            tolerance=tolerance,
            drawn=pairs.drawn,
        )


def count_around(
    gallery: Gallery,
    queries: Shaped,
    judged: JudgedQueries,
    machine: Machine,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Counts:
    """Count the gallery's units around labelled ones, which lie in this gallery unless their scores are known."""
    tolerance = tie_tolerance(queries.norm, gallery.typical, gallery.rule.similarity)
    known = judged.score
    score = np.empty(len(judged.code), np.float32) if known is None else known
    target = gallery.unit_of_code[judged.code] if known is None else None
    above, near = np.empty(len(score), np.int64), np.empty(len(score), np.int64)
    candidates = np.empty(len(queries), np.int64)

    def count(first: int, last: int, scores: object) -> None:
        hidden_start, hidden = gallery.hidden(judged.row[first:last])
        candidates[first:last] = gallery.candidates(hidden_start, hidden)
        start = judged.start[first : last + 1]
        shared = scores, gallery.classes, hidden_start, hidden, start
        if target is None:
            kernels_of(scores).count_block(*shared, tolerance[first:last], score, above, near)
            return
        kernels_of(scores).rank_block(*shared, target, tolerance[first:last], score, above, near)
        here = slice(start[0], start[-1])
        near[here] += above[here] + 1  # the kernel leaves those tied with a unit, itself not counted

    each_block(queries, gallery.vectors, count, machine=machine, threads=threads, progress=progress)
    return Counts(score, above, near, candidates)
