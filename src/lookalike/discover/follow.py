"""A pool after its catalog changed: pairs of images that are gone leave it, and nothing else moves."""

from dataclasses import replace

import numpy as np

from lookalike.core.checks import strings
from lookalike.core.types import Catalog, Pool


def following(pool: Pool, catalog: Catalog) -> Pool:
    """The pool without queries and candidate items that the catalog no longer has.

    A pair whose photo is gone but whose item has others is shown by the item's first photo.
    """
    gallery = catalog.is_gallery()
    items = {
        item: image
        for item, image in zip(catalog.item[gallery][::-1], catalog.image[gallery][::-1], strict=True)
    }
    place = {pair: at for at, pair in enumerate(_standing(pool, catalog, items))}
    kept = np.array(list(place), np.int64)
    sources = np.array([pair in place for pair in pool.pair.tolist()], bool)
    candidate = [
        photo if photo in catalog.row and catalog.item[catalog.row[photo]] == item else items[item]
        for photo, item in zip(pool.candidate[kept], pool.item[kept], strict=True)
    ]
    return replace(
        pool,
        query=pool.query[kept],
        item=pool.item[kept],
        candidate=strings(candidate),
        pair=np.array([place[pair] for pair in pool.pair[sources].tolist()], np.int64),
        source=pool.source[sources],
        rank=pool.rank[sources],
        score=pool.score[sources],
        queries=strings(query for query in pool.queries if query in catalog.row),
    )


def _standing(pool: Pool, catalog: Catalog, items: dict[str, str]) -> list[int]:
    """Pairs whose query is still asked about and whose item is still found."""
    ends = enumerate(zip(pool.query, pool.item, strict=True))
    return [at for at, (query, item) in ends if query in catalog.row and item in items]
