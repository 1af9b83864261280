"""Photos of a catalog to vectors, on every core."""

import hashlib
import io
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Protocol

import numpy as np
from jaxtyping import Float32
from PIL import Image

from lookalike.catalog import load_rgb
from lookalike.core.checks import shortened
from lookalike.core.errors import CatalogError, EmbeddingsError
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog
from lookalike.encode.descriptor import PREPROCESSING, SIDE, describe, parts_of
from lookalike.encode.spec import EncoderSpec

SHARD = 1024  # rows that are finished together: what a kill can cost
AHEAD = 64  # photos decoded or waiting per worker: keeps memory flat whatever the catalog's size

Encode = Callable[[Image.Image], np.ndarray]


def photo_encoder(spec: EncoderSpec) -> tuple[Encode, str]:
    """The function that turns one RGB photo into its vector, and its preprocessing in words."""
    if spec.source == "descriptor":
        parts = parts_of(spec)
        return lambda photo: describe(photo, parts), PREPROCESSING
    raise EmbeddingsError(
        f"{spec} holds vectors of known images; it cannot encode a new photo.",
        fix="Search by the id of an image in the catalog, or use an encoder such as descriptor:color+hog.",
    )


def encode_photo(path: Path, spec: EncoderSpec) -> np.ndarray:
    """One new photo's vector."""
    encode, _ = photo_encoder(spec)
    return encode(load_rgb(path, size_hint=2 * SIDE))


class Sink(Protocol):
    """Where vectors go, a shard of rows at a time. A shard that it holds already is not computed again."""

    def holds(self, first: int, last: int) -> bool:
        """Whether the vectors of rows first to last (excluded) are there already."""

    def put(self, first: int, vectors: Float32[np.ndarray, "rows dimension"]) -> None:
        """Take the vectors of the rows from `first` on, for good."""


class InMemory:
    """A sink for vectors that are not kept on disk."""

    def __init__(self) -> None:
        self.shards: list[np.ndarray] = []

    def holds(self, first: int, last: int) -> bool:
        """Nothing is there beforehand."""
        return False

    def put(self, first: int, vectors: Float32[np.ndarray, "rows dimension"]) -> None:
        """Keep a shard; they come in order."""
        self.shards.append(vectors)

    @property
    def vectors(self) -> Float32[np.ndarray, "images dimension"]:
        """All vectors, in catalog order."""
        return np.concatenate(self.shards)


def encode_catalog(
    catalog: Catalog,
    root: Path,
    spec: EncoderSpec,
    sink: Sink,
    *,
    workers: int,
    progress: Progress | None = None,
) -> None:
    """Vectors of all photos into a sink, shard by shard in catalog order.

    A photo that is gone, unreadable or not the one that was checked at `init` is an error, which names all of
    them once the other shards are done.
    """
    encode, _ = photo_encoder(spec)
    bad: dict[str, list[str]] = {}

    def one(row: int) -> np.ndarray | str:
        found = _photo(root / catalog.path[row], catalog.digest[row])
        return found if isinstance(found, str) else encode(found)

    for first in range(0, len(catalog), SHARD):
        last = min(first + SHARD, len(catalog))
        if not sink.holds(first, last):
            vectors: list[np.ndarray] = []
            for row, vector in enumerate(_in_order(one, range(first, last), workers), start=first):
                if isinstance(vector, str):
                    bad.setdefault(vector, []).append(catalog.image[row])
                else:
                    vectors.append(vector)
                if progress:
                    progress(row + 1, len(catalog))
            if len(vectors) == last - first:
                sink.put(first, np.stack(vectors))
        elif progress:
            progress(last, len(catalog))
    if bad:
        raise _unreadable(bad, root)


def _photo(path: Path, digest: str) -> Image.Image | str:
    """The photo that the catalog means, or what is wrong with it."""
    try:
        content = path.read_bytes()
    except OSError:
        return "no longer there"
    if digest and hashlib.sha256(content).hexdigest() != digest:
        return "changed since the catalog was made"
    try:
        return load_rgb(io.BytesIO(content), size_hint=2 * SIDE)
    except CatalogError:
        return "unreadable"


def _in_order(
    work: Callable[[int], np.ndarray | str], rows: Iterable[int], workers: int
) -> Iterator[np.ndarray | str]:
    """Results in the order of the rows, with a bounded number under way."""
    with ThreadPoolExecutor(workers) as pool:
        try:
            waiting = iter(rows)
            under_way = deque(pool.submit(work, row) for row in islice(waiting, AHEAD * workers))
            while under_way:
                yield under_way.popleft().result()
                under_way.extend(pool.submit(work, row) for row in islice(waiting, 1))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _unreadable(bad: dict[str, list[str]], root: Path) -> EmbeddingsError:
    listed = "; ".join(f"{len(images):,} {what}: {shortened(images)}" for what, images in bad.items())
    return EmbeddingsError(
        f"Some photos under {root} cannot be embedded. {listed}.",
        fix="Put them back, or make the catalog again as it is now: lookalike init ... --replace",
    )
