"""Backups: a whole database as one SQLite file, written while others use the database, and restored to either kind.

A copy of the database file is not a backup, because a database in use is more than its file.
"""

import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import cast

from sqlalchemy import Connection, func, inspect, select, text
from sqlalchemy.exc import DatabaseError

from lookalike.core.errors import StorageError, WorkspaceError
from lookalike.core.progress import Progress
from lookalike.store.disk import BESIDE, disk_errors, placing, sync_folder
from lookalike.store.sql import (
    labelling_schema,  # noqa: F401 - its tables join those of schema
    schema,
)
from lookalike.store.sql.database import Database
from lookalike.store.sql.rows import empty, insert_all

HEAD = b"SQLite format 3\x00"
PAGES = 2_000  # copied at once (8 MB), then progress is reported
STREAMED = 5_000  # rows of PostgreSQL held in memory
TABLES = tuple(schema.tables.sorted_tables)  # a table comes after those that it refers to


def write_backup(database: Database, path: Path, progress: Progress | None = None) -> None:
    """Write the state of a database at one moment into a file that only its owner can read."""
    require_replaceable(path)
    with placing(path, private=True) as temporary:
        if database.is_sqlite:
            _copy_pages(database, temporary, progress)
        else:
            _copy_rows(database, temporary, progress)
        Database(temporary).check()
        _as_one_file(temporary)


def restore_backup(path: Path, database: Database, progress: Progress | None = None) -> None:
    """Replace the content of a database by a checked backup of this version: all of it or nothing."""
    if not database.is_sqlite:
        database.migrate()
        _fill(path, database, progress)
    elif _is_sound(database):
        _overwrite(path, database, progress)
    else:
        _take_place(path, Path(str(database.url.database)))


@contextmanager
def checked(path: Path, folder: Path) -> Iterator[tuple[Database, str]]:
    """A checked copy of a backup in a folder, migrated to this version, and the version of the backup.

    The copy is deleted at the end of the block. The backup itself does not change.
    """
    require_backup(path)
    copy = folder / f".restore.{os.getpid()}.new"
    try:
        with disk_errors("reading the backup", path), path.open("rb") as source:
            os.close(os.open(copy, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600))
            with copy.open("wb") as target:
                shutil.copyfileobj(source, target, 1 << 20)
        database = Database(copy)
        database.name = str(path)  # for errors
        with _damaged(path):
            database.check()
            was = database.version()
        with database.read() as connection:
            has_catalog = inspect(connection).has_table("image")
        if was is None or not has_catalog:
            raise _foreign(path, "it has no tables of Lookalike")
        with _damaged(path):
            database.migrate()
            database.close()
            _as_one_file(copy)
        yield Database(copy), was
    finally:
        for ending in ("", *BESIDE):
            copy.with_name(copy.name + ending).unlink(missing_ok=True)


def require_backup(path: Path) -> None:
    """Raise StorageError unless the first bytes are those of a SQLite file."""
    with disk_errors("reading the backup", path), path.open("rb") as file:
        head = file.read(len(HEAD))
    if head != HEAD:
        raise _foreign(path, "it is empty" if not head else "it is not a SQLite file")


def require_replaceable(path: Path) -> None:
    """Raise WorkspaceError if a file exists that is not a backup."""
    if not path.exists():
        return
    try:
        require_backup(path)
    except StorageError as error:
        raise WorkspaceError(
            f"{path} exists and is not a backup, so it is not overwritten.", fix="Choose another file name."
        ) from error


def counts(database: Database) -> dict[str, int]:
    """The number of rows of each table."""
    with database.read() as connection:
        return {table.name: _count(connection, table.name) for table in TABLES}


def is_empty(database: Database) -> bool:
    """Whether a database has no tables yet, or no row in any of them."""
    if database.version() is None:
        return True
    with database.read() as connection:
        there = set(inspect(connection).get_table_names())
        return all(
            connection.execute(select(text("1")).select_from(table).limit(1)).first() is None
            for table in TABLES
            if table.name in there
        )


def _copy_pages(database: Database, path: Path, progress: Progress | None) -> None:
    """SQLite's online backup. The open read keeps one snapshot, so writers do not wait and it never restarts."""
    with database.read() as connection, closing(sqlite3.connect(path)) as target:
        connection.execute(text("SELECT count(*) FROM alembic_version")).scalar_one()
        target.execute("PRAGMA journal_mode=OFF")
        _pages(_driver(connection), target, progress)


def _overwrite(path: Path, database: Database, progress: Progress | None) -> None:
    """The online backup in reverse: one transaction, after which other programs see the new content."""
    with database.read() as connection, closing(sqlite3.connect(path)) as source:
        connection.rollback()
        _pages(source, _driver(connection), progress)


def _pages(source: sqlite3.Connection, target: sqlite3.Connection, progress: Progress | None) -> None:
    def tell(_: int, left: int, total: int) -> None:
        if progress is not None:
            progress(total - left, total)

    try:
        source.backup(target, pages=PAGES, progress=tell)
    except sqlite3.Error as error:
        raise DatabaseError("backup", None, error) from error


def _driver(connection: Connection) -> sqlite3.Connection:
    return cast("sqlite3.Connection", connection.connection.dbapi_connection)


def _copy_rows(database: Database, path: Path, progress: Progress | None) -> None:
    """The rows of PostgreSQL in one REPEATABLE READ snapshot, in batches."""
    target = Database(path)
    target.migrate()
    with database.read() as reading, target.write() as writing:
        _stream(reading, writing, progress)
    target.close()


def _fill(path: Path, database: Database, progress: Progress | None) -> None:
    """All rows of a backup in one transaction. The next id of each table follows its largest."""
    source = Database(path)
    with source.read() as reading, database.write() as writing:
        empty(writing)
        _stream(reading, writing, progress)
        for table in TABLES:
            for column in table.primary_key.columns:
                _number_on(writing, table.name, column.name)
    source.close()


def _stream(reading: Connection, writing: Connection, progress: Progress | None) -> None:
    total = sum(_count(reading, table.name) for table in TABLES)
    done = 0
    for table in TABLES:
        streamed = {"stream_results": True, "yield_per": STREAMED}
        found = reading.execute(select(table), execution_options=streamed)
        for part in found.mappings().partitions():
            insert_all(writing, table, (dict(row) for row in part))
            done += len(part)
            if progress is not None:
                progress(done, total)


def _number_on(connection: Connection, table: str, column: str) -> None:
    sequence = connection.execute(
        text("SELECT pg_get_serial_sequence(:table, :column)"), {"table": f'"{table}"', "column": column}
    ).scalar_one()
    if sequence is not None:
        connection.execute(
            text(
                f'SELECT setval(:sequence, COALESCE((SELECT max("{column}") FROM "{table}"), 0) + 1, false)'
            ),
            {"sequence": sequence},
        )


def _take_place(path: Path, target: Path) -> None:
    """Make the backup the file of a database that is missing or unreadable, so that nobody can be writing it."""
    with placing(target, private=True) as temporary:
        shutil.copyfile(path, temporary)
        for ending in BESIDE:  # the log of the damaged file must not be applied to the new one
            target.with_name(target.name + ending).unlink(missing_ok=True)
    sync_folder(target.parent)


def _is_sound(database: Database) -> bool:
    if not Path(str(database.url.database)).is_file():
        return False
    try:
        database.check()
        return database.version() is not None
    except StorageError:
        return False


def _count(connection: Connection, table: str) -> int:
    return int(connection.execute(select(func.count()).select_from(schema.tables.tables[table])).scalar_one())


def _as_one_file(path: Path) -> None:
    """Fold SQLite's log into the file, so that the file alone is the database."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")


@contextmanager
def _damaged(path: Path) -> Iterator[None]:
    try:
        yield
    except StorageError as error:
        raise StorageError(
            f"{path} cannot be restored: it is damaged or cut short.",
            fix="Use another backup. Nothing was changed.",
        ) from error


def _foreign(path: Path, why: str) -> StorageError:
    return StorageError(
        f"{path} is not a backup of Lookalike: {why}.",
        fix="Give a file that `lookalike backup FILE` wrote. Nothing was changed.",
    )
