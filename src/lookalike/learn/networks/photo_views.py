"""Views of photos, drawn anew for every batch by worker processes."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Int64, UInt8
from PIL import Image
from torch import Tensor

from lookalike.core.errors import EmbeddingsError, LearningError
from lookalike.core.parallel import in_order
from lookalike.core.types import Catalog
from lookalike.encode.inputs.augment import Augment
from lookalike.encode.inputs.workers import (
    AHEAD,
    CHUNK,
    KILLED,
    Chunk,
    PreparedChunk,
    make_ready,
    workers,
)
from lookalike.learn.examples import Drawn
from lookalike.learn.networks.lightly_views import LightlyView

MakeView = Callable[[Image.Image, int, int], np.ndarray]
"""A view (height, width, 3) of a photo as uint8, by its number and a seed."""


class Group(NamedTuple):
    """Views of one size: how many of a photo enter a batch, what makes them, and their height and width."""

    each: int
    make: MakeView
    size: tuple[int, int]


@dataclass(frozen=True)
class KhoslaView:
    """A view as in the papers (`encode/inputs/augment.py`), prepared as the network takes photos."""

    prepare: Callable[[Image.Image], np.ndarray]
    side: int

    def __call__(self, photo: Image.Image, number: int, seed: int) -> np.ndarray:
        """The view of a number."""
        return Augment(self.prepare, number, seed, self.side)(photo)


@dataclass(frozen=True)
class _AllViews:
    """All views of a photo as one row of bytes, so that views of several sizes travel together."""

    groups: tuple[Group, ...]
    first: int
    seed: int

    def __call__(self, photo: Image.Image) -> UInt8[np.ndarray, " bytes"]:
        number, parts = count(self.first), []
        for group in self.groups:
            for _ in range(group.each):
                parts.append(np.asarray(group.make(photo, next(number), self.seed), np.uint8).ravel())
        return np.concatenate(parts)


class PhotoViews:
    """The inputs of batches: pixels of views, as uint8. `unreadable` has the images whose photo could not be read.

    A view depends on the photo, the seed, the epoch and the batch alone, not on the worker that draws it.
    """

    def __init__(
        self,
        catalog: Catalog,
        root: Path,
        groups: Sequence[Group],
        size_hint: int,
        *,
        processors: int,
    ) -> None:
        self.catalog, self.root, self.size_hint, self.processors = catalog, root, size_hint, processors
        self.groups = tuple(groups)
        self.unreadable: dict[str, str] = {}

    @property
    def of_each(self) -> int:
        """How many views of an image enter a batch."""
        return sum(group.each for group in self.groups)

    def stream(self, planned: Sequence[np.ndarray], seed: int, epoch: int) -> Iterator[Drawn]:
        """The views of each batch of an epoch: all first views of its images, then all second ones."""
        pieces = self._pieces(planned, seed, epoch)
        photos = sum(map(len, planned))
        seeded = any(isinstance(group.make, LightlyView) for group in self.groups)
        with resumable(), workers(self.processors, photos, in_processes=seeded) as pool:
            made = in_order(pool, _made, pieces, AHEAD * self.processors)
            for rows in planned:
                yield self._drawn(rows, made)

    def _pieces(self, planned: Sequence[np.ndarray], seed: int, epoch: int) -> Iterator["_Piece"]:
        for place, rows in enumerate(planned):
            first = (epoch * (len(planned) + 1) + place) * self.of_each + 1
            prepare = _AllViews(self.groups, first, seed)
            for at in range(0, len(rows), CHUNK):
                some = rows[at : at + CHUNK]
                columns = (tuple(c[some]) for c in (self.catalog.path, self.catalog.digest, self.catalog.box))
                yield _Piece(str(self.root), self.size_hint, prepare, Chunk(tuple(some.tolist()), *columns))

    def _drawn(self, rows: Int64[np.ndarray, " images"], made: Iterator[PreparedChunk]) -> Drawn:
        pieces = [next(made) for _ in range(math.ceil(len(rows) / CHUNK))]
        for row, what in (bad for piece in pieces for bad in piece.bad):
            self.unreadable[str(self.catalog.image[row])] = what
        kept = np.array([row for piece in pieces for row in piece.rows], np.int64)
        photos = [piece.photos for piece in pieces if piece.rows]
        flat = np.concatenate(photos) if photos else np.empty((0, self._bytes), np.uint8)
        return Drawn(kept, self._inputs(flat))

    def _inputs(self, flat: UInt8[np.ndarray, "images bytes"]) -> Tensor | tuple[Tensor, ...]:
        found, at = [], 0
        for group in self.groups:
            each = 3 * group.size[0] * group.size[1]
            part = flat[:, at : at + group.each * each].reshape(len(flat), group.each, *group.size, 3)
            found.append(torch.from_numpy(np.concatenate(list(np.moveaxis(part, 1, 0)))))
            at += group.each * each
        return found[0] if len(found) == 1 else tuple(found)

    @property
    def _bytes(self) -> int:
        return sum(3 * group.each * group.size[0] * group.size[1] for group in self.groups)


@contextmanager
def resumable() -> Iterator[None]:
    """Where a worker process is killed, say that the run can be resumed."""
    try:
        yield
    except EmbeddingsError as error:
        if error.code != KILLED:
            raise
        raise LearningError(
            error.problem,
            fix="Run the same command again: it resumes from the last saved state. If memory is short, use a smaller "
            "--batch and --micro.",
        ) from None


class _Piece(NamedTuple):
    """What a worker needs."""

    root: str
    size_hint: int
    prepare: _AllViews
    chunk: Chunk


def _made(piece: _Piece) -> PreparedChunk:
    return make_ready(piece.root, piece.prepare, piece.size_hint, piece.chunk)
