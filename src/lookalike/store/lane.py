"""Calls that wait for the threads that write, in the order they came."""

import math
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from lookalike.store.unit_of_work import Foreseen


@dataclass(frozen=True)
class Call:
    """What is to be done in a transaction: with a connection, or with a unit of work where something is foreseen."""

    run: Callable[[Any], Any]
    future: "Future[Any]"
    foreseen: Foreseen | None = None


class Lane:
    """Calls are taken `most` at a time. While one thread is at its batch the others leave what comes to it.

    After `patience` seconds at one batch, for it waits for another program, the next thread goes on with the others.
    """

    def __init__(self, most: int = 1, patience: float = 0.0) -> None:
        self._most, self._patience = most, patience
        self._calls: deque[Call] = deque()
        self._closed = False
        self._begun: dict[int, float] = {}  # when each thread that is at a batch has begun it
        self._changed = threading.Condition()

    def put(self, call: Call) -> bool:
        """Let a call wait; returns whether it will be taken: not after the lane was closed."""
        with self._changed:
            if not self._closed:
                self._calls.append(call)
                if len(self._calls) == 1 or not self._patience:
                    self._changed.notify()
            return not self._closed

    def take(self) -> list[Call]:
        """The next calls, once there are some and it is this thread's turn; none: the lane was closed and is empty.

        Who has taken calls says `done` afterwards.
        """
        with self._changed:
            while self._calls or not self._closed:
                if self._calls and self._left() <= 0:
                    return self._taken()
                self._changed.wait(self._left() if self._calls else None)
            self._changed.notify_all()
            return []

    def done(self) -> None:
        """A thread is no longer at its batch."""
        with self._changed:
            self._begun.pop(threading.get_ident(), None)

    def close(self) -> None:
        """Take what waits, then no more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def _taken(self) -> list[Call]:
        self._begun[threading.get_ident()] = time.monotonic()
        batch = [self._calls.popleft() for _ in range(min(self._most, len(self._calls)))]
        if self._calls:
            self._changed.notify()  # somebody else waits for these
        return batch

    def _left(self) -> float:
        """Seconds until nobody who is at a batch is waited for any longer."""
        newest = max(self._begun.values(), default=-math.inf)
        return self._patience - (time.monotonic() - newest)
