"""Vectors of augmented views: `views/ENCODER/N`, each kept as an encoder's vectors are."""

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np

from lookalike.core.errors import EmbeddingsError
from lookalike.core.types import Catalog, Origin
from lookalike.encode.run import KnownVectors
from lookalike.store.disk import disk_errors
from lookalike.store.vectors.arrays import (
    Shards,
    known_rows,
    load_embeddings,
    read_manifest,
)


class StoredViews:
    """The views of one encoder. They are not vectors of the workspace, and are removed with those of the encoder."""

    def __init__(self, folder: Path, catalog: Catalog) -> None:
        self.folder, self.catalog = folder, catalog

    def vectors(self, view: int, origin: Origin) -> np.ndarray | None:
        """The vectors of a view, memory-mapped. None unless they have this origin and match the catalog.

        Their precision may be another one.
        """
        try:
            manifest = read_manifest(self._place(view))
            if replace(manifest.origin, precision="") != replace(origin, precision=""):
                return None
            return load_embeddings(self._place(view), self.catalog).vectors
        except EmbeddingsError:  # missing, stale or damaged: they are computed again
            return None

    def known(self, view: int, origin: Origin) -> KnownVectors | None:
        """Vectors that need not be computed again, of an earlier state of the catalog."""
        return known_rows(self._place(view), self.catalog, origin)

    def shards(self, view: int, origin: Origin) -> Shards:
        """A view's vectors under construction, with the shards that an earlier run finished."""
        with disk_errors("making the folder for views", self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        return Shards(self._place(view), self.catalog, origin)

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
