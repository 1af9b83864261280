"""A pool follows its catalog: what is gone leaves it, and nothing else moves."""

import numpy as np

from lookalike.catalog.read import catalog_from
from lookalike.catalog.update import without
from lookalike.core.checks import strings
from lookalike.core.types import Pool
from lookalike.discover.random_pairs import RandomPairs
from lookalike.discover.update import following, still_drawn


def a_pool() -> Pool:
    return Pool(
        query=strings(["a1", "a1", "b1", "c1"]),
        item=strings(["b", "c", "a", "b"]),
        candidate=strings(["b2", "c1", "a1", "b1"]),
        pair=np.array([0, 0, 1, 2, 3]),
        source=np.array([0, 1, 1, 0, 1]),
        rank=np.arange(5),
        score=np.linspace(0, 1, 5, dtype=np.float32),
        generators=("g", "h"),
        top=2,
        queries=strings(["a1", "b1", "c1"]),
    )


CATALOG = catalog_from({"image": ["a1", "b1", "b2", "c1"], "item": ["a", "b", "b", "c"]}).catalog


def rows(pool: Pool) -> set[tuple]:
    return {
        (pool.query[p], pool.item[p], pool.candidate[p], pool.generators[s], int(r))
        for p, s, r in zip(pool.pair, pool.source, pool.rank, strict=True)
    }


def test_nothing_moves_where_nothing_is_gone():
    pool = a_pool()
    followed = following(pool, CATALOG)
    assert rows(followed) == rows(pool)
    assert followed.queries.tolist() == pool.queries.tolist()


def test_a_query_that_is_gone_takes_its_pairs_along():
    followed = following(a_pool(), without(CATALOG, ["b1"])[0])
    assert followed.queries.tolist() == ["a1", "c1"]
    assert {row[:2] for row in rows(followed)} == {("a1", "b"), ("a1", "c"), ("c1", "b")}
    assert ("c1", "b", "b2", "h", 4) in rows(followed)  # its photo b1 is gone, b2 shows the item


def test_an_item_without_any_photo_left_is_found_no_more():
    followed = following(a_pool(), without(CATALOG, ["b1", "b2"])[0])
    assert rows(followed) == {("a1", "c", "c1", "h", 2)}
    assert followed.pair.tolist() == [0]


def test_an_item_that_lost_the_photo_shown_is_shown_by_another():
    followed = following(a_pool(), without(CATALOG, ["b2"])[0])
    assert ("a1", "b", "b1", "g", 0) in rows(followed)


def test_random_pairs_follow_as_well():
    sampled = RandomPairs(strings(["a1", "b1", "c1"]), strings(["b", "c", "b"]), strings(["b2", "c1", "b2"]))
    left = still_drawn(sampled, without(CATALOG, ["b2", "b1"])[0])
    assert len(left) == 0
    left = still_drawn(sampled, without(CATALOG, ["b2", "c1"])[0])
    assert [left.query.tolist(), left.item.tolist(), left.candidate.tolist()] == [["a1"], ["b"], ["b1"]]
