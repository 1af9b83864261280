"""What a reader found, before photos are checked and splits are drawn."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lookalike.core.types import NO_COLUMNS, LeftOut


@dataclass(frozen=True, eq=False)
class Rows:
    """One row per image named by a source. Text columns are object arrays of `str`, all of one length.

    A blank `split` is yet to be drawn. `position` counts the source's rows from 0, those of `left_out`
    included. `root` is the folder that `path` is relative to, None where there are no photos to read.
    `notes` are sentences that say how the source was understood.
    """

    image: np.ndarray
    path: np.ndarray
    item: np.ndarray
    category: np.ndarray
    role: np.ndarray
    split: np.ndarray
    position: np.ndarray
    source: str
    root: Path | None
    columns: Mapping[str, np.ndarray] = field(default_factory=lambda: NO_COLUMNS)
    left_out: tuple[LeftOut, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.image)
