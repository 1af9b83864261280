"""Masks: which pixels of a photo show the product. A mask is an image of the photo's size, named by the catalog."""

import hashlib
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from jaxtyping import Int
from PIL import Image

from lookalike.catalog.photos.boxes import Box, PlacedBoxes, box_of
from lookalike.catalog.photos.check import within
from lookalike.catalog.photos.decode import DEEP_MODES, Source, open_photo, orientation, upright, why
from lookalike.core.cores import cores
from lookalike.core.errors import CatalogError
from lookalike.core.parallel import in_order
from lookalike.core.text import plural

OPAQUE = 255
FIX = "Give an image of the photo's size that is white on the product and black elsewhere, or no mask."


class Region(NamedTuple):
    """A part of a photo: its box (None: the whole photo), and its mask's path and hash ("" without one).

    As text, which the catalog holds in its column `box`: BOX, or BOX HASH PATH with a mask.
    """

    box: Box | None = None
    mask: str = ""
    digest: str = ""

    @classmethod
    def of(cls, text: str) -> "Region":
        """The region that a catalog's text names.

        >>> Region.of("10,20,110,220").box, Region.of(" 3fa9 masks/a b.png").mask
        (Box(x0=10, y0=20, x1=110, y1=220), 'masks/a b.png')
        """
        box, *mask = text.split(" ", 2)
        digest, path = mask or ("", "")
        return cls(box_of(box), path, digest)


def with_mask(box: str, digest: str, path: str) -> str:
    """The text of a region that has a mask."""
    return f"{box} {digest} {path}"


def boxes_alone(regions: Iterable[str]) -> list[str]:
    """The boxes of regions without their masks, which are files of the photo folder.

    >>> boxes_alone(["1,2,3,4", "1,2,3,4 3fa9 a.png", " 3fa9 a.png"])
    ['1,2,3,4', '1,2,3,4', '']
    """
    return [text.split(" ", 1)[0] for text in regions]


def moved(text: str, place: Callable[[str], str]) -> str:
    """A region's text with its mask, if it has one, at another path.

    >>> moved("1,2,3,4 3fa9 a.png", "masks/{}".format), moved("1,2,3,4", "masks/{}".format)
    ('1,2,3,4 3fa9 masks/a.png', '1,2,3,4')
    """
    box, *mask = text.split(" ", 2)
    return with_mask(box, mask[0], place(mask[1])) if mask else text


def load_mask(source: Source, size: tuple[int, int], box: Box | None = None) -> Image.Image:
    """The mask of a photo of this size as shown: 255 on the product, 0 elsewhere and outside the box.

    A pixel belongs to the product if its value is above half of the mask's largest: masks of 0 and 1 are read too, and
    the noise of JPEG is not. If some of the mask is transparent, its opacity is its value.
    Raises CatalogError, its problem `kind: detail`, for a mask that cannot be read, has another size or is empty.
    """
    try:
        with open_photo(source) as image:
            if sorted(image.size) != sorted(size):  # before a bomb is decoded
                raise _another_size(image.size, size)
            image.load()
            turn = orientation(image)
            inside = _values(image)
    except CatalogError:
        raise
    except Exception as error:  # decoders fail in any way there is
        raise CatalogError(f"mask not usable: {why(error)}", fix=FIX) from error
    mask = upright(Image.fromarray(np.where(inside > inside.max() / 2, OPAQUE, 0).astype(np.uint8)), turn)
    if mask.size != size:
        raise _another_size(mask.size, size)
    if box is not None:
        part = Image.new("L", size)
        part.paste(mask.crop(box), box[:2])
        mask = part
    if mask.getbbox() is None:
        where = " in its box" if box else ""
        raise CatalogError(f"mask empty: no pixel of it{where} is marked", fix=FIX)
    return mask


def masked(
    boxes: Sequence[str],
    masks: Sequence[str],
    root: Path,
    width: Int[np.ndarray, " images"],
    height: Int[np.ndarray, " images"],
) -> PlacedBoxes:
    """Regions of images with boxes and masks ("" for none), each mask checked; of photos of size 0 none is opened."""
    look = partial(_checked, root)
    work = zip(boxes, masks, width.tolist(), height.tolist(), strict=True)
    with ThreadPoolExecutor(cores() + 1) as pool:
        found = list(in_order(pool, look, list(work)))
    count = sum(map(bool, masks))
    note = f"{plural(count, 'image has a mask', 'images have masks')}: encoders with region=pool use them."
    return PlacedBoxes([text for text, _ in found], [reason for _, reason in found], [note] if count else [])


def _checked(root: Path, one: tuple[str, str, int, int]) -> tuple[str, str]:
    """The text of a region, and why its mask cannot be used ("" for a good one)."""
    box, mask, width, height = one
    if not mask:
        return box, ""
    inside = within(mask, root)
    if inside is None:
        return box, f"mask outside the photo folder: {mask!r} leads out of {root}"
    if not width:
        return with_mask(box, "", inside), ""
    file = os.path.join(root, inside)
    try:
        load_mask(file, (width, height), box_of(box))
        with open(file, "rb") as content:
            return with_mask(box, hashlib.file_digest(content, "sha256").hexdigest(), inside), ""
    except CatalogError as error:
        return box, f"{error.problem} ({inside})"


def _values(image: Image.Image) -> np.ndarray:
    """A number for each pixel: its opacity if some pixel is transparent, else its brightness."""
    if image.has_transparency_data:
        opacity = np.asarray(image.convert("RGBA").getchannel("A"))
        if opacity.min() < OPAQUE:
            return opacity.astype(np.float64)
    grey = image if image.mode in DEEP_MODES else image.convert("L")
    return np.nan_to_num(np.asarray(grey).astype(np.float64))


def _another_size(found: tuple[int, int], wanted: tuple[int, int]) -> CatalogError:
    mine, photo = (f"{width} x {height}" for width, height in (found, wanted))
    return CatalogError(f"mask of another size: it has {mine} pixels, the photo {photo}", fix=FIX)
