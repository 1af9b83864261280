"""Classical descriptors of photos, without a trained network.

The parts describe different things, so encoders made of them find different candidates: `color` the colours, `layout`
the colours and their places, `hog` the edges and their places, `lbp` the fine texture.
A name joins parts by `+`. Each part has length 1, so all have equal weight.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
from PIL import Image

from lookalike.core.errors import EncoderError
from lookalike.core.types import Origin
from lookalike.encode.inputs.regions import REGION, pools, weights_of
from lookalike.encode.spec import EncoderSpec

SIDE = 128
FLAT = 0.05  # photos without edges or texture share this direction instead of a zero vector
PREPROCESSING = f"longer side to {SIDE}, bilinear, centred on a white square, sRGB"


def on_square(photo: Image.Image) -> np.ndarray:
    """The whole photo, scaled to fit and centred on a white square: (SIDE, SIDE, 3) uint8.

    Of an RGBA photo, what is outside its region is left out: the last axis has the region's weights as a fourth number.
    """
    if photo.mode == "RGBA":
        weights = weights_of(photo.getchannel("A"), (SIDE, SIDE), square=True)
        return np.dstack([on_square(photo.convert("RGB")), np.rint(255 * weights).astype(np.uint8)])
    scale = SIDE / max(photo.size)
    size = (max(1, round(photo.width * scale)), max(1, round(photo.height * scale)))
    square = Image.new("RGB", (SIDE, SIDE), "white")
    small = photo.resize(size, Image.Resampling.BILINEAR, reducing_gap=2.0)
    square.paste(small, ((SIDE - size[0]) // 2, (SIDE - size[1]) // 2))
    return np.asarray(square)


def color(pixels: np.ndarray) -> np.ndarray:
    """Histogram of CIELAB colours, 6 x 9 x 9 cells, square roots: cosine is then the Bhattacharyya coefficient.

    With the weights of a region as a fourth number, pixels count as much as they are in it.
    """
    from skimage.color import rgb2lab

    lab = rgb2lab(pixels[..., :3]).reshape(-1, 3)
    weights = pixels[..., 3].ravel() / 255 if pixels.shape[2] == 4 else None
    ranges = ((0, 100.001), (-90, 90), (-90, 90))
    counts, _ = np.histogramdd(lab, bins=(6, 9, 9), range=ranges, weights=weights)
    if not counts.any():  # nothing but the strongest blues or greens, which are outside the range
        counts, _ = np.histogramdd(lab.clip(-90, 90), bins=(6, 9, 9), range=ranges, weights=weights)
    return np.sqrt(counts).ravel()


def layout(pixels: np.ndarray) -> np.ndarray:
    """Mean CIELAB colour of an 8 x 8 grid, as the difference from white."""
    from skimage.color import rgb2lab

    cell = SIDE // 8
    lab = rgb2lab(pixels).reshape(8, cell, 8, cell, 3).mean(axis=(1, 3))
    return np.append(((lab - (100.0, 0.0, 0.0)) / 100.0).ravel(), FLAT)


def hog(pixels: np.ndarray) -> np.ndarray:
    """Histograms of oriented gradients (Dalal and Triggs 2005): 9 directions, cells of 16, blocks of 2 x 2."""
    from skimage.feature import hog as oriented_gradients

    edges = oriented_gradients(
        pixels, orientations=9, pixels_per_cell=(16, 16), cells_per_block=(2, 2), channel_axis=-1
    )
    return np.append(edges / max(float(np.linalg.norm(edges)), 1e-6), FLAT)


def lbp(pixels: np.ndarray) -> np.ndarray:
    """Uniform local binary patterns (Ojala et al. 2002), radii 1 and 2, over the whole photo and its quarters."""
    from skimage.color import rgb2gray
    from skimage.feature import local_binary_pattern

    grey = np.round(rgb2gray(pixels) * 255).astype(np.uint8)
    half = SIDE // 2
    regions = [np.s_[:, :], *(np.s_[y : y + half, x : x + half] for y in (0, half) for x in (0, half))]
    parts = []
    for points, radius in ((8, 1), (16, 2)):
        pattern = local_binary_pattern(grey, points, radius, method="uniform").astype(np.int64)
        parts += [np.sqrt(np.bincount(pattern[region].ravel(), minlength=points + 2)) for region in regions]
    return np.concatenate(parts)


PARTS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = MappingProxyType(
    {"color": color, "layout": layout, "hog": hog, "lbp": lbp}
)


def parts_of(spec: EncoderSpec) -> tuple[str, ...]:
    """The parts a descriptor string joins."""
    parts = tuple(spec.name.split("+"))
    unknown = [part for part in parts if part not in PARTS]
    options = dict(spec.options)
    others = sorted(set(options) - {REGION})
    if unknown or len(set(parts)) != len(parts) or others:
        wrong = f"part {unknown[0]!r} is not known" if unknown else "a part is named twice"
        wrong = f"descriptors take no option {others[0]!r}" if others else wrong
        raise EncoderError(f"{spec}: {wrong}.", fix=f"Join some of {', '.join(PARTS)} by +, each once.")
    if pools(options, str(spec)) and parts != ("color",):
        raise EncoderError(
            f"{spec}: region=pool needs a descriptor without positions, and only color is one.",
            fix="Use descriptor:color?region=pool, or region=crop.",
        )
    return parts


def describe(photo: Image.Image, parts: tuple[str, ...]) -> np.ndarray:
    """One photo's vector: the parts, each of length 1, side by side, float32."""
    pixels = on_square(photo)
    scaled = [(vector := PARTS[part](pixels)) / np.linalg.norm(vector) for part in parts]
    return np.concatenate(scaled).astype(np.float32)


@dataclass(frozen=True)
class Describe:
    """`describe` with its parts bound, in a form that can be sent to another process."""

    parts: tuple[str, ...]
    pools: bool = False

    def __call__(self, photo: Image.Image) -> np.ndarray:
        """One photo's vector."""
        return describe(photo, self.parts)


@dataclass(frozen=True)
class Descriptor:
    """A descriptor as an encoder: the workers do all of it, so nothing is left for batches."""

    origin: Origin
    prepare: Describe
    size_hint: int = 2 * SIDE
    batch: int = 64
    threads: int = 1

    @classmethod
    def of(cls, spec: EncoderSpec) -> "Descriptor":
        """The descriptor a string names."""
        parts = parts_of(spec)
        return cls(Origin(str(spec), PREPROCESSING), Describe(parts, pools(dict(spec.options), str(spec))))

    @cached_property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return len(self.prepare(Image.new("RGB", (SIDE, SIDE), "white")))

    def vectors(self, ready: np.ndarray) -> np.ndarray:
        """The workers' vectors as they are."""
        return ready
