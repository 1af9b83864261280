"""Vectors from a file: `precomputed:vectors.npy`.

Row i is row i of the table given to `init` (of a folder: of the sorted relative paths), left-out images
included, unless there is an `ids.txt` with one image id per line in the same folder.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from lookalike.core.errors import EmbeddingsError
from lookalike.core.object_store import is_address
from lookalike.core.text import quoted
from lookalike.core.types import Catalog, KnownVectors
from lookalike.encode.fetched import fetched_file
from lookalike.encode.spec import EncoderSpec
from lookalike.encode.validity import SLICE, check_vectors

IDS = "ids.txt"


def file_of(spec: EncoderSpec, base: Path = Path()) -> Path:
    """The file that a spec names: the copy of an address, or a path relative to `base` or to the current folder."""
    if is_address(spec.name):
        return fetched_file(spec.name, str(spec), (IDS,))
    return base / spec.name if (base / spec.name).exists() else Path(spec.name)


def precomputed(catalog: Catalog, file: Path) -> KnownVectors:
    """The catalog's vectors in a `.npy` file of any size, and the row of each image there; nothing is read yet."""
    vectors = _open(file)
    ids = file.with_name(IDS)
    rows = _rows_by_id(catalog, ids, vectors) if ids.is_file() else _rows_by_position(catalog, file, vectors)
    return KnownVectors(vectors, rows)


def slices(catalog: Catalog, known: KnownVectors, source: str) -> Iterator[tuple[int, np.ndarray]]:
    """Float32 vectors in catalog order, a slice at a time with its first row; NaN and length 0 are refused."""
    for first in range(0, len(known.row), SLICE):
        rows = slice(first, first + SLICE)
        with np.errstate(over="ignore"):  # what float32 cannot hold is refused below
            part = np.asarray(known.vectors[known.row[rows]], np.float32)
        check_vectors(catalog.image[rows], part, source)
        yield first, part


def _open(file: Path) -> np.ndarray:
    if file.is_dir():
        raise EmbeddingsError(f"{str(file)!r} is a folder, not a file.", fix="Give the path of a .npy file.")
    if not file.is_file():
        raise EmbeddingsError(
            f"There is no file {str(file)!r}.",
            fix="Give the path of a .npy file, relative to the current folder.",
        )
    try:
        vectors = np.load(file, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError, EOFError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a .npy file of numbers"
        raise EmbeddingsError(
            f"{file} cannot be read as vectors: {reason}.",
            fix="In Python, save them with numpy.save: one row of floating-point numbers per image.",
        ) from None
    if (
        not isinstance(vectors, np.ndarray)
        or vectors.ndim != 2
        or vectors.shape[1] == 0
        or vectors.dtype.kind != "f"
    ):
        held = (
            f"{vectors.dtype} values of shape {vectors.shape}"
            if isinstance(vectors, np.ndarray)
            else "several arrays"
        )
        raise EmbeddingsError(
            f"{file} holds {held}.",
            fix="Save one floating-point row per image: shape (images, dimensions).",
        )
    return vectors


def _rows_by_position(catalog: Catalog, file: Path, vectors: np.ndarray) -> np.ndarray:
    expected = len(catalog) + len(catalog.left_out)
    if len(vectors) != expected:
        left_out = f" ({len(catalog.left_out):,} of them left out)" if catalog.left_out else ""
        raise EmbeddingsError(
            f"{file} has {len(vectors):,} rows, but the table given to init has {expected:,}{left_out}.",
            fix="Save one row per row of that table (of a folder: per photo, sorted by relative path), or put an "
            "ids.txt beside the file with one image id per line.",
        )
    return catalog.position


def _rows_by_id(catalog: Catalog, ids: Path, vectors: np.ndarray) -> np.ndarray:
    listed = ids.read_text(encoding="utf-8-sig").splitlines()
    if len(listed) != len(vectors):
        raise EmbeddingsError(
            f"{ids} has {len(listed):,} lines, but there are {len(vectors):,} vectors.",
            fix="Write one image id per line, in the order of the vectors.",
        )
    place = {image: row for row, image in enumerate(listed)}
    if len(place) != len(listed):
        seen: set[str] = set()
        twice = [image for image in listed if image in seen or seen.add(image)]  # type: ignore[func-returns-value]
        raise EmbeddingsError(f"{ids} names images twice: {quoted(twice)}.", fix="Name each image once.")
    missing = [image for image in catalog.image if image not in place]
    if missing:
        raise EmbeddingsError(
            f"{ids} lacks {len(missing):,} of {len(catalog):,} images: {quoted(missing)}.",
            fix="Add their ids and vectors, or leave those images out of the catalog.",
        )
    return np.fromiter((place[image] for image in catalog.image), np.int64, len(catalog))
