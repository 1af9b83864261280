"""Maps on disk: `maps/ENCODER.npz`, coordinates of images by the content of their photos, with their origin."""

import io
import json
from dataclasses import asdict, dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
from jaxtyping import Bool, Float32, UInt8

from lookalike.core.types import Origin
from lookalike.store.disk import disk_errors, make_folder, write_file

MAPS = "maps"


@dataclass(frozen=True, eq=False)
class StoredMap:
    """Coordinates of images. `key` identifies what each vector depends on (`row_keys`), `origin` the encoder.

    `placed` are images that were added later and placed by their neighbours.
    """

    origin: Origin
    method: str
    seed: int
    created: str
    key: UInt8[np.ndarray, "images 16"]
    places: Float32[np.ndarray, "images 2"]
    placed: Bool[np.ndarray, " images"]

    def write(self, folder: Path, encoder: str) -> None:
        """Write the map of an encoder of the workspace in a folder, replacing an earlier one."""
        head = {
            "origin": asdict(self.origin),
            "method": self.method,
            "seed": self.seed,
            "created": self.created,
        }
        content = io.BytesIO()
        arrays = {name: getattr(self, name) for name in ("key", "places", "placed")}
        np.savez(content, head=np.array(json.dumps(head)), **arrays)
        with disk_errors("writing the map", folder / MAPS):
            make_folder(folder / MAPS)
            write_file(map_file(folder, encoder), content.getvalue())


def map_file(folder: Path, encoder: str) -> Path:
    """The file of an encoder's map, which may not be there."""
    return folder / MAPS / f"{encoder}.npz"


def read_map(folder: Path, encoder: str) -> StoredMap | None:
    """The map of an encoder; None if there is none or it is damaged. A map can always be computed again."""
    try:
        content = io.BytesIO(map_file(folder, encoder).read_bytes())
        with np.load(content, allow_pickle=False) as file:
            head = json.loads(str(file["head"]))
            origin = Origin(**head.pop("origin"))
            arrays = {name: file[name] for name in ("key", "places", "placed")}
        found = StoredMap(origin, **head, **arrays)
        whole = found.key.shape == (len(found.placed), 16) and found.places.shape == (len(found.placed), 2)
        return found if whole and np.isfinite(found.places).all() else None
    except (OSError, ValueError, TypeError, KeyError, EOFError, BadZipFile):
        return None
