"""Several pools in one database: each is written and read alone, also where they have the same pairs."""

import numpy as np
import pytest

from lookalike.core.checks import strings
from lookalike.core.types import Pool
from lookalike.discover.pool import united
from lookalike.discover.random_pairs import RandomPairs, joined
from lookalike.store.sql import pools
from lookalike.store.sql.database import Database


def pool(*pairs, generators=("color", "hog"), top=2):
    """A pool of (query, item, candidate); every generator found every pair, at the rank of its place."""
    many, by = len(pairs), len(generators)
    columns = [strings(column) for column in zip(*pairs, strict=True)]
    return Pool(
        *columns,
        pair=np.tile(np.arange(many), by),
        source=np.repeat(np.arange(by), many),
        rank=np.tile(np.arange(many), by),
        score=np.linspace(0, 1, many * by).astype(np.float32),
        generators=generators,
        top=top,
        queries=strings(dict.fromkeys(pair[0] for pair in pairs)),
    )


def drawn(*pairs):
    return RandomPairs(*(strings(column) for column in zip(*pairs, strict=True)))


SHOP = pool(("a", "i", "i1"), ("b", "j", "j1"), ("b", "k", "k1"))
WILD = pool(("b", "k", "k2"), ("c", "i", "i1"), generators=("hog", "lbp"), top=5)


def content(one):
    return {name: np.asarray(value).tolist() for name, value in vars(one).items()}


@pytest.fixture
def database(database_place):
    made = Database(database_place)
    made.migrate()
    yield made
    made.close()


def test_each_pool_is_written_and_read_alone(database):
    with database.write() as connection:
        assert pools.pool_names(connection) == ()
        pools.write_pool(connection, "wild", WILD)
        pools.write_random_pairs(connection, "wild", drawn(("c", "k", "k1")))
        pools.write_pool(connection, "main", SHOP)
        pools.write_random_pairs(connection, "main", drawn(("c", "k", "k1"), ("a", "k", "k2")))
    with database.read() as connection:
        assert pools.pool_names(connection) == ("main", "wild")
        for name, one in (("main", SHOP), ("wild", WILD)):
            assert content(pools.read_pool(connection, name)) == content(one)
        assert pools.read_pool(connection, "other") is None
        assert [len(pairs.drawn) for pairs in pools.every_pool(connection).values()] == [2, 1]
    with database.write() as connection:
        pools.write_pool(connection, "main", WILD)
        pools.write_random_pairs(connection, "main", drawn(("b", "i", "i1")))
    with database.read() as connection:
        assert pools.pool_names(connection) == ("main", "wild")
        assert (
            content(pools.read_pool(connection))
            == content(pools.read_pool(connection, "wild"))
            == content(WILD)
        )
        assert pools.read_random_pairs(connection, "wild").query.tolist() == ["c"]


def test_pools_together_have_each_pair_once_with_all_generators():
    both = united([SHOP, WILD])
    pairs = list(zip(both.query, both.item, both.candidate, strict=True))
    assert pairs == [("a", "i", "i1"), ("b", "j", "j1"), ("b", "k", "k1"), ("c", "i", "i1")]
    by = {pair: set() for pair in range(len(both))}
    for pair, source in zip(both.pair.tolist(), both.source.tolist(), strict=True):
        assert both.generators[source] not in by[pair]
        by[pair].add(both.generators[source])
    assert by == {0: {"color", "hog"}, 1: {"color", "hog"}, 2: {"color", "hog", "lbp"}, 3: {"hog", "lbp"}}
    assert (both.queries.tolist(), both.top, both.generators) == (["a", "b", "c"], 5, ("color", "hog", "lbp"))
    shop = dict(
        zip(zip(SHOP.pair.tolist(), SHOP.source.tolist(), strict=True), SHOP.rank.tolist(), strict=True)
    )
    for pair, source, rank in zip(both.pair.tolist(), both.source.tolist(), both.rank.tolist(), strict=True):
        assert shop.get((pair, source), rank) == rank
    assert united([WILD]) is WILD


def test_random_pairs_of_pools_together_are_each_once():
    both = joined([drawn(("c", "k", "k1"), ("a", "k", "k2")), drawn(("c", "k", "k2"), ("b", "i", "i1"))])
    assert list(zip(both.query, both.candidate, strict=True)) == [("c", "k1"), ("a", "k2"), ("b", "i1")]
