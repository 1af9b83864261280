"""Embeddings on disk: `embeddings/NAME/vectors.npy`, `rows.npy`, and `manifest.json` with their origin."""

import contextlib
import hashlib
import json
import os
import shutil
import zlib
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from jaxtyping import Float32, UInt8

from lookalike.core.errors import EmbeddingsError
from lookalike.core.types import Catalog, Embeddings, KnownVectors, Origin
from lookalike.store.disk import FULL, disk_errors, make_folder, take_place, write_file

VECTORS, ROWS, MANIFEST, JOURNAL = "vectors.npy", "rows.npy", "manifest.json", "shards.jsonl"
PARTIAL = ".partial"
LARGE = 1 << 29  # bytes; the checksum of larger files is not compared each time they are opened
KEY = 16  # bytes of the digest that identify the content of a photo


@dataclass(frozen=True)
class Manifest:
    """The origin of vectors, and the checksums by which damage is found.

    The first four fields are the `Origin`; `images` is a fingerprint of ids and photo contents, in catalog order; `sum`
    is the CRC-32 of `vectors.npy`, `rows_sum` that of `rows.npy`. `added` is when vectors of this name were first
    made: an update keeps it. It is "" in vectors of earlier versions.
    """

    spec: str
    preprocessing: str
    weights: str
    precision: str
    images: str
    rows: int
    dimension: int
    created: str
    sum: int
    rows_sum: int
    added: str = ""

    @property
    def origin(self) -> Origin:
        """What made the vectors."""
        return Origin(self.spec, self.preprocessing, self.weights, self.precision)

    @property
    def first(self) -> str:
        """When vectors of this name were first made, as far as it is known."""
        return self.added or self.created


def images_fingerprint(catalog: Catalog) -> str:
    """A fingerprint of the images, the contents of their photos, their boxes and their order."""
    return catalog.images_fingerprint


def row_keys(catalog: Catalog, spec: str) -> UInt8[np.ndarray, "images 16"]:
    """What each vector depends on: the photo and its box, and for `precomputed:` vectors the id of the image."""
    by_image = spec.startswith("precomputed:")
    keys = bytearray()
    for image, digest in zip(catalog.image, catalog.content, strict=True):
        if by_image or not digest:
            keys += hashlib.sha256(f"{image}\0{digest}".encode("utf-8", "surrogatepass")).digest()[:KEY]
        else:
            keys += bytes.fromhex(digest[: 2 * KEY])
    return np.frombuffer(bytes(keys), np.uint8).reshape(len(catalog), KEY)


def known_rows(folder: Path, catalog: Catalog, origin: Origin) -> KnownVectors | None:
    """Stored vectors of the same origin, and the place of each catalog row among them; None if there are none."""
    try:
        manifest = read_manifest(folder)
        if manifest.origin != origin or file_sum(folder / ROWS) != manifest.rows_sum:
            return None
        had = np.load(folder / ROWS, allow_pickle=False)
        vectors = open_vectors(folder, manifest)
    except (OSError, ValueError, EmbeddingsError):
        return None
    place = {key.tobytes(): row for row, key in enumerate(had)}
    wanted = (place.get(key.tobytes(), -1) for key in row_keys(catalog, origin.spec))
    return KnownVectors(vectors, np.fromiter(wanted, np.int64, len(catalog)))


def read_manifest(folder: Path) -> Manifest:
    """The manifest of one encoder's vectors."""
    try:
        return manifest_of((folder / MANIFEST).read_bytes())
    except (OSError, ValueError, TypeError):
        raise _damaged(folder, f"{MANIFEST} cannot be read") from None


def manifest_of(content: bytes) -> Manifest:
    """The manifest in the content of its file. Raises ValueError or TypeError for another content."""
    manifest = Manifest(**json.loads(content.decode("utf-8")))
    if any(type(getattr(manifest, field.name)) is not field.type for field in fields(Manifest)):
        raise ValueError("wrong type")
    return manifest


def load_embeddings(folder: Path, catalog: Catalog) -> Embeddings:
    """Vectors of the catalog as it is now. Vectors of an earlier state are refused as stale."""
    manifest = read_manifest(folder)
    if manifest.images != images_fingerprint(catalog):
        raise EmbeddingsError(
            f"The vectors of {folder.name} are stale: the catalog changed after they were computed "
            f"({manifest.rows:,} images then, {len(catalog):,} now).",
            fix="Update them with `lookalike embed --stale`, which computes only new and changed photos.",
        )
    return Embeddings(folder.name, catalog.image, open_vectors(folder, manifest), manifest.spec)


def load_view(folder: Path, catalog: Catalog, origin: Origin) -> np.ndarray | None:
    """The vectors of a view, memory-mapped. None unless they match the catalog and this origin in any precision."""
    try:
        if replace(read_manifest(folder).origin, precision="") != replace(origin, precision=""):
            return None
        return load_embeddings(folder, catalog).vectors
    except EmbeddingsError:  # missing, stale or damaged: they are computed again
        return None


def check_sum(folder: Path) -> None:
    """Read all vectors of an encoder and compare their checksum, also of large files."""
    with disk_errors("reading the vectors", folder):
        manifest = read_manifest(folder)
        whole = file_sum(folder / VECTORS) == manifest.sum
        whole = whole and file_sum(folder / ROWS) == manifest.rows_sum
    if not whole:
        raise _damaged(folder, f"{VECTORS} is not the file that Lookalike wrote")


def open_vectors(folder: Path, manifest: Manifest) -> np.ndarray:
    """The vectors, memory-mapped, if they match the manifest."""
    try:
        vectors = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
        whole = (folder / VECTORS).stat().st_size > LARGE or file_sum(folder / VECTORS) == manifest.sum
    except (OSError, ValueError, EOFError):
        raise _damaged(folder, f"{VECTORS} cannot be read") from None
    if not whole or vectors.shape != (manifest.rows, manifest.dimension) or vectors.dtype != np.float32:
        raise _damaged(folder, f"{VECTORS} is not the file that Lookalike wrote")
    return vectors


def file_sum(path: Path) -> int:
    """CRC-32 of a file, read in pieces."""
    total = 0
    with path.open("rb") as file:
        while piece := file.read(1 << 22):
            total = zlib.crc32(piece, total)
    return total


class Shards:
    """Vectors under construction: `embeddings/.NAME.partial`. A finished shard survives a kill and a power cut.

    `vectors.npy` has its full size from the start, so a full disk is found before the work. `shards.jsonl` gets a line
    for every finished shard, flushed after the vectors themselves. Shards of other images or another origin are
    deleted. `beneath` identifies the vectors that a head is applied to, and is "" for other encoders.
    """

    def __init__(self, target: Path, catalog: Catalog, origin: Origin, beneath: str = "") -> None:
        self.target, self.catalog, self.origin = target, catalog, origin
        self.folder = target.with_name(f".{target.name}{PARTIAL}")
        self.key = {**asdict(origin), "images": images_fingerprint(catalog), "beneath": beneath}
        self.dimension = 0
        self.done: dict[int, int] = {}
        with disk_errors("reading unfinished vectors", self.folder):
            self._resume()

    def holds(self, first: int, last: int) -> bool:
        """Whether a shard is finished, by this run or an earlier one."""
        return self.done.get(first) == last

    def put(self, first: int, vectors: Float32[np.ndarray, "rows dimension"]) -> None:
        """Write one shard. It is on the disk when this returns."""
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
        """Delete the shards and start again."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.done.clear()

    def finish(self) -> None:
        """Move the finished vectors to their place, with the keys of their rows and the manifest."""
        with disk_errors(f"finishing the vectors of {self.target.name}", self.folder):
            np.save(self.folder / ROWS, row_keys(self.catalog, self.origin.spec))
            now = datetime.now(UTC)
            added = now.isoformat(timespec="microseconds")
            with contextlib.suppress(EmbeddingsError):  # the first vectors of this name, or damaged ones
                added = read_manifest(self.target).first
            manifest = Manifest(
                **asdict(self.origin),
                images=self.key["images"],
                rows=len(self.catalog),
                dimension=self.dimension,
                created=now.isoformat(timespec="seconds"),
                sum=file_sum(self.folder / VECTORS),
                rows_sum=file_sum(self.folder / ROWS),
                added=added,
            )
            write_file(self.folder / MANIFEST, (json.dumps(asdict(manifest), indent=2) + "\n").encode())
            take_place(self.folder, self.target)
            (self.target / JOURNAL).unlink()

    def _resume(self) -> None:
        """Find the finished shards of an earlier run, or delete a run that cannot be resumed."""
        try:
            head, *lines = (self.folder / JOURNAL).read_text(encoding="utf-8").splitlines()
            begun = json.loads(head)
            if begun["key"] != self.key:
                raise ValueError("other images or another origin")
            self.dimension = int(begun["dimension"])
            rows = np.load(self.folder / VECTORS, mmap_mode="r")
        except (OSError, ValueError, KeyError, TypeError):
            shutil.rmtree(self.folder, ignore_errors=True)
            return
        for line in lines:
            with contextlib.suppress(ValueError, KeyError, TypeError):  # an incomplete line after a kill
                shard = json.loads(line)
                first, last = int(shard["first"]), int(shard["last"])
                if shard["sum"] == zlib.crc32(rows[first:last].tobytes()):
                    self.done[first] = last

    def _begin(self, dimension: int) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)
        make_folder(self.folder)
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
    """Reserve the space on the disk if the file system can. Otherwise the file only gets its size."""
    try:
        os.posix_fallocate(handle, 0, size)
    except (AttributeError, OSError) as error:
        if isinstance(error, OSError) and error.errno in FULL:
            raise
        os.ftruncate(handle, size)


def _damaged(folder: Path, what: str) -> EmbeddingsError:
    return EmbeddingsError(
        f"The vectors of {folder.name} are damaged: {what}.",
        fix=f"Delete {folder}, then compute the vectors again with `lookalike embed`.",
    )
