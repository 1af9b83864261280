import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.catalog.split import assign_splits, crossing_items, split_name


def text(values):
    return np.array(list(values), dtype=object)


items = st.lists(st.integers(0, 60).map(str), min_size=1, max_size=300).map(text)


@given(items, st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_items_stay_whole_and_shares_are_near(item, seed):
    split = assign_splits(item, seed=seed)
    assert crossing_items(item, split) == 0
    half = max(list(item).count(one) for one in set(item)) / len(item) / 2
    test, validation = (np.mean(split == name) for name in ("test", "validation"))
    assert abs(test - 0.25) <= half + 1e-9
    assert abs(test + validation - 0.40) <= half + 1e-9


@given(items, st.integers(0, 99), st.randoms())
@settings(max_examples=50, deadline=None)
def test_the_order_of_rows_does_not_matter(item, seed, random):
    order = list(range(len(item)))
    random.shuffle(order)
    assert assign_splits(item[order], seed=seed).tolist() == assign_splits(item, seed=seed)[order].tolist()


@given(st.integers(1, 400), st.integers(0, 99))
@settings(max_examples=50, deadline=None)
def test_single_photos_are_60_15_25(rows, seed):
    split = assign_splits(text(map(str, range(rows))), seed=seed)
    assert abs(np.sum(split == "test") - 0.25 * rows) <= 0.5
    assert abs(np.sum(split == "train") - 0.60 * rows) <= 0.5


def test_seeds_differ_and_repeat():
    item = text(map(str, range(100)))
    assert assign_splits(item, seed=1).tolist() == assign_splits(item, seed=1).tolist()
    assert assign_splits(item, seed=1).tolist() != assign_splits(item, seed=2).tolist()


@pytest.mark.parametrize(("rows", "expected"), [(1, ["train"]), (2, ["test", "train"])])
def test_the_smallest(rows, expected):
    assert sorted(assign_splits(text("ab"[:rows]), seed=3)) == expected


@given(items, st.integers(0, 9), st.data())
@settings(max_examples=50, deadline=None)
def test_given_splits_stay_and_spread_over_their_item(item, seed, data):
    names = st.sampled_from(["", "", "train", "validation", "test"])
    wanted = text(data.draw(st.lists(names, min_size=len(item), max_size=len(item))))
    split = assign_splits(item, seed=seed, given=wanted)
    assert (split[wanted != ""] == wanted[wanted != ""]).all()
    for one in set(item):
        mine = set(wanted[item == one]) - {""}
        assert len(set(split[item == one])) == max(len(mine), 1)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["train", "validation", "test"])), min_size=1)
)
def test_an_item_in_three_splits_is_one_that_crosses(rows):
    item, split = (text(column) for column in zip(*rows, strict=True))
    assert crossing_items(item, split) == sum(len(set(split[item == one])) > 1 for one in set(item))


def test_a_blank_row_takes_its_items_most_frequent_split():
    item, wanted = text("aaaabbb"), text(["test", "test", "train", "", "test", "train", ""])
    assert assign_splits(item, seed=0, given=wanted)[[3, 6]].tolist() == ["test", "train"]


def test_names_of_splits():
    assert [split_name(word) for word in ("Train", "VALID", "val", " test", "training", "")] == [
        "train", "validation", "validation", "test", None, None,
    ]  # fmt: skip
