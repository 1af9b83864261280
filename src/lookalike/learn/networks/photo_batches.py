"""Batches for losses that need no labelled pairs: every photo of the training split once an epoch."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from lookalike.learn.examples import Drawn, Views
from lookalike.learn.networks.processes import ALONE, Processes


@dataclass(frozen=True)
class PhotoBatch:
    """The views of some photos. `shares` are the numbers of photos that each process drew."""

    rows: Int64[np.ndarray, " images"]
    inputs: Tensor | tuple[Tensor, ...]
    shares: tuple[int, ...] = ()

    @property
    def relation(self) -> tuple[Tensor, ...]:
        """Nothing: no pair is labelled."""
        return ()

    @property
    def positives(self) -> Tensor:
        """No labelled pairs."""
        return torch.tensor(0)

    def by_view(self, vectors: Tensor) -> Tensor:
        """Vectors of all processes, first views first: they come process by process."""
        if len(self.shares) < 2:
            return vectors
        views = len(vectors) // len(self.rows)
        parts = [
            part.view(views, -1, *part.shape[1:])
            for part in torch.split(vectors, [views * n for n in self.shares])
        ]
        return torch.cat(parts, dim=1).flatten(0, 1)

    def __str__(self) -> str:
        return f"{len(self.rows)} images"


class PhotoBatches:
    """All photos of some catalog rows in every epoch, in an order drawn by seed and epoch."""

    def __init__(
        self,
        rows: Int64[np.ndarray, " rows"],
        size: int,
        views: Views,
        seed: int,
        processes: Processes = ALONE,
    ) -> None:
        self.rows, self.size, self.views, self.seed, self.processes = rows, size, views, seed, processes

    def epoch(self, epoch: int) -> tuple[int, Iterator[PhotoBatch]]:
        """How many batches an epoch has, and the batches."""
        planned = shuffled(self.rows, self.size, self.seed, epoch)
        own = [self.processes.share(rows) for rows in planned]
        return len(planned), map(self._batch, self.views.stream(own, self.seed, epoch))

    def _batch(self, drawn: Drawn) -> PhotoBatch:
        shares = self.processes.told(drawn.rows)
        return PhotoBatch(np.concatenate(shares), drawn.inputs, tuple(map(len, shares)))


def shuffled(
    rows: Int64[np.ndarray, " rows"], size: int, seed: int, epoch: int
) -> list[Int64[np.ndarray, " batch"]]:
    """Rows in a random order, in batches that differ by one at most, so that none has a single row.

    >>> [len(batch) for batch in shuffled(np.arange(9), 4, seed=0, epoch=0)]
    [3, 3, 3]
    """
    draw = np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, epoch))))
    return np.array_split(draw.permutation(rows), max(1, -(-len(rows) // size)))
