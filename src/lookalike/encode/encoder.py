"""What an encoder is: workers make photos ready, then batches of them become vectors."""

from collections.abc import Callable
from typing import Protocol

import numpy as np
from jaxtyping import Float32
from PIL import Image

from lookalike.core.types import Origin

Prepare = Callable[[Image.Image], np.ndarray]


class Encoder(Protocol):
    """An opened encoder, ready to work.

    `prepare` is pure and can be sent to another process; all its results have one shape. `vectors` takes up
    to `batch` of them at a time, from up to `threads` threads at once. A JPEG may be decoded smaller than it is, but
    not below `size_hint` pixels a side.
    """

    @property
    def origin(self) -> Origin:
        """What makes these vectors."""

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""

    @property
    def prepare(self) -> Prepare:
        """One photo made ready."""

    @property
    def size_hint(self) -> int:
        """The least side a JPEG is decoded to."""

    @property
    def batch(self) -> int:
        """How many ready photos `vectors` takes at best."""

    @property
    def threads(self) -> int:
        """How many threads may call `vectors` at once."""

    def vectors(self, ready: np.ndarray) -> Float32[np.ndarray, "photos dimension"]:
        """Prepared photos, stacked, to their vectors."""


def encode_photo(photo: Image.Image, encoder: Encoder) -> Float32[np.ndarray, " dimension"]:
    """One photo's vector."""
    return encoder.vectors(encoder.prepare(photo)[None])[0]
