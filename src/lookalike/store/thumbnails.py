"""Photos of the catalog as small JPEGs without metadata, stored in the workspace after their first use."""

import errno
import hashlib
import io
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Connection, select

from lookalike.catalog.photos.changes import refresh_command
from lookalike.catalog.photos.check import within
from lookalike.catalog.photos.decode import open_photo, thumbnail
from lookalike.core.errors import CatalogError, StorageError
from lookalike.store.disk import disk_errors, make_folder, write_file
from lookalike.store.settings import WorkspaceSettings
from lookalike.store.sql.schema import image as images

SIZES = (240, 960, 1600, 2400)
"""Pixels of the longer side: in a list, then from beside another photo on a small screen to zoomed."""

FOLDER = "thumbnails"
MOST_BYTES = 512 << 20


@dataclass(frozen=True)
class ListedImage:
    """An image of the catalog, with the path of its photo and the hash of the photo's content."""

    image: str
    path: str
    digest: str


@dataclass(frozen=True)
class Thumbnail:
    """A JPEG. `current`: the photo has not changed since the catalog was read."""

    jpeg: bytes
    current: bool = True


def listed(connection: Connection, image: str) -> ListedImage | None:
    """The image with an id; None if the catalog has no such image."""
    columns = (images.c.image, images.c.path, images.c.digest)
    row = connection.execute(select(*columns).where(images.c.image == image)).first()
    return None if row is None else ListedImage(*row)


class Thumbnails:
    """The thumbnails of one workspace."""

    def __init__(self, folder: Path, settings: WorkspaceSettings) -> None:
        self._kept = folder / FOLDER
        self._home = folder / settings.photos
        self._roots = [self._home, *(folder / added.photos for added in settings.added if added.photos)]
        self._most_pixels = settings.max_megapixels * 1e6

    def kept(self, one: ListedImage, size: int) -> Thumbnail | None:
        """The stored thumbnail; None if there is none."""
        try:
            return Thumbnail(self._place(one, size).read_bytes())
        except OSError:
            return None

    def make(self, one: ListedImage, size: int) -> Thumbnail:
        """The thumbnail of the photo on the disk. It is stored if the photo has not changed since the catalog was read.

        Raises CatalogError if the photo is missing, damaged, too large or outside the photo folders.
        """
        content, current = self.content(one)
        jpeg = self._jpeg(one, content, size)
        if current:
            self._keep(one, size, jpeg)
        return Thumbnail(jpeg, current)

    def content(self, one: ListedImage) -> tuple[bytes, bool]:
        """The bytes of the photo on the disk, and whether it has not changed since the catalog was read.

        Raises CatalogError if the photo is missing or outside the photo folders.
        """
        content, is_own = self._content(one)
        current = hashlib.sha256(content).hexdigest() == one.digest
        if not (is_own or current):
            raise self._refused(one, "leads out of the photo folder")
        return content, current

    def _content(self, one: ListedImage) -> tuple[bytes, bool]:
        """A photo's bytes, and whether it is in a photo folder.

        A link may lead out of it, but only to the photo that the catalog was read from. `make` compares them.
        """
        if not any(within(os.path.join(self._home, one.path), os.path.abspath(root)) for root in self._roots):
            raise self._refused(one, "leads out of the photo folder")
        path = os.path.realpath(os.path.join(self._home, one.path))
        is_own = any(Path(path).is_relative_to(os.path.realpath(root)) for root in self._roots)
        try:
            return _read(path), is_own
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else "no such name"
            raise self._refused(one, f"cannot be read ({why})") from error

    def _jpeg(self, one: ListedImage, content: bytes, size: int) -> bytes:
        try:
            with open_photo(io.BytesIO(content)) as header:
                width, height = header.size
        except Exception as error:  # decoders raise errors of all kinds
            raise self._refused(one, "cannot be read as a photo") from error
        if width * height > self._most_pixels:
            raise self._refused(one, f"has {width:,} x {height:,} pixels, over the catalog's max_megapixels")
        return thumbnail(io.BytesIO(content), size)

    def _keep(self, one: ListedImage, size: int, jpeg: bytes) -> None:
        place = self._place(one, size)
        try:
            with disk_errors("keeping a thumbnail", place):
                make_folder(place.parent)
            write_file(place, jpeg)
        except StorageError:  # a full or read-only disk: it is computed again next time
            return

    def _refused(self, one: ListedImage, why: str) -> CatalogError:
        return CatalogError(
            f"The photo of image {one.image!r} {why}.",
            fix=f"Put it back, or update the catalog: {refresh_command(self._home)}",
        )

    def _place(self, one: ListedImage, size: int) -> Path:
        return self._kept / one.digest[:2] / f"{one.digest}-{size}.jpg"


def _read(path: str) -> bytes:
    """The bytes of a regular file: not a pipe, which could block, and not a new link."""
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(handle, "rb") as file:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_size > MOST_BYTES:
            raise OSError(errno.EINVAL, "not a photo file")
        return file.read()
