"""One SQLite file: full sync, write-ahead log, writers that take their turn, and errors in plain words."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, NullPool, create_engine, event, text
from sqlalchemy.exc import DatabaseError

from lookalike.core.errors import LookalikeError, StorageError, WorkspaceError

VERSION = "0002"
BUSY_MS = 30_000


class Database:
    """The database of one workspace."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._engine = _engine(path)

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """A connection that sees one snapshot and writes nothing."""
        with self._errors("reading"), self._engine.connect() as connection:
            connection.execute(text("BEGIN"))
            yield connection
            connection.rollback()

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """One transaction: all of it is on the disk when the block ends, or none of it."""
        with self._errors("writing"), self._engine.connect() as connection:
            connection.execute(text("BEGIN IMMEDIATE"))
            try:
                yield connection
            except BaseException:
                connection.rollback()
                raise
            connection.commit()

    def migrate(self) -> None:
        """Bring the database to this version; a database of a newer version is refused."""
        found = self.version()
        if found == VERSION:
            return
        if found is not None and found > VERSION:
            raise WorkspaceError(
                f"{self.path} was written by a newer Lookalike (database version {found}, this one knows {VERSION}).",
                fix="Install the newer Lookalike: pip install --upgrade lookalike",
            )
        from alembic import command
        from alembic.config import Config

        config = Config()
        config.set_main_option(
            "script_location", str(Path(__file__).parent / "migrations").replace("%", "%%")
        )
        with self.write() as connection:
            config.attributes["connection"] = connection
            command.upgrade(config, "head")

    def version(self) -> str | None:
        """The version found, None for an empty database."""
        with self.read() as connection:
            known = connection.execute(
                text("SELECT name FROM sqlite_master WHERE name = 'alembic_version'")
            ).first()
            row = (
                connection.execute(text("SELECT version_num FROM alembic_version")).first() if known else None
            )
        return None if row is None else str(row[0])

    def check(self) -> None:
        """Read all of the database and refuse one that contradicts itself."""
        with self.read() as connection:
            said = [str(row[0]) for row in connection.execute(text("PRAGMA integrity_check"))]
        if said != ["ok"]:
            raise StorageError(
                f"{self.path} is damaged: {said[0]}.",
                fix="Restore it from a backup, or make the workspace again with `lookalike init`.",
            )

    def close(self) -> None:
        """Fold the log into the file."""
        self._engine.dispose()

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        try:
            yield
        except DatabaseError as error:
            raise database_error(error, doing, self.path) from error


def database_error(error: DatabaseError, doing: str, path: Path) -> LookalikeError:
    """SQLite's complaint in the user's words."""
    said = str(error.orig)
    if "full" in said or "disk I/O" in said:
        return StorageError(
            f"The disk is full or failing: {doing} {path} stopped, and what was there before is unchanged.",
            fix="Free some space and run the same command again.",
        )
    if "locked" in said or "busy" in said:
        return WorkspaceError(
            f"Another program has been writing {path} for more than {BUSY_MS // 1000} seconds.",
            fix="Wait until it ends, or stop it, and run this command again.",
        )
    if "readonly" in said or "unable to open" in said:
        return StorageError(
            f"{doing} {path} failed: {said}.",
            fix="Check that the folder exists and that you may write to it.",
        )
    return StorageError(
        f"{path} is damaged or no Lookalike database: {said}.",
        fix="Restore it from a backup, or make the workspace again with `lookalike init`.",
    )


def _engine(path: Path) -> Engine:
    engine = create_engine(URL.create("sqlite", database=str(path)), poolclass=NullPool)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:  # noqa: ANN401 - the driver's own class
        connection.isolation_level = None  # transactions begin where this file says so
        for pragma in (
            f"busy_timeout={BUSY_MS}",
            "journal_mode=WAL",
            "synchronous=FULL",
            "foreign_keys=ON",
        ):
            connection.execute(f"PRAGMA {pragma}")

    return engine
