"""Embeddings on disk: `embeddings/NAME/vectors.npy`, `rows.npy` and a `manifest.json` that says what made them."""

import contextlib
import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from jaxtyping import Float32, UInt8

from lookalike.core.checks import fingerprint
from lookalike.core.errors import EmbeddingsError
from lookalike.core.types import Catalog, Embeddings, Origin
from lookalike.encode.run import Known
from lookalike.store.disk import FULL, disk_errors, take_place, write_file

VECTORS, ROWS, MANIFEST, JOURNAL = "vectors.npy", "rows.npy", "manifest.json", "shards.jsonl"
PARTIAL = ".partial"
LARGE = 1 << 29  # files above this are not summed each time they are opened
KEY = 16  # bytes that tell one photo's content from any other's


@dataclass(frozen=True)
class Manifest:
    """What the vectors are of, and the sum by which damage to them shows.

    The first four fields are the `Origin`; `images` is a fingerprint of ids and photo contents, in catalog order; `sum`
    is the CRC-32 of `vectors.npy`, `rows_sum` that of `rows.npy` (0 where it was never written).
    """

    spec: str
    preprocessing: str
    weights: str
    precision: str
    images: str
    rows: int
    dimension: int
    created: str
    sum: int = 0
    rows_sum: int = 0

    @property
    def origin(self) -> Origin:
        """What made the vectors."""
        return Origin(self.spec, self.preprocessing, self.weights, self.precision)


def images_fingerprint(catalog: Catalog) -> str:
    """Equal exactly when the catalog has the same images with the same photo contents, in the same order."""
    return fingerprint(catalog.image, catalog.digest)


def row_keys(catalog: Catalog, spec: str) -> UInt8[np.ndarray, "images 16"]:
    """What each row's vector depends on: the photo's content; of `precomputed:` vectors the image's id as well."""
    by_image = spec.startswith("precomputed:")
    keys = bytearray()
    for image, digest in zip(catalog.image, catalog.digest, strict=True):
        if by_image or not digest:
            keys += hashlib.sha256(f"{image}\0{digest}".encode("utf-8", "surrogatepass")).digest()[:KEY]
        else:
            keys += bytes.fromhex(digest[: 2 * KEY])
    return np.frombuffer(bytes(keys), np.uint8).reshape(len(catalog), KEY)


def known_rows(folder: Path, catalog: Catalog, origin: Origin) -> Known | None:
    """The finished vectors of one origin, and where the catalog's rows are among them; None if there are none."""
    try:
        manifest = read_manifest(folder)
        if manifest.origin != origin:
            return None
        if file_sum(folder / ROWS) != manifest.rows_sum:
            return None
        had = np.load(folder / ROWS, allow_pickle=False)
        vectors = _open_vectors(folder, manifest)
    except (OSError, ValueError, EmbeddingsError):
        return None
    place = {key.tobytes(): row for row, key in enumerate(had)}
    wanted = (place.get(key.tobytes(), -1) for key in row_keys(catalog, origin.spec))
    return Known(vectors, np.fromiter(wanted, np.int64, len(catalog)))


def _finish(folder: Path, catalog: Catalog, manifest: Manifest) -> None:
    """Put the rows' keys and the manifest beside finished vectors."""
    np.save(folder / ROWS, row_keys(catalog, manifest.spec))
    manifest = replace(manifest, sum=file_sum(folder / VECTORS), rows_sum=file_sum(folder / ROWS))
    write_file(folder / MANIFEST, (json.dumps(asdict(manifest), indent=2) + "\n").encode())


def manifest_of(catalog: Catalog, origin: Origin, dimension: int) -> Manifest:
    """The manifest of vectors that are finished now, without the sums."""
    return Manifest(
        **asdict(origin),
        images=images_fingerprint(catalog),
        rows=len(catalog),
        dimension=dimension,
        created=datetime.now(UTC).isoformat(timespec="seconds"),
    )


def read_manifest(folder: Path) -> Manifest:
    """The manifest of one encoder's vectors."""
    try:
        manifest = Manifest(**json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
        if any(type(getattr(manifest, field.name)) is not field.type for field in fields(Manifest)):
            raise ValueError("a value of another kind")
        return manifest
    except (OSError, ValueError, TypeError):
        raise _damaged(folder, f"{MANIFEST} cannot be read") from None


def load_embeddings(folder: Path, catalog: Catalog) -> Embeddings:
    """Vectors of the catalog as it is now; vectors of another state of it are refused as stale."""
    manifest = read_manifest(folder)
    if manifest.images != images_fingerprint(catalog):
        raise EmbeddingsError(
            f"The vectors of {folder.name} are stale: the catalog's images changed after they were made "
            f"({manifest.rows:,} images then, {len(catalog):,} now).",
            fix="Bring them up to date; only new and changed photos are computed: lookalike embed --stale",
        )
    return Embeddings(folder.name, catalog.image, _open_vectors(folder, manifest), manifest.spec)


def check_sum(folder: Path) -> None:
    """Read all of an encoder's vectors and compare their sum, however large they are."""
    with disk_errors("reading the vectors", folder):
        manifest = read_manifest(folder)
        whole = file_sum(folder / VECTORS) == manifest.sum
        whole = whole and (not manifest.rows_sum or file_sum(folder / ROWS) == manifest.rows_sum)
    if not whole:
        raise _damaged(folder, f"{VECTORS} is not the file that was written")


def _open_vectors(folder: Path, manifest: Manifest) -> np.ndarray:
    """The vectors without reading them all, if they are what the manifest says."""
    try:
        vectors = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
        whole = (folder / VECTORS).stat().st_size > LARGE or file_sum(folder / VECTORS) == manifest.sum
    except (OSError, ValueError, EOFError):
        raise _damaged(folder, f"{VECTORS} cannot be read") from None
    if not whole or vectors.shape != (manifest.rows, manifest.dimension) or vectors.dtype != np.float32:
        raise _damaged(folder, f"{VECTORS} is not the file that was written")
    return vectors


def file_sum(path: Path) -> int:
    """CRC-32 of a file, read a piece at a time."""
    total = 0
    with path.open("rb") as file:
        while piece := file.read(1 << 22):
            total = zlib.crc32(piece, total)
    return total


class Shards:
    """Vectors under construction: `embeddings/.NAME.partial`. A finished shard survives a kill and a power cut.

    `vectors.npy` has its full size from the start, so a full disk is known before the work; `shards.jsonl` gets
    a line, flushed after the vectors themselves, for every finished shard. What was begun for other images,
    another encoder string or other preprocessing is begun anew.
    """

    def __init__(self, target: Path, catalog: Catalog, key: Mapping[str, str]) -> None:
        self.target, self.catalog = target, catalog
        self.folder = target.with_name(f".{target.name}{PARTIAL}")
        self.key = dict(key)
        self.dimension = 0
        self.done: dict[int, int] = {}
        with disk_errors("reading what was begun", self.folder):
            self._resume()

    def holds(self, first: int, last: int) -> bool:
        """Whether a shard was finished, by this run or one before it."""
        return self.done.get(first) == last

    def put(self, first: int, vectors: Float32[np.ndarray, "rows dimension"]) -> None:
        """Write one shard and make it last."""
        with disk_errors(f"writing the vectors of {self.target.name}", self.folder):
            if not self.done:
                self._begin(vectors.shape[1])
            with (self.folder / VECTORS).open("r+b") as file:
                file.seek(self._offset(first))
                file.write(np.ascontiguousarray(vectors, np.float32).tobytes())
                file.flush()
                os.fsync(file.fileno())
            self._note(first, first + len(vectors), vectors)

    def forget(self) -> None:
        """Begin anew: what was done so far is cleared away."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.done.clear()

    def finish(self, manifest: Manifest) -> None:
        """Put the finished vectors in their place."""
        with disk_errors(f"finishing the vectors of {self.target.name}", self.folder):
            _finish(self.folder, self.catalog, manifest)
            take_place(self.folder, self.target)
            (self.target / JOURNAL).unlink()

    def _resume(self) -> None:
        """Find the shards that an earlier run finished, or clear away what cannot be continued."""
        try:
            head, *lines = (self.folder / JOURNAL).read_text(encoding="utf-8").splitlines()
            told = json.loads(head)
            if told["key"] != self.key:
                raise ValueError("begun for something else")
            self.dimension = int(told["dimension"])
            rows = np.load(self.folder / VECTORS, mmap_mode="r")
        except (OSError, ValueError, KeyError, TypeError):
            shutil.rmtree(self.folder, ignore_errors=True)
            return
        for line in lines:
            with contextlib.suppress(ValueError, KeyError, TypeError):  # a line cut off by a kill
                shard = json.loads(line)
                first, last = int(shard["first"]), int(shard["last"])
                if shard["sum"] == zlib.crc32(rows[first:last].tobytes()):
                    self.done[first] = last

    def _begin(self, dimension: int) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(parents=True)
        self.dimension = dimension
        with (self.folder / VECTORS).open("wb") as file:
            np.lib.format.write_array_header_1_0(
                file, {"descr": "<f4", "fortran_order": False, "shape": (len(self.catalog), dimension)}
            )
            size = file.tell() + 4 * len(self.catalog) * dimension
            _reserve(file.fileno(), size)
            file.flush()
            os.fsync(file.fileno())
        line = json.dumps({"key": self.key, "dimension": dimension})
        write_file(self.folder / JOURNAL, (line + "\n").encode())

    def _note(self, first: int, last: int, vectors: np.ndarray) -> None:
        line = json.dumps({"first": first, "last": last, "sum": zlib.crc32(vectors.tobytes())})
        with (self.folder / JOURNAL).open("a", encoding="utf-8") as file:
            file.write(line + "\n")
            file.flush()
            os.fsync(file.fileno())
        self.done[first] = last

    def _offset(self, first: int) -> int:
        size = (self.folder / VECTORS).stat().st_size
        return size - 4 * (len(self.catalog) - first) * self.dimension


def _reserve(handle: int, size: int) -> None:
    """Take the room on the disk now, where the file system can; else the file only gets its size."""
    try:
        os.posix_fallocate(handle, 0, size)
    except (AttributeError, OSError) as error:
        if isinstance(error, OSError) and error.errno in FULL:
            raise
        os.ftruncate(handle, size)


def _damaged(folder: Path, what: str) -> EmbeddingsError:
    return EmbeddingsError(
        f"The vectors of {folder.name} are damaged: {what}.",
        fix=f"Delete {folder} and embed again.",
    )
