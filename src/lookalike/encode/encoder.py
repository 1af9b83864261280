"""What an encoder is: workers make photos ready, then batches of them become vectors."""

import os
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np
from jaxtyping import Float32
from PIL import Image

from lookalike.core.errors import EncoderError
from lookalike.core.types import Origin
from lookalike.encode.spec import BUILT, SOURCES, EncoderSpec

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
        """Ready photos, stacked, to their vectors."""


def open_encoder(spec: EncoderSpec, base: Path = Path()) -> Encoder:
    """Load what an encoder string names. Paths in it are looked for under `base`, then under the current folder.

    Raises EncoderError for what cannot be had: a name nobody knows, weights that are not there or belong to
    another network, a library that is not installed.
    """
    if spec.source == "descriptor":
        from lookalike.encode.descriptor import Descriptor

        return Descriptor.of(spec)
    if spec.source == "precomputed":
        raise EncoderError(
            f"{spec} holds vectors of known images; it cannot encode a new photo.",
            fix="Search by the id of an image in the catalog, or use an encoder such as descriptor:color+hog.",
        )
    if spec.source not in BUILT:
        built = ", ".join(f"{source}:" for source in BUILT)
        raise EncoderError(
            f"{spec} names {SOURCES[spec.source]}, which this version cannot compute (it can: {built}).",
            fix="Compute the vectors yourself, save them with numpy.save in the order of your table, and use "
            "precomputed:vectors.npy.",
        )
    require_torch(spec)
    if spec.source == "checkpoint":
        from lookalike.encode.checkpoint import open_checkpoint

        return open_checkpoint(spec, base)
    from lookalike.encode.libraries import open_network

    return open_network(spec, base)


def require_torch(spec: EncoderSpec) -> None:
    """Refuse a network where the libraries for it are not installed, and say how to install them."""
    os.environ.setdefault(
        "HF_HUB_DISABLE_TELEMETRY", "1"
    )  # nothing is sent anywhere; read when timm is imported
    try:
        for library in ("torch", "torchvision", "timm", "safetensors"):
            import_module(library)
    except ImportError as error:
        raise EncoderError(
            f"{spec} is a network, and networks need {error.name or 'PyTorch'}, which is not installed.",
            fix="Install it: pip install 'lookalike[models]'",
        ) from None


def encode_photo(photo: Image.Image, encoder: Encoder) -> Float32[np.ndarray, " dimension"]:
    """One photo's vector."""
    return encoder.vectors(encoder.prepare(photo)[None])[0]
