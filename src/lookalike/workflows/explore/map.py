"""The map of a catalog: coordinates of all images by one encoder, stored, with what is stale."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from jaxtyping import Float32

from lookalike.core.text import percent, plural
from lookalike.search.plane import by_neighbours, in_plane
from lookalike.store.vectors.arrays import row_keys
from lookalike.store.vectors.maps import StoredMap, read_map
from lookalike.store.workspace import Workspace

MANY = 0.2  # share of images placed by neighbours from which a new map is advised


@dataclass(frozen=True, eq=False)
class CatalogMap:
    """Coordinates of the catalog's images, in catalog order; `placed` of them were placed by their neighbours."""

    encoder: str
    method: str
    seed: int
    created: str
    placed: int
    places: Float32[np.ndarray, "images 2"]

    @property
    def is_stale(self) -> bool:
        """Whether so many images were added since that the map should be computed again."""
        return self.placed > MANY * len(self.places)

    @property
    def state(self) -> str:
        """How the coordinates were made, and how current they are, in a sentence."""
        made = f"{self.method.upper()} of {self.encoder}, computed {self.created}"
        if not self.placed:
            return f"{made}."
        share = percent(self.placed / len(self.places))
        return f"{made}. {plural(self.placed, 'image')} ({share}) added since: placed by neighbours."


def make_map(workspace: Workspace, encoder: str, method: str = "pca", seed: int = 0) -> CatalogMap:
    """Compute the coordinates of all images, and store them."""
    vectors, origin = workspace.embeddings(encoder).vectors, workspace.manifest(encoder).origin
    places = in_plane(vectors, method, seed)
    created = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    key = row_keys(workspace.catalog, origin.spec)
    made = StoredMap(origin, method, seed, created, key, places, np.zeros(len(places), bool))
    made.write(workspace.folder, encoder)
    return _of(encoder, made)


def open_map(workspace: Workspace, encoder: str) -> CatalogMap | None:
    """The stored map for the catalog as it is now; None without one of this encoder's vectors.

    Images that the map does not have are placed by their neighbours, once: the stored map then has them too.
    """
    stored, origin = read_map(workspace.folder, encoder), workspace.manifest(encoder).origin
    if stored is None or stored.origin != origin or not len(stored.key):
        return None
    key = row_keys(workspace.catalog, origin.spec)
    if not np.array_equal(key, stored.key):
        stored = _current(workspace, encoder, stored, key)
        if stored is None:
            return None
        stored.write(workspace.folder, encoder)
    return _of(encoder, stored)


def make_map_beside(folder: Path, encoder: str, method: str) -> None:
    """The same as `make_map`, in another process. It keeps coordinates that are there when PCA is requested."""
    workspace = Workspace(folder)
    if method != "pca" or open_map(workspace, encoder) is None:
        make_map(workspace, encoder, method, workspace.settings.seed)


def _current(workspace: Workspace, encoder: str, stored: StoredMap, key: np.ndarray) -> StoredMap | None:
    """The map of the catalog as it is now; None if none of its images were on the map."""
    row_of = {one.tobytes(): row for row, one in enumerate(stored.key)}
    row = np.fromiter((row_of.get(one.tobytes(), -1) for one in key), np.int64, len(key))
    new, known = np.flatnonzero(row < 0), np.flatnonzero(row >= 0)
    if not len(known):
        return None
    places = stored.places[row]
    if len(new):
        vectors = workspace.embeddings(encoder).vectors
        places[new] = by_neighbours(vectors[new], vectors[known], places[known])
    placed = np.where(row < 0, True, stored.placed[row])
    return StoredMap(stored.origin, stored.method, stored.seed, stored.created, key, places, placed)


def _of(encoder: str, stored: StoredMap) -> CatalogMap:
    made = (stored.method, stored.seed, stored.created)
    return CatalogMap(encoder, *made, int(stored.placed.sum()), stored.places)
