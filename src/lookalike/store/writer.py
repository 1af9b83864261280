"""The one door for writing while the app runs: a call's future resolves once its transaction is on the disk."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from sqlalchemy import Connection

from lookalike.store.database import Database

T = TypeVar("T")


class Writer:
    """Runs functions in transactions, one after the other."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._threads = ThreadPoolExecutor(1 if database.is_sqlite else 4, thread_name_prefix="writer")

    def submit(self, fn: Callable[[Connection], T]) -> "Future[T]":
        """Run a function in a transaction of its own."""
        return self._threads.submit(self._run, fn)

    def _run(self, fn: Callable[[Connection], T]) -> T:
        with self._database.write() as connection:
            return fn(connection)

    def close(self) -> None:
        """Finish what was submitted."""
        self._threads.shutdown(wait=True)
