"""Statements that are spelled once and then go straight to the driver: labelling runs the same few for every answer.

SQLAlchemy spells them, for both databases; per execution it would cost several times what the statement itself does.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.dialects.postgresql import psycopg
from sqlalchemy.dialects.sqlite import pysqlite
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.expression import ClauseElement

T = TypeVar("T")
Later = Callable[[], T]
"""Waits for what was asked and returns it."""

_DIALECTS: dict[str, Any] = {
    "sqlite": pysqlite.dialect(paramstyle="named"),
    "postgresql": psycopg.dialect(),  # type: ignore[no-untyped-call]
}


class Prepared:
    """A statement, or one for each database, of numbers and texts; `connection` is in a transaction."""

    def __init__(self, statement: ClauseElement | dict[str, ClauseElement]) -> None:
        own = statement if isinstance(statement, dict) else dict.fromkeys(_DIALECTS, statement)
        compiled = {name: own[name].compile(dialect=_DIALECTS[name]) for name in _DIALECTS}
        self._spelled = {name: str(one) for name, one in compiled.items()}
        self._fixed = {
            name: {key: value for key, value in one.params.items() if value is not None}
            for name, one in compiled.items()
        }

    def rows(self, connection: Connection, **values: Any) -> list[Any]:  # noqa: ANN401 - numbers and texts
        """Run it and return its rows, as tuples."""
        return self.ask(connection, **values)()

    def ask(self, connection: Connection, **values: Any) -> Later[list[Any]]:  # noqa: ANN401
        """Send it; what this returns waits for its rows."""
        return partial(_fetched, self._send(connection, **values))

    def run(self, connection: Connection, **values: Any) -> int:  # noqa: ANN401
        """Run it and return how many rows it has changed."""
        cursor = self._send(connection, **values)
        count = int(cursor.rowcount)
        cursor.close()
        return count

    def _send(self, connection: Connection, **values: Any) -> Any:  # noqa: ANN401 - the driver's own
        name = connection.dialect.name
        spelled, given = self._spelled[name], self._fixed[name] | values
        cursor = connection.connection.cursor()
        try:
            cursor.execute(spelled, given)
        except connection.dialect.loaded_dbapi.Error as error:
            raise _translated(connection, spelled, given, error) from error
        return cursor


def _fetched(cursor: Any) -> list[Any]:  # noqa: ANN401
    found: list[Any] = cursor.fetchall()
    cursor.close()
    return found


@contextmanager
def sent_together(connection: Connection) -> Iterator[None]:
    """Within this block statements are only sent: PostgreSQL is waited for at its end, and results are there then."""
    if connection.dialect.name == "sqlite":
        yield
        return
    dialect: Any = connection.dialect
    driver: Any = connection.connection.driver_connection
    try:
        with driver.pipeline():
            yield
    except dialect.loaded_dbapi.Error as error:
        raise _translated(connection, "", {}, error) from error


def _translated(
    connection: Connection, spelled: str, given: dict[str, Any], error: Exception
) -> BaseException:
    """The error as SQLAlchemy would raise it."""
    dialect: Any = connection.dialect
    driver: Any = connection.connection.dbapi_connection
    cut = dialect.is_disconnect(error, driver, None)
    return DBAPIError.instance(
        spelled, given, error, dialect.loaded_dbapi.Error, connection_invalidated=cut, dialect=dialect
    )


def only(found: Sequence[Any]) -> Any:  # noqa: ANN401 - a row
    """The row of a statement that finds one at most; None where it found none."""
    return found[0] if found else None
