"""The transactions of a server: each call runs in one of its own, and its future resolves once it is on the disk.

SQLite has one writer, so its calls wait for one thread. PostgreSQL has several threads. A call that needs rows which
another program holds moves to other threads, so that the others need not wait behind it.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import DatabaseError, IntegrityError

from lookalike.core.errors import StorageError, WorkspaceError
from lookalike.store.sql.database import Database, transaction
from lookalike.store.sql.errors import (
    DEADLOCK,
    LOCK_TIMEOUT,
    NOT_SERIAL,
    SHUT_DOWN,
    database_error,
    state_of,
)

T = TypeVar("T")
CONNECTIONS = 4  # to PostgreSQL, for new calls; and as many for calls that wait for another program
HURRY_MS = 250  # a call that waits longer than this for rows of PostgreSQL moves to the threads that wait
ATTEMPTS = 4


class Writer:
    """Takes calls from any thread and runs each in a transaction."""

    def __init__(self, database: Database) -> None:
        self.database = database
        if database.is_sqlite:
            self._lanes = [_Lane(database, 1)]
        else:
            self._lanes = [_Lane(database, CONNECTIONS, HURRY_MS), _Lane(database, CONNECTIONS)]

    def submit(self, call: Callable[[Connection], T]) -> "Future[T]":
        """Run a call in a transaction. It may run again from the start, so it must only use its connection."""
        done: Future[T] = Future()
        try:
            self._lanes[0].threads.submit(self._run, call, done, self._lanes)
        except RuntimeError:
            done.set_exception(WorkspaceError("The server is stopping.", fix="Try again in a moment."))
        return done

    def close(self) -> None:
        """Finish what was submitted, then stop."""
        for lane in self._lanes:  # in this order: the first may pass calls on to the second
            lane.close()

    def _run(self, call: Callable[[Connection], T], done: "Future[T]", lanes: "list[_Lane]") -> None:
        lane, *patient = lanes
        if not done.running() and not done.set_running_or_notify_cancel():
            return  # cancelled
        try:
            value = lane.attempt(call)
        except Exception as error:
            if patient and isinstance(error, DatabaseError) and state_of(error) == LOCK_TIMEOUT:
                patient[0].threads.submit(self._run, call, done, patient)
            elif isinstance(error, DatabaseError):
                done.set_exception(database_error(error, "writing", self.database.name))
            else:
                done.set_exception(error)
        else:
            done.set_result(value)


class _Lane:
    """Threads that each keep a connection."""

    def __init__(self, database: Database, threads: int, patience: int | None = None) -> None:
        """`patience` is how many milliseconds a call waits for rows of PostgreSQL; None: as the database does."""
        self._database, self._patience = database, patience
        self.threads = ThreadPoolExecutor(threads, thread_name_prefix="writer")
        self._own = threading.local()
        self._opened: set[Connection] = set()

    def attempt(self, call: Callable[[Connection], T]) -> T:
        """Run a call; one that met a deadlock or a connection that was cut runs again."""
        for left in reversed(range(ATTEMPTS)):
            try:
                return self._commit(call)
            except (DatabaseError, StorageError) as error:
                self._let_go()
                if not (left and _passes(error)):
                    raise
        raise AssertionError  # the last attempt returned or raised

    def close(self) -> None:
        """Finish what was submitted, then close the connections."""
        self.threads.shutdown()
        for connection in self._opened:
            connection.close()

    def _commit(self, call: Callable[[Connection], T]) -> T:
        """Run a call in a transaction; when this returns all of it is on the disk."""
        connection = self._connection()
        with transaction(connection):
            value = call(connection)
        if self._database.file_id() != connection.info["file"]:
            raise StorageError(
                f"{self._database.name} was replaced by another file while it was in use.",
                fix="Try again; the answer goes into the new file.",
            )
        return value

    def _connection(self) -> Connection:
        found: Connection | None = getattr(self._own, "connection", None)
        if found is None:
            found = self._own.connection = self._database.open(self._patience)
            found.info["file"] = self._database.file_id()
            self._opened.add(found)
        return found

    def _let_go(self) -> None:
        """Give up a connection that failed: the next attempt opens another one."""
        found: Connection | None = getattr(self._own, "connection", None)
        if found is not None:
            self._own.connection = None
            self._opened.discard(found)
            found.invalidate()
            found.close()


def _passes(error: Exception) -> bool:
    """Whether the same call may well succeed now: it met another transaction, or the connection was cut."""
    if not isinstance(error, DatabaseError):
        return False
    if isinstance(error, IntegrityError):
        return True  # another transaction was faster: the next attempt sees what it wrote
    return error.connection_invalidated or state_of(error) in (DEADLOCK, NOT_SERIAL, SHUT_DOWN)
