"""K distinct items per query from any engine: more images are fetched until K items are found or none are left.

Never the query's own item, never two duplicates, and only images that the filters allow, whatever an engine returns.
Where an engine returns fewer images than requested, all images are compared instead.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Int64

from lookalike.core.checks import at_least
from lookalike.rank.engine.vectors import TIE, unit_rows
from lookalike.search.engine import Engine, Nearest
from lookalike.search.exact import Exact, in_parts

SPARE = 8  # images fetched above those that K items need
SELECTIVE = 10_000  # allowed images up to which all of them are compared, whatever the engine
GROWTH = 4  # how many times as many images are fetched for lists that are not certain
MOST = 4096  # images fetched from an approximate engine before all allowed images are compared
EVERYTHING = np.empty(0, dtype=bool)
IN_ORDER = np.empty(0, dtype=np.int64)
FACTS = np.dtype([("item", "i4"), ("duplicate", "i4"), ("first", "i4"), ("length", "f4")])
"""An image's item, its group of duplicates, the first image of its item, and the length of its vector."""


@dataclass(frozen=True, eq=False)
class DistinctLists:
    """K distinct items per query, best first: the catalog row of the image shown, and its cosine.

    Where a query has fewer than K items the rest of its row is -1 and NaN, and it is `exhausted`: there are no more.
    """

    row: Int64[np.ndarray, "queries k"]
    score: Float32[np.ndarray, "queries k"]
    exhausted: Bool[np.ndarray, " queries"]


class Distinct:
    """What distinctness depends on, looked up once for a catalog: items, duplicates, and vectors for exact scores."""

    def __init__(self, exact: Exact) -> None:
        catalog = exact.catalog
        self.exact = exact
        item = catalog.item_codes[1]
        rows = exact.shaped.images
        first = np.full(int(item.max(initial=-1)) + 1, len(catalog), np.int64)
        np.minimum.at(first, item[rows], rows)
        self.images = np.bincount(item[rows], minlength=len(first))
        self.per_item = len(rows) / max(int(np.count_nonzero(self.images)), 1)
        self.facts = np.ones(len(catalog), FACTS)
        self.facts["item"], self.facts["duplicate"] = item, catalog.duplicate
        self.facts["first"] = first[item]
        self.item = self.facts["item"]
        self.facts["length"][rows] = exact.shaped.norm

    def lists(
        self,
        engine: Engine,
        vectors: Float32[np.ndarray, "queries dimension"],
        own: Int64[np.ndarray, " queries"],
        k: int,
        allowed: Bool[np.ndarray, " images"] | None = None,
    ) -> DistinctLists:
        """The lists of some queries. `own` are their catalog rows, -1 for new photos."""
        at_least(k, 1, "k")
        own_item = np.where(own >= 0, self.item[own], np.int64(-1))
        everything = self.exact if allowed is None else self.exact.among(allowed)
        if engine.exact or len(everything) <= (SELECTIVE if allowed is not None else 0):
            engine = everything
        row, score = np.full((len(own), k), -1, np.int64), np.full((len(own), k), np.nan, np.float32)
        exhausted = np.zeros(len(own), dtype=bool)
        least = self._least_count(k, own_item)
        count = least if engine.exact else least * len(engine) // max(len(everything), 1)
        unit = vectors if engine.exact else unit_rows(vectors, self.exact.source.dimension)
        left: slice | Int64[np.ndarray, " left"] = slice(None)
        while len(own):
            if not engine.exact and count > min(MOST, len(engine)):
                engine, count = everything, least
            asked = (vectors if engine.exact else unit)[left]
            found = engine.nearest(asked, min(count, len(engine)))
            queries = asked[:0] if engine.exact else asked
            row[left], score[left], certain = self._best(found, queries, own_item[left], k, allowed)
            if engine.exact and count >= len(engine):
                exhausted[left] = (row[left] < 0).any(axis=1)
                break
            again = np.flatnonzero(~certain)
            if not len(again):
                break
            count = MOST + 1 if (found.row[again] < 0).any() else GROWTH * count
            left = np.arange(len(own))[left][again]
        return DistinctLists(row, score, exhausted)

    def _least_count(self, k: int, own_item: Int64[np.ndarray, " queries"]) -> int:
        """How many images to fetch first: those of K items, the query's own, and some to spare."""
        own = int(self.images[own_item[own_item >= 0]].max(initial=0))
        return math.ceil(k * self.per_item) + own + SPARE

    def _best(
        self,
        found: Nearest,
        vectors: Float32[np.ndarray, "some dimension"],
        own_item: Int64[np.ndarray, " queries"],
        k: int,
        allowed: Bool[np.ndarray, " images"] | None,
    ) -> tuple[
        Int64[np.ndarray, "queries k"], Float32[np.ndarray, "queries k"], Bool[np.ndarray, " queries"]
    ]:
        """Rows and scores of the K best distinct items among the images found, and whether more cannot change them.

        Images that matter are scored with the query `vectors` of length 1; none: the scores found are cosines.
        """
        from lookalike.search.kernels import distinct_lists

        row, score = np.empty((len(own_item), k), np.int64), np.empty((len(own_item), k), np.float32)
        certain = np.empty(len(own_item), dtype=bool)
        allowed = EVERYTHING if allowed is None else allowed
        source = self.exact.source
        held, place = np.asarray(source.held), IN_ORDER if source.place is None else source.place

        def work(part: slice) -> None:
            distinct_lists(
                found.row[part],
                found.score[part],
                np.float32(found.error),
                vectors[part],
                held,
                place,
                self.facts,
                own_item[part],
                allowed,
                np.float32(TIE),
                row[part],
                score[part],
                certain[part],
            )

        in_parts(len(own_item), work)
        return row, score, certain
