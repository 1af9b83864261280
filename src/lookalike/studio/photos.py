"""Writing a studio's photos to a folder, and showing some of them at once."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image

from lookalike.core.checks import at_least
from lookalike.core.cores import cores
from lookalike.core.errors import StorageError
from lookalike.core.parallel import in_order
from lookalike.core.progress import Progress
from lookalike.studio.items import Studio

_CHUNK = 16
_PAPER = (250, 248, 245)


def write_photos(
    studio: Studio,
    folder: Path | str,
    *,
    rows: Sequence[int] | np.ndarray | None = None,
    size: int = 160,
    progress: Progress | None = None,
    workers: int | None = None,
    masks: bool = False,
) -> None:
    """Draw photos (by default all) and write each as a PNG file at its path below the folder.

    A file appears whole or not at all: it is written under another name and then renamed. `progress(done, total)`
    is called from the calling thread as files are written. Drawing runs outside the interpreter's lock, so
    `workers` threads (by default one for each core) keep as many cores busy. With `masks`, the masks of the photos are
    written instead.
    """
    wanted = np.arange(len(studio)) if rows is None else np.asarray(rows)
    workers = cores() if workers is None else at_least(workers, 1, "workers")
    if len(wanted):
        studio.draw(int(wanted[0]), at_least(size, 1, "size"))  # compiled once, before the threads ask for it
    chunks = [wanted[start : start + _CHUNK] for start in range(0, len(wanted), _CHUNK)]
    done = 0
    with ThreadPoolExecutor(workers) as pool:
        for written in in_order(pool, partial(_write, studio, Path(folder), size, masks), chunks):
            done += written
            if progress is not None:
                progress(done, len(wanted))


def contact_sheet(
    studio: Studio, *, columns: int = 10, rows: int = 6, size: int = 120, items: Sequence[int] | None = None
) -> Image.Image:
    """Photos on one sheet, those of an item side by side; by default of items spread evenly over the studio.

    >>> from lookalike.studio import studio
    >>> contact_sheet(studio(200), columns=4, rows=1, size=32).size
    (134, 36)
    """
    gap = max(2, size // 30)
    per_item = min(studio.photos_per_item, at_least(columns, 1, "columns"))
    across = columns // per_item
    if items is None:
        whole = studio.images // studio.photos_per_item
        count = min(at_least(rows, 1, "rows") * across, whole)
        items = [place * whole // count for place in range(count)]
    lines = -(-len(items) // across)
    step = per_item * size + gap
    sheet = Image.new("RGB", (across * step + gap, lines * (size + gap) + gap), _PAPER)
    for place, item in enumerate(items):
        line, column = divmod(place, across)
        for photo in range(per_item):
            picture = Image.fromarray(studio.draw(item * studio.photos_per_item + photo, size))
            sheet.paste(picture, (gap + column * step + photo * size, gap + line * (size + gap)))
    return sheet


def _write(studio: Studio, folder: Path, size: int, masks: bool, rows: np.ndarray) -> int:
    for row in rows.tolist():
        path = folder / studio.image_name(row)
        picture = Image.fromarray(studio.mask(row, size) if masks else studio.draw(row, size))
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_name(f".{path.name}.unfinished")
            picture.save(unfinished, format="PNG", compress_level=4)
            unfinished.replace(path)
        except OSError as error:
            raise StorageError(
                f"{path} cannot be written: {error.strerror or error}.",
                fix="Free some space, or give a folder that you may write to.",
            ) from error
    return len(rows)
