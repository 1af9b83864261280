"""Boxes: the part of a photo that an encoder sees, read in the order of numbers that fits the photos."""

import re
from collections.abc import Callable, Mapping
from math import ceil, floor
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from PIL import Image

from lookalike.core.errors import ArgumentError, CatalogError
from lookalike.core.text import plural

CORNERS, SIZE, SIZE_TURNED = "x0, y0, x1, y1", "x, y, width, height", "x, y, height, width"
ORDERS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {  # columns of numbers to those of two corners
    CORNERS: lambda n: n,
    SIZE: lambda n: np.column_stack([n[:, :2], n[:, :2] + n[:, 2:]]),
    SIZE_TURNED: lambda n: np.column_stack([n[:, :2], n[:, :2] + n[:, :1:-1]]),
}
SLACK = 1.0  # pixels that a box may reach over an edge: some tools count from 1


class Box(NamedTuple):
    """A part of a photo in pixels, from its upper left corner; the right and lower edges are not in it."""

    x0: int
    y0: int
    x1: int
    y1: int

    @property
    def width(self) -> int:
        """Pixels from left to right."""
        return self.x1 - self.x0

    @property
    def height(self) -> int:
        """Pixels from top to bottom."""
        return self.y1 - self.y0


class PlacedBoxes(NamedTuple):
    """Boxes as text in catalog order ("" for the whole photo), why images cannot be used (""), and notes."""

    text: list[str]
    reasons: list[str]
    notes: list[str]


def box_of(text: str) -> Box | None:
    """The box that a text names, None for the whole photo.

    >>> box_of("10,20,110,220"), box_of("")
    (Box(x0=10, y0=20, x1=110, y1=220), None)
    """
    if not text:
        return None
    numbers = [int(part) for part in text.split(",")] if re.fullmatch(r"\d+(,\d+){3}", text) else []
    if len(numbers) != 4 or numbers[2] <= numbers[0] or numbers[3] <= numbers[1]:
        raise ArgumentError(
            f"{text!r} is not a box.",
            fix="Write its corners in pixels as x0,y0,x1,y1 with x0 < x1 and y0 < y1, for example 10,20,110,220.",
        )
    return Box(*numbers)


def scaled(box: Box, whole: tuple[int, int], size: tuple[int, int]) -> Box:
    """The box in a photo of another size than its `whole` one; edges are rounded outwards.

    >>> scaled(Box(10, 20, 30, 80), (100, 80), (50, 40))
    Box(x0=5, y0=10, x1=15, y1=40)
    """
    if box.x1 > whole[0] or box.y1 > whole[1]:
        raise CatalogError(
            f"The box {','.join(map(str, box))} leads out of the photo, which has {whole[0]} x {whole[1]} pixels.",
            fix="Give a box inside the photo, in pixels of the photo as it is shown.",
        )
    x, y = size[0] / whole[0], size[1] / whole[1]
    return Box(floor(box.x0 * x), floor(box.y0 * y), ceil(box.x1 * x), ceil(box.y1 * y))


def cut(photo: Image.Image, box: Box, whole: tuple[int, int]) -> Image.Image:
    """The box of a photo that was decoded to another size than its `whole` one; edges are rounded outwards.

    >>> cut(Image.new("RGB", (50, 40)), Box(10, 20, 30, 80), (100, 80)).size
    (10, 30)
    """
    return photo.crop(scaled(box, whole, photo.size))


def placed(
    raw: Float[np.ndarray, "images 4"],
    orders: tuple[str, ...],
    width: Int[np.ndarray, " images"],
    height: Int[np.ndarray, " images"],
) -> PlacedBoxes:
    """Boxes of photos of known sizes (0: not looked at); a row of NaN is the whole photo.

    The first of `orders` is the documented one. If some boxes do not fit their photos in it, but all fit in one other
    order, that one is read if it is among `orders`, and refused with CatalogError if not. A box that reaches over an
    edge is cut at it. A box of no area in its photo is a reason to leave the image out.

    >>> raw = np.array([[30.0, 10.0, 20.0, 40.0], [np.nan] * 4])
    >>> placed(raw, (CORNERS, SIZE), np.array([60, 60]), np.array([80, 80]))[0]
    ['30,10,50,50', '']
    """
    has = np.flatnonzero(~np.isnan(raw).any(axis=1))
    if not len(has):
        return PlacedBoxes([""] * len(raw), [""] * len(raw), [])
    known = has[width[has] > 0]
    order, notes = _order(raw[known], orders, width[known], height[known])
    corners = ORDERS[order](raw[has])
    ends = np.column_stack([width[has], height[has]] * 2)
    inside = np.where(ends > 0, np.clip(corners, 0, ends), corners)
    text, reasons = [""] * len(raw), [""] * len(raw)
    over = 0
    for at, row in enumerate(has.tolist()):
        box = Box(*map(floor, inside[at, :2]), *map(ceil, inside[at, 2:]))
        text[row] = ",".join(map(str, box))
        if min(box[:2]) < 0 or box.width < 1 or box.height < 1:
            numbers = ", ".join(f"{number:g}" for number in raw[row])
            size = f"which has {width[row]} x {height[row]} pixels"
            reasons[row] = f"box outside the photo: {numbers} ({order}) in a photo {size}"
        over += bool(np.abs(corners[at] - inside[at]).max() > SLACK) and not reasons[row]
    notes += [f"{plural(len(has), 'image has a box', 'images have boxes')}: encoders see only that part."]
    notes += [f"{plural(over, 'box', 'boxes')} reached over an edge and ended there."] if over else []
    return PlacedBoxes(text, reasons, notes)


def _order(
    raw: np.ndarray, orders: tuple[str, ...], width: np.ndarray, height: np.ndarray
) -> tuple[str, list[str]]:
    """The order to read numbers in, and what there is to say about it."""

    def fit(order: str) -> bool:
        box = ORDERS[order](raw)
        inside = (box[:, :2] >= -SLACK).all() and (box[:, 2] <= width + SLACK).all()
        return bool(inside and (box[:, 3] <= height + SLACK).all() and (box[:, 2:] > box[:, :2]).all())

    documented, fitting = orders[0], [order for order in ORDERS if fit(order)]
    others = [order for order in fitting if order != documented]
    if documented in fitting or not others:
        unsure = [order for order in others if order in orders]
        return documented, (
            [f"Boxes are read as {documented}, as documented; as {unsure[0]} they would fit too."]
            if unsure
            else []
        )
    if len(others) == 1 and others[0] in orders:
        return others[0], [f"Boxes are read as {others[0]}: as {documented} they do not fit their photos."]
    raise CatalogError(
        f"The boxes do not fit their photos as {documented}, but as {' and as '.join(others)}.",
        fix=f"Write them as {documented} in pixels of the photo as it is shown.",
    )
