"""Thumbnails on the page: each picture is embedded once, however often it is shown."""

import base64
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from lookalike.core.errors import ArgumentError
from lookalike.report.content import ReportPhoto

START = b"\xff\xd8"
BEGINS_PIXELS = {0xDA, 0xD9}
TELLS_OF_THE_PHOTO = {0xE1, 0xED, 0xFE}  # EXIF and XMP, IPTC, comment


@dataclass(frozen=True)
class Album:
    """The distinct pictures of a page: thumbnail -> name in the page, and (name, data URI) in order."""

    names: Mapping[bytes, str]
    pictures: tuple[tuple[str, str], ...]

    def name(self, photo: ReportPhoto) -> str:
        """The picture's name in the page, or "" where the photo has none."""
        return self.names.get(photo.thumbnail, "")


def album(photos: Iterable[ReportPhoto]) -> Album:
    """The distinct pictures of these photos, named in order of first use."""
    names: dict[bytes, str] = {}
    pictures = []
    for photo in photos:
        if photo.thumbnail and photo.thumbnail not in names:
            names[photo.thumbnail] = name = f"p{len(names) + 1}"
            pictures.append((name, data_uri(photo)))
    return Album(names, tuple(pictures))


def data_uri(photo: ReportPhoto) -> str:
    """The thumbnail as text for the page, without what a camera wrote into it."""
    if not photo.thumbnail.startswith(START):
        raise ArgumentError(
            f"The thumbnail of image {photo.image!r} is not a JPEG file.", fix="Write thumbnails as JPEG."
        )
    return "data:image/jpeg;base64," + base64.b64encode(without_metadata(photo.thumbnail)).decode("ascii")


def without_metadata(jpeg: bytes) -> bytes:
    """The same JPEG without EXIF (and GPS), XMP, IPTC and comments. Colour profiles stay."""
    kept, at = [START], 2
    while at + 4 <= len(jpeg) and jpeg[at] == 0xFF and jpeg[at + 1] not in BEGINS_PIXELS:
        size = 2 + int.from_bytes(jpeg[at + 2 : at + 4])
        if jpeg[at + 1] not in TELLS_OF_THE_PHOTO:
            kept.append(jpeg[at : at + size])
        at += size
    return b"".join([*kept, jpeg[at:]])
