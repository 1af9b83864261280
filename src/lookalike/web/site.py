"""What the routes work with: the workspace, its database, the clock, the key. One per running app."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from sqlalchemy import Connection
from starlette.requests import HTTPConnection

from lookalike.recipes.team import Team
from lookalike.store.access import new_secret, signing_key
from lookalike.store.database import Database
from lookalike.store.thumbnails import Thumbnail, Thumbnails
from lookalike.store.unit_of_work import Foreseen, UnitOfWork
from lookalike.store.workspace import DATABASE, Workspace
from lookalike.store.writer import Writer
from lookalike.web.throttle import Throttle

T = TypeVar("T")
PATIENCE = (
    4_000  # milliseconds for another program to end its writing: the page keeps an answer and sends it again
)
READERS = 12  # connections that are kept open for pages
DECODERS = 2  # photos decoded at once: each may take some hundred megabytes


def milliseconds() -> int:
    """The time, in whole milliseconds since 1970."""
    return time.time_ns() // 1_000_000


@dataclass(frozen=True)
class Options:
    """How the app is served. `hosts` are the names that browsers may know it by, without a port.

    `https`: people reach it through https, so cookies are sent through nothing else.
    """

    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    https: bool = False
    body_limit: int = 1 << 20
    clock: Callable[[], int] = milliseconds


@dataclass
class Site:
    """State of the running app; `writer` and `key` are there from its start to its end."""

    workspace: Workspace
    options: Options
    database: Database
    thumbnails: Thumbnails
    throttle: Throttle = field(default_factory=Throttle)
    making: dict[tuple[str, str, int], "asyncio.Future[Thumbnail]"] = field(default_factory=dict)
    figures: tuple[int, Team] | None = None  # when they were worked out, and the team's figures
    figuring: threading.Lock = field(default_factory=threading.Lock)
    renewing: Future[Team] | None = None
    work: Any = None  # what routes/plan.py works out beside
    beside: ProcessPoolExecutor | None = None
    outcomes: "deque[tuple[Future[Any], asyncio.Future[Any]]]" = field(default_factory=deque)  # for the loop
    loop: asyncio.AbstractEventLoop | None = None
    writer: Writer = field(init=False)
    decoders: ThreadPoolExecutor = field(init=False)
    key: str = field(init=False)

    @classmethod
    def of(cls, workspace: Workspace, options: Options) -> "Site":
        """A site that is not open yet."""
        place = workspace.settings.database or workspace.folder / DATABASE
        thumbnails = Thumbnails(workspace.folder, workspace.settings)
        return cls(workspace, options, Database(place, connections=READERS, patience=PATIENCE), thumbnails)

    def open(self) -> None:
        """Begin to write; makes the key that signs sessions where there is none."""
        self.writer = Writer(self.database, after=self._bring)
        self.decoders = ThreadPoolExecutor(DECODERS, thread_name_prefix="decoder")
        made = new_secret()
        self.key = self.writer.submit(lambda connection: signing_key(connection, made)).result()

    def close(self) -> None:
        """Finish what was submitted and close the database."""
        if self.beside is not None:
            self.beside.shutdown(wait=False, cancel_futures=True)
        self.decoders.shutdown(wait=True, cancel_futures=True)
        self.writer.close()
        self.database.close()

    def now(self) -> int:
        """The time in milliseconds."""
        return self.options.clock()

    async def write(self, call: Callable[[Connection], T]) -> T:
        """What a call returns whose transaction is on the disk. A client that hangs up does not stop it."""
        return await self._outcome(self.writer.submit(call))

    async def label(self, call: Callable[[UnitOfWork], T], foreseen: Foreseen) -> T:
        """What a labelling call returns that is committed together with others that wait."""
        return await self._outcome(self.writer.label(call, foreseen))

    async def _outcome(self, done: "Future[T]") -> T:
        self.loop = asyncio.get_running_loop()
        waiter: asyncio.Future[T] = self.loop.create_future()
        done.add_done_callback(lambda _: self.outcomes.append((done, waiter)))
        if done.done():  # by a writer that has told of its batch already
            self.loop.call_soon(self._pass_on)
        return await waiter

    def _bring(self) -> None:
        """Wake the loop once for all calls of a batch; a writer's thread calls this."""
        if self.loop is not None and self.outcomes:
            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                self.loop.call_soon_threadsafe(self._pass_on)

    def _pass_on(self) -> None:
        while self.outcomes:
            _pass_on(*self.outcomes.popleft())


def _pass_on(done: "Future[T]", waiter: "asyncio.Future[T]") -> None:
    """Tell who waits on the loop what came of a call; who has hung up is told nothing."""
    if waiter.done():
        return
    error = done.exception()
    if error is None:
        waiter.set_result(done.result())
    else:
        waiter.set_exception(error)


def site_of(request: HTTPConnection) -> Site:
    """The site a request came to."""
    found = request.app.state.site
    assert isinstance(found, Site)  # noqa: S101 - create_app put it there
    return found
