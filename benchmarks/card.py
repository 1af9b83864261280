"""Time on a card or a processor, and the share of the time in which a card computes."""

import time
from collections.abc import Callable

import torch


def clock(device: torch.device, *, by_processor: bool = True) -> Callable[[], float]:
    """Seconds when the card has done its work; else processor seconds, or those of the clock."""
    if device.type == "cpu":
        return time.process_time if by_processor else time.perf_counter

    def now() -> float:
        torch.cuda.synchronize()
        return time.perf_counter()

    return now


def busy(work: Callable[[], object], steps: int = 20) -> float:
    """The share of the time in which the card computes."""
    from torch.profiler import ProfilerActivity, profile

    torch.cuda.synchronize()
    started = time.perf_counter()
    with profile(activities=[ProfilerActivity.CUDA]) as recorded:
        for _ in range(steps):
            work()
        torch.cuda.synchronize()
        spent = time.perf_counter() - started
    return sum(one.self_device_time_total for one in recorded.key_averages()) / 1e6 / spent
