"""Photos of an object store: copied into the workspace once, because pages and encoders read them many times."""

import hashlib
import os
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from lookalike.catalog.photos.check import within
from lookalike.catalog.readers.walk import ENDINGS, TABLES, walk
from lookalike.core.errors import ArgumentError, CatalogError
from lookalike.core.object_store import ObjectStore, StoredFile, is_address
from lookalike.core.parallel import in_order
from lookalike.core.progress import shown_bar
from lookalike.store.disk import disk_errors, make_folder

COPIES = "photo-copies"
AT_ONCE = 32  # photos that are read at the same time


def local(source: Path | str, images: Path | str | None, workspace: Path) -> tuple[Path, Path | None, str]:
    """A source and the folder of its photos on this machine, and the address that the photos were copied from ("")."""
    text = str(source)
    if is_address(text):
        if os.path.splitext(text)[1].lower() in TABLES:
            raise ArgumentError(
                f"{text} is the address of a table. A table must be a file on this machine.",
                fix="Copy it, and give the address of its photos: lookalike init TABLE --images ADDRESS",
            )
        return copy_photos(text, workspace), None if images is None else Path(images), text
    if images is not None and is_address(str(images)):
        return Path(source), copy_photos(str(images), workspace), str(images)
    return Path(source), None if images is None else Path(images), ""


def copy_photos(address: str, workspace: Path) -> Path:
    """Bring the copy of the photos at an address up to date, and return its folder.

    Only photos that are new or were written since are copied. Copies of photos that the store no longer has are
    deleted. A copy that was stopped continues.
    """
    store, folder = ObjectStore(address), copy_folder(address, workspace)
    listed = set[str]()

    def photos() -> Iterator[StoredFile]:
        for one in store.tree():
            if _is_photo(one.name):
                listed.add(one.name)
                yield one

    with shown_bar("Copying photos") as progress, ThreadPoolExecutor(AT_ONCE) as pool:
        for done, _ in enumerate(in_order(pool, partial(_copy, store, folder), photos()), 1):
            if progress:
                progress(done, len(listed))
    if not listed:
        raise CatalogError(
            f"{address} holds no photos.",
            fix=f"Give the address of a folder with files ending in {', '.join(sorted(ENDINGS))}.",
        )
    for name in walk(folder).photos:
        if name not in listed:
            (folder / name).unlink()
    return folder


def copy_folder(address: str, workspace: Path) -> Path:
    """The folder of the copies of an address.

    >>> copy_folder("s3://shop/photos/", Path("w")).as_posix()
    'w/photo-copies/shop-photos-db79cee1'
    """
    name = address.split("://", 1)[1].strip("/")
    digest = hashlib.sha256(address.rstrip("/").encode()).hexdigest()
    return workspace / COPIES / f"{re.sub(r'[^A-Za-z0-9.]+', '-', name)}-{digest[:8]}"


def _is_photo(name: str) -> bool:
    """Whether the name ends like a photo's, is not hidden, and leads to no other folder."""
    ending = os.path.splitext(name)[1].lower()
    hidden = any(part.startswith(".") for part in name.split("/"))
    return ending in ENDINGS and not hidden and within(name, os.sep) == name


def _copy(store: ObjectStore, folder: Path, one: StoredFile) -> None:
    """Copy a photo, unless the copy is of this size and time."""
    path = folder / one.name
    with disk_errors("copying a photo", path):
        if path.is_file():
            there = path.stat()
            if there.st_size == one.size and there.st_mtime == one.modified:
                return
    content = store.read(one.name, 0, one.size) if one.size else b""
    begun = path.with_name(f".{path.name}.part")
    with disk_errors("copying a photo", path):
        make_folder(path.parent)
        begun.write_bytes(content)
        if one.modified == one.modified:
            os.utime(begun, (one.modified, one.modified))
        begun.replace(path)
