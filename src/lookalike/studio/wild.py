"""Photos of another style: an item as a customer may photograph it, not the shop."""

import numpy as np
from jaxtyping import UInt8
from PIL import Image, ImageFilter


def wild_photo(
    photo: UInt8[np.ndarray, "height width 3"], random: np.random.Generator
) -> UInt8[np.ndarray, "height width 3"]:
    """The photo in another style: nearer, perhaps mirrored, in other light and colours, with noise and out of focus.

    >>> grey = np.full((32, 32, 3), 128, np.uint8)
    >>> wild_photo(grey, np.random.default_rng(0)).shape
    (32, 32, 3)
    """
    image = Image.fromarray(photo)
    width, height = image.size
    share = random.uniform(0.7, 0.95)
    across, down = int(share * width), int(share * height)
    left, top = int(random.integers(width - across + 1)), int(random.integers(height - down + 1))
    image = image.crop((left, top, left + across, top + down)).resize((width, height))
    if random.random() < 0.5:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    light = np.asarray(image, np.float64) / 255.0
    light = light ** random.uniform(0.6, 1.6) * random.uniform(0.65, 1.2, 3)
    light = light + random.normal(0.0, 0.04, light.shape)
    image = Image.fromarray((255.0 * light.clip(0.0, 1.0)).astype(np.uint8))
    return np.asarray(image.filter(ImageFilter.GaussianBlur(random.uniform(0.0, 1.5))))
