"""Identification (EDS 6.5): the catalog's own pairs of photos of one item, as judged pairs that need no labels."""

from typing import NamedTuple

import numpy as np

from lookalike.core.checks import fingerprint
from lookalike.core.errors import CatalogError
from lookalike.core.types import Basis, Catalog, Rule, Similarity, Split
from lookalike.rank.pairs import JudgedPairs


class Identification(NamedTuple):
    """Pairs to rank, how many queries they are of, and how many queries have no other photo of their item to find."""

    pairs: JudgedPairs
    queries: int
    alone: int


def identification(
    catalog: Catalog, *, similarity: Similarity = "cosine", split: Split | None = None
) -> Identification:
    """Every query image with each other gallery image of its item, all positive, at image level, own item kept.

    A query whose item has no other photo in the gallery has nothing to find; it is left out and counted.
    """
    rule = Rule("image", similarity, own_item=True, split=split)
    item = catalog.item_codes[1]
    rows, asked = np.flatnonzero(catalog.is_gallery(split)), np.flatnonzero(catalog.is_query(split))
    by_item = rows[np.argsort(item[rows], kind="stable")]
    first = np.searchsorted(item[by_item], item[asked], side="left")
    count = np.searchsorted(item[by_item], item[asked], side="right") - first
    within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
    query, found = np.repeat(asked, count), by_item[np.repeat(first, count) + within]
    query, found = query[query != found], found[query != found]
    queries = len(np.unique(query))
    if queries == 0:
        raise CatalogError(
            "No item has two photos of which one may find the other, so there is nothing to identify.",
            fix="Use a catalog with several photos of an item (roles and split allowing), or leave out --task.",
        )
    names = catalog.image[query], catalog.image[found]
    label = np.ones(len(query), np.int8)
    basis = Basis(catalog.fingerprint, f"identification {fingerprint(*names)}", rule)
    pairs = JudgedPairs(query, found, label, *names, basis, ())
    return Identification(pairs, queries, len(asked) - queries)
