"""Frozen values to rows of the database and back."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from itertools import islice
from types import MappingProxyType
from typing import Any

import numpy as np
from sqlalchemy import Connection, Insert, Table, UpdateBase, delete, insert, select, text
from sqlalchemy.dialects import postgresql, sqlite

from lookalike.core.checks import strings
from lookalike.core.types import Catalog, Labels, LeftOut, Pool
from lookalike.discover.random_pairs import RandomPairs
from lookalike.store.sql import schema

BATCH = 20_000
TEXTS = ("image", "path", "item", "category", "role", "split", "digest")
NUMBERS = ("position", "width", "height", "duplicate")

Row = dict[str, Any]


def insert_all(connection: Connection, table: Table, rows: Iterable[Row]) -> None:
    """Insert any number of rows, a batch at a time."""
    execute_all(connection, insert(table), rows)


def empty(connection: Connection) -> None:
    """Take all rows out of a PostgreSQL database that is used again; a SQLite file is always a new one."""
    if connection.dialect.name != "sqlite":
        names = ", ".join(f'"{table.name}"' for table in schema.tables.sorted_tables)
        connection.execute(text(f"TRUNCATE {names} RESTART IDENTITY"))


def insert_new(connection: Connection, table: Table) -> Insert:
    """An insertion that leaves out rows whose key exists already."""
    return _insert(connection.dialect.name, table).on_conflict_do_nothing()


def insert_or_add(connection: Connection, table: Table, *counts: str) -> Insert:
    """An insertion that adds to the `counts` of a row whose primary key exists already."""
    return _upsert(connection.dialect.name, table, counts)


def insert_or_replace(connection: Connection, table: Table, *keys: str) -> Insert:
    """An insertion that replaces the row whose `keys` exist already; without `keys`, whose primary key does."""
    return _upsert(connection.dialect.name, table, keys=keys)


@cache
def _upsert(dialect: str, table: Table, counts: tuple[str, ...] = (), keys: tuple[str, ...] = ()) -> Insert:
    """The statement, which takes longer to make than to run."""
    new = _insert(dialect, table)
    primary = [column.name for column in table.primary_key]
    keys = keys or tuple(sorted(primary))
    fixed = {*keys, *primary}
    changed = {column.name: new.excluded[column.name] for column in table.c if column.name not in fixed}
    if counts:
        changed = {name: table.c[name] + changed[name] for name in counts}
    return new.on_conflict_do_update(index_elements=keys, set_=changed)


def _insert(dialect: str, table: Table) -> Any:  # noqa: ANN401 - of one dialect or the other
    return (sqlite if dialect == "sqlite" else postgresql).insert(table)


def execute_all(connection: Connection, statement: UpdateBase, rows: Iterable[Row]) -> None:
    """Run a statement on any number of rows, a batch at a time."""
    walk = iter(rows)
    while batch := list(islice(walk, BATCH)):
        connection.execute(statement, batch)


def write_catalog(connection: Connection, catalog: Catalog) -> None:
    """Replace the catalog."""
    connection.execute(delete(schema.image))
    connection.execute(delete(schema.left_out))
    insert_all(connection, schema.image, _image_rows(catalog))
    insert_all(connection, schema.left_out, ({**gone._asdict()} for gone in catalog.left_out))


def read_catalog(connection: Connection) -> Catalog:
    """The catalog, in its order."""
    found = connection.execute(select(schema.image).order_by(schema.image.c.row)).mappings().all()
    columns = [json.loads(row["columns"]) for row in found]
    names = list(columns[0]) if columns else []
    gone = connection.execute(select(schema.left_out).order_by(schema.left_out.c.position)).mappings()
    return Catalog(
        **{name: strings(row[name] for row in found) for name in TEXTS},
        **{name: np.fromiter((row[name] for row in found), np.int64, len(found)) for name in NUMBERS},
        columns=MappingProxyType({name: strings(row[name] for row in columns) for name in names}),
        left_out=tuple(LeftOut(row["image"], row["path"], row["position"], row["reason"]) for row in gone),
    )


def write_signatures(connection: Connection, signatures: Mapping[str, bytes]) -> None:
    """Add signatures by the digest of the photo's content; those that are there stay."""
    rows = ({"digest": digest, "signature": made} for digest, made in signatures.items())
    execute_all(connection, insert_new(connection, schema.signature), rows)


def read_signatures(connection: Connection) -> dict[str, bytes]:
    """All signatures, by the digest of the photo's content."""
    found = connection.execute(select(schema.signature.c.digest, schema.signature.c.signature))
    return {digest: made for digest, made in found}


def read_labels(connection: Connection) -> Labels:
    """All labels, in the order they came."""
    columns = (schema.label.c.query, schema.label.c.candidate, schema.label.c.label)
    found = connection.execute(select(*columns).order_by(schema.label.c.id)).all()
    return Labels.of(*([row[i] for row in found] for i in range(3)))


def write_pool(connection: Connection, pool: Pool) -> None:
    """Replace the pool."""
    for table in (schema.pool_source, schema.pool_pair, schema.pool_query, schema.pool):
        connection.execute(delete(table))
    insert_all(connection, schema.pool, [{"top": pool.top, "generators": json.dumps(pool.generators)}])
    insert_all(connection, schema.pool_query, ({"place": i, "query": q} for i, q in enumerate(pool.queries)))
    pairs = zip(pool.query, pool.item, pool.candidate, strict=True)
    insert_all(
        connection,
        schema.pool_pair,
        ({"pair": p, "query": q, "item": i, "candidate": c} for p, (q, i, c) in enumerate(pairs)),
    )
    columns = (pool.pair.tolist(), pool.source.tolist(), pool.rank.tolist(), pool.score.tolist())
    insert_all(
        connection,
        schema.pool_source,
        (
            {"pair": pair, "generator": pool.generators[source], "rank": rank, "score": score}
            for pair, source, rank, score in zip(*columns, strict=True)
        ),
    )


def read_pool(connection: Connection) -> Pool | None:
    """The pool, None where nothing was discovered yet."""
    setting = connection.execute(select(schema.pool)).mappings().first()
    if setting is None:
        return None
    generators = tuple(json.loads(setting["generators"]))
    queries = connection.execute(
        select(schema.pool_query.c.query).order_by(schema.pool_query.c.place)
    ).scalars()
    pairs = connection.execute(select(schema.pool_pair).order_by(schema.pool_pair.c.pair)).mappings().all()
    sources = (
        connection.execute(select(schema.pool_source).order_by(schema.pool_source.c.id)).mappings().all()
    )
    return Pool(
        **{name: strings(row[name] for row in pairs) for name in ("query", "item", "candidate")},
        pair=np.array([row["pair"] for row in sources], np.int64),
        source=np.array([generators.index(row["generator"]) for row in sources], np.int64),
        rank=np.array([row["rank"] for row in sources], np.int64),
        score=np.array([row["score"] for row in sources], np.float32),
        generators=generators,
        top=setting["top"],
        queries=strings(queries),
    )


def write_random_pairs(connection: Connection, drawn: RandomPairs) -> None:
    """Replace the random pairs."""
    connection.execute(delete(schema.random_pair))
    pairs = zip(drawn.query, drawn.item, drawn.candidate, strict=True)
    rows = ({"place": i, "query": q, "item": t, "candidate": c} for i, (q, t, c) in enumerate(pairs))
    insert_all(connection, schema.random_pair, rows)


def read_random_pairs(connection: Connection) -> RandomPairs:
    """The random pairs, in the order they were drawn."""
    columns = (schema.random_pair.c.query, schema.random_pair.c.item, schema.random_pair.c.candidate)
    found = connection.execute(select(*columns).order_by(schema.random_pair.c.place)).all()
    return RandomPairs(*(strings(row[i] for row in found) for i in range(3)))


def _image_rows(catalog: Catalog) -> Iterator[Row]:
    for i in range(len(catalog)):
        yield {
            "row": i,
            **{name: getattr(catalog, name)[i] for name in TEXTS},
            **{name: int(getattr(catalog, name)[i]) for name in NUMBERS},
            "columns": json.dumps(
                {key: column[i] for key, column in catalog.columns.items()}, ensure_ascii=False
            ),
        }
