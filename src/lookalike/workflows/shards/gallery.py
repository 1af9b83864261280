"""Parts of the gallery as units of a plan: `discover` and `evaluate` of large catalogs.

The first chunk of such a plan has what all workers need (queries, and for `evaluate` the scores of labelled items);
each further one has the rows and items of a part. Workers read the vectors of their rows and of the queries.
"""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lookalike.core.checks import strings
from lookalike.core.errors import EmbeddingsError
from lookalike.core.types import Catalog
from lookalike.rank.engine.source import Source
from lookalike.rank.parts import whole_items
from lookalike.store.shards.packed import Packed
from lookalike.store.vectors.arrays import open_vectors, read_manifest
from lookalike.store.workspace import Workspace

UNIT = 2**16  # images of a part
COMMON = 1  # chunks before the units


@dataclass(frozen=True)
class GalleryPart:
    """A part of the gallery in a small catalog of its own: first the queries, then its images."""

    catalog: Catalog
    place: np.ndarray
    queries: np.ndarray
    images: np.ndarray

    def rows(self, found: np.ndarray) -> np.ndarray:
        """Rows of the small catalog as rows of the whole one; -1 stays."""
        return np.where(found >= 0, self.place[found], -1)


def arrays(**columns: np.ndarray) -> bytes:
    """Arrays as the content of a chunk; the same arrays are the same bytes."""
    file = io.BytesIO()
    np.savez(file, allow_pickle=False, **columns)
    return file.getvalue()


def read_arrays(chunk: bytes) -> Mapping[str, np.ndarray]:
    """The arrays of a chunk."""
    with np.load(io.BytesIO(chunk), allow_pickle=False) as found:
        return {name: found[name] for name in found.files}


def vectors_header(workspace: Workspace, names: list[str]) -> dict[str, Any]:
    """Where the vectors of encoders are, by which workers find them and see that they are those of the plan."""
    for name in names:
        workspace.embeddings(name)  # refused if stale or damaged
    return {
        "rows": len(workspace.catalog),
        "images": workspace.catalog.images_fingerprint,
        "reads": str((workspace.folder / "embeddings").resolve()),
        "encoders": {name: workspace.manifest(name).sum for name in names},
    }


def gallery_chunks(catalog: Catalog, queries: np.ndarray, **common: np.ndarray) -> Iterator[bytes]:
    """The chunks of a plan: what is common to all units, then each unit."""
    item = catalog.item_codes[1]
    yield arrays(queries=queries, items=item[queries], **common)
    for rows in whole_items(catalog, UNIT):
        yield arrays(rows=rows, items=item[rows])


def read_part(plan: Packed, unit: int) -> GalleryPart:
    """The part of a unit, with the queries of the plan."""
    common, part = read_arrays(plan.chunk(0)), read_arrays(plan.chunk(COMMON + unit))
    items = strings(map(str, np.concatenate([common["items"], part["items"]]).tolist()))
    count, place = len(common["queries"]), np.concatenate([common["queries"], part["rows"]])
    none, zero = np.full(len(items), "", object), np.zeros(len(items), np.int64)
    images = strings(map(str, range(len(items))))
    both = np.full(len(items), "both", object)
    catalog = Catalog(images, images, items, none, both, none, place, none, zero, zero)
    return GalleryPart(catalog, place, np.arange(count), np.arange(count, len(items)))


def source_of(plan: Packed, encoder: str, place: np.ndarray) -> Source:
    """The vectors of an encoder where the plan says, if they are those of the plan."""
    folder = Path(plan.header["reads"]) / encoder
    manifest = read_manifest(folder)
    if manifest.sum != plan.header["encoders"][encoder] or manifest.images != plan.header["images"]:
        raise EmbeddingsError(
            f"The vectors of {encoder} changed after the plan.", fix="Plan again into another folder."
        )
    return Source(open_vectors(folder, manifest), place)


def require_same(workspace: Workspace, plan: Packed) -> None:
    """Raise EmbeddingsError if the catalog is not that of the plan."""
    if workspace.catalog.images_fingerprint != plan.header["images"]:
        raise EmbeddingsError("The catalog changed after the plan.", fix="Plan again into another folder.")
