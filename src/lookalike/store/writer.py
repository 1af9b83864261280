"""Transactions of a server: each call's future resolves once what it wrote is on the disk, or with what went wrong.

Labelling calls that wait are run together on one unit of work, so what each of them costs is little more than its own
rows. SQLite has one writer, so its other calls are committed together too, each in a savepoint of its own; PostgreSQL
has several. One call that fails takes nothing of the others with it.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection, text
from sqlalchemy.exc import DatabaseError, IntegrityError, OperationalError

from lookalike.core.errors import StorageError, WorkspaceError
from lookalike.store.database import Database, transaction
from lookalike.store.database_errors import (
    DEADLOCK,
    LOCK_TIMEOUT,
    NOT_SERIAL,
    SHUT_DOWN,
    database_error,
    state_of,
)
from lookalike.store.lane import Call, Lane
from lookalike.store.prepared import Prepared
from lookalike.store.unit_of_work import Foreseen, UnitOfWork

T = TypeVar("T")
TOGETHER = 64  # calls committed at once at most: the first of them waits for the last
CONNECTIONS, LABELLING = 4, 2  # of PostgreSQL's: for other calls, for labelling
PATIENCE = 0.25  # seconds after which a batch of labelling no longer keeps the next one waiting
HURRY_MS = 250  # for rows that another program holds; then who needs these waits apart from the others
ATTEMPTS = 4

Done = tuple["Future[Any]", Any, BaseException | None]


class Writer:
    """Takes calls from any thread and runs each in a transaction."""

    def __init__(self, database: Database, after: Callable[[], object] = lambda: None) -> None:
        """`after` is called by a writing thread whenever the futures of a batch have their results."""
        self.database, self._after = database, after
        self._calls = self._labelling = Lane(TOGETHER)
        lanes = [self._calls]
        if not database.is_sqlite:
            self._calls, self._labelling = Lane(), Lane(TOGETHER, PATIENCE)
            lanes = [self._calls] * CONNECTIONS + [self._labelling] * LABELLING
        self._threads: dict[Lane, list[threading.Thread]] = {lane: [] for lane in lanes}
        for number, lane in enumerate(lanes):
            thread = threading.Thread(target=self._work, args=(lane,), name=f"writer-{number}", daemon=True)
            self._threads[lane].append(thread)
            thread.start()

    def submit(self, call: Callable[[Connection], T]) -> "Future[T]":
        """Run a call in a transaction. It may run again from the start, so it does nothing but use its connection."""
        return self._put(self._calls, Call(call, Future()))

    def label(self, call: Callable[[UnitOfWork], T], foreseen: Foreseen) -> "Future[T]":
        """Run a labelling call together with others that wait. It too may run again from the start."""
        return self._put(self._labelling, Call(call, Future(), foreseen))

    def _put(self, lane: Lane, call: Call) -> "Future[Any]":
        if not lane.put(call):
            stopping = WorkspaceError("The server is stopping.", fix="Send it again in a moment.")
            call.future.set_exception(stopping)
        return call.future

    def close(self) -> None:
        """Finish what was submitted, then stop."""
        for lane in (self._labelling, self._calls):  # in this order: the first may hand calls to the second
            lane.close()
            for thread in self._threads[lane]:
                thread.join()

    def _work(self, lane: Lane) -> None:
        connection: Connection | None = None
        while taken := lane.take():
            batch = [call for call in taken if _wanted(call)]
            if batch:
                connection = self._attempt(connection, batch, lane)
            lane.done()
            if batch:
                self._after()
        if connection is not None:
            connection.close()

    def _attempt(self, connection: Connection | None, batch: list[Call], lane: Lane) -> Connection | None:
        """Run a batch; one that met a deadlock or a connection that has gone runs again. Returns the connection."""
        for left in reversed(range(ATTEMPTS)):
            try:
                connection = connection or self._open(lane)
                done = self._commit(connection, batch)
            except Exception as error:
                if isinstance(error, DatabaseError | StorageError):
                    _let_go(connection)
                    connection = None
                if self._is_group(batch):
                    break
                if lane is not self._calls and _held_up(error) and self._calls.put(batch[0]):
                    return connection  # there it waits for as long as it takes
                if not (left and _passes(error)):
                    _fail(batch, self._said(error))
                    return connection
            else:
                _tell(done)
                return connection
        for call in batch:
            connection = self._attempt(connection, [call], lane)
        return connection

    def _said(self, error: Exception) -> Exception:
        """What who waits for a call is told: of the database in plain words, else what the call alone raised."""
        return (
            database_error(error, "writing", self.database.name)
            if isinstance(error, DatabaseError)
            else error
        )

    def _is_group(self, batch: list[Call]) -> bool:
        """Whether calls share a transaction of PostgreSQL's, which fails or succeeds as a whole."""
        return not self.database.is_sqlite and len(batch) > 1

    def _open(self, lane: Lane) -> Connection:
        connection = self.database.open(None if lane is self._calls else HURRY_MS)
        connection.info["file"] = self.database.file_id()
        return connection

    def _commit(self, connection: Connection, batch: list[Call]) -> list[Done]:
        """Run the calls of a batch in one transaction; when this returns all of it is on the disk."""
        if not self.database.is_sqlite:
            with transaction(connection):
                if len(batch) > 1:
                    return _together(connection, batch)
                return [(batch[0].future, _alone(batch[0], connection), None)]
        with transaction(connection):
            done = _in_savepoints(connection, batch)
        if self.database.file_id() != connection.info["file"]:
            raise StorageError(
                f"{self.database.name} was replaced by another file while it was in use.",
                fix="Send it again; it goes into the file that is there now.",
            )
        return done


def _alone(call: Call, connection: Connection) -> Any:  # noqa: ANN401 - what the call returns
    """What comes of a call with nothing else beside it."""
    if call.foreseen is None:
        return call.run(connection)
    with UnitOfWork(connection, [call.foreseen]) as work:
        return call.run(work)


def _together(connection: Connection, calls: list[Call]) -> list[Done]:
    """Run labelling calls on one unit of work. Raises what a call raised that had changed something before."""
    work = UnitOfWork(connection, [call.foreseen for call in calls if call.foreseen is not None])
    done: list[Done] = []
    for call in calls:
        before = work.writes
        try:
            done.append((call.future, call.run(work), None))
        except DatabaseError:
            raise
        except Exception as error:
            if work.writes != before:
                raise
            done.append((call.future, None, error))
    work.flush()
    return done


def _in_savepoints(connection: Connection, batch: list[Call]) -> list[Done]:
    """Run the labelling calls of a batch together, and if that fails, as the others, each in a savepoint of its own."""
    labelling = [call for call in batch if call.foreseen is not None]
    done: list[Done] = []
    if len(labelling) > 1:
        together, error = _apart(connection, lambda connection: _together(connection, labelling))
        if error is None:
            done = together
            batch = [call for call in batch if call.foreseen is None]
    return done + [(call.future, *_apart(connection, partial(_alone, call))) for call in batch]


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
    return call.future.running() or call.future.set_running_or_notify_cancel()


def _tell(done: list[Done]) -> None:
    for future, value, error in done:
        if error is None:
            future.set_result(value)
        else:
            future.set_exception(error)


def _fail(batch: list[Call], error: Exception) -> None:
    for call in batch:
        call.future.set_exception(error)


def _let_go(connection: Connection | None) -> None:
    """Let go of a connection that failed: the next attempt opens its own."""
    if connection is not None:
        connection.invalidate()
        connection.close()


def _held_up(error: Exception) -> bool:
    """Whether another program holds rows that a call needs."""
    return isinstance(error, DatabaseError) and state_of(error) == LOCK_TIMEOUT


def _passes(error: Exception) -> bool:
    """Whether the same call may well succeed now: two met the same rows, or the connection had been cut."""
    if not isinstance(error, DatabaseError):
        return False
    if isinstance(error, IntegrityError):
        return True  # another writer was faster: the call will see what that one wrote
    return error.connection_invalidated or state_of(error) in (DEADLOCK, NOT_SERIAL, SHUT_DOWN)
