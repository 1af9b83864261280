"""What near duplicates of a photo are recognised by: a thumbnail of 16 x 16 cells in 384 bytes.

The same pixels give the same bytes on every machine: sums are of integers, which doubles hold exactly.
"""

from collections.abc import Iterable
from functools import lru_cache

import numpy as np
from PIL import Image

from lookalike.catalog.photos.decode import UPRIGHT, as_rgb, orientation

CELLS = 16
COARSE = CELLS // 2  # colour is kept at half the detail, as JPEG keeps it
LIGHT = CELLS * CELLS
BYTES = LIGHT + 2 * COARSE * COARSE
LEAST_DECODED = 4 * CELLS  # pixels on the shorter side down to which a JPEG may be decoded
_TONES = np.array(  # 256 times light, blue - light, red - light
    [[77, 150, 29], [-77, -150, 227], [179, -150, -29]], dtype=np.float64
).T


def signature(image: Image.Image, width: int, height: int) -> bytes:
    """The signature of a loaded photo, as it is shown: 256 bytes of light, then 64 of blue and 64 of red.

    The photo is cut into 16 x 16 equal cells, whatever its shape; a cell is the mean of its pixels, those
    on a border by the share that lies within. Light is (77 R + 150 G + 29 B) / 256, row by row; blue and
    red are 128 + (B - light) / 2 and 128 + (R - light) / 2 over 2 x 2 cells; all are rounded to 0..255.
    EXIF orientation is applied, transparency laid on white. `width` and `height` are the file's, which a
    JPEG's draft may be smaller than. What has 128 pixels or more on its shorter side is first averaged
    over squares of whole pixels.

    >>> made = signature(Image.new("RGB", (40, 30), (255, 0, 0)), 40, 30)
    >>> len(made), made[0], made[256], made[320]
    (384, 77, 90, 217)
    """
    drafted = max(1, round(width / image.width))  # JPEGs come at 1, 1/2, 1/4 or 1/8 of their size
    plain = image if image.mode in ("RGB", "L") and not image.has_transparency_data else as_rgb(image)
    factor = max(1, min(image.size) // LEAST_DECODED)
    reduced = plain.reduce(factor) if factor > 1 else plain
    pixels = np.asarray(reduced if reduced.mode == "RGB" else reduced.convert("RGB"), dtype=np.float64)
    down, across = _shares(height, drafted * factor), _shares(width, drafted * factor)
    cells = across @ (down @ pixels.reshape(len(pixels), -1)).reshape(CELLS, -1, 3)
    return _coded(_turned(cells, orientation(image)) @ _TONES, width * height)


def as_rows(signatures: Iterable[bytes]) -> np.ndarray:
    """Signatures as rows of bytes (n x 384); one that is not known (b"") is a row of zeros, which no photo has.

    >>> as_rows([b"", bytes(range(128)) * 3])[:, :3].tolist()
    [[0, 0, 0], [0, 1, 2]]
    """
    joined = b"".join(made or bytes(BYTES) for made in signatures)
    return np.frombuffer(joined, np.uint8).reshape(-1, BYTES)


def _coded(tones: np.ndarray, area: int) -> bytes:
    """Bytes of the cells' summed tones; a cell's mean is its sum divided by 256 times the photo's area."""
    made = np.empty(BYTES, dtype=np.uint8)
    made[:LIGHT] = np.floor(tones[..., 0] / (256.0 * area) + 0.5).ravel()
    colour = tones[..., 1:].reshape(COARSE, 2, COARSE, 2, 2).sum(axis=(1, 3))
    halved = np.floor(colour / (2 * 4 * 256.0 * area) + 128.5)
    made[LIGHT:] = np.minimum(halved, 255).transpose(2, 0, 1).ravel()
    return made.tobytes()


def _turned(cells: np.ndarray, turn: int) -> np.ndarray:
    """Cells as the photo is shown."""
    if turn not in UPRIGHT:
        return cells
    places = Image.fromarray(np.arange(LIGHT, dtype=np.int32).reshape(CELLS, CELLS))
    return cells.reshape(LIGHT, 3)[np.asarray(places.transpose(UPRIGHT[turn]))]


@lru_cache(maxsize=256)
def _shares(length: int, block: int) -> np.ndarray:
    """How much of each block of pixels (column) lies in each cell (row), in sixteenths of a pixel.

    Each cell is `length` sixteenths long, so that sums divided by width x height are means.
    """
    left = np.arange(0, length * CELLS, block * CELLS)
    right = np.minimum(left + block * CELLS, length * CELLS)  # the last block may hold fewer pixels
    cell = np.arange(CELLS)[:, None] * length
    shares = np.maximum(np.minimum(right, cell + length) - np.maximum(left, cell), 0).astype(np.float64)
    shares.setflags(write=False)  # kept, and handed to every thread
    return shares
