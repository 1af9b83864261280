"""Exposure@K from Python: which items the top K lists of an encoder show, and which they never show."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
from jaxtyping import Int64

from lookalike.audit.exposure import Exposure, exposure, item_times
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
    lists = _lists(catalog, list(encoders), at_least(k, 1, "k"), seed, progress)
    everyone = int(catalog.is_query().sum())
    return tuple(exposure(catalog, name, rows, k, all_queries=everyone) for name, rows in lists)


def item_exposure(
    catalog: Catalog, encoders: Iterable[Embeddings], k: int = 5, *, seed: int = 0
) -> dict[str, np.ndarray]:
    """In how many of the same lists each item is: the column `item`, and a column of counts for each encoder."""
    columns: dict[str, np.ndarray] = {}
    for name, rows in _lists(catalog, list(encoders), at_least(k, 1, "k"), seed, None):
        columns["item"], columns[name] = item_times(catalog, rows)
    return columns


def _lists(
    catalog: Catalog, encoders: Sequence[Embeddings], k: int, seed: int, progress: Progress | None
) -> Iterator[tuple[str, Int64[np.ndarray, "queries places"]]]:
    """The top K lists of each encoder, as catalog rows."""
    asked = np.flatnonzero(catalog.is_query())
    affordable = MOST_PRODUCTS // max(int(catalog.is_gallery().sum()), 1)
    most = min(MOST_QUERIES, max(LEAST_QUERIES, affordable))
    if len(asked) > most:
        asked = np.sort(np.random.default_rng(seed).choice(asked, most, replace=False))
    for done, one in enumerate(encoders):
        step = part(progress, done, len(encoders))
        yield one.encoder, top_lists(catalog, one, asked, k, progress=step).row
