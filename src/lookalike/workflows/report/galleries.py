"""A report's galleries: photos of one item that look different, and different items that look alike (EDS Figure 1)."""

import numpy as np
from jaxtyping import Int64

from lookalike.core.errors import CatalogError
from lookalike.core.types import Embeddings, JudgedRanks
from lookalike.rank.engine.source import cosines
from lookalike.rank.identification import identification
from lookalike.report.content import PairGroup, PhotoPair
from lookalike.workflows.report.strips import Photos

PAIRS, MOST = 4, 100_000


def galleries(
    gallery: Photos, encoder: Embeddings, judged: JudgedRanks | None, seed: int
) -> tuple[PairGroup, ...]:
    """The pairs of photos of one item with the lowest cosine, and those labelled similar with the highest.

    Each item is in one pair at most. Of more than 100,000 pairs of photos of one item, as many are sampled.
    """
    name = encoder.encoder
    found = (
        PairGroup(
            "Same item, unlike",
            f"Two photos of one item that {name} finds least alike. They have one identity, not one look.",
            _shown(gallery, encoder, _of_one_item(gallery, seed), -1, None),
        ),
        PairGroup(
            "Different items, alike",
            f"Two items that are labelled similar and that {name} finds most alike.",
            () if judged is None else _shown(gallery, encoder, _similar(gallery, encoder, judged), 1, 1),
        ),
    )
    return tuple(one for one in found if one.pairs)


def _of_one_item(gallery: Photos, seed: int) -> Int64[np.ndarray, "pairs 2"]:
    """Catalog rows of two photos of one item, once each."""
    try:
        pairs = identification(gallery.catalog).pairs
    except CatalogError:
        return np.empty((0, 2), np.int64)
    rows = np.unique(np.sort(np.stack([pairs.query_row, pairs.code], axis=1), axis=1), axis=0)
    if len(rows) > MOST:
        rows = rows[np.random.default_rng(seed).choice(len(rows), MOST, replace=False)]
    return rows


def _similar(gallery: Photos, encoder: Embeddings, judged: JudgedRanks) -> Int64[np.ndarray, "pairs 2"]:
    """Catalog rows of the highest pairs labelled similar: the query, and the candidate's photo nearest to it."""
    catalog = gallery.catalog
    place = np.flatnonzero(judged.labelled.label == 1)
    best = place[np.argsort(-judged.labelled.score[place], kind="stable")][: 20 * PAIRS]
    found = []
    for at in best.tolist():
        query = catalog.row[judged.labelled.query[at]]
        photos = np.flatnonzero((catalog.item == judged.labelled.candidate[at]) & catalog.is_gallery())
        pairs = np.stack([np.full(len(photos), query), photos], axis=1)
        found.append(pairs[np.argmax(cosines(gallery.catalog, encoder, pairs))])
    return np.array(found, np.int64).reshape(-1, 2)


def _shown(
    gallery: Photos, encoder: Embeddings, rows: Int64[np.ndarray, "pairs 2"], sign: int, label: int | None
) -> tuple[PhotoPair, ...]:
    """The first pairs by cosine, upwards or downwards, with each item once and without duplicates of one photo."""
    group = gallery.catalog.duplicate[rows]
    rows = rows[(group[:, 0] < 0) | (group[:, 0] != group[:, 1])]
    cosine = cosines(gallery.catalog, encoder, rows)
    shown: list[PhotoPair] = []
    seen: set[str] = set()
    for at in np.argsort(-sign * cosine, kind="stable").tolist():
        items = set(gallery.catalog.item[rows[at]])
        if len(shown) < PAIRS and not items & seen:
            seen |= items
            first, second = (gallery.photo(row) for row in rows[at].tolist())
            shown.append(PhotoPair(first, second, float(cosine[at]), label))
    return tuple(shown)
