"""Progress of long work: a callback with (done, total), called from the thread that started the work."""

from collections.abc import Callable

Progress = Callable[[int, int], None]


def part(progress: Progress | None, done: int, parts: int) -> Progress | None:
    """Progress of one of several equal parts, as progress of the whole."""
    if progress is None:
        return None
    return lambda step, total: progress(done * total + step, parts * total)
