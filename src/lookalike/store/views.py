"""Vectors of augmented views: `views/ENCODER/N`, each kept as an encoder's vectors are."""

import shutil
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from lookalike.core.errors import EmbeddingsError
from lookalike.core.types import Catalog, Origin
from lookalike.encode.run import Known
from lookalike.store.arrays import (
    Shards,
    images_fingerprint,
    known_rows,
    load_embeddings,
    manifest_of,
    read_manifest,
)
from lookalike.store.disk import disk_errors


class Views:
    """The views of one encoder. They are no encoder of the workspace, and go when its vectors are removed."""

    def __init__(self, folder: Path, catalog: Catalog) -> None:
        self.folder, self.catalog = folder, catalog

    def vectors(self, view: int, origin: Origin) -> np.ndarray | None:
        """A view's vectors, memory-mapped; None unless they are of this origin and the catalog as it is now.

        They may have been computed in another precision.
        """
        try:
            manifest = read_manifest(self._place(view))
            if replace(manifest.origin, precision="") != replace(origin, precision=""):
                return None
            return load_embeddings(self._place(view), self.catalog).vectors
        except EmbeddingsError:  # not there, stale or damaged: it is made again
            return None

    def known(self, view: int, origin: Origin) -> Known | None:
        """Vectors that need not be computed again, of an earlier state of the catalog."""
        return known_rows(self._place(view), self.catalog, origin)

    def shards(self, view: int, origin: Origin) -> Shards:
        """A view's vectors under construction, with the shards that an earlier run finished."""
        with disk_errors("making the folder for views", self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        key: Mapping[str, str] = {**asdict(origin), "images": images_fingerprint(self.catalog)}
        return Shards(self._place(view), self.catalog, key)

    def finish(self, shards: Shards, origin: Origin) -> None:
        """Put a view's finished vectors in their place."""
        shards.finish(manifest_of(self.catalog, origin, shards.dimension))

    def remove(self) -> int:
        """Delete all views, finished or not; returns how many bytes they took."""
        if not self.folder.is_dir():
            return 0
        with disk_errors("removing the views", self.folder):
            size = sum(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
            shutil.rmtree(self.folder)
        return size

    def _place(self, view: int) -> Path:
        return self.folder / str(view)
