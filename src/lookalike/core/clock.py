"""The time, as the labelling counts it."""

import time


def now_ms() -> int:
    """Whole milliseconds since 1970."""
    return time.time_ns() // 1_000_000
