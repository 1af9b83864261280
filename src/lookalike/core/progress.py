"""Progress of long work: a callback with (done, total), called from the thread that started the work."""

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar

Progress = Callable[[int, int], None]
Bar = Callable[[str], AbstractContextManager[Progress | None]]  # a step with a name, and its progress


def no_bar(step: str) -> AbstractContextManager[None]:
    """No progress of any step."""
    del step
    return nullcontext()


_bar: ContextVar[Bar] = ContextVar("bar", default=no_bar)


def shown_bar(step: str) -> AbstractContextManager[Progress | None]:
    """Progress of a step that a caller cannot foresee, such as the copy of a large file, as `showing` says."""
    return _bar.get()(step)


@contextmanager
def showing(bar: Bar) -> Iterator[None]:
    """Show the steps inside that no caller can foresee."""
    token = _bar.set(bar)
    try:
        yield
    finally:
        _bar.reset(token)


def further(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Progress of a piece of work as progress of the whole, of which `before` is done."""
    return None if progress is None else lambda done, _: progress(before + done, total)


def part(progress: Progress | None, done: int, parts: int) -> Progress | None:
    """Progress of one of several equal parts, as progress of the whole."""
    if progress is None:
        return None
    return lambda step, total: progress(done * total + step, parts * total)


class TimeLeft:
    """The time that long work still takes, by its own pace.

    The first steps are slow, because processes start and code is compiled. So the pace is measured from `WARM_UP`
    seconds after the first step on, and nothing is known until it was measured for `MEASURED` seconds. Then early
    steps are forgotten again and again: the pace is that of the last half of the time, or a little more.
    """

    WARM_UP, MEASURED = 2.0, 3.0

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._first: float | None = None
        self._from: tuple[float, int] | None = None
        self._half: tuple[float, int] | None = None

    def seconds(self, done: int, total: int) -> float | None:
        """Seconds from this step on to the last; None while they are not known."""
        now = self._clock()
        if self._first is None:
            self._first = now
        if self._from is None:
            if now - self._first >= self.WARM_UP:
                self._from = now, done
            return None
        if self._half is None and now - self._from[0] >= self.MEASURED:
            self._half = now, done
        elif self._half is not None and now - self._half[0] > 2 * (self._half[0] - self._from[0]):
            self._from, self._half = self._half, (now, done)
        spent, steps = now - self._from[0], done - self._from[1]
        return (total - done) * spent / steps if spent >= self.MEASURED and steps > 0 else None
