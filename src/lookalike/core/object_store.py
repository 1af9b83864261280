"""Object stores by address, such as s3://bucket/folder, through fsspec. Credentials never appear in errors."""

import os
import re
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from lookalike.core.checks import install, not_installed
from lookalike.core.errors import LookalikeError, StorageError, first_line
from lookalike.core.parallel import in_order

ADDRESS = re.compile(r"[a-z][a-z0-9+.-]+://")
SECRETS = re.compile(
    "SECRET|TOKEN|PASSWORD|ACCESS_KEY", re.IGNORECASE
)  # environment variables that hold credentials
DRIVERS = {"s3": "s3fs"}  # of the extra `storage`; other drivers of fsspec work where they are installed
PATIENCE = {  # seconds in which S3 must begin to answer; s3fs asks 5 times
    "config_kwargs": {"connect_timeout": 10, "read_timeout": 15, "retries": {"max_attempts": 0}}
}
LEAST_SECRET = 4  # characters; shorter values would hide ordinary words
ATTEMPTS = 2  # reads of a range: a store that answers with half of it is asked once more
PIECE, AT_ONCE = 1 << 24, 4  # bytes of a large file that are read at a time, and how many pieces at once


class Version(NamedTuple):
    """What identifies the content of a file: its bytes and the store's own checksum, such as the ETag of S3."""

    size: int
    tag: str


class StoredFile(NamedTuple):
    """A file of an object store: its name from the folder on, bytes, and when it was written (seconds since 1970).

    NaN where the store does not say when.
    """

    name: str
    size: int
    modified: float


def is_address(text: str) -> bool:
    """Whether a text is an address, not a path.

    >>> is_address("s3://bucket/models/mine.safetensors"), is_address("models/mine.safetensors")
    (True, False)
    """
    return bool(ADDRESS.match(text))


def refuse_credentials(address: str) -> None:
    """Raise StorageError for an address that contains credentials. The error does not show them."""
    protocol, rest = address.split("://", 1)
    if "@" in rest.split("/", 1)[0]:
        raise StorageError(
            f"The address {protocol}://... contains credentials, which other users of this machine could see.",
            fix="Leave them out. Set them in environment variables or the configuration file of the store.",
        )


class ObjectStore:
    """A folder of an object store. Credentials come from where its driver looks for them, never from the address."""

    def __init__(self, address: str) -> None:
        refuse_credentials(address)
        self.name, protocol = address.rstrip("/"), address.split("://", 1)[0]
        missing = not_installed(["fsspec", *([DRIVERS[protocol]] if protocol in DRIVERS else [])])
        if missing:
            raise StorageError(
                f"{address} needs {missing[0]}, which is not installed.", fix=install("storage")
            )
        import fsspec

        with self._errors("opening"):
            patience = PATIENCE if protocol == "s3" else {}
            self._files, self._folder = fsspec.core.url_to_fs(self.name, use_listings_cache=False, **patience)

    def names(self) -> Iterator[str]:
        """The names of its files, page by page as the store lists them."""
        with self._errors("listing"):
            for page in self._pages():
                yield from (one.name for one in page)

    def tree(self) -> Iterator[StoredFile]:
        """All files below the folder, page by page as the store lists them."""
        with self._errors("listing"):
            for page in self._pages(deep=True):
                yield from page

    def size(self, name: str) -> int | None:
        """The bytes of a file."""
        version = self.version(name)
        return None if version is None else version.size

    def version(self, name: str) -> Version | None:
        """What identifies the content of a file; None if there is none of this name."""
        path = f"{self._folder}/{name}"
        with self._errors(f"reading {name}"):
            try:
                about = self._files.info(path)
            except FileNotFoundError:
                return None
            if about["type"] != "file":
                return None
            tag = about.get("ETag") or about.get("etag") or self._files.ukey(path)
            return Version(int(about["size"]), str(tag))

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

    def pieces(self, name: str, size: int) -> Iterator[bytes]:
        """The whole of a large file in its order, several pieces read at once."""
        ranges = [(first, min(first + PIECE, size)) for first in range(0, size, PIECE)]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            yield from in_order(pool, lambda one: self.read(name, *one), ranges, AT_ONCE)

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

    def _pages(self, *, deep: bool = False) -> Iterator[list[StoredFile]]:
        """Its files, in lists that the store chooses: S3 gives 1,000 at a time, other drivers those of a folder."""
        if not hasattr(self._files, "call_s3"):
            start = len(self._folder.rstrip("/")) + 1
            for _, _, found in self._files.walk(self._folder, maxdepth=None if deep else 1, detail=True):
                yield [_stored(one["name"][start:], one["size"], _written(one)) for one in found.values()]
            return
        bucket, _, folder = self._folder.partition("/")
        prefix = f"{folder}/" if folder else ""
        asked = {"Bucket": bucket, "Prefix": prefix, **({} if deep else {"Delimiter": "/"})}
        while True:
            page = self._files.call_s3("list_objects_v2", **asked)
            yield [
                _stored(one["Key"][len(prefix) :], one["Size"], one["LastModified"])
                for one in page.get("Contents", ())
            ]
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


def _stored(name: str, size: int, modified: datetime | float | None) -> StoredFile:
    seconds = modified.timestamp() if isinstance(modified, datetime) else modified
    return StoredFile(name, int(size), float("nan") if seconds is None else float(seconds))


def _written(about: Mapping[str, Any]) -> datetime | float | None:
    """When a file was written; drivers differ in the word for it."""
    words = ("LastModified", "last_modified", "updated", "mtime", "created")
    found = next((about[word] for word in words if isinstance(about.get(word), datetime | float)), None)
    return found


def masked(error: Exception) -> str:
    """The first line of an error, with `***` for the values of environment variables that hold credentials."""
    text = first_line(error)
    for name, value in os.environ.items():
        if SECRETS.search(name) and len(value) >= LEAST_SECRET:
            text = text.replace(value, "***")
    return text.rstrip(".")
