"""Photos of a catalog to vectors, on every core."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path

import numpy as np
from PIL import Image

from lookalike.catalog import load_rgb
from lookalike.core.checks import shortened
from lookalike.core.errors import CatalogError, EmbeddingsError
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog
from lookalike.encode.descriptor import PREPROCESSING, SIDE, describe, parts_of
from lookalike.encode.spec import EncoderSpec

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


def encode_catalog(
    catalog: Catalog, root: Path, spec: EncoderSpec, *, workers: int, progress: Progress | None = None
) -> np.ndarray:
    """Vectors of all photos, in catalog order. Photos that can no longer be read are named together."""
    encode, _ = photo_encoder(spec)
    paths = [root / path for path in catalog.path]
    gone = [image for image, path in zip(catalog.image, paths, strict=True) if not path.is_file()]
    if gone:
        raise _unreadable(gone, root, "are no longer there")

    def one(path: Path) -> np.ndarray | None:
        try:
            return encode(load_rgb(path, size_hint=2 * SIDE))
        except CatalogError:
            return None

    vectors: np.ndarray | None = None
    bad: list[str] = []
    for row, vector in enumerate(_in_order(one, paths, workers)):
        if vector is None:
            bad.append(catalog.image[row])
        else:
            if vectors is None:
                vectors = np.zeros((len(catalog), len(vector)), np.float32)
            vectors[row] = vector
        if progress:
            progress(row + 1, len(paths))
    if bad or vectors is None:
        raise _unreadable(bad, root, "can no longer be read")
    return vectors


def _in_order(
    work: Callable[[Path], np.ndarray | None], paths: list[Path], workers: int
) -> Iterator[np.ndarray | None]:
    """Results in the order of the paths, with a bounded number under way."""
    with ThreadPoolExecutor(workers) as pool:
        try:
            waiting = iter(paths)
            under_way = [pool.submit(work, path) for path in islice(waiting, AHEAD * workers)]
            while under_way:
                yield under_way.pop(0).result()
                under_way += [pool.submit(work, path) for path in islice(waiting, 1)]
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _unreadable(images: list[str], root: Path, what: str) -> EmbeddingsError:
    return EmbeddingsError(
        f"{len(images):,} photos under {root} {what}: {shortened(images)}.",
        fix="Put them back, or make the catalog again without them: lookalike init ... --replace",
    )
