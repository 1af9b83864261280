"""`studio`: the generated catalog as a folder of photos, and what it claims of itself."""

import json
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path

import numpy as np
from PIL import Image

from lookalike.catalog.studio import (
    ExpertClaims,
    Studio,
    TruthClaims,
    expert_claims,
    truth_claims,
    write_photos,
)
from lookalike.catalog.studio.attributes import KINDS
from lookalike.catalog.studio.photos import cores
from lookalike.core.checks import fingerprint
from lookalike.core.errors import ArgumentError, StorageError
from lookalike.core.progress import Progress
from lookalike.store.disk import disk_errors, write_file

MARK = ".studio.json"
"""The file by which a folder is known as this command's own. Hidden, so that no reader takes it for a photo."""
_TRIED = 8
_BLOCK = 4096


@dataclass(frozen=True)
class Estimate:
    """What drawing will take: how many photos, seconds on this machine's cores, bytes on its disk."""

    photos: int
    seconds: float
    bytes: int


@dataclass(frozen=True)
class Written:
    """What drawing took: photos drawn now, photos that were there already, seconds."""

    drawn: int
    kept: int
    seconds: float


@dataclass(frozen=True)
class Claims:
    """What a studio says of its truth and of its experts."""

    truth: TruthClaims
    experts: ExpertClaims


def write_studio(
    folder: Path,
    drawn: Studio,
    *,
    size: int = 160,
    replace: bool = False,
    before: Callable[[Estimate], None] | None = None,
    progress: Progress | None = None,
) -> Written:
    """Draw the photos of a studio into `category/item/photo.png` below a folder.

    Each file appears whole or not at all, and photos that are there are not drawn again, so a run that was stopped goes
    on where it was. A folder that holds anything else is refused; one that holds another studio is refused too, unless
    `replace`. `before` is called with the estimate, once it is known that the disk has room for it.
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
    return Written(len(rows), len(drawn) - len(rows), time.monotonic() - started)


def estimate(drawn: Studio, rows: np.ndarray, size: int) -> Estimate:
    """What it takes to draw these rows, from drawing a few of them."""
    tried = rows[np.linspace(0, len(rows) - 1, min(_TRIED, len(rows))).astype(np.int64)].tolist()
    drawn.draw(tried[0], size)  # compiled before the clock runs
    started, room = time.perf_counter(), 0
    for row in tried:
        file = BytesIO()
        Image.fromarray(drawn.draw(row, size)).save(file, format="PNG", compress_level=4)
        room += -(-file.tell() // _BLOCK) * _BLOCK  # a disk hands out whole blocks
    each = (time.perf_counter() - started) / len(tried)
    return Estimate(len(rows), each * len(rows) / cores(), room * len(rows) // len(tried))


def claims(drawn: Studio, *, progress: Progress | None = None) -> Claims:
    """The claims of `catalog.studio.claims` for one studio."""
    truth = truth_claims(drawn)
    if progress is not None:
        progress(1, 2)
    return Claims(truth, expert_claims(drawn))


def is_studio(folder: Path) -> bool:
    """Whether a folder was made by `write_studio`."""
    return (folder / MARK).is_file()


def _mark(drawn: Studio, size: int) -> dict[str, int | str]:
    """What tells one studio from another: its arguments, and how some of its photos look with this version."""
    rows = np.linspace(0, len(drawn) - 1, _TRIED).astype(np.int64).tolist()
    looks = fingerprint(drawn.draw(row, 24).tobytes().hex() for row in rows)
    return {
        "images": len(drawn),
        "photos_per_item": drawn.photos_per_item,
        "seed": drawn.seed,
        "size": size,
        "looks": looks,
    }


def _claim(folder: Path, mark: dict[str, int | str], *, replace: bool) -> bool:
    """Make the folder this studio's own, or refuse. True if there is no photo in it yet."""
    if folder.exists() and not folder.is_dir():
        raise ArgumentError(f"{folder} is a file, not a folder.", fix="Name a folder that is new or empty.")
    with disk_errors("making the folder", folder):
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = f".{MARK}."  # what a killed run may leave of the mark
        empty = all(entry.name.startswith(unfinished) for entry in folder.iterdir())
    if not empty and not is_studio(folder):
        raise ArgumentError(
            f"{folder} is not empty and holds no studio catalog; nothing was written.",
            fix="Name a folder that is new or empty.",
        )
    held = None if empty else _read_mark(folder)
    if held == mark:
        return False
    if held is not None:
        if not replace:
            raise ArgumentError(
                f"{folder} holds another studio catalog ({_said(held)}); nothing was written.",
                fix="Name another folder, or remove this one first.",
            )
        with disk_errors("removing the old photos", folder):
            for kind in KINDS:
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


def _said(mark: dict[str, int | str]) -> str:
    known = [f"{name} {mark[name]}" for name in ("images", "photos_per_item", "seed", "size") if name in mark]
    return ", ".join(known) + ", or drawn by another version" if known else "its record cannot be read"


def _require_room(folder: Path, expected: Estimate) -> None:
    with disk_errors("looking for free space", folder):
        free = shutil.disk_usage(folder).free
    if expected.bytes > free:
        raise StorageError(
            f"{expected.photos:,} photos need about {expected.bytes / 1e6:,.0f} MB; "
            f"the disk of {folder} has {free / 1e6:,.0f} MB left.",
            fix="Ask for fewer images or smaller ones, or name a folder on another disk.",
        )
