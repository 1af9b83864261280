"""Values are written to rows of the database and read from them."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import islice
from types import MappingProxyType
from typing import Any

import numpy as np
from sqlalchemy import Connection, Insert, Table, UpdateBase, and_, delete, func, insert, or_, select, text

from lookalike.catalog.duplicates.count import DuplicateCount, count_copies
from lookalike.core.checks import fingerprint, strings
from lookalike.core.types import CATALOG_NUMBERS, CATALOG_TEXTS, Catalog, Labels, LeftOut, contents
from lookalike.store.sql import schema

BATCH = 20_000
NUMBERS = (*CATALOG_NUMBERS, "duplicate")

Row = dict[str, Any]


@dataclass(frozen=True)
class CatalogSummary:
    """How many images a catalog has, of how many items and categories; how many are left out, and its duplicates."""

    images: int
    items: int
    categories: int
    left_out: int
    duplicates: DuplicateCount


def insert_all(connection: Connection, table: Table, rows: Iterable[Row]) -> None:
    """Insert any number of rows, a batch at a time."""
    execute_all(connection, insert(table), rows)


def empty(connection: Connection) -> None:
    """Delete all rows of a PostgreSQL database that is used again. A SQLite file is always new."""
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
    return import_module(f"sqlalchemy.dialects.{dialect}").insert(table)  # importing both takes 0.03 s


def execute_all(connection: Connection, statement: UpdateBase, rows: Iterable[Row]) -> None:
    """Run a statement on any number of rows, a batch at a time."""
    walk = iter(rows)
    while batch := list(islice(walk, BATCH)):
        connection.execute(statement, batch)


def insert_columns(connection: Connection, table: Table, **columns: Iterable[Any]) -> None:
    """Insert rows that are given as columns of one length."""
    rows = zip(*columns.values(), strict=True)
    insert_all(connection, table, (dict(zip(columns, row, strict=True)) for row in rows))


def read_columns(connection: Connection, table: Table, order: str, *names: str) -> list[list[Any]]:
    """Columns of all rows, in the order of one of the table's columns."""
    found = connection.execute(select(*(table.c[name] for name in names)).order_by(table.c[order])).all()
    return [list(column) for column in zip(*found, strict=True)] or [[] for _ in names]


def write_catalog(connection: Connection, catalog: Catalog) -> None:
    """Replace the catalog."""
    connection.execute(delete(schema.image))
    connection.execute(delete(schema.left_out))
    more = [{name: column[i] for name, column in catalog.columns.items()} for i in range(len(catalog))]
    insert_columns(
        connection,
        schema.image,
        row=range(len(catalog)),
        columns=(json.dumps(one, ensure_ascii=False) for one in more),
        **{name: getattr(catalog, name).tolist() for name in (*CATALOG_TEXTS, *NUMBERS)},
    )
    insert_all(connection, schema.left_out, (gone._asdict() for gone in catalog.left_out))


def read_catalog(connection: Connection) -> Catalog:
    """The catalog, in its order."""
    names = (*CATALOG_TEXTS, *NUMBERS, "columns")
    found = dict(zip(names, read_columns(connection, schema.image, "row", *names), strict=True))
    parsed = {written: json.loads(written) for written in set(found["columns"])}  # often all are the same
    more = [parsed[written] for written in found["columns"]]
    left_out = read_columns(connection, schema.left_out, "position", *LeftOut._fields)
    return Catalog(
        **{name: strings(found[name]) for name in CATALOG_TEXTS},
        **{name: np.array(found[name], np.int64) for name in NUMBERS},
        columns=MappingProxyType(
            {name: strings(row[name] for row in more) for name in (more[0] if more else ())}
        ),
        left_out=tuple(map(LeftOut._make, zip(*left_out, strict=True))),
    )


def catalog_summary(connection: Connection) -> CatalogSummary:
    """The sizes of the catalog and its duplicates. Columns of other images are not read."""
    own = schema.image.c
    names = ("digest", "box", "item", "split", "duplicate")
    copies = connection.execute(
        select(*(own[name] for name in names)).where(own.duplicate >= 0).order_by(own.row)
    ).all()
    digest, box, item, split, duplicate = zip(*copies, strict=True) if copies else ((),) * len(names)
    images, items, categories = connection.execute(
        select(
            func.count(),
            func.count(own.item.distinct()),
            func.count(func.nullif(own.category, "").distinct()),
        ).select_from(schema.image)
    ).one()
    return CatalogSummary(
        images=images,
        items=items,
        categories=categories,
        left_out=connection.execute(select(func.count()).select_from(schema.left_out)).scalar_one(),
        duplicates=count_copies(
            np.array(duplicate, np.int64), contents(digest, box), strings(item), strings(split)
        ),
    )


def first_paths(connection: Connection, most: int) -> list[str]:
    """The paths of the first photos of the catalog."""
    own = schema.image.c
    return list(connection.execute(select(own.path).order_by(own.row).limit(most)).scalars())


def read_images_fingerprint(connection: Connection) -> str:
    """`Catalog.images_fingerprint`, without the other columns."""
    image, digest, box = read_columns(connection, schema.image, "row", "image", "digest", "box")
    return fingerprint(image, contents(digest, box))


def write_signatures(connection: Connection, signatures: Mapping[str, bytes]) -> None:
    """Add signatures by the digest of the photo's content. Existing ones are kept."""
    rows = ({"digest": digest, "signature": made} for digest, made in signatures.items())
    execute_all(connection, insert_new(connection, schema.signature), rows)


def read_signatures(connection: Connection) -> dict[str, bytes]:
    """All signatures, by the digest of the photo's content."""
    columns = read_columns(connection, schema.signature, "digest", "digest", "signature")
    return dict(zip(*columns, strict=True))


def labels_of(connection: Connection, one: str, other: str) -> list[tuple[int, str]]:
    """The labels of two images in either order, each with what added it."""
    own = schema.label.c
    ends = or_(and_(own.query == one, own.candidate == other), and_(own.query == other, own.candidate == one))
    found = connection.execute(
        select(own.label, own.source).where(ends).order_by(own.label, own.source).distinct()
    )
    return [(row.label, row.source) for row in found]


def read_labels(connection: Connection) -> Labels:
    """All labels, in the order in which they were added."""
    return Labels.of(*read_columns(connection, schema.label, "id", "query", "candidate", "label"))
