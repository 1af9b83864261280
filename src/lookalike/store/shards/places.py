"""Folders of immutable files: on this machine, or in an object store by its address (fsspec)."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from lookalike.core.object_store import ObjectStore, is_address
from lookalike.store.disk import disk_errors, make_folder, sync_folder


class Place(Protocol):
    """A folder of files that are written once. `name` is its path or address, as a person gave it."""

    name: str

    def names(self) -> Iterator[str]:
        """The names of its files, in any order, not all held at once. A missing folder has none."""

    def size(self, name: str) -> int | None:
        """The bytes of a file; None if there is none of this name."""

    def read(self, name: str, first: int, last: int) -> bytes:
        """The bytes from first to last (excluded)."""

    def put(self, name: str, file: Path) -> bool:
        """Copy a file here, whole or not at all. False if there is one of this name, which stays."""


def place_at(address: str) -> Place:
    """The place at a path, or at an address such as s3://bucket/folder."""
    return ObjectStore(address) if is_address(address) else Folder(Path(address))


class Folder:
    """A folder of a file system, which several machines may share."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)

    def names(self) -> Iterator[str]:
        """The names of its files."""
        with disk_errors("listing the shards", self.path):
            if self.path.is_dir():
                yield from (entry.name for entry in os.scandir(self.path) if not entry.name.startswith("."))

    def size(self, name: str) -> int | None:
        """The bytes of a file."""
        with disk_errors(f"reading {name}", self.path):
            path = self.path / name
            return path.stat().st_size if path.is_file() else None

    def read(self, name: str, first: int, last: int) -> bytes:
        """The bytes from first to last."""
        with disk_errors(f"reading {name}", self.path), (self.path / name).open("rb") as file:
            file.seek(first)
            return file.read(last - first)

    def put(self, name: str, file: Path) -> bool:
        """Copy a file here under a temporary name, flush it, and give it its name unless that is taken."""
        target, temporary = self.path / name, self.path / f".{name}.{os.getpid()}.new"
        with disk_errors(f"writing {name}", self.path):
            make_folder(self.path)
            try:
                with file.open("rb") as source, temporary.open("wb") as copy:
                    while piece := source.read(1 << 22):
                        copy.write(piece)
                    copy.flush()
                    os.fsync(copy.fileno())
                os.link(temporary, target)  # fails where the name is taken, also by another machine
                sync_folder(self.path)
            except FileExistsError:
                return False
            finally:
                temporary.unlink(missing_ok=True)
        return True
