"""Lists that show one photo of each group of duplicates, against a walk down the whole list."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import ranking
from oracles.ranking import Rules
from oracles.worlds import World, catalog_of, embeddings_of, rule_of, rules, worlds

from lookalike.rank import distinct
from lookalike.rank.distinct import top_for_vectors, top_lists
from lookalike.rank.hide_duplicates import shown_once


def walked(rows: list[int], duplicate: np.ndarray, k: int) -> list[int]:
    """A whole list from its top, passing over photos whose group was shown, up to K."""
    shown: list[int] = []
    for row in rows:
        if row >= 0 and (duplicate[row] < 0 or duplicate[row] not in duplicate[shown]):
            shown.append(row)
    return [*shown, *[-1] * k][:k]


@given(worlds, rules, st.integers(1, 9), st.integers(0, 2**32))
def test_the_lists_are_those_of_a_walk(w: World, r: Rules, k: int, seed: int):
    assume(any(ranking.may_be_found(photo, r.split) for photo in w.photos))
    plain = catalog_of(w.photos)
    duplicate = np.random.default_rng(seed).integers(-1, 4, len(plain))
    catalog = replace(plain, duplicate=duplicate)
    queries = np.arange(len(plain))
    vectors = embeddings_of(plain, w.vectors)
    whole = top_lists(plain, vectors, queries, 1_000, rule_of(r))
    found = top_lists(catalog, vectors, queries, k, rule_of(r))
    score = {(q, row): s for q in queries for row, s in zip(whole.row[q], whole.score[q], strict=True)}
    for query in queries.tolist():
        expected = walked(whole.row[query].tolist(), duplicate, found.row.shape[1])
        assert found.row[query].tolist() == expected
        for row, value in zip(found.row[query].tolist(), found.score[query].tolist(), strict=True):
            assert np.isnan(value) if row < 0 else value == score[query, row]


@given(worlds, st.integers(1, 9), st.integers(0, 2**32))
def test_new_photos_see_each_photo_once_too(w: World, k: int, seed: int):
    r = Rules("item", "cosine", False, None)
    assume(any(ranking.may_be_found(photo, None) for photo in w.photos))
    plain = catalog_of(w.photos)
    duplicate = np.random.default_rng(seed).integers(-1, 3, len(plain))
    new = np.array([w.vectors[0]], np.float32)
    vectors = embeddings_of(plain, w.vectors)
    whole = top_for_vectors(plain, vectors, new, 1_000, rule_of(r)).row[0].tolist()
    found = top_for_vectors(replace(plain, duplicate=duplicate), vectors, new, k, rule_of(r)).row[0]
    assert found.tolist() == walked(whole, duplicate, len(found))


def test_a_copy_of_the_query_under_another_item_is_found_once():
    """Items b and c sell the query's own photo: b is shown, c is passed over, d comes up."""
    w = World(
        photos=[ranking.Photo(name, name, "both", "train") for name in "abcd"],
        vectors=[[1, 0], [1, 0], [1, 0], [0, 1]],
        votes=[],
    )
    catalog = replace(catalog_of(w.photos), duplicate=np.array([0, 0, 0, -1]))
    found = top_lists(catalog, embeddings_of(catalog, w.vectors), np.array([0]), 2)
    assert found.row.tolist() == [[1, 3]]


def test_a_catalog_without_duplicates_is_ranked_once_and_one_with_them_only_where_it_must(monkeypatch):
    requests = []
    best = distinct.best_of
    monkeypatch.setattr(
        distinct,
        "best_of",
        lambda g, q, rows, k, *rest: (requests.append((len(rows), k)), best(g, q, rows, k, *rest))[1],
    )
    random = np.random.default_rng(0)
    photos = [ranking.Photo(f"{i}", f"{i}", "both", "train") for i in range(50)]
    vectors = random.standard_normal((50, 4))
    catalog = catalog_of(photos)
    top_lists(catalog, embeddings_of(catalog, vectors), np.arange(50), 5)
    assert requests == [(50, 5)]
    requests.clear()
    duplicate = np.full(50, -1)
    duplicate[:2] = 0
    top_lists(replace(catalog, duplicate=duplicate), embeddings_of(catalog, vectors), np.arange(50), 5)
    assert requests[0] == (50, 5)
    assert all(queries < 25 for queries, _ in requests[1:])
    assert [k for _, k in requests[1:]] == [10] * len(requests[1:])


@pytest.mark.parametrize("queries", [0, 3])
def test_nothing_but_duplicates(queries: int):
    def best(some: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
        width = min(k, 40)
        return np.tile(np.arange(width), (len(some), 1)), np.ones((len(some), width), np.float32)

    row, score = shown_once(best, queries, 3, np.zeros(40, np.int64))
    assert row.tolist() == [[0, -1, -1]] * queries
    assert np.isnan(score).sum() == 2 * queries
