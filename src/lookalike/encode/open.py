"""Opens the encoder that an encoder string names."""

import os
from pathlib import Path
from types import MappingProxyType

from lookalike.core.checks import install, not_installed
from lookalike.core.errors import EncoderError
from lookalike.encode.encoder import Encoder
from lookalike.encode.sources.checkpoint_file import BlendAbout, made_of, require_plain
from lookalike.encode.spec import EncoderSpec, parse

TORCH = ("torch", "torchvision", "timm", "safetensors")
MORE = MappingProxyType[
    str, tuple[str, ...]
](  # what the other sources of networks need is in the extra `models`
    {"open_clip": (*TORCH, "open_clip"), "hf": (*TORCH, "transformers"), "onnx": ("onnxruntime",)}
)


def open_encoder(spec: EncoderSpec, base: Path = Path()) -> Encoder:
    """Load the encoder that a spec names. Relative paths are looked up in `base`, then in the current folder.

    Raises EncoderError for an unknown name, weights that are missing or belong to another network, and a library
    that is not installed.
    """
    if spec.source == "descriptor":
        from lookalike.encode.sources.descriptor import Descriptor

        return Descriptor.of(spec)
    if spec.source == "precomputed":
        raise EncoderError(
            f"{spec} holds vectors of known images and cannot encode a new photo.",
            fix="Search by the id of an image in the catalog, or use an encoder such as descriptor:color+hog.",
        )
    if spec.source == "onnx":
        _require(spec)
        from lookalike.encode.sources.onnx_file import OnnxFile

        return OnnxFile.of(spec, base)
    if isinstance(about := made_of(spec, base), BlendAbout):
        from lookalike.encode.sources.blend import Blend

        require_plain(spec, base)
        return Blend.of(spec, about, [open_encoder(parse(one.spec), base) for one in about.bases])
    require_torch(spec)
    if spec.source == "checkpoint":
        from lookalike.encode.sources.checkpoint import open_checkpoint

        return open_checkpoint(spec, base, open_encoder)
    from lookalike.encode.sources.libraries import open_network

    return open_network(spec, base)


def require_torch(spec: EncoderSpec) -> None:
    """Refuse a network where the libraries for it are not installed, and say how to install them."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")  # read when timm is imported
    _require(spec)


def missing_libraries(source: str) -> tuple[list[str], str]:
    """The libraries that a source of networks needs and that are not installed, and the extra that has them."""
    if missing := not_installed(TORCH if source != "onnx" else ()):
        return missing, "models"
    return not_installed(MORE.get(source, ())), "more"


def _require(spec: EncoderSpec) -> None:
    missing, extra = missing_libraries(spec.source)
    if missing:
        raise EncoderError(
            f"{spec} is a network, and networks of its kind need {missing[0]}, which is not installed.",
            fix=install(extra),
        )
