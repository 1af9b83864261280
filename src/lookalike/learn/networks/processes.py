"""Several processes that train one model, each on its share of every batch, started by `torchrun`."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor, distributed, nn

from lookalike.learn.keeper import Keeper

T = TypeVar("T")
PATIENCE = timedelta(minutes=30)  # others wait while the first process measures an epoch and writes


@dataclass(frozen=True)
class Processes:
    """The number of this process and of all. With one process nothing is sent."""

    rank: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        """Whether this is the process that measures, writes and prints."""
        return self.rank == 0

    def share(self, rows: Int64[np.ndarray, " rows"], rank: int | None = None) -> Int64[np.ndarray, " own"]:
        """The part of some rows that a process takes, this one by default: an even run of them."""
        return np.array_split(rows, self.count)[self.rank if rank is None else rank]

    def gathered(self, own: Tensor) -> Tensor:
        """The rows of all processes, in the order of these, without a gradient. They need not have equally many."""
        if self.count == 1:
            return own.detach()
        sizes = [torch.zeros(1, dtype=torch.int64, device=own.device) for _ in range(self.count)]
        distributed.all_gather(sizes, torch.tensor([len(own)], device=own.device))
        most = max(int(size) for size in sizes)
        padded = own.new_zeros((most, *own.shape[1:]))
        padded[: len(own)] = own.detach()
        found = [torch.empty_like(padded) for _ in range(self.count)]
        distributed.all_gather(found, padded)
        return torch.cat([part[: int(size)] for part, size in zip(found, sizes, strict=True)])

    def told(self, own: T) -> list[T]:
        """A value of each process."""
        found: list[T] = [own] * self.count
        if self.count > 1:
            distributed.all_gather_object(found, own)
        return found

    def from_first(self, value: T) -> T:
        """What the first process has."""
        if self.count == 1:
            return value
        found = [value]
        distributed.broadcast_object_list(found, src=0)
        return found[0]

    def add_gradients(self, model: nn.Module) -> None:
        """Replace each gradient by its sum over the processes."""
        if self.count == 1:
            return
        gradients = [one.grad for one in model.parameters() if one.grad is not None]
        flat = torch.cat([one.flatten() for one in gradients])
        distributed.all_reduce(flat)
        for one, part in zip(gradients, torch.split(flat, [one.numel() for one in gradients]), strict=True):
            one.copy_(part.view_as(one))


ALONE = Processes()


class SharedKeeper:
    """A keeper whose last state all processes get from the first one."""

    def __init__(self, keeper: Keeper, processes: Processes) -> None:
        self.keeper, self.processes = keeper, processes

    def last(self) -> bytes | None:
        """The state that the first process kept last."""
        return self.processes.from_first(self.keeper.last())

    def due(self) -> bool:
        """Whether it is time to keep the state again."""
        return self.keeper.due()

    def keep(self, state: bytes) -> None:
        """Keep a state."""
        self.keeper.keep(state)


def is_launched() -> bool:
    """Whether `torchrun` started this process."""
    return "RANK" in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1


@contextmanager
def launched(device: torch.device) -> Iterator[Processes]:
    """The processes that `torchrun` started, connected within this block; this process alone if it did not."""
    if not is_launched():
        yield ALONE
        return
    if device.type == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=PATIENCE)
    try:
        yield Processes(distributed.get_rank(), distributed.get_world_size())
    finally:
        distributed.destroy_process_group()
