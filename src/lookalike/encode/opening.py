"""Which file opens which encoder string."""

import os
from importlib import import_module
from pathlib import Path

from lookalike.core.errors import EncoderError
from lookalike.encode.encoder import Encoder
from lookalike.encode.spec import BUILT, SOURCES, EncoderSpec


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

        return open_checkpoint(spec, base, open_encoder)
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
