"""Queries of which only some drawn pairs have labels: measures leave them out, because most of their results are open.

A sample spreads its pairs over many queries. Its own estimate is made for that. Measures are not: one label of ten
results would lower their coverage, and a correction would have to guess the other nine.
"""

from collections import Counter

import numpy as np

from lookalike.audit.trust import BANDS
from lookalike.core.text import plural
from lookalike.core.types import Catalog, Pool
from lookalike.evaluate.significance.intervals import FEWEST_QUERIES
from lookalike.rank.pairs import JudgedPairs
from lookalike.store.sql.samples import drawn_ends
from lookalike.store.workspace import Workspace

MOST = BANDS[-2]
"""The share of a query's pooled pairs from which on it counts: the last band of the calibration."""
LIST = 5  # labels that a query needs without a pool


def without_sparse(workspace: Workspace, pairs: JudgedPairs) -> tuple[JudgedPairs, tuple[str, ...]]:
    """The pairs without those of queries that have only drawn labels, and few: then a note on what was left out.

    Few are less than `MOST` of the query's pooled pairs that the rule admits, or less than a list of the pool. All
    pairs are kept if fewer than `FEWEST_QUERIES` other queries have labels.
    """
    ends = workspace.database.fetch(drawn_ends)
    if not ends:
        return pairs, ()
    labels = workspace.labels()
    own = [
        query
        for query, candidate in zip(labels.query.tolist(), labels.candidate.tolist(), strict=True)
        if (min(query, candidate), max(query, candidate)) not in ends
    ]
    kept = np.isin(pairs.query, list({*own, *_labelled_enough(workspace.catalog, pairs, workspace.pool())}))
    if kept.all() or len(np.unique(pairs.query_row[kept])) < FEWEST_QUERIES:
        return pairs, ()
    queries = plural(len(np.unique(pairs.query_row[~kept])), "query", "queries")
    note = (
        f"{plural(int((~kept).sum()), 'label')} left out: drawn for a comparison, on {queries} with few labels. "
        "lookalike compare uses them, and so does lookalike evaluate --source all."
    )
    return pairs.only(kept), (note,)


def _labelled_enough(catalog: Catalog, pairs: JudgedPairs, pool: Pool | None) -> list[str]:
    """Queries that have enough labels."""
    names, labels = np.unique(pairs.query, return_counts=True)
    needed = np.full(len(names), LIST if pool is None else pool.top, float)
    if pool is not None:
        gallery = set(catalog.item[catalog.is_gallery(pairs.basis.rule.split)].tolist())
        pooled = Counter(
            query
            for query, item in zip(pool.query.tolist(), pool.item.tolist(), strict=True)
            if item in gallery
        )
        needed = np.maximum(needed, [MOST * pooled[name] for name in names.tolist()])
    return names[labels >= needed].tolist()
