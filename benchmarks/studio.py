"""How many studio photos one core draws a second, and what drawing costs against JPEG encoding, in one run."""

import io
import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PIL import Image

from lookalike.studio import studio

AIM = 100  # photos of 160 x 160 a second and core


def main(photos: int = 200, repeats: int = 5) -> None:
    """Print the medians over `repeats` rounds, in processor seconds of one process."""
    drawn = studio(2_000, seed=1)
    rows = range(0, 2_000, 2_000 // photos)
    pixels = [drawn.draw(row) for row in rows]
    draw, encode = [], []
    for _ in range(repeats):
        draw.append(_seconds(drawn.draw, rows))
        encode.append(_seconds(_jpeg, pixels))
    rate = photos / statistics.median(draw)
    print(f"{photos} photos of 160 x 160, medians of {repeats} rounds, one core")
    print(f"drawn: {rate:.0f} photos a second, {rate / AIM:.2f} of the aim ({AIM})")
    print(f"drawing takes {statistics.median(draw) / statistics.median(encode):.1f} times its JPEG encoding")


def _seconds(work: Callable[[Any], object], items: Sequence[Any]) -> float:
    started = time.process_time()
    for item in items:
        work(item)
    return time.process_time() - started


def _jpeg(pixels: np.ndarray) -> int:
    held = io.BytesIO()
    Image.fromarray(pixels).save(held, "JPEG", quality=90)
    return held.tell()


if __name__ == "__main__":
    main()
