"""What a reader found, before photos are checked and splits are drawn."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float

from lookalike.catalog.photos.boxes import CORNERS
from lookalike.core.types import Catalog


@dataclass(frozen=True, eq=False)
class Rows(Catalog):
    """A catalog whose photos are not checked (see `unchecked`) and whose blank splits are yet to be drawn.

    `position` counts the source's rows from 0, those of `left_out` included. `root` is the folder that `path` is
    relative to, None where there are no photos to read. `notes` are sentences that say how the source was understood,
    `warnings` why it may be the wrong one. `boxes` are four numbers for each image (NaN: the whole photo) in one of
    `box_orders`, of which the first is documented. `masks` are paths as `path` is, "" for none.
    `labels` are files of labels, or columns query, candidate and label. Rows of one `together` are kept in one split.
    """

    source: str = ""
    root: Path | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    boxes: Float[np.ndarray, "images 4"] | None = None
    box_orders: tuple[str, ...] = (CORNERS,)
    masks: np.ndarray | None = None
    labels: tuple[object, ...] = ()
    together: np.ndarray | None = None


def unchecked(count: int) -> dict[str, Any]:
    """The columns of photos that were not checked, by name."""
    none = np.zeros(count, np.int64)
    return {"digest": np.full(count, "", object), "width": none, "height": none}
