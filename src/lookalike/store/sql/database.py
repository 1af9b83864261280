"""One database, SQLite or PostgreSQL. A commit is on the disk when it returns, and errors say what to do."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from sqlite3 import sqlite_version, sqlite_version_info
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, inspect, make_url, text
from sqlalchemy.exc import ArgumentError as AddressError
from sqlalchemy.exc import DatabaseError

from lookalike.core.errors import StorageError, WorkspaceError
from lookalike.store.disk import create_private
from lookalike.store.sql import (
    labelling_schema,  # noqa: F401 - its tables join those of schema
    schema,
)
from lookalike.store.sql.errors import BUSY_MS, database_error

T = TypeVar("T")
BASELINE, VERSION = "1000", "1007"  # the oldest and the newest version that this program opens
OLDEST_SQLITE = (3, 35)  # RETURNING
EFFECTIVE = os.access in os.supports_effective_ids
MIGRATING = 0x100CA11  # the advisory lock that lets one process migrate a PostgreSQL database at a time


class Database:
    """The database of one workspace: a SQLite file, or the address of a PostgreSQL database."""

    def __init__(self, place: Path | str, *, connections: int = 0, patience: int = BUSY_MS) -> None:
        """`connections` stay open between uses, for a server; 0 opens one for each use.

        `patience` is the longest wait for another writer of the SQLite file or of the same rows, in milliseconds.
        """
        self.url = address(place) if isinstance(place, str) else URL.create("sqlite", database=str(place))
        self.name = str(place) if isinstance(place, Path) else self.url.render_as_string(hide_password=True)
        self._engine = _engine(self.url, connections, patience)

    @property
    def is_sqlite(self) -> bool:
        """Whether it is a SQLite file."""
        return self.url.get_backend_name() == "sqlite"

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees one snapshot and writes nothing."""
        with self._errors("reading"), self._engine.connect() as connection:
            if self.is_sqlite:
                connection.execute(text("BEGIN"))
            else:
                connection.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"))
            yield connection
            connection.rollback()

    def fetch(self, call: Callable[[Connection], T]) -> T:
        """The result of a call that reads one snapshot."""
        with self.read() as connection:
            return call(connection)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction: when the block ends, all of it is on the disk, or nothing."""
        with self._errors("writing"), self._engine.connect() as connection, transaction(connection):
            yield connection

    def open(self, patience: int | None = None) -> Connection:
        """A connection for many transactions, which the caller closes. `patience` applies to rows of PostgreSQL.

        A missing SQLite file is an error: a new file would not belong to the workspace.
        """
        self.file_id()
        connection = self._engine.connect()
        if patience is not None and not self.is_sqlite:
            _hurry(connection.connection, patience)
        return connection

    def file_id(self) -> tuple[int, int]:
        """The identity of the SQLite file, which differs for another file with the same name; (0, 0) for PostgreSQL.

        Raises StorageError if the file is missing: a connection would write into a deleted file.
        """
        if not self.is_sqlite:
            return 0, 0
        try:
            found = os.stat(str(self.url.database))
        except OSError:
            raise StorageError(
                f"{self.name} was deleted or moved while it was in use.",
                fix="Put it back, or restore it from a backup (lookalike restore FILE); then start the server again.",
            ) from None
        return found.st_dev, found.st_ino

    def migrate(self) -> None:
        """Create the tables of an empty database, or bring an earlier version to this one."""
        before = self.version()
        if self._is_current(before):
            return
        try:
            self._upgrade()
        except StorageError as error:
            if before is None:
                raise
            raise StorageError(
                f"An earlier Lookalike wrote {self.name}, which must be upgraded (database version {before} to "
                f"{VERSION}), but: {error.problem}",
                fix=f"{error.fix} Or copy the workspace to a folder that you may write to, and use the copy.",
            ) from error

    def _upgrade(self) -> None:
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option(
            "script_location", str(Path(__file__).parent / "migrations").replace("%", "%%")
        )
        with self.write() as connection:
            if not self.is_sqlite:
                connection.execute(text(f"SELECT pg_advisory_xact_lock({MIGRATING})"))
            config.attributes["connection"] = connection
            found = _version(connection)
            if found is None:
                schema.tables.create_all(connection, checkfirst=False)
                command.stamp(config, "head")
            elif not self._is_current(found):
                command.upgrade(config, "head")

    def _is_current(self, found: str | None) -> bool:
        """Whether a version is the current one. Raises WorkspaceError for a version that cannot be opened."""
        if found is not None and found > VERSION:
            raise WorkspaceError(
                f"A newer Lookalike wrote {self.name} (database version {found}; this version reads {VERSION}).",
                fix="Install the newer version of Lookalike: python3 -m pip install . in its folder",
            )
        if found is not None and found < BASELINE:
            raise WorkspaceError(
                f"A Lookalike before 1.0 wrote {self.name} (database version {found}). This version cannot open it.",
                fix="Export its labels and votes with the version that wrote it, create a new workspace with "
                "`lookalike init`, and import them there.",
            )
        return found == VERSION

    def version(self) -> str | None:
        """The version of the database; None if it is empty."""
        return self.fetch(_version)

    def check(self) -> None:
        """Check the integrity of a whole SQLite file, or that PostgreSQL answers."""
        statement = "PRAGMA integrity_check" if self.is_sqlite else "SELECT 'ok'"
        with self.read() as connection:
            faults = [str(row[0]) for row in connection.execute(text(statement))]
        if faults != ["ok"]:
            raise StorageError(
                f"{self.name} is damaged: {faults[0]}.",
                fix="Restore it from a backup (lookalike restore FILE), or create it again with `lookalike init`.",
            )

    def close(self) -> None:
        """Close all connections. SQLite folds its log into the file."""
        self._engine.dispose()

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        try:
            yield
        except DatabaseError as error:
            raise database_error(error, doing, self.name) from error


def _version(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
    return None if row is None else str(row[0])


@contextmanager
def transaction(connection: Connection) -> Iterator[None]:
    """A transaction: all of the block or nothing. A writer of SQLite takes its lock before it reads."""
    if connection.dialect.name == "sqlite":
        connection.execute(text("BEGIN IMMEDIATE"))
    elif not connection.in_transaction():
        connection.begin()
    try:
        yield
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def address(given: str) -> URL:
    """A PostgreSQL address in the form of the driver.

    >>> address("postgresql://me@localhost/shop").drivername
    'postgresql+psycopg'
    """
    try:
        url = make_url(given)
    except AddressError:
        url = None
    if url is None or url.get_backend_name() not in ("postgresql", "postgres"):
        raise WorkspaceError(
            f"The database address {given!r} is not an address of PostgreSQL.",
            fix="Write it like postgresql://user@host/name; the password goes into ~/.pgpass or PGPASSWORD. "
            'Or leave database = "" in lookalike.toml for a SQLite file.',
        )
    return url.set(drivername="postgresql+psycopg")


def _engine(url: URL, connections: int, patience: int) -> Engine:
    if connections:
        engine = create_engine(url, pool_size=connections, max_overflow=0, pool_pre_ping=True)
    else:
        engine = create_engine(url, poolclass=NullPool)
    if url.get_backend_name() == "sqlite":
        if sqlite_version_info < OLDEST_SQLITE:
            raise WorkspaceError(
                f"Python uses SQLite {sqlite_version}, which is too old for Lookalike.",
                fix=f"Use a Python with SQLite {'.'.join(map(str, OLDEST_SQLITE))} or later, or PostgreSQL "
                "(lookalike init --database).",
            )
        event.listen(engine, "do_connect", _open_file)
        event.listen(engine, "connect", lambda connection, _: _prepare(connection, patience))
    else:
        event.listen(engine, "connect", lambda connection, _: _hurry(connection, patience))
    return engine


def _open_file(dialect: object, record: object, arguments: list[Any], options: dict[str, Any]) -> None:
    """Create a missing SQLite file for its owner only, and open a file as immutable if its folder is read-only.

    SQLite gives the files beside it the same mode: they hold password hashes and the key of the sessions, too.

    Normally SQLite creates files beside it even to read. If these exist, another program has the file open, and it is
    read as usual.
    """
    path = Path(str(arguments[0])).absolute()
    with suppress(OSError):  # SQLite says what is wrong
        create_private(path)
    beside = path.with_name(f"{path.name}-wal")
    if (
        path.is_file()
        and not os.access(path.parent, os.W_OK, effective_ids=EFFECTIVE)
        and not beside.exists()
    ):
        arguments[0] = f"{path.as_uri()}?immutable=1"
        options["uri"] = True


def _prepare(connection: Any, patience: int) -> None:  # noqa: ANN401 - the driver's own class
    connection.isolation_level = None  # this file begins transactions itself
    for pragma in (
        f"busy_timeout={patience}",
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _hurry(connection: Any, patience: int) -> None:  # noqa: ANN401
    connection.execute(f"SET lock_timeout = {patience}")
    connection.commit()
