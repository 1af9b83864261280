"""Lists and judged ranks from parts of the gallery, which any machine ranks alone. A part has whole items.

*Lists*: of each part, its K best items and all that tie with the K-th are enough: an item that is among the K best of
the whole gallery, or ties with one, is so within its part too. *Judged ranks*: the scores of labelled items need few
vectors and are computed first; each part counts its items above and near them, and counts add up.

Scores are products of other shapes than in one process, so they are equal up to rounding, and ranks up to the tie
tolerance, which is ten times wider. A run of queries against the *whole* gallery has the shapes of one process if it
begins at a multiple of `RUN`: then everything is equal to the bit on one kind of processor.
"""

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np
from jaxtyping import Float32, Int, Int64

from lookalike.core.checks import at_least
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog, JudgedRanks, Rule
from lookalike.rank.counting import Counts, JudgedQueries, count_around
from lookalike.rank.distinct import TopLists, best_of
from lookalike.rank.engine.machine import DEFAULT, Machine
from lookalike.rank.engine.source import Source
from lookalike.rank.engine.vectors import TIE, as_queries
from lookalike.rank.gallery import prepare
from lookalike.rank.pairs import JudgedPairs

SPARE = 8  # items above K that are fetched to see the ties
SLICE = 2**16  # vectors of labelled items that are read at a time
RUN = 2**10  # queries; a multiple of the height of every block


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
    *,
    whole: bool = False,
    progress: Progress | None = None,
) -> TopLists:
    """The K best distinct items among the images of a part, by cosine, and all that tie with the K-th.

    The query's own item is left out; duplicates are not. Lists end in -1 and NaN. Of the `whole` gallery, ties beyond
    the K-th are not needed.
    """
    at_least(k, 1, "k")
    gallery = prepare(catalog, source, Rule(), machine.held, np.asarray(gallery_rows))
    queries = as_queries(source, query_rows, "cosine", gallery.vectors.center, machine.held)
    count = k if whole else k + SPARE
    while True:
        found = best_of(gallery, queries, query_rows, count, machine, progress=progress)
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


def scores_of(catalog: Catalog, source: Source, pairs: JudgedPairs) -> Float32[np.ndarray, " pairs"]:
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
    return score


def counts_of_part(
    catalog: Catalog,
    source: Source,
    judged: JudgedQueries,
    gallery_rows: Int[np.ndarray, " rows"],
    machine: Machine = DEFAULT,
    *,
    progress: Progress | None = None,
) -> Counts:
    """Count the items of a part, or of the whole gallery, around labelled items. The query's own item is left out."""
    if judged.score is not None:
        machine = replace(machine, device="numpy")  # counting around known scores has no kernel for a GPU
    gallery = prepare(catalog, source, Rule(), machine.held, np.asarray(gallery_rows))
    queries = as_queries(source, judged.row, "cosine", gallery.vectors.center, machine.held)
    return count_around(gallery, queries, judged, machine, progress=progress)


def added(parts: Sequence[Counts]) -> Counts:
    """The counts of all parts of the gallery together."""
    summed = (
        np.sum([getattr(one, name) for one in parts], axis=0) for name in ("above", "near", "candidates")
    )
    return Counts(parts[0].score, *summed)


def joined_ranks(
    encoder: str, pairs: JudgedPairs, judged: JudgedQueries, runs: Sequence[Counts]
) -> JudgedRanks:
    """The judged ranks by the counts of all runs of queries, in order."""
    names = (field.name for field in fields(Counts))
    counts = Counts(*(np.concatenate([getattr(run, name) for run in runs]) for name in names))
    return counts.ranks(encoder, pairs, judged, counts.score, float(np.float32(TIE)))


def _unit(source: Source, images: np.ndarray) -> np.ndarray:
    vectors = source.copied(images).astype(np.float64)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
