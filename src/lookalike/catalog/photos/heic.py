"""HEIC, the photos of telephones: read by the plug-in pillow-heif if it is installed, else named with the way out."""

import shlex
import sys
from os import PathLike, fspath
from pathlib import Path
from typing import BinaryIO

from PIL import UnidentifiedImageError

from lookalike.core.checks import install

BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"})


class HeicError(UnidentifiedImageError):
    """A HEIC photo that cannot be read here: how to read or convert it."""

    def __init__(self, source: str | PathLike[str] | BinaryIO) -> None:
        ways = f"{install('heic')}. Or convert it"
        if isinstance(source, str | PathLike):
            ways += f": {_converting(Path(source))}"
        super().__init__(f"HEIC: reading it needs pillow-heif. {ways}")


def register_heic() -> bool:
    """Let Pillow read HEIC. False if the plug-in is not installed."""
    try:
        from pillow_heif import register_heif_opener
    except ImportError:
        return False
    register_heif_opener()
    return True


def is_heic(source: str | PathLike[str] | BinaryIO) -> bool:
    """Whether a file begins as HEIC files do: the box `ftyp` with one of their brands."""
    if isinstance(source, str | PathLike):
        with open(fspath(source), "rb") as file:
            head = file.read(12)
    else:
        source.seek(0)
        head = source.read(12)
    return head[4:8] == b"ftyp" and head[8:12] in BRANDS


def _converting(photo: Path) -> str:
    """The command that converts a photo, as it can be typed."""
    old, new = shlex.quote(str(photo)), shlex.quote(str(photo.with_suffix(".jpg")))
    return (
        f"sips -s format jpeg {old} --out {new}" if sys.platform == "darwin" else f"heif-convert {old} {new}"
    )
