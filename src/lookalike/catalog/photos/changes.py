"""Whether a catalog's photos are still the ones it was made of."""

import hashlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from lookalike.core.cores import cores
from lookalike.core.parallel import in_order
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog

REFRESH = "lookalike catalog refresh"
REFRESH_MOVED = f"{REFRESH} --photos NEW_FOLDER"
THERE, GONE, CHANGED = "", "no longer there", "changed since the catalog was made"


def refresh_command(root: Path | None, missing: int = 0, checked: int = 1) -> str:
    """The command for missing photos: with the new folder if the old one is gone, or has none of them."""
    return REFRESH_MOVED if root is not None and (missing == checked or not root.is_dir()) else REFRESH


def wrong_photos(
    catalog: Catalog, root: Path, *, read: bool = False, progress: Progress | None = None
) -> dict[str, list[str]]:
    """Images by what is wrong with their photos; with `read`, their contents are compared as well.

    Costs one look into a folder per photo, with `read` the whole file.
    """
    wrong: dict[str, list[str]] = {}
    look: Callable[[Path, str], str] = compared if read else _found
    with ThreadPoolExecutor(2 * cores()) as pool:
        found = in_order(
            pool, lambda row: look(root / catalog.path[row], catalog.digest[row]), range(len(catalog))
        )
        for done, (image, what) in enumerate(zip(catalog.image, found, strict=True), 1):
            if what:
                wrong.setdefault(what, []).append(image)
            if progress:
                progress(done, len(catalog))
    return wrong


def compared(path: Path, digest: str) -> str:
    """What is wrong with one photo's file, "" if nothing is."""
    try:
        with path.open("rb") as file:
            same = not digest or hashlib.file_digest(file, "sha256").hexdigest() == digest
    except OSError:
        return GONE
    return THERE if same else CHANGED


def _found(path: Path, _: str) -> str:
    return THERE if path.is_file() else GONE
