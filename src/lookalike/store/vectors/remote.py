"""Vectors of an encoder at a place, such as an object store, of which only the rows that are needed are read."""

import io
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int

from lookalike.core.errors import EmbeddingsError
from lookalike.core.parallel import in_order
from lookalike.core.progress import Progress
from lookalike.store.shards.places import Place
from lookalike.store.vectors.arrays import MANIFEST, VECTORS, Manifest, manifest_of

HEADER = 1 << 10  # bytes at the start of the file, in which its header is
READ = 1 << 24  # bytes of one read at most
GAP = 1 << 16  # bytes between two rows that are read with them, because another request would take longer
AT_ONCE = 4  # reads
KIND = np.dtype("<f4")


@dataclass(frozen=True)
class RemoteVectors:
    """The vectors in a folder of `embeddings`, wherever it is. `first` is the byte at which row 0 begins."""

    place: Place
    manifest: Manifest
    first: int

    @classmethod
    def at(cls, place: Place) -> "RemoteVectors":
        """The vectors of an encoder's folder. Only the manifest and the header are read.

        Raises EmbeddingsError where there are none, and where the file is not the one of the manifest or is shorter.
        """
        size = place.size(MANIFEST)
        if size is None:
            raise EmbeddingsError(
                f"There are no vectors at {place.name}: it has no {MANIFEST}.",
                fix="Give the folder of an encoder in the workspace's folder embeddings, or a copy of it.",
            )
        try:
            manifest = manifest_of(place.read(MANIFEST, 0, size))
        except (ValueError, TypeError):
            raise _damaged(place, f"{MANIFEST} cannot be read") from None
        return cls(place, manifest, _first_byte(place, manifest))

    def read(
        self, rows: Int[np.ndarray, " rows"], progress: Progress | None = None
    ) -> Float32[np.ndarray, "rows dimension"]:
        """The vectors of some rows, in their order. Rows near each other are read together, several reads at once."""
        found = np.empty((len(rows), self.manifest.dimension), np.float32)
        order = np.argsort(rows, kind="stable")
        ordered, done = rows[order], 0
        if len(rows) and not 0 <= ordered[0] <= ordered[-1] < self.manifest.rows:
            raise EmbeddingsError(
                f"The vectors at {self.place.name} have {self.manifest.rows:,} rows, and others are needed.",
                fix="Give the vectors of the same catalog.",
            )
        pieces = list(self._pieces(ordered))
        ranges = [(int(ordered[piece.start]), int(ordered[piece.stop - 1]) + 1) for piece in pieces]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for piece, block in zip(pieces, in_order(pool, self._block, ranges, AT_ONCE), strict=True):
                found[order[piece]] = block[ordered[piece] - ordered[piece.start]]
                done += piece.stop - piece.start
                if progress:
                    progress(done, len(rows))
        return found

    def _pieces(self, ordered: Int[np.ndarray, " rows"]) -> Iterator[slice]:
        """Stretches of ordered rows that one read brings."""
        if not len(ordered):
            return
        width = KIND.itemsize * self.manifest.dimension
        begins = np.append(True, np.diff(ordered) > 1 + GAP // width)
        run = np.flatnonzero(begins)
        within = ordered - np.repeat(ordered[run], np.diff(np.append(run, len(ordered))))
        part = within // max(READ // width, 1)
        starts = np.flatnonzero(begins | np.append(True, np.diff(part) != 0)).tolist()
        yield from map(slice, starts, [*starts[1:], len(ordered)])

    def _block(self, rows: tuple[int, int]) -> Float32[np.ndarray, "rows dimension"]:
        width = KIND.itemsize * self.manifest.dimension
        first, last = (self.first + row * width for row in rows)
        content = self.place.read(VECTORS, first, last)
        if len(content) != last - first:
            raise _damaged(self.place, f"{VECTORS} is shorter than its header says")
        return np.frombuffer(content, KIND).reshape(-1, self.manifest.dimension)


def _first_byte(place: Place, manifest: Manifest) -> int:
    """Where row 0 begins in a file whose header and size are those of the manifest."""
    size = place.size(VECTORS)
    if size is None:
        raise _damaged(place, f"it has no {VECTORS}")
    file = io.BytesIO(place.read(VECTORS, 0, min(size, HEADER)))
    try:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError("another version of the format")
        shape, by_columns, kind = np.lib.format.read_array_header_1_0(file)
    except Exception:  # NumPy raises errors of its parser for a damaged header
        raise _damaged(place, f"the header of {VECTORS} cannot be read") from None
    if by_columns or kind != KIND or shape != (manifest.rows, manifest.dimension) or not manifest.dimension:
        raise _damaged(place, f"{VECTORS} is not the file of {MANIFEST}")
    whole = file.tell() + KIND.itemsize * manifest.rows * manifest.dimension
    if size != whole:
        raise _damaged(place, f"{VECTORS} has {size:,} bytes, and its header says {whole:,}")
    return file.tell()


def _damaged(place: Place, what: str) -> EmbeddingsError:
    return EmbeddingsError(
        f"The vectors at {place.name} are damaged: {what}.",
        fix=f"Copy the encoder's folder there again, with {MANIFEST} and {VECTORS}.",
    )
