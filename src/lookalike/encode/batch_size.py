"""The batch size of networks: the machine's own, or that of a plan which several machines follow.

A network gives slightly different vectors for other batch sizes, so machines that share one run use one size.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_planned: ContextVar[int | None] = ContextVar("planned_batch", default=None)


def planned_batch() -> int | None:
    """The size that networks opened here must use; None where each may choose, and halve it when memory runs out."""
    return _planned.get()


@contextmanager
def planning_batches(size: int) -> Iterator[None]:
    """Networks opened inside use batches of this size, or raise an error where memory does not hold one."""
    token = _planned.set(size)
    try:
        yield
    finally:
        _planned.reset(token)
