"""A workspace from Python, to read: the values that commands made, for the functions of this package.

shop = lookalike.open_workspace("shop")
lookalike.score(shop.catalog, [shop.embeddings["hog"]], shop.labels, "EHR@5")
lookalike.to_frame(shop.catalog).filter(polars.col("split") == "test")
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lookalike.core.types import CATALOG_NUMBERS, CATALOG_TEXTS, SPLITS, Catalog, Embeddings, Labels, Pool
from lookalike.store.sql.schema import MAIN_POOL
from lookalike.store.workspace import Workspace

if TYPE_CHECKING:
    import polars


class OpenWorkspace:
    """A workspace to read. `catalog` and `splits` are read once; labels, pool and embeddings at each access.

    `splits` has the image ids of each split, `embeddings` the vectors by the name of their encoder. `pool` is None
    before `lookalike discover`.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self.catalog: Catalog = workspace.catalog
        self.splits: Mapping[str, np.ndarray] = {
            split: self.catalog.image[self.catalog.split == split] for split in SPLITS
        }
        self.embeddings: Mapping[str, Embeddings] = EmbeddingsByName(workspace)

    @property
    def labels(self) -> Labels:
        """All labels, those of finished votes included."""
        return self._workspace.labels()

    @property
    def pool(self) -> Pool | None:
        """The pairs that `discover` selected."""
        return self._workspace.pool()


class EmbeddingsByName(Mapping[str, Embeddings]):
    """The vectors of a workspace by the name of their encoder, read from disk at each access."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def __getitem__(self, name: str) -> Embeddings:
        return self._workspace.embeddings(name)

    def __contains__(self, name: object) -> bool:
        return name in self._workspace.encoders

    def __iter__(self) -> Iterator[str]:
        return iter(self._workspace.encoders)

    def __len__(self) -> int:
        return len(self._workspace.encoders)


def open_workspace(path: str | os.PathLike[str], *, pool: str = MAIN_POOL) -> OpenWorkspace:
    """Open the workspace in a folder to read its catalog, labels, pool, embeddings and splits.

    `pool` names one of several pools; then the labels are those of its queries.
    """
    return OpenWorkspace(Workspace(Path(path), pool=pool))


def to_frame(catalog: Catalog) -> "polars.DataFrame":
    """A catalog as a polars frame, one row per image; a column of the table called like one of these gets a suffix.

    >>> import lookalike
    >>> frame = to_frame(lookalike.read_catalog({"image": ["a", "b"], "width": ["20 cm", "30 cm"]}))
    >>> frame["image"].to_list(), frame["width (table)"].to_list()
    (['a', 'b'], ['20 cm', '30 cm'])
    """
    import polars

    own = {name: getattr(catalog, name).tolist() for name in (*CATALOG_TEXTS, *CATALOG_NUMBERS, "duplicate")}
    others = {
        f"{name} (table)" if name in own else name: values.tolist()
        for name, values in catalog.columns.items()
    }
    return polars.DataFrame(own | others)
