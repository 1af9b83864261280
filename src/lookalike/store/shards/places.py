"""Folders of immutable files: on this machine, or in an object store by its address (fsspec)."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from lookalike.core.checks import install, not_installed
from lookalike.core.errors import LookalikeError, StorageError, first_line
from lookalike.store.disk import disk_errors, make_folder, sync_folder

REMOTE = re.compile(r"[a-z][a-z0-9+.-]+://")
SECRETS = re.compile(
    "SECRET|TOKEN|PASSWORD|ACCESS_KEY", re.IGNORECASE
)  # environment variables that hold credentials
DRIVERS = {"s3": "s3fs"}  # of the extra `storage`; other drivers of fsspec work where they are installed
LEAST_SECRET = 4  # characters; shorter values would hide ordinary words
ATTEMPTS = 2  # reads of a range: a store that answers with half of it is asked once more


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
    return ObjectStore(address) if REMOTE.match(address) else Folder(Path(address))


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


class ObjectStore:
    """A folder of an object store. Credentials come from where its driver looks for them, never from the address."""

    def __init__(self, address: str) -> None:
        self.name = address.rstrip("/")
        protocol, rest = address.split("://", 1)
        if "@" in rest.split("/", 1)[0]:
            raise StorageError(
                f"The address {protocol}://... contains credentials, which other users of this machine could see.",
                fix="Leave them out. Set them in environment variables or the configuration file of the store.",
            )
        missing = not_installed(["fsspec", *([DRIVERS[protocol]] if protocol in DRIVERS else [])])
        if missing:
            raise StorageError(
                f"{address} needs {missing[0]}, which is not installed.", fix=install("storage")
            )
        import fsspec

        with self._errors("opening"):
            self._files, self._folder = fsspec.core.url_to_fs(self.name, use_listings_cache=False)

    def names(self) -> Iterator[str]:
        """The names of its files, page by page as the store lists them."""
        with self._errors("listing"):
            for page in self._pages():
                yield from (key.rsplit("/", 1)[-1] for key in page)

    def size(self, name: str) -> int | None:
        """The bytes of a file."""
        with self._errors(f"reading {name}"):
            try:
                return int(self._files.info(f"{self._folder}/{name}")["size"])
            except FileNotFoundError:
                return None

    def read(self, name: str, first: int, last: int) -> bytes:
        """The bytes from first to last. A shorter answer is read once more, then refused."""
        for _ in range(ATTEMPTS):
            with self._errors(f"reading {name}"):
                found: bytes = self._files.cat_file(f"{self._folder}/{name}", start=first, end=last)
            if len(found) == last - first:
                return found
        raise StorageError(
            f"{self.name}/{name}: the object store answered with {len(found):,} of {last - first:,} bytes.",
            fix="Check the object store, then run the same command again.",
        )

    def put(self, name: str, file: Path) -> bool:
        """Upload a file, on the condition that there is none of this name."""
        with self._errors(f"writing {name}"):
            try:
                self._files.put_file(str(file), f"{self._folder}/{name}", mode="create")
            except OSError:  # which one says that the name is taken differs between drivers
                if self.size(name) is None:
                    raise
                return False
            return True

    def _pages(self) -> Iterator[list[str]]:
        """The keys of its files, in lists that the store chooses: S3 gives 1,000 at a time, other drivers all."""
        if not hasattr(self._files, "call_s3"):
            with suppress(FileNotFoundError):
                yield [
                    one["name"] for one in self._files.ls(self._folder, detail=True) if one["type"] == "file"
                ]
            return
        bucket, _, prefix = self._folder.partition("/")
        asked = {"Bucket": bucket, "Prefix": f"{prefix}/" if prefix else "", "Delimiter": "/"}
        while True:
            page = self._files.call_s3("list_objects_v2", **asked)
            yield [one["Key"] for one in page.get("Contents", ())]
            if not page.get("IsTruncated"):
                return
            asked["ContinuationToken"] = page["NextContinuationToken"]

    @contextmanager
    def _errors(self, doing: str) -> Iterator[None]:
        """Turn every error of the driver into one that a person can act on, without the credentials."""
        try:
            yield
        except LookalikeError:
            raise
        except PermissionError as error:
            raise StorageError(
                f"{self.name}: the object store refuses the credentials for {doing}: {masked(error)}.",
                fix="Check the credentials in the environment or in the store's configuration file, and their rights.",
            ) from None
        except FileNotFoundError:
            raise StorageError(
                f"{self.name}: {doing} failed, because it does not exist.",
                fix="Check the address. The bucket must exist.",
            ) from None
        except Exception as error:  # each driver has its own
            raise StorageError(
                f"{self.name}: {doing} failed: {type(error).__name__}: {masked(error)}.",
                fix="Check the address, the network and the credentials, then run the same command again.",
            ) from None


def masked(error: Exception) -> str:
    """The first line of an error, with `***` for the values of environment variables that hold credentials."""
    text = first_line(error)
    for name, value in os.environ.items():
        if SECRETS.search(name) and len(value) >= LEAST_SECRET:
            text = text.replace(value, "***")
    return text.rstrip(".")
