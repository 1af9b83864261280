"""Lists and judged ranks from parts of the gallery are those of the whole, with ties and short galleries."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.core.checks import strings
from lookalike.core.types import Catalog, Embeddings, Labels, Rule
from lookalike.rank import parts as rank_parts
from lookalike.rank.counting import JudgedQueries
from lookalike.rank.distinct import top_lists
from lookalike.rank.engine.machine import Machine
from lookalike.rank.engine.source import Source
from lookalike.rank.judged import judged_ranks
from lookalike.rank.pairs import judged_pairs
from lookalike.rank.parts import (
    RUN,
    added,
    counts_of_part,
    joined_lists,
    joined_ranks,
    lists_of_part,
    scores_of,
    whole_items,
)

ROLES = np.array(["query", "gallery", "both"], object)


def shop(seed: int, images: int, items: int) -> tuple[Catalog, np.ndarray]:
    """Photos of items with vectors on a coarse grid, so that many cosines are equal and none nearly so."""
    random = np.random.default_rng(seed)
    names = strings(f"i{one}" for one in range(images))
    item = strings(f"item{one}" for one in random.integers(0, items, images))
    role = ROLES[random.integers(0, 3, images)]
    role[0] = "both"
    none, zero = np.full(images, "", object), np.zeros(images, np.int64)
    catalog = Catalog(names, names, item, none, role, none, np.arange(images), none, zero, zero)
    vectors = random.integers(-2, 3, (images, 4)).astype(np.float32)
    vectors[(vectors == 0).all(axis=1)] = 1
    return catalog, vectors


def first_of(catalog: Catalog) -> np.ndarray:
    """The first image of the gallery of each image's item."""
    item, rows = catalog.item_codes[1], np.flatnonzero(catalog.is_gallery())
    first = np.full(item.max() + 1, len(catalog))
    np.minimum.at(first, item[rows], rows)
    return first[item]


@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(1, 20), st.integers(1, 12), st.integers(1, 30))
def test_parts_of_any_size_give_the_lists_of_the_whole(seed, images, items, k, most):
    catalog, vectors = shop(seed, images, items)
    queries = np.flatnonzero(catalog.is_query())
    whole = top_lists(catalog, Embeddings("e", catalog.image, vectors), queries, k, Rule())
    parts = [lists_of_part(catalog, Source(vectors), queries, rows, k) for rows in whole_items(catalog, most)]
    row, score = joined_lists(parts, first_of(catalog), k)
    width = whole.row.shape[1]
    np.testing.assert_array_equal(row[:, :width], whole.row)
    assert (row[:, width:] == -1).all()
    np.testing.assert_allclose(score[:, :width], whole.score, atol=1e-6)


@given(st.integers(0, 10**6), st.integers(1, 60), st.integers(1, 20), st.integers(1, 30))
def test_parts_have_whole_items_and_each_image_once(seed, images, items, most):
    catalog, _ = shop(seed, images, items)
    parts = whole_items(catalog, most)
    np.testing.assert_array_equal(np.sort(np.concatenate(parts)), np.flatnonzero(catalog.is_gallery()))
    of_item = [set(catalog.item[rows]) for rows in parts]
    assert sum(map(len, of_item)) == len(set().union(*of_item))
    largest = max(np.sum(catalog.item == one) for one in catalog.item)
    assert max(len(rows) for rows in parts) < most + largest


@pytest.mark.parametrize("ties", [5, 40, 200])
def test_a_part_gives_all_that_tie_with_its_last_item(ties):
    """Equal photos beyond K and the spare: the earliest of all parts is shown, wherever it is."""
    images = ties + 3
    catalog, _ = shop(0, images, images)
    catalog = Catalog(
        catalog.image,
        catalog.path,
        catalog.image,
        catalog.category,
        np.full(images, "both", object),
        catalog.split,
        catalog.position,
        catalog.digest,
        catalog.width,
        catalog.height,
    )
    vectors = np.ones((images, 2), np.float32)
    backwards = [np.arange(images // 2, images), np.arange(images // 2)]
    parts = [lists_of_part(catalog, Source(vectors), np.array([images - 1]), rows, 2) for rows in backwards]
    row, _ = joined_lists(parts, np.arange(images), 2)
    assert row.tolist() == [[0, 1]]


@given(st.integers(0, 10**6), st.integers(2, 60), st.integers(2, 20), st.integers(1, 30))
def test_counts_of_parts_add_up_to_the_judged_ranks(seed, images, items, most):
    catalog, vectors = shop(seed, images, items)
    random = np.random.default_rng(seed)
    given_pairs = random.integers(0, images, (40, 2))
    labels = Labels(
        catalog.image[given_pairs[:, 0]],
        catalog.image[given_pairs[:, 1]],
        random.integers(0, 2, 40).astype(np.int8),
    )
    pairs = judged_pairs(catalog, labels, Rule())
    if not len(pairs):
        return
    whole = judged_ranks(catalog, Embeddings("e", catalog.image, vectors), pairs)
    judged = replace(JudgedQueries.of(pairs), score=scores_of(catalog, Source(vectors), pairs))
    parts = [counts_of_part(catalog, Source(vectors), judged, rows) for rows in whole_items(catalog, most)]
    found = joined_ranks("e", pairs, judged, [added(parts)])
    np.testing.assert_array_equal(found.above, whole.above)
    np.testing.assert_array_equal(found.tied, whole.tied)
    np.testing.assert_array_equal(found.candidates, whole.candidates)
    np.testing.assert_allclose(found.score, whole.score, atol=1e-6)
    assert found.basis == whole.basis


def test_vectors_of_labelled_items_are_read_a_few_at_a_time(monkeypatch):
    catalog, vectors = shop(3, 50, 12)
    rows, queries = np.flatnonzero(catalog.is_gallery()), np.flatnonzero(catalog.is_query())
    labels = Labels(
        catalog.image[np.repeat(queries, len(rows))],
        catalog.image[np.tile(rows, len(queries))],
        np.ones(len(rows) * len(queries), np.int8),
    )
    pairs = judged_pairs(catalog, labels, Rule())
    at_once = scores_of(catalog, Source(vectors), pairs)
    monkeypatch.setattr(rank_parts, "SLICE", 7)
    np.testing.assert_array_equal(scores_of(catalog, Source(vectors), pairs), at_once)


@pytest.mark.parametrize("machine", [Machine(device="numpy"), Machine(held=0, device="numpy")])
def test_runs_of_queries_against_the_whole_gallery_give_the_bits_of_one_process(machine):
    """Lists and ranks, of a gallery held in memory and of one gone through in slabs; the last run is short."""
    random = np.random.default_rng(5)
    catalog, _ = shop(5, 3_000, 900)
    vectors, k = random.standard_normal((3_000, 24)).astype(np.float32), 5
    encoder, source = Embeddings("e", catalog.image, vectors), Source(vectors)
    queries = np.arange(2_100)
    pair = random.integers(0, 3_000, 9_000), random.integers(0, 3_000, 9_000)
    labels = Labels(catalog.image[pair[0]], catalog.image[pair[1]], np.ones(9_000, np.int8))
    pairs = judged_pairs(catalog, labels, Rule())
    judged, (gallery,) = JudgedQueries.of(pairs), whole_items(catalog, 3_000)
    lists, counts = [], []
    for first in range(0, len(queries), RUN):
        run = queries[first : first + RUN]
        lists.append(lists_of_part(catalog, source, run, gallery, k, machine, whole=True))
    for first in range(0, len(judged.row), RUN):
        start = judged.start[first : first + RUN + 1]
        some = JudgedQueries(
            judged.row[first : first + RUN], start - start[0], judged.code[start[0] : start[-1]]
        )
        counts.append(counts_of_part(catalog, source, some, gallery, machine))
    assert len(lists) == 3
    assert len(counts) > 1
    whole = top_lists(catalog, encoder, queries, k, Rule(), machine=machine)
    np.testing.assert_array_equal(np.concatenate([one.row for one in lists]), whole.row)
    np.testing.assert_array_equal(np.concatenate([one.score for one in lists]), whole.score)
    found, one = (
        joined_ranks("e", pairs, judged, counts),
        judged_ranks(catalog, encoder, pairs, machine=machine),
    )
    for name in ("above", "tied", "score", "candidates", "tolerance"):
        np.testing.assert_array_equal(getattr(found, name), getattr(one, name))
