"""Pools by name and their random pairs, as rows of the database."""

import json
import re
import shlex
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sqlalchemy import Connection, Table, delete, func, select

from lookalike.core.checks import strings
from lookalike.core.errors import PoolError
from lookalike.core.text import quoted
from lookalike.core.types import Labels, Pool
from lookalike.discover.random_pairs import RandomPairs
from lookalike.store.sql import schema
from lookalike.store.sql.rows import insert_all, insert_columns
from lookalike.store.sql.schema import MAIN_POOL


class PooledPairs(NamedTuple):
    """A pool (None before `discover`) and its random pairs."""

    pool: Pool | None
    drawn: RandomPairs


def pool_names(connection: Connection) -> tuple[str, ...]:
    """The names of the pools, the main one first, then in the order in which they were made."""
    own = schema.pool.c
    return tuple(connection.execute(select(own.name).order_by(own.name != MAIN_POOL, own.id)).scalars())


def check_pool_name(name: str) -> str:
    """A name that can be typed without quotes: letters, digits and . _ + @ -, not first . or -."""
    if not re.fullmatch(r"[\w+@][\w.+@-]{0,99}", name):
        raise PoolError(
            f"{name!r} is not a valid name for a pool.",
            fix="Use at most 100 letters, digits and . _ + @ -, starting with a letter or digit.",
        )
    return name


def require_pool(name: str, names: Sequence[str]) -> None:
    """Raise PoolError for a name that no pool has."""
    if name not in names:
        raise PoolError(
            f"Unknown pool {name!r}. The workspace has {quoted(names) if names else 'no pool yet'}.",
            fix=f"Name one of these, or make it: lookalike discover --pool {shlex.quote(name)}",
        )


def labels_of(pool: Pool, labels: Labels) -> Labels:
    """The labels of a pool's queries."""
    queries = set(pool.queries)
    kept = np.array([query in queries for query in labels.query], dtype=bool)
    return Labels(labels.query[kept], labels.candidate[kept], labels.label[kept])


def every_pool(connection: Connection) -> dict[str, PooledPairs]:
    """All pools with their random pairs, by name. The main one is there even if it has no pairs."""
    return {
        name: PooledPairs(read_pool(connection, name), read_random_pairs(connection, name))
        for name in dict.fromkeys((MAIN_POOL, *pool_names(connection)))
    }


def write_pool(connection: Connection, name: str, pool: Pool) -> None:
    """Replace the pool of a name, or add it."""
    pairs = schema.pool_pair.c
    of_pool = select(pairs.pair).where(pairs.pool == name)
    connection.execute(delete(schema.pool_source).where(schema.pool_source.c.pair.in_(of_pool)))
    for table in (schema.pool_pair, schema.pool_query):
        connection.execute(delete(table).where(table.c.pool == name))
    values = {"top": pool.top, "generators": json.dumps(pool.generators)}
    if (
        connection.execute(schema.pool.update().where(schema.pool.c.name == name).values(values)).rowcount
        == 0
    ):
        insert_all(connection, schema.pool, [{"name": name, **values}])
    queries = {"place": range(len(pool.queries)), "query": pool.queries}
    insert_columns(connection, schema.pool_query, pool=[name] * len(pool.queries), **queries)
    first = 1 + connection.execute(select(func.coalesce(func.max(pairs.pair), -1))).scalar_one()
    columns = {"query": pool.query, "item": pool.item, "candidate": pool.candidate}
    places = range(first, first + len(pool))
    insert_columns(connection, schema.pool_pair, pair=places, pool=[name] * len(pool), **columns)
    insert_columns(
        connection,
        schema.pool_source,
        pair=(first + pool.pair).tolist(),
        generator=[pool.generators[source] for source in pool.source.tolist()],
        rank=pool.rank.tolist(),
        score=pool.score.tolist(),
    )


def read_pool(connection: Connection, name: str = MAIN_POOL) -> Pool | None:
    """The pool of a name; None if there is none."""
    setting = connection.execute(select(schema.pool).where(schema.pool.c.name == name)).mappings().first()
    if setting is None:
        return None
    generators = tuple(json.loads(setting["generators"]))
    numbers, queries, items, candidates = _columns(
        connection, schema.pool_pair, name, "pair", "pair", "query", "item", "candidate"
    )
    place = {pair: at for at, pair in enumerate(numbers)}
    own, both = schema.pool_source.c, schema.pool_pair.c
    sources = connection.execute(
        select(own.pair, own.generator, own.rank, own.score)
        .join(schema.pool_pair, both.pair == own.pair)
        .where(both.pool == name)
        .order_by(own.id)
    ).all()
    return Pool(
        query=strings(queries),
        item=strings(items),
        candidate=strings(candidates),
        pair=np.array([place[row.pair] for row in sources], np.int64),
        source=np.array([generators.index(row.generator) for row in sources], np.int64),
        rank=np.array([row.rank for row in sources], np.int64),
        score=np.array([row.score for row in sources], np.float32),
        generators=generators,
        top=setting["top"],
        queries=strings(_columns(connection, schema.pool_query, name, "place", "query")[0]),
    )


def write_random_pairs(connection: Connection, name: str, drawn: RandomPairs) -> None:
    """Replace the random pairs of a pool."""
    connection.execute(delete(schema.random_pair).where(schema.random_pair.c.pool == name))
    pairs = {"query": drawn.query, "item": drawn.item, "candidate": drawn.candidate}
    insert_columns(connection, schema.random_pair, pool=[name] * len(drawn), place=range(len(drawn)), **pairs)


def read_random_pairs(connection: Connection, name: str = MAIN_POOL) -> RandomPairs:
    """The random pairs of a pool, in the order in which they were drawn."""
    columns = _columns(connection, schema.random_pair, name, "place", "query", "item", "candidate")
    return RandomPairs(*map(strings, columns))


def _columns(connection: Connection, table: Table, pool: str, order: str, *names: str) -> list[list[object]]:
    """Columns of the rows of a pool, in the order of one of the table's columns."""
    asked = select(*(table.c[name] for name in names)).where(table.c.pool == pool).order_by(table.c[order])
    found = connection.execute(asked).all()
    return [[row[at] for row in found] for at in range(len(names))]
