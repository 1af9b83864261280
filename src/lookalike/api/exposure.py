"""Exposure@K from Python: which items the top K lists of an encoder show, and which they never show."""

from collections.abc import Iterable

import numpy as np

from lookalike.audit.exposure import Exposure, exposure
from lookalike.core.checks import at_least
from lookalike.core.progress import Progress, part
from lookalike.core.types import Catalog, Embeddings
from lookalike.rank.distinct import top_lists

MOST_QUERIES, LEAST_QUERIES, MOST_PRODUCTS = 5_000, 1_000, 100_000_000


def audit_exposure(
    catalog: Catalog,
    encoders: Iterable[Embeddings],
    k: int = 5,
    *,
    seed: int = 0,
    progress: Progress | None = None,
) -> tuple[Exposure, ...]:
    """How often each item is in the top K lists of all query images, by encoder; it needs no labels.

    Lists are those that people see: distinct items by cosine, the query's own item left out. Of more than 5,000 query
    images a random sample is counted, the same for all encoders; it is smaller, but not below 1,000, where the gallery
    has more than 20,000 images.
    """
    listed, queries = list(encoders), np.flatnonzero(catalog.is_query())
    asked = queries
    affordable = MOST_PRODUCTS // max(int(catalog.is_gallery().sum()), 1)
    most = min(MOST_QUERIES, max(LEAST_QUERIES, affordable))
    if len(queries) > most:
        asked = np.sort(np.random.default_rng(seed).choice(queries, most, replace=False))
    found = []
    for done, one in enumerate(listed):
        step = part(progress, done, len(listed))
        lists = top_lists(catalog, one, asked, at_least(k, 1, "k"), progress=step)
        found.append(exposure(catalog, one.encoder, lists.row, k, all_queries=len(queries)))
    return tuple(found)
