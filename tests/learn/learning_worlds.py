"""Small catalogs of clusters with labels, for tests of training; noise hides the clusters in the features."""

from typing import NamedTuple

import numpy as np

from lookalike.core.checks import strings
from lookalike.core.types import Catalog, Labels

SPLITS = ("train",) * 3 + ("validation", "test")


class World(NamedTuple):
    catalog: Catalog
    labels: Labels
    features: np.ndarray


def world(
    items: int = 60,
    *,
    photos: int = 1,
    clusters: int = 6,
    share: float = 0.3,
    wide: int = 12,
    seed: int = 0,
    across: bool = False,
) -> World:
    """Items of clusters; a share of all pairs of items of one split is labelled by cluster, on their first photos.

    With `across`, so is that share of the pairs of two splits.
    """
    random = np.random.default_rng(seed)
    cluster = random.integers(clusters, size=items)
    split = np.array(SPLITS)[np.arange(items) % len(SPLITS)]
    image = [f"i{item}-{photo}" for item in range(items) for photo in range(photos)]
    of = np.repeat(np.arange(items), photos)
    catalog = catalog_of(image, [f"i{item}" for item in of], split[of])
    one, other = np.triu_indices(items, 1)
    chosen = (across | (split[one] == split[other])) & (random.random(len(one)) < share)
    one, other = one[chosen], other[chosen]
    labels = Labels.of(
        [f"i{item}-0" for item in one],
        [f"i{item}-0" for item in other],
        (cluster[one] == cluster[other]).astype(np.int8),
    )
    centre = random.normal(size=(clusters, 3))
    features = random.normal(size=(len(image), wide)).astype(np.float32) * 2
    features[:, :3] = centre[cluster[of]] + 0.3 * random.normal(size=(len(image), 3))
    return World(catalog, labels, features)


def catalog_of(image: list[str], item: list[str], split: np.ndarray) -> Catalog:
    """A catalog of vectors only."""
    from lookalike.catalog.read import catalog_from

    table = {"image": image, "item": item, "split": [str(one) for one in split]}
    made = catalog_from(table).catalog
    assert made.image.tolist() == strings(image).tolist()
    return made
