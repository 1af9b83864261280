"""Long computations in another process: votes and pages never wait for them."""

import multiprocessing
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from typing import Any

from lookalike.core.errors import LookalikeError


@dataclass(frozen=True)
class Outcome:
    """What a computation returned, or what stopped it, as (problem, fix)."""

    value: Any = None
    failure: tuple[str, str] | None = None


@dataclass
class Job:
    """A computation: when it was requested, and when it ended (None: it waits or runs)."""

    begun: int
    future: "Future[Outcome]"
    ended: int | None = None

    @property
    def outcome(self) -> Outcome | None:
        """The outcome; None while it is computed."""
        if not self.future.done():
            return None
        if self.future.cancelled() or self.future.exception() is not None:
            return Outcome(failure=("The computation stopped before its end.", "Start it again."))
        return self.future.result()


@dataclass
class Background:
    """One process that computes one thing after another. Each has a key, and runs once at a time."""

    clock: Callable[[], int]
    jobs: dict[object, Job] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    process: ProcessPoolExecutor | None = None

    def start(self, key: object, call: Callable[..., Any], *given: object) -> Job:
        """Begin a computation, unless the one of this key still runs."""
        with self.lock:
            had = self.jobs.get(key)
            if had is not None and not had.future.done():
                return had
            job = Job(self.clock(), self._submit(call, given))
            self.jobs[key] = job
        job.future.add_done_callback(lambda _: setattr(job, "ended", self.clock()))
        return job

    def close(self) -> None:
        """Drop what waits. What runs ends with the process."""
        if self.process is not None:
            self.process.shutdown(wait=False, cancel_futures=True)

    def _submit(self, call: Callable[..., Any], given: tuple[object, ...]) -> "Future[Outcome]":
        for _ in range(2):
            if self.process is None:
                self.process = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))
            try:
                return self.process.submit(outcome_of, call, *given)
            except BrokenProcessPool:  # it was killed, for example because memory was short
                self.process = None
        raise BrokenProcessPool


def outcome_of(call: Callable[..., Any], *given: object) -> Outcome:
    """The outcome of a call. Errors of ours become texts, which pass between processes."""
    try:
        return Outcome(call(*given))
    except LookalikeError as error:
        return Outcome(failure=(error.problem, error.fix))
