"""How an encoder uses a region, the box or mask of a photo: `region=crop` or `region=pool` in the encoder string.

    crop   the encoder sees only the box; a mask is not used (the default)
    pool   the encoder sees the whole photo, and averages its features inside the box and the mask only

A photo for `pool` is RGBA: its alpha channel is 255 inside the region.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float32, UInt8
from PIL import Image

from lookalike.catalog.photos.boxes import Box, scaled
from lookalike.catalog.photos.decode import Source, load_rgb, load_with_size
from lookalike.catalog.photos.masks import load_mask
from lookalike.core.errors import EncoderError
from lookalike.encode.encoder import Prepare
from lookalike.encode.inputs.preprocessing import Preprocessing

REGION, CROP, POOL = "region", "crop", "pool"


def pools(options: Mapping[str, str], spec: str) -> bool:
    """Whether an encoder string asks for region=pool; any other value than crop and pool is refused."""
    given = options.get(REGION, CROP)
    if given not in (CROP, POOL):
        raise EncoderError(
            f"{spec}: region cannot be {given!r}.",
            fix=f"Use region={CROP} or region={POOL}, or leave it out.",
        )
    return given == POOL


def pools_regions(prepare: Prepare) -> bool:
    """Whether photos are prepared with their region, and not cut to their box."""
    return bool(getattr(prepare, "pools", False))


def load_photo(
    source: Source,
    prepare: Prepare,
    size_hint: int,
    box: Box | None = None,
    mask: Source | None = None,
) -> Image.Image:
    """A photo as an encoder's `prepare` takes it: RGB cut to the box, or whole and RGBA with the region as alpha.

    Raises CatalogError for a photo or mask that cannot be used, and for a box that leads out of the photo.
    """
    if not pools_regions(prepare):
        return load_rgb(source, size_hint=size_hint, box=box)
    photo, whole = load_with_size(source, size_hint)
    if box is None and mask is None:
        return photo
    if mask is None:
        alpha = Image.new("L", photo.size)
        alpha.paste(255, scaled(box or Box(0, 0, *whole), whole, photo.size))
    else:
        alpha = load_mask(mask, whole, box)
        if alpha.size != photo.size:
            alpha = alpha.resize(photo.size, Image.Resampling.BOX)
    photo.putalpha(alpha)
    return photo


def weights_of(
    region: Image.Image, size: tuple[int, int], *, square: bool
) -> Float32[np.ndarray, "height width"]:
    """The share of each of the input's pixels that is in the region, the largest of them 1.

    With `square`, the photo is in the middle of a square, as with crop_mode=border. A region of one pixel counts too.

    >>> weights_of(Image.fromarray(np.array([[255, 0, 0, 0]], np.uint8)), (2, 2), square=False).tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    held = region.convert("F")
    if square and region.width != region.height:
        side = max(region.size)
        held = Image.new("F", (side, side))
        held.paste(region.convert("F"), ((side - region.width) // 2, (side - region.height) // 2))
    shares = np.asarray(held.resize((size[1], size[0]), Image.Resampling.BOX), np.float32)
    return shares / shares.max()


@dataclass(frozen=True)
class WithRegion:
    """A photo to (height, width, 4) pixels: the network's input, and the weights of its region from 0 to 255."""

    preprocessing: Preprocessing
    pools: ClassVar[bool] = True

    def __call__(self, photo: Image.Image) -> UInt8[np.ndarray, "height width 4"]:
        """The photo fitted to the network's size, with its region; an RGB photo is a region as a whole."""
        region = photo.getchannel("A") if photo.mode == "RGBA" else Image.new("L", photo.size, 255)
        square = self.preprocessing.crop_mode == "border"
        weights = weights_of(region, self.preprocessing.size, square=square)
        pixels = self.preprocessing.pixels(photo.convert("RGB"))
        return np.dstack([pixels, np.rint(255 * weights).astype(np.uint8)])


def whole_photo(preprocessing: Preprocessing, options: Mapping[str, str], spec: str) -> Preprocessing:
    """The preprocessing for region=pool, which fits the whole photo: a border or a square where it would be cropped."""
    if preprocessing.crop_mode != "center":
        return preprocessing
    if options.get("crop_mode") == "center":
        raise EncoderError(
            f"{spec}: region=pool uses the whole photo, and crop_mode=center cuts its edges off.",
            fix="Use crop_mode=border or crop_mode=squash.",
        )
    height, width = preprocessing.size
    return replace(preprocessing, crop_mode="border" if height == width else "squash", resize=0)
