"""HR@K of encoders, corrected for unjudged candidates (`audit.corrected`)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from lookalike.api.trust import NOTHING_RANKED
from lookalike.audit.corrected import Correction, corrected_hit_rate, found_by_others
from lookalike.core.errors import ArgumentError
from lookalike.core.types import SPLITS, Catalog, Embeddings, JudgedRanks, Rule
from lookalike.evaluate.measures.fold import per_query
from lookalike.evaluate.measures.hit_rate import membership
from lookalike.rank.distinct import top_lists
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import JudgedPairs


def corrected(
    catalog: Catalog,
    encoders: Sequence[Embeddings],
    pairs: JudgedPairs,
    generators: Collection[str],
    top: int,
    *,
    k: int = 5,
    ranks: Mapping[str, JudgedRanks] = NOTHING_RANKED,
    within_splits: bool = False,
) -> dict[str, Correction]:
    """Each encoder's HR@k, corrected; `generators` fed the pool with their best `top`, and are among the encoders.

    A generator proposed a pair if it ranks it below `top` (EDS Eq. 1) in the whole catalog, also where the pairs are
    of one split, or in the query's split if the pool was made `within_splits`. `ranks` are judged ranks of these pairs
    that are there already, by encoder.
    """
    ranks = {one.encoder: ranks.get(one.encoder) or judged_ranks(catalog, one, pairs) for one in encoders}
    missing = sorted(set(generators) - set(ranks))
    if missing:
        raise ArgumentError(
            f"The generator {missing[0]} is not among the encoders.",
            fix="Give the vectors of every generator of the pool.",
        )
    rules = [Rule(split=split) for split in SPLITS] if within_splits else [Rule()]
    proposed = {
        one.encoder: _proposed(catalog, one, pairs, top, rules, ranks[one.encoder])
        for one in encoders
        if one.encoder in generators
    }
    corrections = {}
    for one in encoders:
        judged = ranks[one.encoder]
        share = found_by_others(proposed, one.encoder)
        open_query, open_score = unjudged(catalog, one, pairs, judged, k)
        found = corrected_hit_rate(judged, k, share, open_query, open_score)
        named = replace(found.score, measure=f"HR@{k} corrected")
        corrections[one.encoder] = replace(found, score=named)
    return corrections


def _proposed(
    catalog: Catalog,
    generator: Embeddings,
    pairs: JudgedPairs,
    top: int,
    rules: Sequence[Rule],
    judged: JudgedRanks,
) -> np.ndarray:
    """Which pairs a generator proposed, among the candidates of one of the rules. `judged` are its ranks of them."""
    proposed = np.zeros(len(pairs), bool)
    for rule in rules:
        if pairs.basis.rule == rule:
            proposed |= judged.rank < top
            continue
        inside = catalog.item_codes[1][catalog.is_gallery(rule.split)]
        here = catalog.is_query(rule.split)[pairs.query_row] & np.isin(pairs.code, inside)
        some = pairs.only(here)
        if len(some):
            basis = replace(some.basis, rule=rule)
            proposed[here] |= judged_ranks(catalog, generator, replace(some, basis=basis)).rank < top
    return proposed


def unjudged(
    catalog: Catalog, encoder: Embeddings, pairs: JudgedPairs, judged: JudgedRanks, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The candidates of every query's top k without a label: their queries (as places) and scores, best first.

    Of a query no more than k less its labelled ones: lists show duplicates once, ranks count them all.
    """
    rows, first = np.unique(pairs.query_row, return_index=True)
    found = top_lists(catalog, encoder, rows, k, pairs.basis.rule)
    code = catalog.item_codes[1] if pairs.basis.rule.level == "item" else np.arange(len(catalog))
    query, place = np.nonzero(found.row >= 0)
    key = rows[query] * len(catalog) + code[found.row[query, place]]
    free = ~np.isin(key, pairs.query_row * len(catalog) + pairs.code)
    query, score = query[free], found.score[query, place][free].astype(np.float64)
    if pairs.basis.rule.similarity == "euclidean":
        score = -score * score / 2.0  # as judged ranks have it; lists show minus the distance
    room = np.round(k - per_query(judged, membership(judged, k)))[judged.query_codes[1][first]]
    start = np.searchsorted(query, np.arange(len(rows)))
    fits = np.arange(len(query)) - start[query] < room[query]
    return judged.query_codes[1][first][query[fits]], score[fits]
