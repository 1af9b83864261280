"""Finished rows on a torch device: the gallery lies there if it fits, else it passes through in slabs.

Products are in float32 proper: the shortened products that cards offer (TF32) are off by more than the tie tolerance.
Where the device runs out of memory the blocks are halved. One device is used.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np

from lookalike.core.progress import Progress
from lookalike.rank.engine.blocks import streamed_height
from lookalike.rank.engine.machine import Machine
from lookalike.rank.engine.vectors import Shaped

if TYPE_CHECKING:
    import torch

SHARE = 0.5  # of what is free on the device: the gallery takes at most that


def each_block_on(
    device: "torch.device",
    queries: Shaped,
    gallery: Shaped,
    task: Callable[[int, int, object], None],
    machine: Machine,
    progress: Progress | None,
) -> None:
    """Call task(first, last, scores) for each block of queries, scores being a tensor on the device."""
    import torch

    tall = streamed_height(len(gallery), machine)
    with exact_products(), torch.inference_mode():
        columns = _resident(device, gallery, machine)
        first = 0
        while first < len(queries):
            last = min(first + tall, len(queries))
            full = False
            try:
                task(first, last, _finished(device, queries, gallery, columns, (first, last, tall), machine))
            except torch.OutOfMemoryError:
                if tall == 1:
                    raise
                full = True
            if full:  # outside the handler, where the error no longer holds on to memory
                tall //= 2
                torch.cuda.empty_cache()
                continue
            first = last
            if progress:
                progress(last, len(queries))


@contextmanager
def exact_products() -> Iterator[None]:
    """Float32 products without TF32, whatever was asked for before, and that again afterwards."""
    import torch

    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def _finished(
    device: "torch.device",
    queries: Shaped,
    gallery: Shaped,
    columns: "torch.Tensor | None",
    block: tuple[int, int, int],
    machine: Machine,
) -> "torch.Tensor":
    """Whole rows of scores of the queries first to last, in products of one height."""
    import torch

    first, last, tall = block
    asked = torch.zeros((tall, queries.width), device=device)
    asked[: last - first] = torch.from_numpy(np.array(queries.take(slice(first, last)))).to(device)
    if columns is not None:
        return (asked @ columns.T)[: last - first]
    scores = torch.empty((tall, len(gallery)), device=device)
    for which, slab in _slabs(device, gallery, machine):
        scores[:, which] = asked @ slab.T
    return scores[: last - first]


def _resident(device: "torch.device", gallery: Shaped, machine: Machine) -> "torch.Tensor | None":
    """The shaped gallery on the device, None where it would take too much of it."""
    import torch

    needed = 4 * len(gallery) * gallery.width
    free = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else machine.held / SHARE
    if needed > SHARE * free:
        return None
    columns = torch.empty((len(gallery), gallery.width), device=device)
    for which, slab in _slabs(device, gallery, machine):
        columns[which] = slab
    return columns


def _slabs(
    device: "torch.device", gallery: Shaped, machine: Machine
) -> Iterator[tuple["slice | torch.Tensor", "torch.Tensor"]]:
    """The gallery a slab at a time, in the order its vectors lie in: which rows, and the rows on the device."""
    import torch

    wide = max(machine.slab // (4 * gallery.width), 1)
    for first in range(0, len(gallery), wide):
        which = gallery.slab(first, first + wide)
        rows = torch.from_numpy(np.array(gallery.take(which))).to(device)
        yield which if isinstance(which, slice) else torch.from_numpy(which).to(device), rows
