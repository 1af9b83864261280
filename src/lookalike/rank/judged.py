"""Judged ranks: one row per labelled pair, from blocked products and counting; never a full sort."""

from dataclasses import replace

import numpy as np
from jaxtyping import Float32

from lookalike.core.progress import Progress
from lookalike.core.types import Catalog, Embeddings, JudgedRanks, Labels, Rule
from lookalike.rank.counting import JudgedQueries, count_around
from lookalike.rank.engine.machine import DEFAULT, QUERIES_SHARE, Machine
from lookalike.rank.engine.source import Source, aligned
from lookalike.rank.engine.vectors import as_queries, score_of, tie_tolerance
from lookalike.rank.gallery import prepare
from lookalike.rank.pairs import JudgedPairs, pairs_for


def judged_ranks(
    catalog: Catalog,
    embeddings: Embeddings,
    labels: Labels | JudgedPairs,
    rule: Rule | None = None,
    *,
    machine: Machine = DEFAULT,
    threads: int | None = None,
    progress: Progress | None = None,
) -> JudgedRanks:
    """Rank every labelled candidate among all candidates of its query.

    `above` counts candidates that score strictly better, `tied` those within the tie tolerance, itself not
    counted. Cost: one product of labelled queries and gallery, plus about a tenth for counting; memory: one
    shaped copy of the gallery's vectors and one block of rows per thread, or where the copy would take more than
    `machine.held`, one tall block of rows. Call `judged_pairs` once to rank many encoders on the
    same basis. At paper level there are two products: ranks among images, and places in the list of items.
    """
    pairs = pairs_for(catalog, labels, rule)
    rule = pairs.basis.rule
    source = aligned(catalog, embeddings)
    found, tolerance = _ranked(catalog, source, pairs, rule, embeddings.encoder, machine, threads, progress)
    if rule.level != "paper":
        return found
    items, item = catalog.item_codes
    of_items = replace(pairs, code=item[pairs.code], candidate=items[item[pairs.code]])
    by_item = replace(rule, level="item")
    in_list, _ = _ranked(catalog, source, of_items, by_item, embeddings.encoder, machine, threads, None)
    return replace(found, in_list=_credited(found, in_list, of_items, tolerance))


def _ranked(
    catalog: Catalog,
    source: Source,
    pairs: JudgedPairs,
    rule: Rule,
    encoder: str,
    machine: Machine,
    threads: int | None,
    progress: Progress | None,
) -> tuple[JudgedRanks, Float32[np.ndarray, " pairs"]]:
    """Judged ranks of pairs among the units of a rule, and the tie tolerance of each pair's query."""
    gallery, judged = prepare(catalog, source, rule, machine.held), JudgedQueries.of(pairs)
    center = gallery.vectors.center
    queries = as_queries(source, judged.row, rule.similarity, center, machine.held // QUERIES_SHARE)
    counts = count_around(gallery, queries, judged, machine, threads=threads, progress=progress)
    count, tolerance = np.diff(judged.start), tie_tolerance(queries.norm, gallery.typical, rule.similarity)
    score = score_of(counts.score, np.repeat(queries.norm, count), rule.similarity)
    typical = float(np.median(tolerance)) if len(tolerance) else 0.0
    return counts.ranks(encoder, pairs, judged, score, typical), np.repeat(tolerance, count)


def _credited(
    image: JudgedRanks, item: JudgedRanks, pairs: JudgedPairs, tolerance: Float32[np.ndarray, " pairs"]
) -> JudgedRanks:
    """Places in the list of items for labelled photos that represent their item there. The others have no place.

    A photo represents its item if it scores as well as the item's best photo, within the tie tolerance. Of several
    labelled photos that do, the first in the catalog is shown.
    """
    best = (image.score >= item.score - tolerance) & (pairs.drawn == 0)
    key = pairs.query_row * (int(pairs.code.max(initial=0)) + 1) + pairs.code
    rows = np.flatnonzero(best)
    shown = np.zeros(len(pairs), bool)
    shown[rows[np.unique(key[rows], return_index=True)[1]]] = True
    return replace(
        item, above=np.where(shown, item.above, item.candidates), tied=np.where(shown, item.tied, 0)
    )
