"""Threads for work that keeps a processor busy, so that labelling and the event loop never wait for a search."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from lookalike.core.text import plural
from lookalike.web.access.throttle import LaterError

T = TypeVar("T")


class BoundedPool:
    """Some threads, and a limit on the work that waits for them. Further work is refused at once, not kept waiting."""

    def __init__(self, name: str, threads: int, waiting: int) -> None:
        self.name, self._most = name, threads + waiting
        self.busy = 0  # running or waiting; only the event loop changes it
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=name)

    async def run(self, call: Callable[[], T]) -> T:
        """What a call returns that runs in a thread. A client that goes away does not stop it.

        Raises LaterError if too much work waits.
        """
        if self.busy >= self._most:
            raise LaterError(f"The server is busy: {plural(self.busy, 'request')} came before.", 1, "busy")
        running = asyncio.get_running_loop().run_in_executor(self._threads, call)
        self.busy += 1
        running.add_done_callback(self._done)
        return await asyncio.shield(running)

    def close(self) -> None:
        """Finish what runs; what waits is cancelled."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _done(self, running: "asyncio.Future[T]") -> None:
        self.busy -= 1
        if not running.cancelled():
            running.exception()  # so that an error whose client went away is not logged as one that nobody read
