"""Lists and judged ranks from parts of the gallery, which any machine ranks alone. A part has whole items.

*Lists*: of each part, its K best items and all that tie with the K-th are enough: an item that is among the K best of
the whole gallery, or ties with one, is so within its part too. *Judged ranks*: the scores of labelled items need few
vectors and are computed first; each part counts its items above and near them, and counts add up.

Scores are products of other shapes than in one process, so they are equal up to rounding, and ranks up to the tie
tolerance, which is ten times wider.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int, Int64

from lookalike.core.checks import at_least
from lookalike.core.types import Catalog, JudgedRanks, Rule
from lookalike.rank.distinct import TopLists, best_of
from lookalike.rank.engine.blocks import each_block, kernels_of
from lookalike.rank.engine.machine import DEFAULT, Machine
from lookalike.rank.engine.source import Source
from lookalike.rank.engine.vectors import TIE, as_queries
from lookalike.rank.gallery import prepare
from lookalike.rank.pairs import JudgedPairs

SPARE = 8  # items above K that are fetched to see the ties
SLICE = 2**16  # vectors of labelled items that are read at a time
PROCESSORS = Machine(device="numpy")  # counting around known scores has no kernel for a GPU


@dataclass(frozen=True)
class JudgedQueries:
    """Labelled items, those of query i from start[i] to start[i + 1], with the scores of their best images."""

    row: Int64[np.ndarray, " queries"]
    start: Int64[np.ndarray, " queries_and_one"]
    score: Float32[np.ndarray, " pairs"]


@dataclass(frozen=True)
class Counts:
    """Of some gallery: per labelled item the items above it, and those above or tied; per query its candidates."""

    above: Int64[np.ndarray, " pairs"]
    near: Int64[np.ndarray, " pairs"]
    candidates: Int64[np.ndarray, " queries"]

    def __add__(self, other: "Counts") -> "Counts":
        """The counts of two parts together."""
        return Counts(self.above + other.above, self.near + other.near, self.candidates + other.candidates)


def whole_items(catalog: Catalog, most: int) -> list[Int64[np.ndarray, " rows"]]:
    """The gallery's rows in parts of whole items, in the order of the items' first photos, of about `most` rows each.

    A part may have more by the photos of one item.
    """
    rows = np.flatnonzero(catalog.is_gallery())
    item = catalog.item_codes[1][rows]
    _, first, which, size = np.unique(item, return_index=True, return_inverse=True, return_counts=True)
    by_appearance = np.argsort(first)
    before = np.cumsum(size[by_appearance]) - size[by_appearance]
    part = np.empty(len(size), np.int64)
    part[by_appearance] = before // at_least(most, 1, "most")
    of_row = part[which]
    order = np.argsort(of_row, kind="stable")
    return [one for one in np.split(rows[order], np.flatnonzero(np.diff(of_row[order])) + 1) if len(one)]


def lists_of_part(
    catalog: Catalog,
    source: Source,
    query_rows: Int[np.ndarray, " queries"],
    gallery_rows: Int[np.ndarray, " rows"],
    k: int,
    machine: Machine = DEFAULT,
) -> TopLists:
    """The K best distinct items among the images of a part, by cosine, and all that tie with the K-th.

    The query's own item is left out; duplicates are not. Lists end in -1 and NaN.
    """
    at_least(k, 1, "k")
    gallery = prepare(catalog, source, Rule(), machine.held, np.asarray(gallery_rows))
    queries = as_queries(source, query_rows, "cosine", gallery.vectors.center, machine.held)
    count = k + SPARE
    while True:
        found = best_of(gallery, queries, query_rows, count, machine)
        width = found.row.shape[1]
        if width <= k or width < count:
            return found
        open_end = (found.row[:, -1] >= 0) & (found.score[:, -1] >= found.score[:, k - 1] - 2 * TIE)
        if not open_end.any():
            return found
        count *= 2


def joined_lists(
    parts: Sequence[TopLists], first: Int[np.ndarray, " images"], k: int
) -> tuple[Int64[np.ndarray, "queries k"], Float32[np.ndarray, "queries k"]]:
    """The K best items of the union, best first; equal scores in the order of `first`, the first image of each item.

    `first` has a row of the catalog for each row. Where there are fewer than K, the rest is -1 and NaN.

    >>> one = TopLists(np.array([[4, 7]]), np.array([[0.9, 0.3]], np.float32))
    >>> two = TopLists(np.array([[2, -1]]), np.array([[0.5, np.nan]], np.float32))
    >>> joined_lists([one, two], np.arange(8), 2)[0].tolist()
    [[4, 2]]
    """
    from lookalike.rank.engine.kernels import best_k

    row = np.concatenate([part.row for part in parts], axis=1)
    score = np.concatenate([part.score for part in parts], axis=1).astype(np.float32)
    score[row < 0] = -np.inf
    order = np.where(row >= 0, first[row], len(first)).astype(np.int64)
    best, value = np.full((len(row), k), -1, np.int64), np.full((len(row), k), np.nan, np.float32)
    places, room = np.empty(row.shape[1], np.int64), np.empty(k, np.float32)
    units = np.empty(k, np.int64)
    for q in range(len(row)):
        filled = best_k(score[q], order[q], np.float32(TIE), places, room, units)
        best[q, :filled], value[q, :filled] = row[q, units[:filled]], room[:filled]
    return best, value


def judged_queries(catalog: Catalog, source: Source, pairs: JudgedPairs) -> JudgedQueries:
    """The cosine of each pair's query and the best image of its item, from their vectors alone, in float64."""
    rows = np.flatnonzero(catalog.is_gallery())
    item = catalog.item_codes[1]
    in_order = rows[np.argsort(item[rows], kind="stable")]
    ends = np.searchsorted(item[in_order], [pairs.code, pairs.code + 1])
    score, size = np.empty(len(pairs), np.float32), ends[1] - ends[0]
    cuts = np.searchsorted(np.cumsum(size), np.arange(SLICE, int(size.sum()) + SLICE, SLICE))
    for some in np.split(np.arange(len(pairs)), np.minimum(cuts, len(pairs))):
        if not len(some):
            continue
        begin = np.cumsum(size[some]) - size[some]
        within = np.arange(int(size[some].sum())) - np.repeat(begin, size[some])
        images = in_order[np.repeat(ends[0][some], size[some]) + within]
        cosine = np.einsum(
            "id,id->i", _unit(source, np.repeat(pairs.query_row[some], size[some])), _unit(source, images)
        )
        score[some] = np.maximum.reduceat(cosine, begin)
    row, count = np.unique(pairs.query_row, return_counts=True)
    return JudgedQueries(row, np.concatenate([[0], np.cumsum(count)]).astype(np.int64), score)


def counts_of_part(
    catalog: Catalog,
    source: Source,
    judged: JudgedQueries,
    gallery_rows: Int[np.ndarray, " rows"],
    machine: Machine = PROCESSORS,
) -> Counts:
    """Count the items of a part around the scores of labelled items. The query's own item is left out."""
    gallery = prepare(catalog, source, Rule(), machine.held, np.asarray(gallery_rows))
    queries = as_queries(source, judged.row, "cosine", gallery.vectors.center, machine.held)
    tolerance = np.full(len(judged.row), TIE, np.float32)
    above, near = np.empty(len(judged.score), np.int64), np.empty(len(judged.score), np.int64)
    candidates = np.empty(len(judged.row), np.int64)

    def count(first: int, last: int, scores: object) -> None:
        hidden_start, hidden = gallery.hidden(judged.row[first:last])
        candidates[first:last] = gallery.candidates(hidden_start, hidden)
        kernels_of(scores).count_block(
            scores,
            gallery.classes,
            hidden_start,
            hidden,
            judged.start[first : last + 1],
            tolerance[first:last],
            judged.score,
            above,
            near,
        )

    each_block(queries, gallery.vectors, count, machine=machine)
    return Counts(above, near, candidates)


def joined_ranks(encoder: str, pairs: JudgedPairs, judged: JudgedQueries, counts: Counts) -> JudgedRanks:
    """The judged ranks by the counts of all parts together. A labelled item is not tied with itself."""
    return JudgedRanks(
        encoder=encoder,
        query=pairs.query,
        candidate=pairs.candidate,
        label=pairs.label,
        above=counts.above,
        tied=counts.near - counts.above - 1,
        score=judged.score,
        candidates=np.repeat(counts.candidates, np.diff(judged.start)),
        basis=pairs.basis,
        tolerance=TIE,
        drawn=pairs.drawn,
    )


def _unit(source: Source, images: np.ndarray) -> np.ndarray:
    vectors = source.copied(images).astype(np.float64)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
