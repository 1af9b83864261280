"""Calls of an endpoint: a bounded number at once, retried, and every answer kept as soon as it is there."""

import asyncio
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from random import Random
from typing import TYPE_CHECKING

from lookalike.core.errors import JudgeError, LookalikeError, first_line
from lookalike.core.progress import Progress
from lookalike.core.text import duration, plural
from lookalike.judge.endpoint import Endpoint
from lookalike.judge.replies import TRIES, Reply, reply_of

if TYPE_CHECKING:
    from httpx2 import AsyncClient

LONGEST = 60.0  # seconds between two tries, unless the endpoint asks for more
PHOTO = "a photo cannot be read, or has changed since the catalog was read"
LARGEST = 1 << 20  # bytes of an answer
STOPPING = "Stopping: waiting for the calls under way. Ctrl-C again drops their answers."
SHORT_WAIT = 5.0  # seconds; the user is told of a longer wait


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
    tries: int = max(TRIES.values())


@dataclass(eq=False)
class Caller:
    """Calls an endpoint. `body` makes a request (the second time with smaller photos), `keep` puts answers on the disk.

    It counts what calls took: `in_flight` are the seconds of all of them together, `seconds` those on the clock.
    `failed` has the reason of each call that failed, by key. `notify` gets a sentence at a
    long wait and at the first Ctrl-C.
    """

    endpoint: Endpoint
    body: Callable[[Call, bool], bytes]
    keep: Callable[[Sequence[tuple[Call, Reply]]], None]
    limits: Limits
    notify: Callable[[str], None] = lambda _: None
    calls: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    in_flight: float = 0.0
    seconds: float = 0.0
    failed: dict[str, str] = field(default_factory=dict)

    def ask(
        self, calls: Sequence[Call], *, failing: int | None = None, progress: Progress | None = None
    ) -> bool:
        """Make calls. False if Ctrl-C stopped them: no new one is made, and the answers of those under way are kept.

        An error stops the calls in the same way before it is raised: JudgeError where no other call could succeed.
        """
        asking = self._all(calls, failing or self.limits.failing, progress or (lambda *_: None))
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(asking)
        with ThreadPoolExecutor(1) as thread:  # the loop of a notebook runs in this one
            return thread.submit(asyncio.run, asking).result()

    async def _all(self, calls: Sequence[Call], failing: int, progress: Progress) -> bool:
        import httpx2

        self.stop, self.writing, self.fresh = asyncio.Event(), asyncio.Lock(), list[tuple[Call, Reply]]()
        self.slots, self.later, self.in_a_row = asyncio.Semaphore(self.limits.parallel), 0.0, 0
        self.error: Exception | None = None
        started, waiting, done = _now(), iter(calls), 0

        async def work() -> None:
            nonlocal done
            try:
                for call in waiting:
                    if self.stop.is_set() or (reply := await self._ask(client, call)) is None:
                        return
                    await self._take(call, reply, failing)
                    done += 1
                    progress(done, len(calls))
            except Exception as error:  # a full disk: the others end their calls and keep the answers
                self.error = self.error or error
                self.stop.set()

        # no variable of the environment names a proxy: photos go to this host and to no other
        key = {"Authorization": f"Bearer {self.endpoint.key}"} if self.endpoint.key else {}
        async with httpx2.AsyncClient(
            headers=key | {"Content-Type": "application/json", "Accept-Encoding": "identity"},
            trust_env=False,
            follow_redirects=False,
            timeout=None,
            limits=httpx2.Limits(max_connections=self.limits.parallel),
        ) as client:
            with _first_interrupt(self._interrupted):
                # half as many again prepare photos and keep answers while the others wait for one
                await asyncio.gather(*(work() for _ in range(self.limits.parallel * 3 // 2 + 1)))
        self.seconds += _now() - started
        if self.error is not None:
            raise self.error
        return not self.stop.is_set()

    def _interrupted(self) -> None:
        self.stop.set()
        self.notify(STOPPING)

    async def _ask(self, client: "AsyncClient", call: Call) -> Reply | None:
        """The answer to a call, or its last failure; None if it was stopped before."""
        small, failures, random = False, Counter[str](), Random(call.key)
        while True:
            try:
                content = await asyncio.to_thread(self.body, call, small)
            except LookalikeError:
                return Reply(PHOTO)
            async with self.slots:
                while self.later > _now() and not self.stop.is_set():  # the endpoint wants no calls yet
                    await self._rest(self.later - _now())
                if self.stop.is_set():
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
                if wait > SHORT_WAIT and self.later <= _now():
                    self.notify(f"{self.endpoint.host}: {reply.failure}. Trying again in {duration(wait)}.")
                self.later = max(self.later, _now() + wait)
            else:
                await self._rest(wait)

    async def _rest(self, seconds: float) -> None:
        """Wait, at most until all calls are stopped."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self.stop.wait(), seconds)

    async def _post(self, client: "AsyncClient", content: bytes) -> Reply:
        import httpx2

        self.calls, started = self.calls + 1, _now()
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
            self.tokens_in += reply.tokens_in
            self.tokens_out += reply.tokens_out
            return replace(reply, seconds=_now() - started)
        except TimeoutError:
            return Reply(f"no answer within {self.limits.timeout:g} s", then="again")
        except httpx2.ConnectError as error:
            detail = self.endpoint.cleaned(first_line(error)).rstrip(".")
            return Reply("no connection", then="again", detail=detail)
        except httpx2.HTTPError:  # its text can hold what was sent
            return Reply("the connection was closed", then="again")
        finally:
            self.in_flight += _now() - started

    async def _take(self, call: Call, reply: Reply, failing: int) -> None:
        """Put an answer on the disk, with all that came while others were written; or count a failure."""
        if reply.answer is not None:
            self.in_a_row = 0
            self.fresh.append((call, reply))
            async with self.writing:
                if self.fresh:
                    batch, self.fresh = self.fresh, []
                    await asyncio.to_thread(self.keep, batch)
            return
        self.failed[call.key] = reply.failure
        self.in_a_row += reply.failure != PHOTO
        is_fatal = reply.then == "stop"
        if self.error is None and (is_fatal or self.in_a_row >= failing):
            problem = f"{self.endpoint.host}: {reply.failure}{': ' * bool(reply.detail)}{reply.detail}."
            if not is_fatal:
                problem = f"{plural(self.in_a_row, 'call')} in a row failed. The last one: {problem}"
            raise JudgeError(problem, fix=reply.fix)


def _now() -> float:
    return asyncio.get_running_loop().time()


@contextmanager
def _first_interrupt(then: Callable[[], None]) -> Iterator[None]:
    """Let the first Ctrl-C call a function. The second is handled as before."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    loop = asyncio.get_running_loop()

    def handle(*_: object) -> None:
        signal.signal(signal.SIGINT, before)
        loop.call_soon_threadsafe(then)

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
