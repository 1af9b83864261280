"""Progress of long work: a callback with (done, total), called from the thread that started the work."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Progress = Callable[[int, int], None]
Bar = Callable[[str], AbstractContextManager[Progress | None]]  # a step with a name, and its progress


def no_bar(step: str) -> AbstractContextManager[None]:
    """No progress of any step."""
    del step
    return nullcontext()


def part(progress: Progress | None, done: int, parts: int) -> Progress | None:
    """Progress of one of several equal parts, as progress of the whole."""
    if progress is None:
        return None
    return lambda step, total: progress(done * total + step, parts * total)
