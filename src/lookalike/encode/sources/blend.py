"""Several encoders as one: their vectors side by side, so that its cosine is the weighted mean of theirs."""

import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np
from jaxtyping import Float32, UInt8
from PIL import Image

from lookalike.core.errors import EncoderError
from lookalike.core.types import Origin
from lookalike.encode.encoder import Encoder, Prepare
from lookalike.encode.inputs.regions import pools_regions
from lookalike.encode.sources.checkpoint_file import BLEND, BlendAbout, require_unchanged
from lookalike.encode.spec import ABOUT, EncoderSpec


@dataclass(frozen=True)
class PackedPhotos:
    """One photo made ready for each of several encoders, as one row of bytes."""

    prepares: tuple[Prepare, ...]

    @property
    def pools(self) -> bool:
        """Whether they take photos with their regions."""
        return all(map(pools_regions, self.prepares))

    def __call__(self, photo: Image.Image) -> UInt8[np.ndarray, " bytes"]:
        """The bytes of every encoder's prepared photo, one after another."""
        parts = [np.ascontiguousarray(prepare(photo)) for prepare in self.prepares]
        return np.concatenate([part.reshape(-1).view(np.uint8) for part in parts])


@dataclass(frozen=True, eq=False)
class Blend:
    """A blend that is ready to encode: each photo is prepared and encoded by every one of its encoders."""

    origin: Origin
    weights: tuple[float, ...]
    bases: tuple[Encoder, ...]
    prepare: PackedPhotos
    layouts: tuple[tuple[np.dtype, tuple[int, ...]], ...]  # of one prepared photo, by encoder
    size_hint: int
    batch: int
    threads: int
    dimension: int

    @classmethod
    def of(cls, spec: EncoderSpec, about: BlendAbout, bases: Sequence[Encoder]) -> "Blend":
        """The blend of opened encoders, which must be what they were when it was made."""
        if len({pools_regions(base.prepare) for base in bases}) > 1:
            raise EncoderError(
                f"{spec} blends encoders with region=pool and without, which see different parts of a photo.",
                fix="Blend encoders with the same region option.",
            )
        for then, base in zip(about.bases, bases, strict=True):
            require_unchanged(spec, then, base.origin)
        blank = [np.asarray(base.prepare(Image.new("RGB", (64, 64)))) for base in bases]
        return cls(
            blended_origin(spec, [base.origin for base in bases], about.weights),
            about.weights,
            tuple(bases),
            PackedPhotos(tuple(base.prepare for base in bases)),
            tuple((one.dtype, one.shape) for one in blank),
            size_hint=max(base.size_hint for base in bases),
            batch=min(base.batch for base in bases),
            threads=min(base.threads for base in bases),
            dimension=sum(base.dimension for base in bases),
        )

    def vectors(self, ready: np.ndarray) -> Float32[np.ndarray, "photos dimension"]:
        """Prepared photos, stacked, to their vectors."""
        parts, first = [], 0
        for base, (kind, shape) in zip(self.bases, self.layouts, strict=True):
            last = first + kind.itemsize * math.prod(shape)
            own = np.ascontiguousarray(ready[:, first:last]).view(kind)
            parts.append(base.vectors(own.reshape(len(ready), *shape)))
            first = last
        return blended(parts, self.weights)


def blended(
    parts: Sequence[Float32[np.ndarray, "n _"]], weights: Sequence[float]
) -> Float32[np.ndarray, "n dimension"]:
    """Vectors of several encoders side by side, each row of length sqrt(w_k).

        v = (sqrt(w_1) v_1 / |v_1|, ..., sqrt(w_K) v_K / |v_K|)
        so that cos(v, u) = sum_k w_k cos(v_k, u_k) / sum_k w_k

    A zero vector stays zero.

    >>> blended([np.array([[3.0, 4.0]], np.float32), np.array([[2.0]], np.float32)], [0.75, 0.25]).round(3).tolist()
    [[0.5199999809265137, 0.6930000185966492, 0.5]]
    """
    made = []
    for part, weight in zip(parts, weights, strict=True):
        given = np.asarray(
            part, np.float64
        )  # in which squares of tiny and huge entries of float32 are in range
        length = np.linalg.norm(given, axis=1, keepdims=True)
        made.append((given * (np.sqrt(weight) / np.where(length > 0, length, 1.0))).astype(np.float32))
    return np.concatenate(made, axis=1)


def blended_origin(spec: EncoderSpec, bases: Sequence[Origin], weights: Sequence[float]) -> Origin:
    """The origin of a blend's vectors."""
    text = "\n".join(
        f"{base.weights or base.spec} {weight!r}" for base, weight in zip(bases, weights, strict=True)
    )
    preprocessing, precision = (
        "; ".join(dict.fromkeys(values))
        for values in ([base.preprocessing for base in bases], [base.precision for base in bases])
    )
    return Origin(str(spec), preprocessing, hashlib.sha256(text.encode()).hexdigest(), precision)


def blend_files(about: BlendAbout) -> dict[str, bytes]:
    """The files of a blend's checkpoint folder, by name; the caller writes them."""
    encoders = []
    for base, weight in zip(about.bases, about.weights, strict=True):
        values = asdict(base)
        encoders.append({"encoder": values.pop("spec"), **values, "weight": weight})
    content = {"format": BLEND, "encoders": encoders, "learned": dict(about.learned)}
    return {ABOUT: (json.dumps(content, indent=2) + "\n").encode()}
