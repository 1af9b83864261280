"""Vectors in memory or in a mapped file, which is read in parts whose pages are released again."""

import contextlib
import mmap
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float64, Int

from lookalike.core.errors import EmbeddingsError
from lookalike.core.text import quoted
from lookalike.core.types import Catalog, Embeddings

FEW, SLICE = 64, 4096


@dataclass(frozen=True, eq=False)
class Source:
    """The vectors of a catalog's images. Image i lies in row `place[i]` of `held`, in row i where `place` is None."""

    held: Float[np.ndarray, "rows dimension"]
    place: Int[np.ndarray, " images"] | None = None

    @property
    def dimension(self) -> int:
        """Numbers per vector."""
        return int(self.held.shape[1])

    def places(self, images: Int[np.ndarray, " n"]) -> Int[np.ndarray, " n"]:
        """The rows of `held` where images lie."""
        return images if self.place is None else self.place[images]

    def copied(self, images: Int[np.ndarray, " n"]) -> Float[np.ndarray, "n dimension"]:
        """The vectors of a few images, copied, a few at a time: each touches pages around its own."""
        copy = np.empty((len(images), self.dimension), self.held.dtype)
        for first in range(0, len(images), FEW):
            places = self.places(images[first : first + FEW])
            copy[first : first + FEW] = self.held[places]
            self.release(places)
        return copy

    def release(self, places: Int[np.ndarray, " n"]) -> None:
        """Let go of the pages in which rows were read; the file keeps them, and they are read again when asked for.

        Without this a file that is gone through once stays in memory for as long as the system sees no need.
        Only of files that are mapped as they are: a private copy would lose what was written to it.
        """
        mapping = _mapping(self.held)
        if mapping is None or len(places) == 0 or self.held.strides[0] <= 0:
            return
        origin = np.frombuffer(mapping, np.uint8, 1).ctypes.data
        start = self.held.ctypes.data - origin + int(places.min()) * self.held.strides[0]
        stop = self.held.ctypes.data - origin + (int(places.max()) + 1) * self.held.strides[0]
        start -= start % mmap.PAGESIZE
        with contextlib.suppress(OSError, ValueError):  # advice: where it is not taken, the pages stay
            mapping.madvise(mmap.MADV_DONTNEED, start, min(stop, len(mapping)) - start)


def aligned(catalog: Catalog, embeddings: Embeddings) -> Source:
    """The catalog's vectors, in any order of the embeddings. An image without a vector is an error."""
    if len(catalog) == len(embeddings) and np.array_equal(catalog.image, embeddings.image):
        return Source(embeddings.vectors)
    row = {image: i for i, image in enumerate(embeddings.image)}
    missing = [image for image in catalog.image if image not in row]
    if missing:
        raise EmbeddingsError(
            f"{embeddings.encoder} has no vector for {len(missing):,} of {len(catalog):,} images: "
            f"{quoted(missing)}.",
            fix=f"Embed the catalog again: lookalike embed {embeddings.spec or embeddings.encoder}",
        )
    place = np.fromiter((row[image] for image in catalog.image), np.int64, len(catalog))
    return Source(embeddings.vectors, place)


def cosines(
    catalog: Catalog, encoder: Embeddings, pairs: Int[np.ndarray, "pairs 2"]
) -> Float64[np.ndarray, " pairs"]:
    """The cosine of each pair of images, given as catalog rows; 0 for a vector without a direction."""
    source, found = aligned(catalog, encoder), np.zeros(len(pairs))
    for first in range(0, len(pairs), SLICE):
        a, b = (source.copied(side).astype(np.float64) for side in pairs[first : first + SLICE].T)
        length = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
        part = found[first : first + SLICE]
        np.divide((a * b).sum(axis=1), length, out=part, where=length > 0)
    return found


def _mapping(vectors: np.ndarray) -> mmap.mmap | None:
    """The mapped file an array looks into, if its pages may be let go of."""
    at: object = vectors
    while isinstance(at, np.ndarray):
        base: object = at.base
        if isinstance(at, np.memmap) and isinstance(base, mmap.mmap):
            shared = at.mode in ("r", "r+", "w+")
            return base if shared and hasattr(mmap, "MADV_DONTNEED") else None
        at = base
    return None
