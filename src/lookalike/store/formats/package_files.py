"""Packages: a folder that is put in its place as a whole, or a zip file that depends on its content only."""

import hashlib
import os
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lookalike.core.errors import ArgumentError
from lookalike.store.disk import disk_errors, placing, take_place

MANIFEST, SUMS = "manifest.json", "SHA256SUMS"
FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # the earliest time a zip file can hold
PACKED = (".jpg", ".parquet")  # these do not get smaller


def is_zip(path: Path) -> bool:
    """Whether a package of this name is one file."""
    return path.suffix.lower() == ".zip"


def require_free(path: Path, replace: bool) -> None:
    """Raise ArgumentError if a path exists, unless it is a package and `replace` is set."""
    if not path.exists():
        return
    ours = (path.is_file() and is_zip(path)) if is_zip(path) else (path / MANIFEST).is_file()
    if not (replace and ours):
        raise ArgumentError(
            f"{path} exists{'' if ours else ' and is not a package'}.",
            fix="Overwrite it with --force, or choose another path." if ours else "Choose another path.",
        )


@contextmanager
def filling(path: Path) -> Iterator[Path]:
    """A folder to fill. At the end it gets checksums and moves to its place; after an error it is deleted."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.folder.new")
    with disk_errors(f"writing {path.name}", path):
        shutil.rmtree(temporary, ignore_errors=True)
        try:
            temporary.mkdir(parents=True)
            yield temporary
            _write_sums(temporary)
            if is_zip(path):
                with placing(path) as packed:
                    _zip(temporary, packed)
            else:
                take_place(temporary, path)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


def files_of(folder: Path) -> list[Path]:
    """All files of a folder, in the order of their names."""
    return sorted((path for path in folder.rglob("*") if path.is_file()), key=lambda path: path.as_posix())


def _write_sums(folder: Path) -> None:
    lines = []
    for path in files_of(folder):
        with path.open("rb") as file:
            total = hashlib.file_digest(file, "sha256").hexdigest()
        lines.append(f"{total}  {path.relative_to(folder).as_posix()}\n")
    (folder / SUMS).write_text("".join(lines), encoding="utf-8")


def _zip(folder: Path, target: Path) -> None:
    with zipfile.ZipFile(target, "w", allowZip64=True) as packed:
        for path in files_of(folder):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix(), FIRST_DAY)
            entry.compress_type = zipfile.ZIP_STORED if path.suffix in PACKED else zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            entry.create_system = 3
            entry.file_size = path.stat().st_size
            with packed.open(entry, "w") as inside, path.open("rb") as file:
                shutil.copyfileobj(file, inside, 1 << 20)
