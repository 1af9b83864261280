"""Files of encoders that have an address of an object store: each is copied once into a folder of the user.

    $XDG_CACHE_HOME/lookalike/models/KEY/NAME      by default ~/.cache/lookalike/models

The key is a hash of the address and of what the store says of the content (size, ETag). A file that changed at its
address gets another key, so it is copied again.
"""

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from lookalike.core.checks import fingerprint
from lookalike.core.errors import EncoderError, StorageError
from lookalike.core.object_store import ATTEMPTS, ObjectStore, Version, is_address
from lookalike.core.progress import Progress, shown_bar
from lookalike.core.text import megabytes

MOST_FILES = 64  # of the folder of a network: one with more is something else
MEGABYTE = 10**6


def user_cache() -> Path:
    """The folder in which programs of this user keep copies."""
    return Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()


def fetched_file(address: str, label: str, beside: Sequence[str] = ()) -> Path:
    """The copy of a file, in one folder with those of `beside` that the store has. `label` is its name in errors."""
    above, _, name = address.rpartition("/")
    if not is_address(above):
        raise EncoderError(
            f"{label}: {address} names no file.",
            fix="Write its whole address, such as s3://bucket/models/mine.safetensors.",
        )
    return fetched_folder(above, label, (name, *beside)) / name


def fetched_folder(address: str, label: str, names: Sequence[str] = ()) -> Path:
    """A folder with the copies of some files, all by default. The first of the names must exist."""
    try:
        store = ObjectStore(address)
        for _ in range(ATTEMPTS):
            files = _versions(store, names or _all(store))
            folder = user_cache() / "lookalike/models" / fingerprint([store.name, *map(str, files.items())])
            if all([_copy(store, name, version, folder) for name, version in files.items()]):
                return folder
    except StorageError as error:
        raise EncoderError(f"{label}: {error.problem}", fix=error.fix) from None
    raise EncoderError(
        f"{label}: {address} changes while it is copied.",
        fix="Wait until its upload is complete, then run this again.",
    )


def _all(store: ObjectStore) -> tuple[str, ...]:
    found = sorted(islice(store.names(), MOST_FILES + 1))
    if len(found) > MOST_FILES:
        raise StorageError(
            f"{store.name} has more than {MOST_FILES} files, so it is not the folder of one network.",
            fix="Give the address of the folder with the configuration and the weights of the network.",
        )
    if not found:
        raise _missing(store.name)
    return tuple(found)


def _versions(store: ObjectStore, names: Sequence[str]) -> dict[str, Version]:
    found = {name: version for name in names if (version := store.version(name)) is not None}
    if names[0] not in found:
        raise _missing(f"{store.name}/{names[0]}")
    return found


def _missing(address: str) -> StorageError:
    return StorageError(
        f"There is no file at {address}.",
        fix="Check the address, and that your credentials may read it.",
    )


def _copy(store: ObjectStore, name: str, version: Version, folder: Path) -> bool:
    """Copy a file under a temporary name and rename it, unless it is there. False if it changed in the meantime.

    Of several processes that need a file, one copies it and the others wait.
    """
    target, temporary = folder / name, folder / f".{name}.part"
    with _disk_errors(folder, version.size):
        if _is_whole(target, version):
            return True
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with temporary.open("ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            if _is_whole(target, version):  # another process copied it
                temporary.unlink(missing_ok=True)
                return True
            with shown_bar(f"Copying {name} (MB)") as progress:
                _fill(file, store.pieces(name, version.size), version.size, progress)
            if store.version(name) != version:
                os.ftruncate(file.fileno(), 0)
                return False
            temporary.replace(target)
    return True


def _is_whole(target: Path, version: Version) -> bool:
    return target.is_file() and target.stat().st_size == version.size


def _fill(file: BinaryIO, pieces: Iterator[bytes], size: int, progress: Progress | None) -> None:
    """Write the pieces and flush them to the disk. After an error the file takes no space."""
    done = 0
    os.ftruncate(file.fileno(), 0)  # what a killed process left
    try:
        for piece in pieces:
            file.write(piece)
            done += len(piece)
            if progress:
                progress(done // MEGABYTE, size // MEGABYTE)
        file.flush()
        os.fsync(file.fileno())
    except BaseException:
        os.ftruncate(file.fileno(), 0)
        raise


@contextmanager
def _disk_errors(folder: Path, size: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise StorageError(
            f"The copy cannot be written into {folder}: {error.strerror or error}.",
            fix=f"Set XDG_CACHE_HOME to a folder that you may write to, with {megabytes(size)} of free space.",
        ) from None
