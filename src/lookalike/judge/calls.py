"""Calls of an endpoint: a bounded number at once, retried, and every answer kept as soon as it is there."""

import asyncio
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import TYPE_CHECKING, Any

from lookalike.core.errors import JudgeError, LookalikeError, first_line
from lookalike.judge.endpoint import Endpoint
from lookalike.judge.replies import BUSY_TRIES, TRIES, Reply, reply_of

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


@dataclass(frozen=True)
class Limits:
    """How many calls at once, how long each may take, and the first wait before one is tried again.

    After `failing` calls that failed one after the other, all stop. No call is tried more than `tries` times.
    """

    parallel: int = 8
    timeout: float = 120.0
    backoff: float = 1.0
    failing: int = 20
    tries: int = BUSY_TRIES


@dataclass
class CallCount:
    """What calls took: `in_flight` are the seconds of all of them together, `seconds` those on the clock."""

    calls: int = 0
    answered: int = 0
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
    keep: Callable[[Sequence[tuple[Call, Reply]]], None],
    limits: Limits,
    count: CallCount,
    *,
    progress: Callable[[int, int], None] | None = None,
    stopping: Callable[[], None] | None = None,
) -> None:
    """Make calls; `body` makes the request (the second time with smaller photos), `keep` puts answers on the disk.

    What they take is added to `count`, the calls that fail with their reason. Ctrl-C makes no new call, waits for
    those under way and keeps their answers. Raises JudgeError where no other call could succeed either, after all
    answers are kept.
    """
    asking = _Asking(calls, endpoint, body, keep, limits, count, progress)
    asyncio.run(asking.run(stopping))


@dataclass(eq=False)
class _Asking:
    calls: Sequence[Call]
    endpoint: Endpoint
    body: Callable[[Call, bool], bytes]
    keep: Callable[[Sequence[tuple[Call, Reply]]], None]
    limits: Limits
    count: CallCount
    progress: Callable[[int, int], None] | None
    error: LookalikeError | None = None
    done: int = 0
    in_a_row: int = 0
    later: float = 0.0

    async def run(self, stopping: Callable[[], None] | None) -> None:
        import httpx2

        self.loop, self.stop = asyncio.get_running_loop(), asyncio.Event()
        self.slots = asyncio.Semaphore(self.limits.parallel)
        self.answers: asyncio.Queue[tuple[Call, Reply] | None] = asyncio.Queue()
        started = self.loop.time()
        key = {"Authorization": f"Bearer {self.endpoint.key}"} if self.endpoint.key else {}
        headers = key | {"Content-Type": "application/json", "Accept-Encoding": "identity"}
        # no variable of the environment names a proxy: photos go to this host and to no other
        client = httpx2.AsyncClient(
            headers=headers,
            trust_env=False,
            follow_redirects=False,
            timeout=None,
            limits=httpx2.Limits(max_connections=self.limits.parallel),
        )
        with _on_interrupt(self.loop, self.stop, stopping):
            async with client:
                writing = asyncio.create_task(self._write())
                waiting = iter(self.calls)
                # half as many again prepare their photos while the others wait for an answer
                workers = [self._work(client, waiting) for _ in range(self.limits.parallel * 3 // 2 + 1)]
                try:
                    await asyncio.gather(*workers)
                finally:
                    self.answers.put_nowait(None)
                    await writing
        self.count.seconds += self.loop.time() - started
        if self.error is not None:
            raise self.error
        self.count.stopped = self.stop.is_set()

    async def _work(self, client: "AsyncClient", waiting: Iterator[Call]) -> None:
        for call in waiting:
            if self.stop.is_set():
                return
            reply = await self._ask(client, call)
            if reply is None:  # stopped before there was an answer
                return
            if reply.answer is not None:
                self.count.answered, self.in_a_row = self.count.answered + 1, 0
                self.answers.put_nowait((call, reply))
            else:
                self._failed(call, reply)
            self.done += 1
            if self.progress is not None:
                self.progress(self.done, len(self.calls))

    async def _ask(self, client: "AsyncClient", call: Call) -> Reply | None:
        """The answer to a call, or its last failure; None if it was stopped before."""
        small, failures, random = False, Counter[bool](), Random(call.key)
        while True:
            try:
                content = await asyncio.to_thread(self.body, call, small)
            except LookalikeError:
                return Reply(PHOTO)
            async with self.slots:
                if await self._rests():
                    return None
                reply = await self._post(client, content)
            if reply.answer is not None or reply.fatal:
                return reply
            if reply.too_large and not small:
                small = True
                continue
            failures[reply.busy] += 1
            tried = failures[reply.busy]
            if tried >= min(reply.tries, self.limits.tries):
                return reply
            wait = min(self.limits.backoff * 2 ** (tried - 1), LONGEST) * random.uniform(0.5, 1.0)
            wait = max(wait, min(reply.wait, 5 * LONGEST))
            if reply.busy:
                self.later = max(self.later, self.loop.time() + wait)  # all calls wait
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
                text = self.endpoint.hidden(received.decode("utf-8", "replace"))
                reply = reply_of(response.status_code, response.headers, text, self.endpoint)
                self.count.tokens_in += reply.tokens_in
                self.count.tokens_out += reply.tokens_out
                return reply
        except TimeoutError:
            return Reply(f"no answer within {self.limits.timeout:g} s", tries=TRIES)
        except httpx2.ConnectError as error:
            detail = self.endpoint.hidden(first_line(error)).rstrip(".")
            return Reply("no connection", tries=TRIES, detail=detail)
        except httpx2.HTTPError:  # its text can hold what was sent
            return Reply("the connection was closed", tries=TRIES)
        finally:
            self.count.in_flight += self.loop.time() - started

    def _failed(self, call: Call, reply: Reply) -> None:
        self.count.failed[call.key] = reply.failure
        self.in_a_row += reply.failure != PHOTO
        if self.error is None and (reply.fatal or self.in_a_row >= self.limits.failing):
            problem = f"{self.endpoint.host}: {reply.failure}{': ' * bool(reply.detail)}{reply.detail}."
            if not reply.fatal:
                problem = f"{self.in_a_row} calls in a row failed. The last one: {problem}"
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

    async def _write(self) -> None:
        """Keep the answers that are there, as many at a time as have come meanwhile."""
        is_open = True
        while is_open:
            batch = [await self.answers.get(), *_drained(self.answers)]
            is_open = None not in batch
            found = [one for one in batch if one is not None]
            try:
                await asyncio.to_thread(self.keep, found)
            except LookalikeError as error:  # a full disk
                self.error = error
                self.stop.set()


def _drained(queue: asyncio.Queue[Any]) -> Iterable[Any]:
    while not queue.empty():
        yield queue.get_nowait()


@contextmanager
def _on_interrupt(
    loop: asyncio.AbstractEventLoop, stop: asyncio.Event, stopping: Callable[[], None] | None
) -> Iterator[None]:
    """Let the first Ctrl-C stop new calls. The second is handled as before."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def restore() -> None:
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before)

    def first() -> None:
        stop.set()
        restore()
        if stopping is not None:
            stopping()

    loop.add_signal_handler(signal.SIGINT, first)
    try:
        yield
    finally:
        restore()
