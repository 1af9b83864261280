"""How a photo becomes a network's input: fitted to its size, then scaled. Stored with every embedding."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import UInt8
from PIL import Image

from lookalike.core.errors import EncoderError

CROP_MODES = ("center", "border", "squash")
INTERPOLATIONS = {
    "nearest": Image.Resampling.NEAREST,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}
COLOURS = {"white": (255, 255, 255), "black": (0, 0, 0)}
OPTIONS = ("size", "resize", "crop_mode", "interpolation", "mean", "std", "fill")


@dataclass(frozen=True)
class Preprocessing:
    """A photo to (height, width, 3) pixels of 8 bits, and the mean and standard deviation that scale them.

    - `center`: the shorter side to `resize` pixels, then the middle (the rest of the photo is not seen);
    - `border`: the whole photo in the middle of a square of colour `fill`, then to `size`;
    - `squash`: to `size`, whatever the proportions.

    `mean` and `std` are per channel on a scale from 0 to 1: the input is (pixel / 255 - mean) / std.

    >>> Preprocessing((224, 224), resize=256).pixels(Image.new("RGB", (400, 300))).shape
    (224, 224, 3)
    """

    size: tuple[int, int]
    resize: int = 0
    crop_mode: str = "center"
    interpolation: str = "bicubic"
    mean: tuple[float, float, float] = (0.485, 0.456, 0.406)
    std: tuple[float, float, float] = (0.229, 0.224, 0.225)
    fill: tuple[int, int, int] = (255, 255, 255)

    def __str__(self) -> str:
        height, width = self.size
        how = {
            "center": f"shorter side to {self.shorter}, middle {width} x {height}",
            "border": f"centred on a {self._fill_name} square, then {width} x {height}",
            "squash": f"{width} x {height} whatever the proportions",
        }[self.crop_mode]
        return f"{how}, {self.interpolation}, mean {_numbers(self.mean)}, std {_numbers(self.std)}"

    @property
    def _fill_name(self) -> str:
        named = {colour: name for name, colour in COLOURS.items()}
        return named.get(self.fill, f"{_numbers(self.fill)}-coloured")

    @property
    def shorter(self) -> int:
        """The shorter side before the middle is cut out."""
        return max(self.resize, *self.size)

    @property
    def size_hint(self) -> int:
        """The least side, in pixels, to which a photo may be decoded."""
        return 2 * self.shorter

    def pixels(self, photo: Image.Image) -> UInt8[np.ndarray, "height width 3"]:
        """The photo fitted to the network's size. Pure; runs in worker processes."""
        height, width = self.size
        filter = INTERPOLATIONS[self.interpolation]
        if self.crop_mode == "squash":
            fitted = photo.resize((width, height), filter)
        elif self.crop_mode == "border":
            fitted = _on_square(photo, self.fill).resize((width, height), filter)
        else:
            fitted = _middle(_shorter_to(photo, self.shorter, filter), width, height)
        return np.array(fitted)

    @classmethod
    def of_values(cls, values: Mapping[str, Any], spec: str) -> "Preprocessing":
        """A preprocessing from its `asdict` form, checked as strictly as the options of an encoder string."""
        listed = {key: value if isinstance(value, list | tuple) else [value] for key, value in values.items()}
        texts = {key: ",".join(map(str, value)) for key, value in listed.items()}
        if texts.get("resize") == "0":
            del texts["resize"]
        return cls((1, 1)).with_options(texts, spec)

    def with_options(self, options: Mapping[str, str], spec: str) -> "Preprocessing":
        """This preprocessing, changed by the options of an encoder string."""
        given = {key: _read(key, text, spec) for key, text in options.items() if key in OPTIONS}
        if "size" in given and "resize" not in given:
            given["resize"] = round(self.shorter * max(given["size"]) / max(self.size))
        changed = replace(self, **given)
        if changed.crop_mode == "border" and changed.size[0] != changed.size[1]:
            raise EncoderError(
                f"{spec}: crop_mode=border makes a square, but the size is {changed.size[1]} x {changed.size[0]}.",
                fix="Give one number as size, or use crop_mode=squash.",
            )
        return changed


def _read(key: str, text: str, spec: str) -> Any:  # noqa: ANN401 - the fields have different types
    """One option's value; 123/255 is a number."""
    try:
        if key == "crop_mode" and text in CROP_MODES:
            return text
        if key == "interpolation" and text in INTERPOLATIONS:
            return text
        if key == "fill" and text in COLOURS:
            return COLOURS[text]
        if key in ("crop_mode", "interpolation"):
            raise ValueError
        numbers = [_number(part) for part in text.split(",")]
        if key in ("mean", "std", "fill"):
            return _channels(key, numbers * 3 if len(numbers) == 1 else numbers)
        sides = [int(number) for number in numbers if number == int(number) and 1 <= number <= 8192]
        if key == "resize":
            (side,) = sides
            return side
        height, width = sides * 2 if len(numbers) == 1 else sides
        return height, width
    except (ValueError, ZeroDivisionError, OverflowError):
        raise EncoderError(f"{spec}: {key} cannot be {text!r}.", fix=_FORMS[key]) from None


def _channels(key: str, numbers: list[float]) -> tuple[float, ...] | tuple[int, ...]:
    if len(numbers) != 3 or (key == "std" and min(numbers) <= 0) or not np.isfinite(numbers).all():
        raise ValueError
    if key == "fill":
        if any(number != int(number) or not 0 <= number <= 255 for number in numbers):
            raise ValueError
        return tuple(int(number) for number in numbers)
    return tuple(numbers)


_FORMS = {
    "size": "Give one side, size=224, or height and width, size=256,192.",
    "resize": "Give the shorter side before the middle is cut out: resize=256.",
    "crop_mode": f"Use one of: {', '.join(CROP_MODES)}.",
    "interpolation": f"Use one of: {', '.join(INTERPOLATIONS)}.",
    "mean": "Give one number or three on a scale from 0 to 1: mean=0.5 or mean=123/255,117/255,104/255.",
    "std": "Give one number or three above 0 on a scale from 0 to 1: std=0.5.",
    "fill": "Give white, black or three numbers from 0 to 255: fill=255,255,255.",
}


def _number(text: str) -> float:
    above, stroke, below = text.partition("/")
    return float(above) / float(below) if stroke else float(above)


def _numbers(values: tuple[float, ...]) -> str:
    shown = [f"{value:.4g}" for value in values]
    return shown[0] if len(set(shown)) == 1 else "(" + ", ".join(shown) + ")"


def _on_square(photo: Image.Image, fill: tuple[int, int, int]) -> Image.Image:
    side = max(photo.size)
    square = Image.new("RGB", (side, side), fill)
    square.paste(photo, ((side - photo.width) // 2, (side - photo.height) // 2))
    return square


def _shorter_to(photo: Image.Image, side: int, filter: Image.Resampling) -> Image.Image:
    """The longer side is rounded down, as torchvision does."""
    short, long = sorted(photo.size)
    other = int(side * long / short)
    return photo.resize((side, other) if photo.width <= photo.height else (other, side), filter)


def _middle(photo: Image.Image, width: int, height: int) -> Image.Image:
    left, top = round((photo.width - width) / 2.0), round((photo.height - height) / 2.0)
    return photo.crop((left, top, left + width, top + height))
