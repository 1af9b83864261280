"""Photos of a catalog to vectors: workers decode, the encoder computes batches, finished shards go to a sink.

The three stages run at the same time, in the order of the catalog, with a bounded number of photos between them.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from jaxtyping import Float32

from lookalike.catalog.photos.changes import refresh_command
from lookalike.core.cores import cores
from lookalike.core.errors import EmbeddingsError
from lookalike.core.parallel import in_order
from lookalike.core.progress import Progress
from lookalike.core.text import quoted
from lookalike.core.types import Catalog, KnownVectors
from lookalike.encode.encoder import Encoder
from lookalike.encode.inputs.workers import AHEAD, CHUNK, Chunk, PreparedChunk, make_ready, workers
from lookalike.encode.validity import check_vectors

UNSOUND = (
    "Check the weights, and the mean and std of the preprocessing; or leave those images out of the catalog."
)
SHARD = 1024  # rows that are saved together; a killed run repeats at most these


class Workload(NamedTuple):
    """What an embedding run will do: photos to compute and vectors to copy, and bytes on disk at its end.

    `base` names the encoder whose vectors a head is applied to. No photo is read then.
    """

    compute: int
    known: int
    bytes: int
    base: str = ""


def bytes_on_disk(images: int, dimension: int) -> int:
    """The size of the vectors of a catalog, and of their keys."""
    return images * (4 * dimension + 16)


class Sink(Protocol):
    """A store of vectors, one shard of rows at a time. A shard that it holds is not computed again."""

    def holds(self, first: int, last: int) -> bool:
        """Whether the vectors of rows first to last (excluded) are stored."""

    def put(self, first: int, vectors: Float32[np.ndarray, "rows dimension"]) -> None:
        """Store the vectors of the rows from `first` on."""


class InMemory:
    """A sink for vectors that are not kept on disk."""

    def __init__(self) -> None:
        self.shards: list[np.ndarray] = []

    def holds(self, first: int, last: int) -> bool:
        """Always False: this store starts empty."""
        return False

    def put(self, first: int, vectors: Float32[np.ndarray, "rows dimension"]) -> None:
        """Keep a shard; they come in order."""
        self.shards.append(vectors)

    @property
    def vectors(self) -> Float32[np.ndarray, "images dimension"]:
        """All vectors, in catalog order."""
        return np.concatenate(self.shards)


class _Shard(NamedTuple):
    """A range of catalog rows, those of them to compute, and which of these are done."""

    first: int
    last: int
    todo: np.ndarray


class _Batch(NamedTuple):
    """Photos of one shard that are being encoded. `done` also counts the unusable ones."""

    rows: tuple[int, ...]
    photos: np.ndarray
    bad: tuple[tuple[int, str], ...]

    @property
    def done(self) -> int:
        return len(self.rows) + len(self.bad)


def encode_catalog(
    catalog: Catalog,
    root: Path,
    encoder: Encoder,
    sink: Sink,
    *,
    known: KnownVectors | None = None,
    workers_count: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Vectors of all photos into a sink, shard by shard in catalog order; `known` ones are copied.

    A photo that is missing, unreadable or changed since `init` is an error. It is raised after all other shards are
    done and names all such photos.
    """
    count = workers_count or cores()
    if known is not None and known.vectors.shape[1] != encoder.dimension:
        known = None
    shards = _shards(catalog, sink, known)
    photos = sum(len(shard.todo) for shard in shards)
    bad: dict[str, list[str]] = {}
    done = len(catalog) - photos
    with workers(count, photos) as pool, ThreadPoolExecutor(encoder.threads) as threads:
        work = partial(make_ready, os.path.abspath(root), encoder.prepare, encoder.size_hint)
        ready = in_order(pool, work, _chunks(catalog, shards), AHEAD * count)
        run = partial(_run, encoder)
        batches = in_order(threads, run, _batches(ready, encoder.batch), encoder.threads + 1)
        for shard in shards:
            vectors = np.empty((shard.last - shard.first, encoder.dimension), np.float32)
            whole, left = True, len(shard.todo)
            while left:
                batch, found = next(batches)
                rows = np.array(batch.rows, np.int64)
                check_vectors(catalog.image[rows], found, encoder.origin.spec, UNSOUND)
                vectors[rows - shard.first] = found
                for row, what in batch.bad:
                    bad.setdefault(what, []).append(catalog.image[row])
                    whole = False
                left, done = left - batch.done, done + batch.done
                if progress:
                    progress(done, len(catalog))
            if whole:
                _copy(known, shard, vectors)
                sink.put(shard.first, vectors)
    if bad:
        raise _unreadable(bad, root)


def _shards(catalog: Catalog, sink: Sink, known: KnownVectors | None) -> list[_Shard]:
    """The ranges that are not finished."""
    ends = ((first, min(first + SHARD, len(catalog))) for first in range(0, len(catalog), SHARD))
    rows = np.arange(len(catalog))
    new = np.ones(len(catalog), bool) if known is None else known.row < 0
    return [
        _Shard(first, last, rows[first:last][new[first:last]])
        for first, last in ends
        if not sink.holds(first, last)
    ]


def _chunks(catalog: Catalog, shards: Sequence[_Shard]) -> Iterator[Chunk]:
    """The photos to compute, in chunks for the workers. No chunk crosses a shard boundary."""
    for shard in shards:
        for at in range(0, len(shard.todo), CHUNK):
            rows = shard.todo[at : at + CHUNK]
            columns = (tuple(column[rows]) for column in (catalog.path, catalog.digest, catalog.box))
            yield Chunk(tuple(rows.tolist()), *columns)


def _batches(ready: Iterable[PreparedChunk], size: int) -> Iterator[_Batch]:
    """Chunks joined into batches of the encoder, never across shards."""
    waiting: list[PreparedChunk] = []
    for piece in ready:
        if waiting and _shard_of(piece) != _shard_of(waiting[0]):
            yield _joined(waiting)
            waiting = []
        waiting.append(piece)
        if sum(len(one.rows) for one in waiting) >= size:
            yield _joined(waiting)
            waiting = []
    if waiting:
        yield _joined(waiting)


def _shard_of(piece: PreparedChunk) -> int:
    return (piece.rows[0] if piece.rows else piece.bad[0][0]) // SHARD


def _joined(pieces: list[PreparedChunk]) -> _Batch:
    photos = [piece.photos for piece in pieces if piece.rows]
    return _Batch(
        tuple(row for piece in pieces for row in piece.rows),
        photos[0] if len(photos) == 1 else np.concatenate(photos) if photos else np.empty(0),
        tuple(one for piece in pieces for one in piece.bad),
    )


def _run(encoder: Encoder, batch: _Batch) -> tuple[_Batch, np.ndarray]:
    if not batch.rows:
        return batch, np.empty((0, encoder.dimension), np.float32)
    return batch._replace(photos=np.empty(0)), encoder.vectors(batch.photos)


def _copy(known: KnownVectors | None, shard: _Shard, vectors: np.ndarray) -> None:
    """Copy the known vectors into their rows."""
    if known is not None:
        source = known.row[shard.first : shard.last]
        vectors[source >= 0] = known.vectors[source[source >= 0]]


def _unreadable(bad: dict[str, list[str]], root: Path) -> EmbeddingsError:
    listed = "; ".join(f"{len(images):,} {what}: {quoted(images)}" for what, images in bad.items())
    return EmbeddingsError(
        f"Some photos under {root} cannot be embedded. {listed}.",
        fix=f"Restore them, or update the catalog: {refresh_command(root)}",
    )
