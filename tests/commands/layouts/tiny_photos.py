"""Tiny photos for folders in published layouts."""

from pathlib import Path

import numpy as np
from PIL import Image


def photo(path: Path, width: int = 32, height: int = 24, seed: int = 0) -> Path:
    """A photo of noise, no two seeds alike."""
    path.parent.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(seed)
    Image.fromarray(random.integers(0, 255, (height, width, 3), dtype=np.uint8)).save(path)
    return path
