"""Real image files for the catalog's tests, small and made on the spot."""

import struct
import zlib
from pathlib import Path

import numpy as np
from PIL import Image


def pixels(width=32, height=24, seed=0):
    """A picture that is no single colour, so that a wrong decode shows."""
    rng = np.random.default_rng(seed)
    return Image.fromarray(rng.integers(0, 255, (height, width, 3), dtype=np.uint8))


def photo(path, width=32, height=24, seed=0, **options):
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels(width, height, seed).save(path, **options)
    return path


def truncated(path, width=200, height=200):
    whole = photo(path, width, height).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    return path


def huge_png(path, width=20_000, height=10_001):
    """A 1-bit PNG of 200 megapixels in 25 KB."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = zlib.compress(bytes(((width + 7) // 8 + 1) * height), 9)
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)),
        (b"IDAT", rows),
        (b"IEND", b""),
    ]
    sealed = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    ]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(sealed))
    return path


def with_exif(path, orientation, **tags):
    """A JPEG whose upper left quarter is red, with an orientation tag."""
    image = Image.new("RGB", (64, 32), "blue")
    image.paste("red", (0, 0, 16, 16))
    exif = Image.Exif()
    exif[0x0112] = orientation
    for tag, value in tags.items():
        exif[int(tag.removeprefix("tag_"), 16)] = value
    image.save(path, exif=exif, quality=95)
    return path
