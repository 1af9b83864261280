"""Exact search: every image is compared.

Batches go through the rank engine. A few queries are searched one by one: a matrix-vector product reads the vectors
once; the best images and a surplus are scored again in the block shape of the rank engine, so that both
lists are equal.
"""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np
from jaxtyping import Bool, Float32, Int64

from lookalike.core.cores import cores
from lookalike.core.types import Catalog, Embeddings, Rule
from lookalike.rank.distinct import best_images
from lookalike.rank.engine.blocks import HEIGHTS, one_thread
from lookalike.rank.engine.machine import DEFAULT, Machine
from lookalike.rank.engine.source import Source, aligned
from lookalike.rank.engine.vectors import TIE, Shaped, as_gallery, as_queries, unit_rows
from lookalike.rank.gallery import Gallery, prepare
from lookalike.search.engine import Nearest

ALONE = 8  # queries up to which one after another is faster than the blocks of the rank engine
FEW = 512  # up to this count the best are kept in a short list; above, the scores are partitioned
PARTS, LEAST = 4, 16
SURPLUS = 2 * TIE  # the rounding of a matrix-vector product is well below this
IMAGES = Rule(level="image")


@dataclass(frozen=True, eq=False)
class Exact:
    """The images of a catalog that can be found, compared one by one. `shaped` has their vectors and lengths."""

    catalog: Catalog
    source: Source
    shaped: Shaped
    machine: Machine = DEFAULT
    name: str = "exact"
    exact: bool = True

    @classmethod
    def of(cls, catalog: Catalog, embeddings: Embeddings, machine: Machine = DEFAULT) -> "Exact":
        """The engine for the catalog images that can be found. Their vectors are read once, for their lengths."""
        source = aligned(catalog, embeddings)
        if source.held.dtype != np.float32:
            source = replace(source, held=source.held.astype(np.float32))
        rows = np.flatnonzero(catalog.is_gallery())
        shaped = as_gallery(source, rows, "cosine", np.zeros(source.dimension, np.float32), 0)
        return cls(catalog, source, shaped, machine)

    def __len__(self) -> int:
        return len(self.shaped)

    @property
    def unit(self) -> Float32[np.ndarray, "rows dimension"]:
        """The vectors at length 1, copied unless they are held."""
        return self.shaped.take(slice(None))

    def among(self, allowed: Bool[np.ndarray, " images"]) -> "Exact":
        """The engine for some of these images."""
        kept = np.flatnonzero(allowed[self.shaped.images])
        part = replace(self.shaped, images=self.shaped.images[kept], norm=self.shaped.norm[kept])
        return replace(self, shaped=part)

    def nearest(self, queries: Float32[np.ndarray, "queries dimension"], count: int) -> Nearest:
        """The nearest images of each query, in the order of the rank engine."""
        count = min(count, len(self))
        if count == 0:
            return Nearest(np.empty((len(queries), 0), np.int64), np.empty((len(queries), 0), np.float32))
        if len(queries) <= ALONE:
            each = [self._alone(query, count) for query in unit_rows(queries, self.source.dimension)]
            return Nearest(np.stack([row for row, _ in each]), np.stack([score for _, score in each]))
        shaped = as_queries(
            Source(queries), np.arange(len(queries)), "cosine", self.shaped.center, queries.nbytes
        )
        found = best_images(self._gallery, shaped, count, self.machine)
        return Nearest(found.row, found.score)

    def _alone(
        self, query: Float32[np.ndarray, " dimension"], count: int
    ) -> tuple[Int64[np.ndarray, " count"], Float32[np.ndarray, " count"]]:
        """The nearest images of one query of length 1."""
        from lookalike.rank.engine.kernels import best_k

        scores = self._scores(query)
        places = _best_and_surplus(scores, count)
        block = np.zeros((HEIGHTS[0], len(query)), np.float32)
        block[0] = query
        with one_thread():
            again = np.matmul(block, self.shaped.take(places).T)[0]
        score, place = np.empty(count, np.float32), np.empty(count, np.int64)
        in_order, room = np.arange(len(places)), np.empty(len(places), np.int64)
        best_k(again, in_order, np.float32(TIE), room, score, place)
        return self.shaped.images[places[place]], score

    def _scores(self, query: Float32[np.ndarray, " dimension"]) -> Float32[np.ndarray, " rows"]:
        """The cosine of every image with one query."""
        from lookalike.search.kernels import score_all

        held, places = np.asarray(self.source.held), self.source.places(self.shaped.images)
        scores, norm = np.empty(len(places), np.float32), self.shaped.norm
        in_parts(len(places), lambda part: score_all(held, places[part], norm[part], query, scores[part]))
        return scores

    @cached_property
    def _gallery(self) -> Gallery:
        """These images laid out for the rank engine."""
        return prepare(self.catalog, self.source, IMAGES, self.machine.held, self.shaped.images)


def in_parts(rows: int, work: Callable[[slice], None]) -> None:
    """Work on rows in several parts per thread: each thread takes the next part, so that a slow one holds up little.

    The calling thread works too: waking another takes as long as the scores of ten queries. Threads that have not
    begun when no part is left are not waited for.
    """
    wide = max(-(-rows // (PARTS * cores())), LEAST)
    parts = iter([slice(first, min(first + wide, rows)) for first in range(0, rows, wide)])

    def work_on() -> None:
        for part in parts:
            work(part)

    others = [_threads().submit(work_on) for _ in range(min(cores() - 1, -(-rows // wide) - 1))]
    work_on()
    for other in others:
        if not other.cancel():
            other.result()


@cache
def _threads() -> ThreadPoolExecutor:
    """The threads of all searches together: many searches at once take no more of them than one."""
    return ThreadPoolExecutor(cores())


os.register_at_fork(after_in_child=_threads.cache_clear)


def _best_and_surplus(scores: Float32[np.ndarray, " rows"], count: int) -> Int64[np.ndarray, " some"]:
    """The places of the best scores, and of those that rounding may have put below them."""
    from lookalike.rank.engine.kernels import largest, places_from

    if count == len(scores):
        return np.arange(count)
    if count <= FEW:
        best = np.empty(count, np.float32)
        largest(scores, best)
        least = best[-1]
    else:
        least = np.partition(scores, len(scores) - count)[len(scores) - count]
    places = np.empty(len(scores), np.int64)
    return places[: places_from(scores, np.float32(least - SURPLUS), places)]
