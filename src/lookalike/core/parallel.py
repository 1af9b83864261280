"""Work that several threads or processes do, with its results in order."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future
from itertools import islice
from typing import TypeVar

AHEAD = 4096  # pieces of work that wait: bounds memory, whatever their number
Given = TypeVar("Given")
Result = TypeVar("Result")


def in_order(
    pool: Executor, work: Callable[[Given], Result], given: Iterable[Given], ahead: int = AHEAD
) -> Iterator[Result]:
    """Results in the order of what was given, with a bounded number under way."""
    waiting = iter(given)
    under_way: deque[Future[Result]] = deque(pool.submit(work, one) for one in islice(waiting, ahead))
    try:
        while under_way:
            yield under_way.popleft().result()
            under_way.extend(pool.submit(work, one) for one in islice(waiting, 1))
    finally:
        for left in under_way:
            left.cancel()
