"""Pairs by split, and splits drawn from a pool: whole items and duplicates, balanced, the same for the same seed."""

from dataclasses import replace

import numpy as np
import pytest

import lookalike
from lookalike.catalog.duplicates.groups import kept_together
from lookalike.core.types import SPLITS
from lookalike.discover.splitting import is_within_splits, pairs_by_split, splits_of_pool

ITEMS, PHOTOS, KINDS = 300, 2, 4


@pytest.fixture(scope="module")
def catalog():
    """600 photos of 300 items of four kinds; splits as `init` draws them; items 0 and 1 share a duplicate."""
    item = np.repeat(np.arange(ITEMS), PHOTOS)
    made = lookalike.read_catalog(
        {
            "image": [f"{one:03d}/{at % PHOTOS}" for at, one in enumerate(item)],
            "item": [f"{one:03d}" for one in item],
            "category": [f"kind {one % KINDS}" for one in item],
        }
    )
    group = np.full(len(made), -1)
    group[[0, PHOTOS]] = 0
    return replace(made, duplicate=group)


@pytest.fixture(scope="module")
def generators(catalog):
    """Two views of 60 looks with noise: neighbours are mostly of one look."""
    random = np.random.default_rng(2)
    look = np.repeat(random.normal(size=(60, 16)), ITEMS * PHOTOS // 60, axis=0)
    return [
        lookalike.embeddings(catalog, name, (look + 0.9 * random.normal(size=look.shape)).astype(np.float32))
        for name in ("one", "two")
    ]


@pytest.fixture(scope="module")
def pool(catalog, generators):
    return lookalike.make_pool(catalog, generators, top=4)


def share_within(catalog, pool):
    found = pairs_by_split(catalog, pool)
    inside = found.train + found.validation + found.test
    return inside / (inside + found.across)


def test_pairs_are_counted_once_by_the_split_of_both_photos(catalog, pool):
    split = dict(zip(catalog.image, catalog.split, strict=True))
    ends = {frozenset(pair) for pair in zip(pool.query, pool.candidate, strict=True)}
    splits = [{split[image] for image in pair} for pair in ends]
    found = pairs_by_split(catalog, pool)
    for name in SPLITS:
        assert getattr(found, name) == splits.count({name})
    assert found.across == sum(len(both) == 2 for both in splits) > 0
    assert not is_within_splits(catalog, pool)


def test_a_pool_within_splits_is_the_pool_of_each_split_alone(catalog, generators):
    inside = lookalike.make_pool(catalog, generators, top=4, within_splits=True)
    assert is_within_splits(catalog, inside)
    assert pairs_by_split(catalog, inside).across == 0
    found = set(zip(inside.query, inside.item, strict=True))
    for name in SPLITS:
        rows = np.flatnonzero(catalog.split == name)
        alone = lookalike.make_pool(
            catalog.take(rows),
            [lookalike.embeddings(catalog.take(rows), one.encoder, one.vectors[rows]) for one in generators],
            top=4,
        )
        wanted = set(zip(alone.query, alone.item, strict=True))
        assert wanted == {pair for pair in found if pair[0] in catalog.take(rows).row}


def test_splits_of_a_pool_keep_most_pairs_and_all_items_and_duplicates_whole(catalog, pool):
    together = kept_together(catalog.item, np.arange(len(catalog)), catalog.duplicate)
    split = splits_of_pool(catalog, pool, together, seed=0)
    drawn = replace(catalog, split=split)
    assert share_within(drawn, pool) > share_within(catalog, pool) + 0.2
    assert all(len(set(split[catalog.item == item])) == 1 for item in set(catalog.item))
    assert split[0] == split[PHOTOS]
    for name, wanted in zip(SPLITS, (0.6, 0.15, 0.25), strict=True):
        assert abs(np.mean(split == name) - wanted) < 0.03
        for kind in set(catalog.category):
            assert abs(np.mean(split[catalog.category == kind] == name) - wanted) < 0.1
    assert np.array_equal(split, splits_of_pool(catalog, pool, together, seed=0))
    assert not np.array_equal(split, splits_of_pool(catalog, pool, together, seed=1))


def test_photos_without_a_pair_get_a_split_too(catalog, generators):
    few = lookalike.make_pool(catalog, generators, top=2, queries=5)
    split = splits_of_pool(catalog, few, catalog.item, seed=3)
    assert set(split) == set(SPLITS)
    assert abs(np.mean(split == "train") - 0.6) < 0.03
