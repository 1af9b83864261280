"""Augmented views of a photo, which training treats as the same thing (Khosla et al. 2021).

The values are those of the authors' published code for "Supervised contrastive learning" (VSD appendix E uses
its pipeline): a crop of 20 to 100 % of the area with sides between 3:4 and 4:3, mirrored with probability 0.5,
colours jittered with probability 0.8 (brightness, contrast and saturation by factors from 0.6 to 1.4, hue by up to
0.1 of the circle, in random order), grey with probability 0.2.

A view depends on the photo's content, its number and a seed only, so it is the same in any process and any order.
Worker processes run this, so it does not import torch.
"""

import hashlib
import math
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float32
from PIL import Image, ImageEnhance

from lookalike.core.types import Origin
from lookalike.encode.encoder import Encoder, Prepare

AREA, RATIO = (0.2, 1.0), (3 / 4, 4 / 3)
MIRRORED, JITTERED, GREY = 0.5, 0.8, 0.2
FACTOR, HUE = 0.4, 0.1
TRIES = 10  # crops drawn before the whole photo is taken, as torchvision does


@dataclass(frozen=True)
class Augment:
    """A view of a photo, prepared by the encoder's own `prepare`. It can be sent to another process.

    The crop becomes a square of its own area, of at most `side` pixels a side; the encoder fits that to its size.
    """

    prepare: Prepare
    view: int
    seed: int
    side: int

    def __call__(self, photo: Image.Image) -> np.ndarray:
        """One photo made ready."""
        return self.prepare(augmented(photo, self.view, self.seed, self.side))


class Augmented:
    """An encoder that sees one augmented view of every photo."""

    def __init__(self, encoder: Encoder, view: int, seed: int) -> None:
        self.encoder = encoder
        self.origin = view_origin(encoder.origin, view, seed)
        self.dimension, self.size_hint = encoder.dimension, encoder.size_hint
        self.batch, self.threads = encoder.batch, encoder.threads
        self.prepare = Augment(encoder.prepare, view, seed, encoder.size_hint)

    def vectors(self, ready: np.ndarray) -> Float32[np.ndarray, "photos dimension"]:
        """Prepared views, stacked, to their vectors."""
        return self.encoder.vectors(ready)


def view_origin(origin: Origin, view: int, seed: int) -> Origin:
    """The origin of the vectors of views, from the origin of the vectors of photos."""
    return replace(
        origin, preprocessing=f"augmented (view {view} of seed {seed}), then {origin.preprocessing}"
    )


def augmented(photo: Image.Image, view: int, seed: int, side: int) -> Image.Image:
    """One view of an RGB photo: a square of at most `side` pixels a side. Equal photos have equal views.

    >>> photo = Image.new("RGB", (60, 40), "teal")
    >>> augmented(photo, 1, 0, 32) == augmented(photo, 1, 0, 32)
    True
    """
    content = hashlib.sha256(repr(photo.size).encode() + photo.tobytes()).digest()
    random = np.random.default_rng([int.from_bytes(content, "little"), view, seed])
    left, top, width, height = crop_box(random, *photo.size)
    side = max(1, min(side, round(math.sqrt(width * height))))
    cut = photo.crop((left, top, left + width, top + height))
    seen = cut.resize((side, side), Image.Resampling.BILINEAR, reducing_gap=3.0)
    if random.random() < MIRRORED:
        seen = seen.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    if random.random() < JITTERED:
        seen = jittered(seen, random)
    if random.random() < GREY:
        seen = seen.convert("L").convert("RGB")
    return seen


def crop_box(random: np.random.Generator, width: int, height: int) -> tuple[int, int, int, int]:
    """Left, top, width and height of a crop: its share of the area uniform, its ratio uniform in the logarithm.

    A photo so long that no try fits gives its middle, as near to the allowed ratios as it has.
    """
    for _ in range(TRIES):
        area = width * height * random.uniform(*AREA)
        ratio = math.exp(random.uniform(math.log(RATIO[0]), math.log(RATIO[1])))
        wide, high = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < wide <= width and 0 < high <= height:
            return (
                int(random.integers(width - wide, endpoint=True)),
                int(random.integers(height - high, endpoint=True)),
                wide,
                high,
            )
    wide = min(width, max(1, round(height * RATIO[1])))
    high = min(height, max(1, round(width / RATIO[0])))
    return (width - wide) // 2, (height - high) // 2, wide, high


def jittered(photo: Image.Image, random: np.random.Generator) -> Image.Image:
    """Brightness, contrast, saturation and hue changed, in random order."""
    factors = random.uniform(1 - FACTOR, 1 + FACTOR, 3)
    turn = random.uniform(-HUE, HUE)
    kinds = (ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color)
    for step in random.permutation(4):
        photo = turned(photo, turn) if step == 3 else kinds[step](photo).enhance(factors[step])
    return photo


def turned(photo: Image.Image, turn: float) -> Image.Image:
    """Every hue rotated by a fraction of the colour circle."""
    hue, saturation, value = photo.convert("HSV").split()
    step = int(turn * 255)
    moved = hue.point([(level + step) % 256 for level in range(256)])
    return Image.merge("HSV", (moved, saturation, value)).convert("RGB")
