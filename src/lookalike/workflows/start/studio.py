"""`studio`: the photos of a generated catalog drawn into a folder, and its measured properties."""

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from lookalike.core.checks import fingerprint
from lookalike.core.errors import ArgumentError, StorageError
from lookalike.core.progress import Progress
from lookalike.store.disk import disk_errors, make_folder, write_file
from lookalike.store.formats.tables import write_table
from lookalike.studio import (
    ExpertClaims,
    Studio,
    TruthClaims,
    expert_claims,
    truth_claims,
    write_photos,
)
from lookalike.studio.attributes import KINDS

MARK = ".studio.json"
"""The hidden file that marks a folder as drawn by this command."""
MASKS, TABLE = ".masks", "catalog.csv"  # a folder that `init FOLDER` does not read as photos
_TRIED = 8
_BLOCK = 4096
_ARGUMENTS = ("images", "photos_per_item", "seed", "size")


@dataclass(frozen=True)
class DrawingCost:
    """The expected cost of drawing: photos, and bytes on disk."""

    photos: int
    bytes: int


@dataclass(frozen=True)
class DrawnPhotos:
    """Photos that were drawn, photos that were kept from an earlier run, and seconds."""

    drawn: int
    kept: int
    seconds: float


@dataclass(frozen=True)
class StudioSummary:
    """A generated catalog: its size, what was drawn where, and its claims; None for what was not requested."""

    images: int
    items: int
    photos_per_item: int
    seed: int
    folder: str | None = None
    drawn: int | None = None
    kept: int | None = None
    truth: TruthClaims | None = None
    experts: ExpertClaims | None = None


@dataclass(frozen=True)
class Claims:
    """The measured properties of a studio's ground truth and of its experts."""

    truth: TruthClaims
    experts: ExpertClaims


def write_studio(
    folder: Path,
    drawn: Studio,
    *,
    size: int = 160,
    replace: bool = False,
    before: Callable[[DrawingCost], None] | None = None,
    progress: Progress | None = None,
) -> DrawnPhotos:
    """Draw the photos of a studio into `category/item/photo.png` below a folder.

    Each file appears whole or not at all, and existing photos are not drawn again, so a stopped run can be resumed.
    A folder with anything else in it is refused. A folder with another studio is refused unless `replace`.
    `before` is called with the expected cost, after the check that the disk has room for it.
    """
    mark = _mark(drawn, size)
    fresh = _claim(folder, mark, replace=replace)
    rows = np.arange(len(drawn))
    if not fresh:
        rows = rows[[not (folder / drawn.image_name(row)).exists() for row in rows.tolist()]]
    if len(rows):
        expected = estimate(drawn, rows, size)
        _require_room(folder, expected)
        if before is not None:
            before(expected)
    started = time.monotonic()
    write_photos(drawn, folder, rows=rows, size=size, progress=progress)
    return DrawnPhotos(len(rows), len(drawn) - len(rows), time.monotonic() - started)


def write_masks(folder: Path, drawn: Studio, *, size: int = 160, progress: Progress | None = None) -> None:
    """The exact mask of every photo of a drawn studio, and a table that names photos, masks and boxes.

    Existing masks are not drawn again. A mask without a pixel, of a tiny photo, is left blank in the table.
    """
    names = [drawn.image_name(row) for row in range(len(drawn))]
    missing = [row for row, name in enumerate(names) if not (folder / MASKS / name).exists()]
    write_photos(drawn, folder / MASKS, rows=missing, size=size, progress=progress, masks=True)
    boxes = list[tuple[int, ...]]()
    for name in names:
        with Image.open(folder / MASKS / name) as mask:
            boxes.append(mask.getbbox() or ())
    catalog = drawn.catalog(size)
    columns: dict[str, list[str]] = {
        one: getattr(catalog, one).tolist() for one in ("image", "item", "category")
    }
    columns["mask"] = [f"{MASKS}/{name}" if box else "" for name, box in zip(names, boxes, strict=True)]
    for at, corner in enumerate(("x0", "y0", "x1", "y1")):
        columns[corner] = [str(box[at]) if box else "" for box in boxes]
    write_table(columns, folder / TABLE)


def estimate(drawn: Studio, rows: np.ndarray, size: int) -> DrawingCost:
    """The expected cost of drawing these rows, from drawing a few of them."""
    tried = rows[np.linspace(0, len(rows) - 1, min(_TRIED, len(rows))).astype(np.int64)].tolist()
    room = 0
    for row in tried:
        file = BytesIO()
        Image.fromarray(drawn.draw(row, size)).save(file, format="PNG", compress_level=4)
        room += -(-file.tell() // _BLOCK) * _BLOCK  # a disk hands out whole blocks
    return DrawingCost(len(rows), room * len(rows) // len(tried))


def claims(drawn: Studio, *, progress: Progress | None = None) -> Claims:
    """The claims of `lookalike.studio.claims` for one studio."""
    truth = truth_claims(drawn)
    if progress is not None:
        progress(1, 2)
    return Claims(truth, expert_claims(drawn))


def is_studio(folder: Path) -> bool:
    """Whether a folder was made by `write_studio`."""
    return (folder / MARK).is_file()


def _mark(drawn: Studio, size: int) -> dict[str, int | str]:
    """What distinguishes one studio from another: its arguments, and a hash of some photos drawn by this version."""
    rows = np.linspace(0, len(drawn) - 1, _TRIED).astype(np.int64).tolist()
    pixels = fingerprint(drawn.draw(row, 24).tobytes().hex() for row in rows)
    values = len(drawn), drawn.photos_per_item, drawn.seed, size, pixels
    return dict(zip((*_ARGUMENTS, "pixels"), values, strict=True))


def _claim(folder: Path, mark: dict[str, int | str], *, replace: bool) -> bool:
    """Mark the folder as this studio's, or refuse. True if there is no photo in it yet."""
    if folder.exists() and not folder.is_dir():
        raise ArgumentError(f"{folder} is a file, not a folder.", fix="Give a new or empty folder.")
    with disk_errors("making the folder", folder):
        make_folder(folder)
        unfinished = f".{MARK}."  # what a killed run may leave of the mark
        empty = all(entry.name.startswith(unfinished) for entry in folder.iterdir())
    if not empty and not is_studio(folder):
        raise ArgumentError(
            f"{folder} is not empty and holds no studio catalog. Nothing was written.",
            fix="Give a new or empty folder.",
        )
    held = None if empty else _read_mark(folder)
    if held == mark:
        return False
    if held is not None:
        if not replace:
            raise ArgumentError(
                f"{folder} holds another studio catalog ({_described(held)}); nothing was written.",
                fix="Give another folder, or remove this one first.",
            )
        with disk_errors("removing the old photos", folder):
            for kind in (*KINDS, MASKS):
                if (folder / kind).is_dir():
                    shutil.rmtree(folder / kind)
    write_file(folder / MARK, json.dumps(mark).encode())
    return True


def _read_mark(folder: Path) -> dict[str, int | str]:
    try:
        held = json.loads((folder / MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        held = None
    return held if isinstance(held, dict) else {}


def _described(mark: dict[str, int | str]) -> str:
    known = [f"{name} {mark[name]}" for name in _ARGUMENTS if name in mark]
    return ", ".join(known) + ", or drawn by another version" if known else "its record cannot be read"


def _require_room(folder: Path, expected: DrawingCost) -> None:
    with disk_errors("looking for free space", folder):
        free = shutil.disk_usage(folder).free
    if expected.bytes > free:
        raise StorageError(
            f"{expected.photos:,} photos need about {expected.bytes / 1e6:,.0f} MB; "
            f"the disk of {folder} has {free / 1e6:,.0f} MB left.",
            fix="Draw fewer images or smaller ones, or give a folder on another disk.",
        )
