"""Transactions of a server: each call's future resolves once what it wrote is on the disk, or with what went wrong.

SQLite has one writer. Its disk sync is what takes time, so calls that wait are committed together, each in a savepoint
of its own: one that fails takes back only what it wrote. PostgreSQL has several writers and groups commits by itself.
"""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, TypeVar

from sqlalchemy import Connection, text
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError

from lookalike.core.errors import StorageError, WorkspaceError
from lookalike.store.database import Database, transaction
from lookalike.store.database_errors import database_error
from lookalike.store.prepared import Prepared

T = TypeVar("T")
TOGETHER = 64  # calls committed at once at most: the first of them waits for the last
CONNECTIONS = 6
ATTEMPTS = 4

Call = tuple[Callable[[Connection], Any], "Future[Any]"]
Done = tuple["Future[Any]", Any, BaseException | None]


class Writer:
    """Takes calls from any thread and runs each in a transaction."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._calls: queue.SimpleQueue[Call | None] = queue.SimpleQueue()
        self._closed = False
        count = 1 if database.is_sqlite else CONNECTIONS
        self._threads = [
            threading.Thread(target=self._work, name=f"writer-{n}", daemon=True) for n in range(count)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, call: Callable[[Connection], T]) -> "Future[T]":
        """Run a call in a transaction. It may run again from the start, so it does nothing but use its connection."""
        future: Future[T] = Future()
        if self._closed:
            future.set_exception(WorkspaceError("The server is stopping.", fix="Send it again in a moment."))
        else:
            self._calls.put((call, future))
        return future

    def close(self) -> None:
        """Finish what was submitted, then stop."""
        self._closed = True
        for _ in self._threads:
            self._calls.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        connection: Connection | None = None
        last = False
        while not last:
            batch, last = self._next()
            if batch:
                connection = self._attempt(connection, batch)
        if connection is not None:
            connection.close()

    def _next(self) -> tuple[list[Call], bool]:
        """The calls that wait, as many as are committed together; and whether this thread is to stop after them."""
        first = self._calls.get()
        if first is None:
            return [], True
        batch = [first] if _wanted(first) else []
        while self.database.is_sqlite and len(batch) < TOGETHER:
            try:
                more = self._calls.get_nowait()
            except queue.Empty:
                break
            if more is None:
                return batch, True
            if _wanted(more):
                batch.append(more)
        return batch, False

    def _attempt(self, connection: Connection | None, batch: list[Call]) -> Connection | None:
        """Run a batch; one that met a deadlock or a connection that has gone runs again. Returns the connection."""
        for left in reversed(range(ATTEMPTS)):
            try:
                connection = connection or self._open()
                done = self._commit(connection, batch)
            except DatabaseError as error:
                _let_go(connection)
                connection = None
                if not (left and _passes(error)):
                    _fail(batch, database_error(error, "writing", self.database.name))
                    return None
            except StorageError as error:
                _let_go(connection)
                _fail(batch, error)
                return None
            except Exception as error:  # what a call alone raised: PostgreSQL's batches are of one
                _fail(batch, error)
                return connection
            else:
                _tell(done)
                return connection
        return connection  # not reached: the last attempt returns

    def _open(self) -> Connection:
        connection = self.database.open()
        connection.info["file"] = self.database.file_id()
        return connection

    def _commit(self, connection: Connection, batch: list[Call]) -> list[Done]:
        """Run the calls of a batch in one transaction; when this returns all of it is on the disk."""
        if not self.database.is_sqlite:
            ((call, future),) = batch
            with transaction(connection):
                value = call(connection)
            return [(future, value, None)]
        with transaction(connection):
            done = [(future, *_apart(connection, call)) for call, future in batch]
        if self.database.file_id() != connection.info["file"]:
            raise StorageError(
                f"{self.database.name} was replaced by another file while it was in use.",
                fix="Send it again; it goes into the file that is there now.",
            )
        return done


def _apart(connection: Connection, call: Callable[[Connection], Any]) -> tuple[Any, BaseException | None]:
    """Run a call in a savepoint: what it wrote is taken back if it fails, and nothing else is."""
    _SAVE.run(connection)
    try:
        value = call(connection)
    except OperationalError:  # the disk or the file: nothing of this transaction can be trusted
        raise
    except DatabaseError as error:
        _TAKE_BACK.run(connection)
        return None, database_error(error, "writing", connection.engine.url.render_as_string())
    except Exception as error:
        _TAKE_BACK.run(connection)
        return None, error
    _KEEP.run(connection)
    return value, None


_SAVE, _TAKE_BACK, _KEEP = (
    Prepared(text(f"{words} one_call")) for words in ("SAVEPOINT", "ROLLBACK TO", "RELEASE")
)


def _wanted(call: Call) -> bool:
    """Whether anybody still waits for a call; from now on it cannot be cancelled."""
    return call[1].set_running_or_notify_cancel()


def _tell(done: list[Done]) -> None:
    for future, value, error in done:
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)


def _fail(batch: list[Call], error: Exception) -> None:
    for _, future in batch:
        future.set_exception(error)


def _let_go(connection: Connection | None) -> None:
    """Let go of a connection that failed: the next attempt opens its own."""
    if connection is not None:
        connection.invalidate()
        connection.close()


def _passes(error: DatabaseError) -> bool:
    """Whether the same call may well succeed now: two met the same rows, or the connection had been cut."""
    if isinstance(error, IntegrityError):
        return True  # another writer was faster: the call will see what that one wrote
    return error.connection_invalidated or any(
        word in str(error.orig) for word in ("deadlock", "serialize", "terminating connection")
    )
