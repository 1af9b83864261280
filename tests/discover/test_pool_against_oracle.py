"""The pool is the union of the generators' top k distinct items, with every rank and score kept (EDS Eq. 1)."""

from random import Random
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import pooling, ranking
from oracles.pooling import Lists, Pair
from oracles.ranking import Photo, Rules
from oracles.worlds import World, catalog_of, embeddings_of, lattice, worlds

from lookalike.core.errors import PoolError
from lookalike.core.types import Pool, Rule
from lookalike.discover.pool import extended, pool
from lookalike.discover.queries import given_queries, sample_queries
from lookalike.discover.statistics import pool_figures
from lookalike.rank.distinct import top_lists

GENERATORS = ("color", "hog", "clip")


class Made(NamedTuple):
    """A pool, the top lists it was made from, and the scores in them."""

    pool: Pool
    lists: Lists
    scores: dict[str, dict[int, list[float]]]


def made(w: World, generators: tuple[str, ...], top: int, seed: int, queries: int | None = None) -> Made:
    """Every generator has its own vectors for the same photos."""
    catalog = catalog_of(w.photos)
    rows = sample_queries(catalog, queries, seed)
    arrays, lists, scores = {}, {}, {}
    for name in generators:
        vectors = lattice(Random(f"{name} {seed}"), len(w.photos), 3, 2)
        found = top_lists(catalog, embeddings_of(catalog, vectors, name), rows, top, Rule())
        arrays[name] = found.row, found.score
        lists[name] = {
            int(q): [int(r) for r in of_q if r >= 0] for q, of_q in zip(rows, found.row, strict=True)
        }
        scores[name] = {int(q): of_q.tolist() for q, of_q in zip(rows, found.score, strict=True)}
    return Made(pool(catalog, rows, arrays, top), lists, scores)


def provenance(made_pool: Pool) -> dict[Pair, dict[str, int]]:
    found: dict[Pair, dict[str, int]] = {
        pair: {} for pair in zip(made_pool.query, made_pool.item, strict=True)
    }
    pairs = list(found)
    for pair, source, rank in zip(made_pool.pair, made_pool.source, made_pool.rank, strict=True):
        found[pairs[pair]][made_pool.generators[source]] = int(rank)
    return found


def can_be_pooled(w: World) -> bool:
    return any(p.role != "gallery" for p in w.photos) and any(p.role != "query" for p in w.photos)


tops = st.integers(1, 6)
some_generators = st.sampled_from([GENERATORS[:1], GENERATORS[:2], GENERATORS])


@given(worlds.filter(can_be_pooled), some_generators, tops, st.integers(0, 99))
def test_pairs_are_the_union_and_each_keeps_its_provenance(
    w: World, generators: tuple[str, ...], top: int, seed: int
):
    found = made(w, generators, top, seed)
    assert provenance(found.pool) == pooling.pool(w.photos, found.lists)
    assert len(set(zip(found.pool.query, found.pool.item, strict=True))) == len(found.pool)


@given(worlds.filter(can_be_pooled), some_generators, tops, st.integers(0, 99))
def test_experts_see_the_photo_that_most_generators_ranked_best(
    w: World, generators: tuple[str, ...], top: int, seed: int
):
    found = made(w, generators, top, seed)
    for query, item, candidate in zip(found.pool.query, found.pool.item, found.pool.candidate, strict=True):
        assert candidate == pooling.photo_shown(w.photos, found.lists, (query, item))


@pytest.mark.parametrize(
    ("ranks", "shown"),
    [
        ({"color": (0, "b1"), "hog": (2, "b2"), "clip": (2, "b2")}, "b2"),  # two of three found b2
        ({"color": (2, "b1"), "hog": (1, "b2")}, "b2"),  # one each: the better rank
        ({"color": (1, "b2"), "hog": (1, "b1")}, "b1"),  # at the same rank: the earlier photo
        ({"color": (2, "b1"), "hog": (0, "b1"), "clip": (0, "b2")}, "b1"),
    ],
)
def test_which_photo_experts_see(ranks: dict[str, tuple[int, str]], shown: str):
    """Most generators, then the better rank, then the earlier photo."""
    photos = [Photo("q", "q"), Photo("b1", "b"), Photo("b2", "b"), Photo("c", "c"), Photo("d", "d")]
    row = {photo.image: i for i, photo in enumerate(photos)}
    lists = {}
    for name, (rank, image) in ranks.items():
        rows = [row["c"], row["d"]]
        rows.insert(rank, row[image])
        lists[name] = np.array([rows]), np.zeros((1, 3), np.float32)
    found = pool(catalog_of(photos), np.array([0]), lists, 3)
    assert dict(zip(found.item, found.candidate, strict=True))["b"] == shown


@given(worlds.filter(can_be_pooled), tops, st.integers(0, 99))
def test_the_score_kept_is_the_score_of_the_list(w: World, top: int, seed: int):
    found = made(w, GENERATORS, top, seed)
    row = {photo.image: i for i, photo in enumerate(w.photos)}
    for pair, source, rank, score in zip(
        found.pool.pair, found.pool.source, found.pool.rank, found.pool.score, strict=True
    ):
        query = row[found.pool.query[pair]]
        assert score == found.scores[GENERATORS[source]][query][rank]


@given(worlds.filter(can_be_pooled), tops, st.integers(0, 99))
def test_every_query_gets_exactly_k_items_from_every_generator_where_k_exist(w: World, top: int, seed: int):
    found = made(w, GENERATORS, top, seed)
    row = {photo.image: i for i, photo in enumerate(w.photos)}
    for query in found.pool.queries:
        exist = len(ranking.candidate_units(w.photos, row[query], Rules()))
        mine = [by for (image, _), by in provenance(found.pool).items() if image == query]
        for name in GENERATORS:
            assert sorted(by[name] for by in mine if name in by) == list(range(min(top, exist)))


@given(worlds.filter(can_be_pooled), some_generators, tops, st.integers(0, 99))
def test_figures(w: World, generators: tuple[str, ...], top: int, seed: int):
    found = made(w, generators, top, seed)
    figures = pool_figures(found.pool, len(w.photos))
    queries, pairs = len(found.pool.queries), len(pooling.pool(w.photos, found.lists))
    assert (figures.pairs, figures.queries, figures.top) == (pairs, queries, top)
    assert figures.most == len(generators) * queries * top
    assert figures.asked == pooling.questions(w.photos, found.lists)
    assert figures.duplicates == pytest.approx(1 - pairs / figures.most)
    assert figures.candidates_per_query == pytest.approx(pairs / queries)
    assert figures.saving_catalog == pytest.approx(len(w.photos) / (len(generators) * top))
    if pairs:
        assert figures.saving_pairs == pytest.approx(queries * (len(w.photos) - 1) / pairs)
    assert figures.only_by == {name: pooling.only_from(w.photos, found.lists, name) for name in generators}


@given(worlds.filter(can_be_pooled), tops, st.integers(0, 99))
def test_overlaps(w: World, top: int, seed: int):
    found = made(w, GENERATORS, top, seed)
    figures = pool_figures(found.pool, len(w.photos))
    between = []
    for one in GENERATORS:
        assert set(figures.overlap[one]) == {*GENERATORS} - {one}
        for other in GENERATORS:
            if one != other:
                exact = float(pooling.overlap(w.photos, found.lists, one, other, top))
                between.append(exact)
                assert figures.overlap[one][other] == pytest.approx(exact, abs=1e-5)
    assert figures.mean_overlap == pytest.approx(np.mean(between), abs=1e-5)


def test_a_wild_query_has_every_image_of_the_gallery_as_a_candidate():
    """|A| = |Q||D| where no query is in D (EDS 5.2); two of three queries here are."""
    photos = [Photo("a", "a"), Photo("b", "b"), Photo("c", "c", "gallery"), Photo("w", "w", "query")]
    found = made(World(photos, [], []), ("color",), 1, 0).pool
    assert pool_figures(found, 3, outside=1).saving_pairs == pytest.approx((2 + 2 + 3) / len(found))


def test_one_generator_has_no_overlap():
    w = World([Photo("a", "a"), Photo("b", "b")], [[1], [1]], [])
    figures = pool_figures(made(w, ("color",), 1, 0).pool, 2)
    assert np.isnan(figures.mean_overlap)
    assert (figures.pairs, figures.asked, figures.duplicates) == (2, 1, 0.0)


def test_a_catalog_of_one_item_gives_an_empty_pool_and_undefined_figures():
    w = World([Photo("a1", "a"), Photo("a2", "a")], [[1], [1]], [])
    found = made(w, GENERATORS, 3, 0).pool
    figures = pool_figures(found, 2)
    assert (len(found), figures.pairs, figures.asked, [*figures.only_by.values()]) == (0, 0, 0, [0, 0, 0])
    assert np.isnan(figures.saving_pairs)


# ---- a generator that comes later


@given(worlds.filter(can_be_pooled), tops, st.integers(0, 99))
def test_a_later_generator_adds_only_its_extra_pairs(w: World, top: int, seed: int):
    """As if all had been there from the start, but for the photos that experts have already seen."""
    early, late = made(w, GENERATORS[:2], top, seed).pool, made(w, GENERATORS[2:], top, seed).pool
    both, at_once = extended(early, late), made(w, GENERATORS, top, seed).pool
    assert provenance(both) == provenance(at_once)
    assert both.generators == GENERATORS
    seen = dict(zip(zip(early.query, early.item, strict=True), early.candidate, strict=True))
    for query, item, candidate in zip(both.query, both.item, both.candidate, strict=True):
        assert seen.get((query, item), candidate) == candidate


@given(worlds.filter(can_be_pooled), tops, st.integers(0, 99))
def test_extending_twice_with_the_same_generator_changes_nothing(w: World, top: int, seed: int):
    early, late = made(w, GENERATORS[:2], top, seed).pool, made(w, GENERATORS[2:], top, seed).pool
    once = extended(early, late)
    again = extended(once, late)
    assert provenance(again) == provenance(once)
    assert again.candidate.tolist() == once.candidate.tolist()


@given(worlds.filter(can_be_pooled), tops, st.integers(0, 99))
def test_scores_stay_with_their_pairs_when_a_pool_is_extended(w: World, top: int, seed: int):
    early, late = made(w, GENERATORS[:2], top, seed).pool, made(w, GENERATORS[2:], top, seed).pool

    def scored(some: Pool) -> set[tuple[str, str, str, int, float]]:
        return {
            (some.query[p], some.item[p], some.generators[s], int(rank), float(score))
            for p, s, rank, score in zip(some.pair, some.source, some.rank, some.score, strict=True)
        }

    assert scored(extended(early, late)) == scored(early) | scored(late)


def test_pools_of_different_queries_or_depth_are_not_united():
    w = World([Photo(name, name) for name in "abcd"], [[1], [1], [1], [1]], [])
    early = made(w, ("color",), 2, 0).pool
    for late in (made(w, ("hog",), 3, 0).pool, made(w, ("hog",), 2, 0, queries=2).pool):
        with pytest.raises(PoolError) as caught:
            extended(early, late)
        assert "--top" in caught.value.fix


# ---- which queries


@given(worlds.filter(can_be_pooled), st.integers(1, 20), st.integers(0, 99))
def test_sampled_queries_are_eligible_in_catalog_order_and_repeat_with_the_seed(
    w: World, count: int, seed: int
):
    catalog = catalog_of(w.photos)
    rows = sample_queries(catalog, count, seed)
    allowed = [row for row, photo in enumerate(w.photos) if photo.role != "gallery"]
    assert len(rows) == min(count, len(allowed))
    assert rows.tolist() == sorted(set(rows.tolist()) & set(allowed))
    assert rows.tolist() == sample_queries(catalog, count, seed).tolist()


def test_every_query_is_as_likely_to_be_sampled():
    catalog = catalog_of([Photo(f"i{row}", f"p{row}") for row in range(10)])
    times = np.bincount(
        np.concatenate([sample_queries(catalog, 3, seed) for seed in range(600)]), minlength=10
    )
    assert times.min() > 130  # 180 expected, standard deviation 11
    assert times.max() < 230


def test_queries_keep_within_a_split():
    photos = [Photo("a", "a"), Photo("b", "b", split="test"), Photo("c", "c", "gallery", "test")]
    assert sample_queries(catalog_of(photos), None, 0, split="test").tolist() == [1]


def test_no_eligible_query_is_an_error_with_a_fix():
    with pytest.raises(PoolError) as caught:
        sample_queries(catalog_of([Photo("a", "a", "gallery")]), None, 0)
    assert "role" in caught.value.fix


def test_given_queries_are_looked_up_once_each():
    catalog = catalog_of(
        [Photo(name, name, role) for name, role in zip("abc", ("both", "gallery", "query"), strict=True)]
    )
    assert given_queries(catalog, ["c", "a", "c"]).tolist() == [0, 2]
    with pytest.raises(PoolError, match="'b'"):
        given_queries(catalog, ["a", "b"])
    with pytest.raises(PoolError, match="'nowhere'"):
        given_queries(catalog, ["nowhere"])


def test_no_generator_is_an_error_with_a_way_out():
    with pytest.raises(PoolError) as caught:
        pool(catalog_of([Photo("a", "a")]), np.array([0]), {}, 5)
    assert "--generators" in caught.value.fix


@given(st.integers(0, 10**6), tops)
def test_without_ties_a_pair_is_in_the_pool_exactly_if_its_rank_is_below_k(seed: int, top: int):
    """EDS Eq. 1 word by word, for one generator; vectors far enough apart that nothing ties."""
    random = Random(seed)
    photos = [Photo(f"i{row}", f"p{row % 6}") for row in range(12)]
    vectors = lattice(random, 12, 3, 1000)
    catalog = catalog_of(photos)
    lists = top_lists(catalog, embeddings_of(catalog, vectors), np.arange(12), top, Rule())
    found = pool(catalog, np.arange(12), {"encoder": (lists.row, lists.score)}, top)
    paper = set()
    for query in range(12):
        for item in ranking.candidate_units(photos, query, Rules()):
            place = ranking.place(photos, vectors, query, item, Rules())
            assume(place.tied == 0)
            if place.above < top:
                paper.add((photos[query].image, item))
    assert set(zip(found.query, found.item, strict=True)) == paper
