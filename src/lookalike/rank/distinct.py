"""Exactly K distinct items per query, each at its best image: what people see as results."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32, Int, Int64

from lookalike.core.checks import at_least
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog, Embeddings, Rule
from lookalike.rank.engine.blocks import STREAMED_HEIGHTS, each_block, kernels_of
from lookalike.rank.engine.machine import DEFAULT, QUERIES_SHARE, Machine
from lookalike.rank.engine.source import Source, aligned
from lookalike.rank.engine.vectors import Shaped, as_queries, score_of, shown_score, tie_tolerance
from lookalike.rank.gallery import Gallery, prepare
from lookalike.rank.hide_duplicates import shown_once


@dataclass(frozen=True, eq=False)
class TopLists:
    """K candidates per query, best first: catalog row of the image shown, and its score.

    No two of them show duplicates of one photo. Where a query has fewer than K candidates, the rest of
    its row is -1 and NaN.
    """

    row: Int64[np.ndarray, "queries k"]
    score: Float32[np.ndarray, "queries k"]

    def __len__(self) -> int:
        return len(self.row)


def top_lists(
    catalog: Catalog,
    embeddings: Embeddings,
    query_rows: Int[np.ndarray, " queries"],
    k: int,
    rule: Rule | None = None,
    *,
    machine: Machine = DEFAULT,
    threads: int | None = None,
    progress: Progress | None = None,
) -> TopLists:
    """The K best distinct candidates of catalog images; equal scores in catalog order."""
    rows = np.asarray(query_rows, np.int64)
    return _lists(
        catalog, embeddings, aligned(catalog, embeddings), rows, k, rule, machine, threads, progress
    )


def top_for_vectors(
    catalog: Catalog,
    embeddings: Embeddings,
    vectors: Float[np.ndarray, "queries dimension"],
    k: int,
    rule: Rule | None = None,
    *,
    machine: Machine = DEFAULT,
) -> TopLists:
    """The K best distinct candidates of new photos, given their vectors: nothing is left out as their own."""
    rows = np.full(len(vectors), -1, np.int64)
    return _lists(catalog, embeddings, Source(vectors), rows, k, rule, machine)


def held_for(queries: int, machine: Machine) -> int:
    """Bytes of the gallery to hold: where one product answers all queries, a copy would be used only once."""
    return machine.held if queries > STREAMED_HEIGHTS[0] else 0


def best_images(gallery: Gallery, queries: Shaped, count: int, machine: Machine = DEFAULT) -> TopLists:
    """The best candidates of shaped queries that are no catalog images: nothing is left out, duplicates neither."""
    return best_of(gallery, queries, np.full(len(queries), -1, np.int64), count, machine)


def _lists(
    catalog: Catalog,
    embeddings: Embeddings,
    asking: Source,
    rows: Int64[np.ndarray, " queries"],
    k: int,
    rule: Rule | None,
    machine: Machine,
    threads: int | None = None,
    progress: Progress | None = None,
) -> TopLists:
    """Top lists of queries: catalog rows, or where these are -1 the rows of `asking`, a source of new vectors."""
    rule = rule or Rule()
    gallery = prepare(catalog, aligned(catalog, embeddings), rule, held_for(len(rows), machine))

    def best(some: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
        images = np.where(rows[some] >= 0, rows[some], some)
        center, share = gallery.vectors.center, machine.held // QUERIES_SHARE
        queries = as_queries(asking, images, rule.similarity, center, share)
        whole = progress if len(some) == len(rows) else None
        found = best_of(gallery, queries, rows[some], count, machine, threads, whole)
        return found.row, found.score

    return TopLists(*shown_once(best, len(rows), k, catalog.duplicate))


def best_of(
    gallery: Gallery,
    queries: Shaped,
    query_rows: Int[np.ndarray, " queries"],
    k: int,
    machine: Machine = DEFAULT,
    threads: int | None = None,
    progress: Progress | None = None,
) -> TopLists:
    """Top lists of shaped queries with duplicates; `query_rows` are their catalog rows, -1 where they have none."""
    k = min(at_least(k, 1, "k"), gallery.units)
    tolerance = tie_tolerance(queries.norm, gallery.typical, gallery.rule.similarity)
    score = np.empty((len(query_rows), k), np.float32)
    unit, column = np.empty((len(query_rows), k), np.int64), np.empty((len(query_rows), k), np.int64)

    def pick(first: int, last: int, scores: object) -> None:
        hidden_start, hidden = gallery.hidden(query_rows[first:last])
        kernels_of(scores).top_block(
            scores,
            gallery.classes,
            gallery.order,
            hidden_start,
            hidden,
            tolerance[first:last],
            score[first:last],
            unit[first:last],
            column[first:last],
        )

    each_block(queries, gallery.vectors, pick, machine=machine, threads=threads, progress=progress)
    found = column >= 0
    similarity = gallery.rule.similarity
    shown = shown_score(score_of(np.where(found, score, 0), queries.norm[:, None], similarity), similarity)
    return TopLists(
        np.where(found, gallery.row[column], -1), np.where(found, shown, np.nan).astype(np.float32)
    )
