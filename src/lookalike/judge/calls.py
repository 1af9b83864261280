"""Calls of an endpoint: a bounded number at once, retried, and every answer kept as soon as it is there."""

import asyncio
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING

from lookalike.core.errors import JudgeError, LookalikeError, first_line
from lookalike.core.progress import Progress
from lookalike.core.text import plural
from lookalike.judge.endpoint import Endpoint
from lookalike.judge.replies import TRIES, Reply, reply_of

if TYPE_CHECKING:
    from httpx2 import AsyncClient

LONGEST = 60.0  # seconds between two tries, unless the endpoint asks for more
PHOTO = "a photo cannot be read, or has changed since the catalog was read"
LARGEST = 1 << 20  # bytes of an answer


@dataclass(frozen=True, slots=True)
class Call:
    """A pair in one order. `key` identifies model, prompt and photos."""

    key: str
    first: str
    second: str


Keep = Callable[[Sequence[tuple[Call, Reply]]], None]


@dataclass(frozen=True)
class Limits:
    """How many calls at once, how long each may take, and the first wait before one is tried again.

    After `failing` calls that failed one after the other, all stop. No call is tried more than `tries` times.
    """

    parallel: int = 8
    timeout: float = 120.0
    backoff: float = 1.0
    failing: int = 20
    tries: int = max(TRIES.values())


@dataclass
class CallCount:
    """What calls took: `in_flight` are the seconds of all of them together, `seconds` those on the clock."""

    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    in_flight: float = 0.0
    seconds: float = 0.0
    failed: dict[str, str] = field(default_factory=dict)
    stopped: bool = False


def ask_all(
    calls: Sequence[Call],
    endpoint: Endpoint,
    body: Callable[[Call, bool], bytes],
    keep: Keep,
    limits: Limits,
    count: CallCount,
    *,
    progress: Progress | None = None,
    stopping: Callable[[], None] = lambda: None,
) -> None:
    """Make calls; `body` makes the request (the second time with smaller photos), `keep` puts answers on the disk.

    What they take is added to `count`, the calls that fail with their reason. Ctrl-C makes no new call, waits for
    those under way and keeps their answers. An error stops the calls in the same way before it is raised: JudgeError
    where no other call could succeed either.
    """
    asyncio.run(_Asking(calls, endpoint, body, keep, limits, count, progress, stopping).run())


@dataclass(eq=False)
class _Asking:
    calls: Sequence[Call]
    endpoint: Endpoint
    body: Callable[[Call, bool], bytes]
    keep: Keep
    limits: Limits
    count: CallCount
    progress: Progress | None
    stopping: Callable[[], None]
    error: Exception | None = None
    fresh: list[tuple[Call, Reply]] = field(default_factory=list)
    done: int = 0
    in_a_row: int = 0
    later: float = 0.0

    async def run(self) -> None:
        import httpx2

        self.loop, self.stop, self.writing = asyncio.get_running_loop(), asyncio.Event(), asyncio.Lock()
        self.slots = asyncio.Semaphore(self.limits.parallel)
        started = self.loop.time()
        key = {"Authorization": f"Bearer {self.endpoint.key}"} if self.endpoint.key else {}
        # no variable of the environment names a proxy: photos go to this host and to no other
        client = httpx2.AsyncClient(
            headers=key | {"Content-Type": "application/json", "Accept-Encoding": "identity"},
            trust_env=False,
            follow_redirects=False,
            timeout=None,
            limits=httpx2.Limits(max_connections=self.limits.parallel),
        )
        with self._on_interrupt():
            async with client:
                waiting = iter(self.calls)
                # half as many again prepare photos and keep answers while the others wait for one
                workers = self.limits.parallel * 3 // 2 + 1
                await asyncio.gather(*(self._work(client, waiting) for _ in range(workers)))
        self.count.seconds += self.loop.time() - started
        if self.error is not None:
            raise self.error
        self.count.stopped = self.stop.is_set()

    async def _work(self, client: "AsyncClient", waiting: Iterator[Call]) -> None:
        try:
            for call in waiting:
                if self.stop.is_set() or (reply := await self._ask(client, call)) is None:
                    return
                if reply.answer is None:
                    self._failed(call, reply)
                else:
                    self.in_a_row = 0
                    await self._keep(call, reply)
                self.done += 1
                if self.progress is not None:
                    self.progress(self.done, len(self.calls))
        except (
            Exception
        ) as error:  # a full disk, for example: the others end their calls and keep the answers
            self.error = self.error or error
            self.stop.set()

    async def _ask(self, client: "AsyncClient", call: Call) -> Reply | None:
        """The answer to a call, or its last failure; None if it was stopped before."""
        small, failures, random = False, Counter[str](), Random(call.key)
        while True:
            try:
                content = await asyncio.to_thread(self.body, call, small)
            except LookalikeError:
                return Reply(PHOTO)
            async with self.slots:
                if await self._rests():
                    return None
                reply = await self._post(client, content)
            if reply.answer is not None:
                return reply
            if reply.then == "smaller" and not small:
                small = True
                continue
            failures[reply.then] += 1
            tried = failures[reply.then]
            if tried >= min(TRIES.get(reply.then, 1), self.limits.tries):
                return reply
            wait = min(self.limits.backoff * 2 ** (tried - 1), LONGEST) * random.uniform(0.5, 1.0)
            wait = max(wait, min(reply.wait, 5 * LONGEST))
            if reply.then == "wait":
                self.later = max(self.later, self.loop.time() + wait)
            elif await self._sleeps(wait):
                return None

    async def _post(self, client: "AsyncClient", content: bytes) -> Reply:
        import httpx2

        self.count.calls, started = self.count.calls + 1, self.loop.time()
        try:
            async with (
                asyncio.timeout(self.limits.timeout),
                client.stream("POST", self.endpoint.url, content=content) as response,
            ):
                received = bytearray()
                async for part in response.aiter_bytes():
                    received += part
                    if len(received) > LARGEST:
                        return Reply("the answer has more than 1 MB")
                text = received.decode("utf-8", "replace")
                reply = reply_of(response.status_code, response.headers, text, self.endpoint)
                self.count.tokens_in += reply.tokens_in
                self.count.tokens_out += reply.tokens_out
                return replace(reply, seconds=self.loop.time() - started)
        except TimeoutError:
            return Reply(f"no answer within {self.limits.timeout:g} s", then="again")
        except httpx2.ConnectError as error:
            detail = self.endpoint.cleaned(first_line(error)).rstrip(".")
            return Reply("no connection", then="again", detail=detail)
        except httpx2.HTTPError:  # its text can hold what was sent
            return Reply("the connection was closed", then="again")
        finally:
            self.count.in_flight += self.loop.time() - started

    async def _keep(self, call: Call, reply: Reply) -> None:
        """Put an answer on the disk, with all that came while others were written."""
        self.fresh.append((call, reply))
        async with self.writing:
            if self.fresh:
                batch, self.fresh = self.fresh, []
                await asyncio.to_thread(self.keep, batch)

    def _failed(self, call: Call, reply: Reply) -> None:
        self.count.failed[call.key] = reply.failure
        self.in_a_row += reply.failure != PHOTO
        is_fatal = reply.then == "stop"
        if self.error is None and (is_fatal or self.in_a_row >= self.limits.failing):
            problem = f"{self.endpoint.host}: {reply.failure}{': ' * bool(reply.detail)}{reply.detail}."
            if not is_fatal:
                problem = f"{plural(self.in_a_row, 'call')} in a row failed. The last one: {problem}"
            self.error = JudgeError(problem, fix=reply.fix)
            self.stop.set()

    async def _rests(self) -> bool:
        """Wait until the endpoint wants calls again. True if all calls were stopped."""
        while (wait := self.later - self.loop.time()) > 0 and not self.stop.is_set():
            await self._sleeps(wait)
        return self.stop.is_set()

    async def _sleeps(self, seconds: float) -> bool:
        """Wait. True, and earlier, if all calls were stopped."""
        try:
            async with asyncio.timeout(seconds):
                return await self.stop.wait()
        except TimeoutError:
            return False

    @contextmanager
    def _on_interrupt(self) -> Iterator[None]:
        """Let the first Ctrl-C stop new calls. The second is handled as before."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGINT)

        def restore() -> None:
            self.loop.remove_signal_handler(signal.SIGINT)
            signal.signal(signal.SIGINT, before)

        def first() -> None:
            self.stop.set()
            restore()
            self.stopping()

        self.loop.add_signal_handler(signal.SIGINT, first)
        try:
            yield
        finally:
            restore()
