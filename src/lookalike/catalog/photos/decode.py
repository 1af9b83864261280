"""One photo: opened without surprises, as RGB the way it is shown, as a small JPEG without metadata."""

import io
import logging
import re
import threading
import warnings
from functools import cache
from os import PathLike
from typing import BinaryIO

import numpy as np
from PIL import Image, ImageFile, UnidentifiedImageError

from lookalike.catalog.photos.boxes import Box, cut
from lookalike.catalog.photos.heic import HeicError, is_heic, register_heic
from lookalike.core.checks import at_least
from lookalike.core.errors import CatalogError

Source = str | PathLike[str] | BinaryIO

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "BMP", "TIFF", "AVIF")
DEEP_MODES = ("I;16", "I;16B", "I;16L", "I;16N", "I", "F")
MODES = frozenset(
    {"1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBa", "RGBX", "CMYK", "YCbCr", "HSV", *DEEP_MODES}
)
SIDEWAYS = (5, 6, 7, 8)
UPRIGHT = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
ORIENTATION = 0x0112
PILLOW = re.compile(r"PIL\.")

_limit_lifted = threading.Lock()


def load_rgb(source: Source, *, size_hint: int | None = None, box: Box | None = None) -> Image.Image:
    """The photo as it is shown, in RGB with 8 bits: what every encoder reads.

    EXIF orientation is applied; of an animation it is the first frame; transparency is laid on white;
    16-bit greyscale is scaled to 8 bits (32-bit and float TIFF by their range). Colour profiles are not
    applied. With a `box` in pixels of the photo as it is shown, only that part is returned.
    With `size_hint` a JPEG may come smaller, the result never below that many pixels on either side.
    `source` is a path or an open binary file; the result holds no metadata and keeps no file open.

    Raises CatalogError, with the reason, for what cannot be read and for a box that leads out of the photo.
    """
    photo, whole = load_with_size(source, size_hint, box)
    return photo if box is None else cut(photo, box, whole)


def load_with_size(
    source: Source, size_hint: int | None, box: Box | None = None
) -> tuple[Image.Image, tuple[int, int]]:
    """The whole photo as of `load_rgb`, whose box is not below the hint, and the size that it has undecoded."""
    least = None if size_hint is None else at_least(size_hint, 1, "size_hint")
    try:
        with open_photo(source) as image:
            whole = image.size
            if least is not None:
                side = least if box is None else -(-least * min(whole) // max(1, min(box.width, box.height)))
                image.draft(None, (side, side))
            image.load()
            turn = orientation(image)
            photo = upright(as_rgb(image), turn)
    except Exception as error:  # decoders fail in any way there is
        raise CatalogError(
            f"{_name(source)} cannot be read as a photo: {why(error)}.",
            fix="Replace the file, or take it out of the catalog.",
        ) from error
    return photo, (whole[::-1] if turn in SIDEWAYS else whole)


def thumbnail(source: Source, size: int) -> bytes:
    """The photo as a JPEG of at most `size` x `size` pixels, without EXIF, GPS, comment or colour profile."""
    small = load_rgb(source, size_hint=2 * at_least(size, 1, "size"))
    small.thumbnail((size, size), Image.Resampling.LANCZOS)
    written = io.BytesIO()
    small.save(written, "JPEG", quality=85)
    return written.getvalue()


def open_photo(source: Source) -> ImageFile.ImageFile:
    """The photo's header, pixels not yet decoded, of any size: limiting the size is the caller's affair.

    Only photo formats are tried (never EPS, whose reader starts another program), and Pillow's limit of
    179 megapixels does not hold.
    """
    _hush_pillow()
    try:
        return Image.open(source, formats=_formats())
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        return _open_without_limit(source)
    except UnidentifiedImageError as error:
        if "HEIF" not in _formats() and is_heic(source):
            raise HeicError(source) from error
        raise


def as_rgb(image: Image.Image) -> Image.Image:
    """A loaded image in RGB with 8 bits and no metadata, transparency laid on white."""
    if image.mode in DEEP_MODES:
        image = _eight_bits(image)
    if image.has_transparency_data:
        rgba = image.convert("RGBA")
        rgb = Image.new("RGB", image.size, "white")
        rgb.paste(rgba, mask=rgba.getchannel("A"))
    else:
        rgb = image.copy() if image.mode == "RGB" else image.convert("RGB")
    rgb.info = {}
    return rgb


def orientation(image: Image.Image) -> int:
    """The EXIF orientation, 1 to 8, a loaded image has yet to be turned by; 1 if absent or nonsense."""
    try:
        value = image.getexif().get(ORIENTATION)
    except Exception:  # a bad Exif block fails in many ways, and none of them is the photo's fault
        return 1
    return value if isinstance(value, int) and 1 <= value <= 8 else 1


def why(error: BaseException) -> str:
    """The reason, `kind: detail`, why opening or decoding a photo failed.

    >>> why(FileNotFoundError(2, "No such file"))
    'missing file: there is no such file'
    """
    if isinstance(error, HeicError):
        return str(error)
    for kind, reason in _REASONS:
        if isinstance(error, kind):
            return reason
    if isinstance(error, EOFError) or "truncated" in str(error).lower():
        return "truncated: the file ends before the photo does"
    return f"damaged: {error or type(error).__name__}"


_REASONS: tuple[tuple[type[BaseException] | tuple[type[BaseException], ...], str], ...] = (
    ((FileNotFoundError, NotADirectoryError), "missing file: there is no such file"),
    (PermissionError, "no permission: this user may not read the file"),
    (IsADirectoryError, "folder: this is a folder, not a photo"),
    (
        UnidentifiedImageError,
        f"not an image: the content is in none of these formats: {', '.join(FORMATS)}",
    ),
    (MemoryError, "too large: there is not enough memory to decode it"),
)


@cache
def _formats() -> tuple[str, ...]:
    """The formats this Pillow was built with, and HEIF if its plug-in is installed.

    What Pillow logs goes to the program's own log, if it keeps one.
    """
    logging.getLogger("PIL").addHandler(logging.NullHandler())
    Image.init()
    heif = ("HEIF",) if register_heic() else ()
    return (*(name for name in FORMATS if name in Image.OPEN), *heif)


def _hush_pillow() -> None:
    """Ignore warnings that come from Pillow's own modules, from the first photo on.

    A filter set and taken back around each photo would race between threads: warning filters belong to
    the process. Looked up before it is added, since adding makes Python forget which warnings it has shown.
    """
    if not any(module == PILLOW for _, _, _, module, _ in warnings.filters):
        warnings.filterwarnings("ignore", module=PILLOW.pattern)


def _open_without_limit(source: Source) -> ImageFile.ImageFile:
    """Pillow's limit is one number for the process: lifted for the moment it takes to read one header."""
    with _limit_lifted:
        limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
        try:
            return Image.open(source, formats=_formats())
        finally:
            Image.MAX_IMAGE_PIXELS = limit


def upright(image: Image.Image, turn: int) -> Image.Image:
    """A loaded image turned as its EXIF orientation asks."""
    return image.transpose(UPRIGHT[turn]) if turn in UPRIGHT else image


def _eight_bits(image: Image.Image) -> Image.Image:
    """Greyscale of 16 bits, 32 bits or floats as 8 bits; Pillow's own conversion clips at 255.

    16 bits are divided by 257. The others do not say their range: values within 0..1 (floats), 0..255 or
    0..65535 are read as such, and anything else is stretched from its least to its greatest value.
    """
    values = np.nan_to_num(np.asarray(image).astype(np.float32))
    low, high = _range(values, image.mode)
    scaled = (values - low) * np.float32(255 / (high - low or 1))
    return Image.fromarray((scaled + np.float32(0.5)).clip(0, 255).astype(np.uint8))


def _range(values: np.ndarray, mode: str) -> tuple[float, float]:
    if mode.startswith("I;16"):
        return 0.0, 65535.0
    least, greatest = float(values.min()), float(values.max())
    tops = (1.0, 255.0, 65535.0) if mode == "F" else (255.0, 65535.0)
    fitting = [top for top in tops if greatest <= top]
    return (0.0, fitting[0]) if least >= 0 and fitting else (least, greatest)


def _name(source: Source) -> str:
    return repr(str(source)) if isinstance(source, str | PathLike) else "The uploaded file"
