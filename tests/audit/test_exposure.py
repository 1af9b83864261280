"""Exposure@K: counted by hand, against slow loops, and on a studio with photos in rooms."""

from dataclasses import replace
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import ranking
from oracles.worlds import World, catalog_of, embeddings_of, worlds

from lookalike.api import exposure as api
from lookalike.api.exposure import audit_exposure
from lookalike.audit.exposure import FEWEST_ITEMS, LISTED, Exposure, by_columns, exposure, gini, item_groups
from lookalike.core.checks import strings
from lookalike.core.errors import ArgumentError
from lookalike.core.types import Catalog
from lookalike.rank.distinct import top_lists
from lookalike.studio import studio
from lookalike.studio.simulated_encoders import observed, observers


def shop(items: str, roles: str = "", **columns: str) -> Catalog:
    """One photo per letter of `items`: its item. Roles by letter: b both, q query, g gallery."""
    n = len(items)
    names = {"b": "both", "q": "query", "g": "gallery"}
    made = catalog_of([ranking.Photo(f"{at:02d}", item, "both", "train") for at, item in enumerate(items)])
    return replace(
        made,
        role=strings(names[one] for one in roles or "b" * n),
        columns={name: strings(values) for name, values in columns.items()},
    )


def of(catalog: Catalog, rows: list[list[int]], k: int) -> Exposure:
    return exposure(catalog, "e", np.array(rows, np.int64), k, all_queries=len(rows))


def test_items_are_counted_by_their_lists_and_a_place_without_a_candidate_is_nothing():
    found = of(shop("abcd"), [[1, 2], [2, 0], [1, -1]], 2)
    assert {one.item: one.times for one in found.most_shown} == {"b": 2, "c": 2, "a": 1}
    assert [one.item for one in found.most_shown] == ["b", "c", "a"]
    assert found.never_shown == ("d",)
    assert (found.items, found.queries, found.mean, found.never) == (4, 3, 1.25, 0.25)
    assert found.by_chance == pytest.approx((1 - 2 / 4) ** 3)
    assert found.gini == pytest.approx(2 * (1 * 0 + 2 * 1 + 3 * 2 + 4 * 2) / (4 * 5) - 5 / 4)


def test_an_item_counts_once_per_query_whichever_photo_shows_it_and_queries_alone_are_no_items():
    catalog = shop("aabbq", "bbbbq")
    found = of(catalog, [[2], [3], [0]], 1)
    assert {one.item: one.times for one in found.most_shown} == {"b": 2, "a": 1}
    assert (found.items, found.never) == (2, 0.0)


def slow_gini(times: list[int]) -> float:
    n, total = len(times), sum(times)
    return nan if total == 0 else sum(abs(a - b) for a in times for b in times) / (2 * n * total)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=12))
def test_gini_is_the_mean_difference_of_two_items(times: list[int]):
    found, expected = gini(np.array(times)), slow_gini(times)
    assert (isnan(found) and isnan(expected)) or found == pytest.approx(expected, abs=1e-12)


@given(worlds, st.integers(1, 4))
def test_every_list_counts_each_of_its_items_once(w: World, k: int):
    catalog = catalog_of(w.photos)
    assume(catalog.is_gallery().any() and catalog.is_query().any())
    encoder = embeddings_of(catalog, w.vectors)
    (found,) = audit_exposure(catalog, [encoder], k)
    lists = top_lists(catalog, encoder, np.flatnonzero(catalog.is_query()), k).row
    times: dict[str, int] = {item: 0 for item in catalog.item[catalog.is_gallery()]}
    for one in lists:
        for item in {catalog.item[row] for row in one if row >= 0}:
            times[item] += 1
    assert (found.items, found.queries) == (len(times), len(lists))
    assert found.never == pytest.approx(sum(not one for one in times.values()) / len(times))
    assert found.mean * found.items == pytest.approx(sum(times.values()))
    assert {one.item: one.times for one in found.most_shown} == {i: n for i, n in times.items() if n}
    assert set(found.never_shown) == {item for item, n in times.items() if n == 0}
    assert np.isclose(found.gini, slow_gini(list(times.values())), equal_nan=True)


def test_groups_of_a_column_and_the_item_whose_photos_differ():
    catalog = shop("aabbcd", "bbbbbq", look="xxxyyz")
    groups = item_groups(catalog)
    assert groups["look"].tolist() == ["x", "several", "y"]
    assert groups["role"].tolist() == ["both"] * 3
    found = {one.column: one for one in by_columns(np.array([4, 0, 1]), groups)}
    assert set(found) == {"look"}  # one group alone is no comparison
    assert [(one.group, one.mean, one.never) for one in found["look"].groups] == [
        ("x", 4.0, 0.0),
        ("y", 1.0, 0.0),
        ("several", 0.0, 1.0),
    ]
    assert isnan(found["look"].difference)  # too few items to say how they differ


def test_the_column_with_the_largest_difference_of_large_groups_is_first():
    n = 3 * FEWEST_ITEMS
    times = np.repeat([1, 2, 6], FEWEST_ITEMS)
    groups = {
        "flat": np.array(list("ab") * (n // 2), object),
        "steep": np.repeat(np.array(["low", "middle", "high"], object), FEWEST_ITEMS),
        "rare": np.array(["one"] + ["others"] * (n - 1), object),  # a group of one item says nothing
        "many": np.arange(n).astype(str).astype(object),
        "": np.array([""] * 30 + ["x"] * (n - 30), object),
    }
    found = by_columns(times, groups)
    assert [one.column for one in found] == ["steep", "", "flat", "rare"]
    assert found[0].difference == 5.0
    assert [one.group for one in found[0].groups] == ["high", "middle", "low"]
    assert {one.group for one in found[1].groups} == {"(none)", "x"}


def test_long_lists_of_items_are_cut_and_those_never_shown_are_spread_over_the_catalog():
    n = 5 * LISTED
    catalog = replace(shop("a" * n), item=strings(f"i{at:04d}" for at in range(n)))
    found = of(catalog, [[0], [1], [1]], 1)
    assert [(one.item, one.times) for one in found.most_shown] == [("i0001", 2), ("i0000", 1)]
    assert len(found.never_shown) == LISTED
    assert (found.never_shown[0], found.never_shown[-1]) == ("i0002", f"i{n - 1:04d}")
    assert np.diff([int(item[1:]) for item in found.never_shown]).max() <= 6


def test_of_many_queries_a_sample_is_counted_the_same_for_all_encoders(monkeypatch):
    monkeypatch.setattr(api, "MOST_QUERIES", 50)
    drawn = studio(200, photos_per_item=1)
    catalog = drawn.catalog()
    encoder = embeddings_of(catalog, np.random.default_rng(0).normal(size=(200, 4)))
    one, again = audit_exposure(catalog, [encoder, encoder], 3, seed=1)
    other = audit_exposure(catalog, [encoder], 3, seed=2)[0]
    assert (one.queries, one.all_queries, one.mean) == (50, 200, 0.75)
    assert one == again
    assert one.most_shown != other.most_shown
    monkeypatch.setattr(api, "LEAST_QUERIES", 20)
    monkeypatch.setattr(api, "MOST_PRODUCTS", 200 * 30)
    assert audit_exposure(catalog, [encoder], 3)[0].queries == 30
    monkeypatch.setattr(api, "MOST_PRODUCTS", 200 * 10)
    assert audit_exposure(catalog, [encoder], 3)[0].queries == 20


def test_lists_need_a_place():
    catalog = shop("ab")
    with pytest.raises(ArgumentError, match="k is 0"):
        audit_exposure(catalog, [embeddings_of(catalog, [[1], [2]])], 0)


def test_an_encoder_that_sees_the_room_shows_items_in_rooms_less_often():
    """An as-if encoder whose vectors hold the room as well: every room differs from every other, plain ones do not."""
    drawn = studio(1000, photos_per_item=1)
    catalog = drawn.catalog()
    room = np.random.default_rng(0).random(1000) < 0.15
    catalog = replace(catalog, columns={"background": np.where(room, "room", "plain").astype(object)})
    sees = observed(drawn, observers(11, 0)[-1]).astype(np.float64)
    rooms = np.random.default_rng(1).normal(size=(1000, 64)) * room[:, None] / 8
    vectors = np.concatenate([sees / np.linalg.norm(sees, axis=1, keepdims=True), rooms], axis=1)
    (found,) = audit_exposure(catalog, [embeddings_of(catalog, vectors)])
    by_room = next(one for one in found.columns if one.column == "background")
    plain, staged = by_room.groups
    assert (plain.group, staged.group) == ("plain", "room")
    assert plain.mean > 2 * staged.mean
    assert staged.never > 2 * plain.never
    assert found.never > found.by_chance
