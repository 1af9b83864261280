"""Pools and random pairs after their catalog changed: pairs of images that are gone leave, nothing else moves."""

from dataclasses import replace

import numpy as np

from lookalike.core.checks import strings
from lookalike.core.types import Catalog, Pool
from lookalike.discover.random_pairs import RandomPairs


def following(pool: Pool, catalog: Catalog) -> Pool:
    """The pool without queries and candidate items that the catalog no longer has.

    A pair whose photo is gone but whose item has others is shown by the item's first photo.
    """
    kept, candidate = _remaining(pool, catalog)
    place = {pair: at for at, pair in enumerate(kept.tolist())}
    sources = np.array([pair in place for pair in pool.pair.tolist()], bool)
    return replace(
        pool,
        query=pool.query[kept],
        item=pool.item[kept],
        candidate=candidate,
        pair=np.array([place[pair] for pair in pool.pair[sources].tolist()], np.int64),
        source=pool.source[sources],
        rank=pool.rank[sources],
        score=pool.score[sources],
        queries=strings(query for query in pool.queries if query in catalog.row),
    )


def still_drawn(drawn: RandomPairs, catalog: Catalog) -> RandomPairs:
    """The random pairs that are left: still uniform over all pairs of what is left."""
    kept, candidate = _remaining(drawn, catalog)
    return RandomPairs(query=drawn.query[kept], item=drawn.item[kept], candidate=candidate)


def _remaining(pairs: Pool | RandomPairs, catalog: Catalog) -> tuple[np.ndarray, np.ndarray]:
    """Pairs whose query and item still exist, and the photos that show them."""
    gallery = catalog.is_gallery()
    backwards = zip(catalog.item[gallery][::-1], catalog.image[gallery][::-1], strict=True)
    first_photo = dict(backwards)
    ends = enumerate(zip(pairs.query, pairs.item, strict=True))
    kept = [at for at, (query, item) in ends if query in catalog.row and item in first_photo]
    candidate = strings(
        photo if photo in catalog.row and catalog.item[catalog.row[photo]] == item else first_photo[item]
        for photo, item in zip(pairs.candidate[kept], pairs.item[kept], strict=True)
    )
    return np.array(kept, np.int64), candidate
