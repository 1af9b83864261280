"""How many processors there are for the work."""

import os

_limit: list[int] = []


def cores() -> int:
    """Processors this process may use."""
    count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min([count, *_limit])


def limit_cores(count: int) -> None:
    """Let this process use fewer processors than it may, because a scheduler shares the machine between tasks."""
    _limit[:] = [max(count, 1)]
