"""Which queries are selected: samples with the catalog's shares, images with certain values, and plain refusals."""

import dataclasses

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import sampling
from oracles.ranking import Photo
from oracles.worlds import World, catalog_of, worlds

from lookalike.core.checks import strings
from lookalike.core.errors import ArgumentError, LookalikeError, PoolError
from lookalike.core.types import Catalog
from lookalike.discover.queries import column_of, rows_where, sample_queries, shares

DOMAINS = ("shop", "wild", "")


def with_column(photos: list[Photo], values: list[str], name: str = "domain") -> Catalog:
    return dataclasses.replace(catalog_of(photos), columns={name: strings(values)})


@given(st.lists(st.integers(1, 6), min_size=1, max_size=4), st.data())
def test_shares_are_the_nearest_with_a_place_for_everyone(sizes: list[int], data):
    count = data.draw(st.integers(len(sizes), sum(sizes)))
    given_places = shares(np.array(sizes), count).tolist()
    assert sum(given_places) == count
    assert all(1 <= n <= size for n, size in zip(given_places, sizes, strict=True))
    assert sampling.distance(sizes, given_places, count) == sampling.least_squares(sizes, count)


@given(st.lists(st.integers(1, 500), min_size=1, max_size=9), st.data())
def test_shares_are_the_largest_remainder_where_no_group_is_too_small(sizes: list[int], data):
    count = data.draw(st.integers(1, sum(sizes)))
    word_by_word = sampling.largest_remainder(sizes, count)
    assume(min(word_by_word) >= 1)
    assert shares(np.array(sizes), count).tolist() == word_by_word


@given(st.lists(st.integers(1, 50), min_size=2, max_size=9), st.data())
def test_fewer_places_than_strata_go_to_the_largest_one_each(sizes: list[int], data):
    count = data.draw(st.integers(1, len(sizes) - 1))
    given_places = shares(np.array(sizes), count)
    assert set(given_places.tolist()) == {0, 1}
    assert given_places.sum() == count
    assert min(np.array(sizes)[given_places == 1]) >= max(np.array(sizes)[given_places == 0])


@given(worlds, st.integers(1, 30), st.integers(0, 99), st.data())
def test_a_stratified_sample_has_those_shares(w: World, count: int, seed: int, data):
    values = [data.draw(st.sampled_from(DOMAINS)) for _ in w.photos]
    allowed = [row for row, photo in enumerate(w.photos) if photo.role != "gallery"]
    assume(any(values[row] for row in allowed))
    rows = sample_queries(with_column(w.photos, values), count, seed, stratify="domain").tolist()
    assert rows == sorted(set(rows) & set(allowed))
    strata = list(dict.fromkeys(values[row] for row in allowed))
    sizes = [sum(values[row] == one for row in allowed) for one in strata]
    wanted = shares(np.array(sizes), min(count, len(allowed))).tolist()
    assert [sum(values[row] == one for row in rows) for one in strata] == wanted


def test_a_stratified_sample_repeats_with_its_seed_and_is_fair_within_a_stratum():
    catalog = with_column([Photo(f"i{n}", f"p{n}") for n in range(20)], ["wild"] * 5 + ["shop"] * 15)
    samples = [sample_queries(catalog, 8, seed, stratify="domain") for seed in range(600)]
    assert all(np.sum(rows < 5) == 2 and len(rows) == 8 for rows in samples)
    times = np.bincount(np.concatenate(samples), minlength=20)
    assert np.all(np.abs(times - 240) < 60)  # 600 x 2/5 = 600 x 6/15; standard deviation 12
    assert samples[3].tolist() == sample_queries(catalog, 8, 3, stratify="domain").tolist()
    assert samples[3].tolist() != samples[4].tolist()


@given(
    worlds,
    st.lists(st.tuples(st.sampled_from(["domain", "split", "role"]), st.integers(0, 2)), max_size=3),
    st.data(),
)
def test_conditions_keep_the_images_that_meet_them(w: World, picked: list[tuple[str, int]], data):
    values = {
        "domain": [data.draw(st.sampled_from(DOMAINS)) for _ in w.photos],
        "split": [photo.split for photo in w.photos],
        "role": [photo.role for photo in w.photos],
    }
    known = {
        "domain": DOMAINS,
        "split": ("train", "validation", "test"),
        "role": ("both", "query", "gallery"),
    }
    where = [(column, known[column][place]) for column, place in picked]
    wanted = sampling.askable(w.photos, values, where)
    try:
        found = rows_where(with_column(w.photos, values["domain"]), where).tolist()
    except PoolError:
        alone = [sampling.askable(w.photos, values, [one]) for one in where]
        assert not wanted or not all(alone)  # no image has one of the values, or all of them at once
    else:
        assert found == wanted


def test_a_column_that_is_not_there_is_refused_with_the_nearest_names():
    catalog = with_column([Photo("a", "a")], ["wild"])
    for name, near in (
        ("domian", "domain"),
        ("Category", "category"),
        ("DOMAIN", "domain"),
        ("splits", "split"),
    ):
        with pytest.raises(ArgumentError) as caught:
            column_of(catalog, name)
        assert f"Did you mean {near}" in caught.value.fix
    with pytest.raises(ArgumentError) as caught:
        column_of(catalog, "zzz")
    assert "category, split, role, item, image, path, domain" in caught.value.fix


def test_an_unknown_value_is_refused_with_the_most_frequent_ones():
    photos = [Photo(f"i{n}", f"p{n}", "gallery" if n == 9 else "both") for n in range(10)]
    catalog = with_column(photos, ["shop"] * 6 + ["wild"] * 3 + ["attic"])
    with pytest.raises(PoolError, match="domain='Wild'") as caught:
        rows_where(catalog, [("domain", "Wild")])
    assert "'shop' (6), 'wild' (3)" in caught.value.fix
    with pytest.raises(PoolError, match="No image with domain='attic' can be a query") as caught:
        rows_where(catalog, [("domain", "attic")])
    assert "role 'query' or 'both'" in caught.value.fix
    with pytest.raises(PoolError, match="domain=shop and image=i7"):
        rows_where(catalog, [("domain", "shop"), ("image", "i7")])


@pytest.mark.parametrize(
    ("count", "column", "words"),
    [
        (None, "domain", "no sample"),
        (2, "category", "'category', .* empty"),
        (2, "nothing", "no column"),
    ],
)
def test_strata_without_information_are_refused(count: int | None, column: str, words: str):
    catalog = with_column([Photo("a", "a"), Photo("b", "b")], ["wild", "shop"])
    with pytest.raises(LookalikeError, match=words):
        sample_queries(catalog, count, 0, stratify=column)
