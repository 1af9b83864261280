"""Top lists: exactly K distinct items whenever K exist, best first, equals in catalog order."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import ranking
from oracles.ranking import Photo, Rules
from oracles.rounding import shown_error
from oracles.worlds import World, catalog_of, embeddings_of, rule_of, rules, worlds

from lookalike.rank import distinct
from lookalike.rank.distinct import TopLists, top_for_vectors, top_lists


def lists(w: World, r: Rules, k: int) -> TopLists:
    catalog = catalog_of(w.photos)
    return top_lists(catalog, embeddings_of(catalog, w.vectors), np.arange(len(w.photos)), k, rule_of(r))


def named(w: World, rows: list[int], r: Rules) -> list[str]:
    return [w.photos[row].item if r.level == "item" else w.photos[row].image for row in rows]


def someone_may_be_found(w: World, r: Rules) -> bool:
    return any(ranking.may_be_found(photo, r.split) for photo in w.photos)


@given(worlds, rules, st.integers(1, 9))
def test_exactly_k_distinct_units_whenever_k_exist(w: World, r: Rules, k: int):
    assume(someone_may_be_found(w, r))
    for query, found in enumerate(lists(w, r, k).row):
        names = named(w, [row for row in found if row >= 0], r)
        units = ranking.candidate_units(w.photos, query, r)
        assert len(names) == len(set(names)) == min(k, len(units))
        assert set(names) <= set(units)


@given(worlds, rules, st.integers(1, 9))
def test_no_better_unit_is_left_out_and_the_order_is_the_similarity(w: World, r: Rules, k: int):
    """Compared by exact nearness: candidates that tie on paper may replace each other here."""
    assume(someone_may_be_found(w, r))
    for query, found in enumerate(lists(w, r, k).row):
        best = ranking.top(w.photos, w.vectors, query, k, r)
        near = [
            [ranking.nearness(w.vectors[query], w.vectors[row], r.similarity) for row in rows if row >= 0]
            for rows in (found, best)
        ]
        assert near[0] == near[1]


@given(worlds, rules, st.integers(1, 9))
def test_photos_with_one_vector_are_in_catalog_order(w: World, r: Rules, k: int):
    r = r._replace(level="image")
    assume(someone_may_be_found(w, r))
    for found in lists(w, r, k).row:
        rows = [row for row in found if row >= 0]
        for a, b in pairwise(rows):
            assert w.vectors[a] != w.vectors[b] or a < b


@given(worlds, rules, st.integers(1, 9))
def test_scores_match_rows_and_are_nan_past_the_end(w: World, r: Rules, k: int):
    assume(someone_may_be_found(w, r))
    found = lists(w, r, k)
    assert np.array_equal(np.isnan(found.score), found.row < 0)
    for query, (rows, scores) in enumerate(zip(found.row, found.score, strict=True)):
        for row, score in zip(rows, scores, strict=True):
            if row >= 0:
                exact = ranking.shown(w.vectors[query], w.vectors[row], r.similarity)
                assert abs(score - exact) <= shown_error(w.vectors, r.similarity)


@given(worlds, rules, st.integers(1, 9))
def test_a_new_photo_hides_nothing(w: World, r: Rules, k: int):
    """A photo from outside is ranked as a query of the catalog whose item has no other photo."""
    assume(someone_may_be_found(w, r))
    catalog = catalog_of(w.photos)
    embeddings = embeddings_of(catalog, w.vectors)
    new = [1, *[2] * (len(w.vectors[0]) - 1)]
    with_new = World([*w.photos, Photo("new", "new", "query", r.split or "train")], [*w.vectors, new], [])
    found = top_for_vectors(catalog, embeddings, np.array([new], np.float32), k, rule_of(r)).row[0]
    best = ranking.top(with_new.photos, with_new.vectors, len(w.photos), k, r)
    near = [
        [ranking.nearness(new, w.vectors[row], r.similarity) for row in rows if row >= 0]
        for rows in (found, best)
    ]
    assert near[0] == near[1]


def test_an_item_is_shown_by_its_nearest_photo_the_first_of_equals():
    photos = [Photo("q", "q"), Photo("far", "a"), Photo("near", "a"), Photo("twin", "a"), Photo("b", "b")]
    w = World(photos, [[1, 0], [0, 1], [2, 1], [2, 1], [1, 1]], [])
    assert lists(w, Rules(), 5).row[0].tolist()[:2] == [2, 4]


def test_items_with_one_vector_are_ordered_by_first_appearance():
    photos = [Photo(f"i{row}", f"p{(row * 7) % 10}") for row in range(30)]
    w = World(photos, [[1, 2, 3]] * 30, [])
    found = [photos[row].item for row in lists(w, Rules(), 30).row[0] if row >= 0]
    assert found == [f"p{(row * 7) % 10}" for row in range(1, 10)]


def test_more_than_there_are_gives_all_there_are():
    photos = [Photo("q", "q"), Photo("a", "a"), Photo("b", "b")]
    found = lists(World(photos, [[1, 0], [2, 1], [0, 1]], []), Rules(), 50)
    assert [[row for row in rows if row >= 0] for rows in found.row] == [[1, 2], [0, 2], [1, 0]]


class FilledNumpy:
    """numpy, but memory that should be written before it is read is filled with something."""

    def __init__(self, filler: float) -> None:
        self.filler = filler

    def __getattr__(self, name: str) -> object:
        return getattr(np, name)

    def empty(self, shape: tuple[int, ...], dtype: type = float) -> np.ndarray:
        return np.full(shape, self.filler if np.issubdtype(dtype, np.floating) else -7, dtype)


@pytest.mark.parametrize("filler", [3e38, np.nan, np.inf])
@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean"])
def test_what_memory_held_before_does_not_matter(
    monkeypatch: pytest.MonkeyPatch, similarity: str, filler: float
):
    """A query with fewer candidates than K leaves places unwritten; warnings are errors here."""
    photos = [Photo("q", "q"), Photo("a", "a"), Photo("b", "b")]
    w, r = World(photos, [[1, 0], [2, 1], [0, 1]], []), Rules(similarity=similarity)
    plain = lists(w, r, 3)
    monkeypatch.setattr(distinct, "np", FilledNumpy(filler))
    found = lists(w, r, 3)
    assert found.row.tolist() == plain.row.tolist()
    assert np.array_equal(found.score, plain.score, equal_nan=True)
