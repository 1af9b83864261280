"""What a step of training sees: the inputs of a batch's views, and how their images stand to each other."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Bool, Float32, Int64
from torch import Tensor

from lookalike.learn.batches import Anchors, BatchPlan, epoch_batches
from lookalike.learn.networks.processes import ALONE, Processes
from lookalike.positive.positiveness import Softness, relations


@runtime_checkable
class TrainingBatch(Protocol):
    """What a step takes: inputs of the model, and what the loss is told beside the vectors."""

    @property
    def inputs(self) -> Tensor | tuple[Tensor, ...]:
        """The inputs of all views: one tensor, or one for each size of a view."""

    @property
    def relation(self) -> tuple[Tensor | None, ...]:
        """What the loss is told beside the vectors."""

    @property
    def positives(self) -> Tensor:
        """How many pairs have P > 0."""


@runtime_checkable
class TrainingBatches(Protocol):
    """The batches of every epoch."""

    def epoch(self, epoch: int) -> tuple[int, Iterator[TrainingBatch]]:
        """How many batches an epoch has, and the batches."""


class Batch(NamedTuple):
    """`inputs` (n, ...) go through the model; `weight` and `judged` (n, n) say how they stand to each other.

    `rows` are the catalog rows of the images, each once, whatever number of views each has.
    """

    rows: Int64[np.ndarray, " images"]
    inputs: Tensor | tuple[Tensor, ...]
    weight: Float32[Tensor, "n n"]
    judged: Bool[Tensor, "n n"]

    @property
    def relation(self) -> tuple[Tensor, Tensor]:
        """What the loss is told beside the vectors."""
        return self.weight, self.judged

    @property
    def positives(self) -> Tensor:
        """How many ordered pairs of different views have P > 0."""
        return torch.count_nonzero(self.weight) - len(self.weight)

    def __str__(self) -> str:
        shown = ", ".join(str(row) for row in self.rows[:5].tolist())
        return f"{len(self.rows)} images, catalog rows {shown}{', ...' if len(self.rows) > 5 else ''}"


class Drawn(NamedTuple):
    """The inputs of a batch, and the catalog rows of its images without those whose photo could not be read."""

    rows: Int64[np.ndarray, " images"]
    inputs: Tensor | tuple[Tensor, ...]


@runtime_checkable
class Views(Protocol):
    """Where the inputs of images come from: features that are kept, or photos that are drawn anew."""

    @property
    def of_each(self) -> int:
        """How many views of an image enter a batch."""

    def stream(self, planned: Sequence[np.ndarray], seed: int, epoch: int) -> Iterator[Drawn]:
        """The inputs of each batch of an epoch: all first views of its images, then all second ones."""


class Cached:
    """Features that are kept: arrays (images, features) of one view each, rows as the catalog's.

    With one array an image enters a batch once. With several it enters as two of its views, drawn anew each time.
    """

    def __init__(self, views: Sequence[Float32[np.ndarray, "images features"]], device: torch.device) -> None:
        self.views = tuple(views)
        self.device = device

    @property
    def of_each(self) -> int:
        """How many views of an image enter a batch."""
        return min(2, len(self.views))

    def draw(self, rows: Int64[np.ndarray, " images"], random: np.random.Generator) -> Tensor:
        """The features of some images: all first views, then all second ones."""
        if len(self.views) == 1:
            taken = self.views[0][rows]
        else:
            one = random.integers(len(self.views), size=len(rows))
            other = (one + random.integers(1, len(self.views), size=len(rows))) % len(self.views)
            taken = np.concatenate([self._of(one, rows), self._of(other, rows)])
        return torch.from_numpy(np.ascontiguousarray(taken, np.float32)).to(self.device, non_blocking=True)

    def stream(self, planned: Sequence[np.ndarray], seed: int, epoch: int) -> Iterator[Drawn]:
        """The features of each batch of an epoch."""
        for place, rows in enumerate(planned):
            random = np.random.Generator(np.random.PCG64(np.random.SeedSequence((seed, epoch, place, 1))))
            yield Drawn(rows, self.draw(rows, random))

    def _of(self, view: np.ndarray, rows: np.ndarray) -> np.ndarray:
        taken = np.empty((len(rows), self.views[0].shape[1]), np.float32)
        for number, features in enumerate(self.views):
            taken[view == number] = features[rows[view == number]]
        return taken


class Examples:
    """The batches of every epoch, each a function of the seed, the epoch and its place in it.

    Of several processes each has the inputs of its share of a batch, and how all of the batch stands to each other: the
    images of the first process, view by view, then those of the second.
    """

    def __init__(
        self,
        around: Anchors,
        plan: BatchPlan,
        soft: Softness | None,
        views: Views,
        seed: int,
        device: torch.device,
        processes: Processes = ALONE,
    ) -> None:
        self.around, self.plan, self.soft = around, plan, soft
        self.views, self.seed, self.device, self.processes = views, seed, device, processes

    def epoch(self, epoch: int) -> tuple[int, Iterator[Batch]]:
        """How many batches an epoch has, and the batches."""
        planned = epoch_batches(self.around, self.plan, self.soft, self.seed, epoch)
        own = [self.processes.share(rows) for rows in planned]
        return len(planned), map(self._batch, self.views.stream(own, self.seed, epoch))

    def _batch(self, drawn: Drawn) -> Batch:
        shares = self.processes.told(drawn.rows)
        rows = np.concatenate(shares) if len(shares) > 1 else drawn.rows
        known = (
            torch.from_numpy(part).to(self.device) for part in relations(self.around.graph, rows, self.soft)
        )
        views = self.views.of_each
        if len(shares) == 1:
            weight, judged = (part.tile((views, views)) for part in known)
        else:
            ends = np.cumsum([len(one) for one in shares])[:-1]
            parts = np.split(np.arange(len(rows)), ends)
            order = torch.from_numpy(np.concatenate([np.tile(part, views) for part in parts])).to(self.device)
            weight, judged = (part[order][:, order] for part in known)
        return Batch(rows, drawn.inputs, weight, judged)
