"""Search indexes on disk: `indexes/ENCODER/` with the graph, the keys of its images, and `manifest.json`."""

import hashlib
import json
import shutil
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from jaxtyping import Int64

from lookalike.core.errors import SearchError
from lookalike.core.types import Catalog, Origin
from lookalike.search.approximate import LOST, Approximate
from lookalike.search.index import Index
from lookalike.search.milvus import Milvus
from lookalike.store.disk import disk_errors, make_folder, take_place, write_file

INDEXES, MANIFEST, KEYS, GRAPH = "indexes", "manifest.json", "keys.npy", "graph.usearch"
SAME = 0.5  # an index of which the catalog has less than this share belongs to another catalog


@dataclass(frozen=True)
class IndexManifest:
    """What an index was built from, and how. `recall` is the one requested, `measured` that of catalog queries.

    `lost` is the most that a vector lost when it was rounded; an earlier manifest lacks it, so the bound is taken.
    """

    engine: str
    spec: str
    preprocessing: str
    weights: str
    dimension: int
    images: int
    recall: float
    measured: float
    expansion: int
    created: str
    address: str = ""
    collection: str = ""
    lost: float = LOST


def image_keys(catalog: Catalog) -> Int64[np.ndarray, " images"]:
    """A key for each image: a hash of its id and of the content that encoders see. A replaced photo has another."""
    hashes = bytearray()
    for image, content in zip(catalog.image, catalog.content, strict=True):
        text = f"{image}\0{content}".encode("utf-8", "surrogatepass")
        hashes += hashlib.blake2b(text, digest_size=8).digest()
    return np.frombuffer(bytes(hashes), np.int64) & np.int64(2**63 - 1)


def read_index(folder: Path) -> IndexManifest | None:
    """The manifest of an index; None where there is none."""
    try:
        return IndexManifest(**json.loads((folder / MANIFEST).read_text(encoding="utf-8")))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        raise _unusable(folder, "its manifest cannot be read") from error


def load_index(
    folder: Path, manifest: IndexManifest, origin: Origin, keys: Int64[np.ndarray, " images"]
) -> tuple[Index, Int64[np.ndarray, " indexed"]]:
    """An index and the keys that it has. The index of another encoder or another catalog is refused."""
    changed = [
        name
        for name in ("spec", "preprocessing", "weights")
        if getattr(manifest, name) != getattr(origin, name)
    ]
    if changed:
        raise _unusable(folder, f"it was built from other vectors ({', '.join(changed)} changed)")
    try:
        held = np.load(folder / KEYS, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise _unusable(folder, f"{KEYS} cannot be read") from error
    if len(held) != manifest.images:
        raise _unusable(folder, f"{KEYS} has {len(held):,} keys instead of {manifest.images:,}")
    if np.isin(held, keys).mean() < SAME:
        raise _unusable(
            folder, "the catalog has less than half of its images, so it belongs to another catalog"
        )
    if manifest.engine == Milvus.name:
        return Milvus(manifest.address, manifest.collection, manifest.expansion), held
    graph = folder / GRAPH
    return Approximate.load(graph, manifest.dimension, manifest.expansion, manifest.lost), held


def write_index(
    folder: Path,
    manifest: IndexManifest,
    keys: Int64[np.ndarray, " indexed"],
    save: Callable[[Path], None] | None,
) -> None:
    """Write an index as a whole: after a kill the earlier one is unchanged. `save` writes the graph to a path."""
    temporary = folder.with_name(f".{folder.name}.partial")
    with disk_errors(f"writing the index {folder.name}", folder):
        shutil.rmtree(temporary, ignore_errors=True)
        make_folder(temporary)
        np.save(temporary / KEYS, keys)
        if save is not None:
            try:
                save(temporary / GRAPH)
            except RuntimeError as error:  # the library's word for a disk that is full
                raise OSError(str(error)) from error
        write_file(temporary / MANIFEST, (json.dumps(asdict(manifest), indent=2) + "\n").encode())
        take_place(temporary, folder)


def _unusable(folder: Path, why: str) -> SearchError:
    return SearchError(
        f"The search index of {folder.name} cannot be used: {why}.",
        fix=f"Build it again with `lookalike index {folder.name}`, or search with --engine exact.",
    )
