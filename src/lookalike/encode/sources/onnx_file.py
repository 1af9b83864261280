"""A network in an ONNX file: `onnx:model.onnx`.

Files that Lookalike exported hold their preprocessing. Of others, the size and the order of the axes are read from
the input, and mean, std and the rest are options; without options, they are those of ImageNet.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
from jaxtyping import Float32, UInt8

from lookalike.core.cores import cores
from lookalike.core.errors import EncoderError, first_line
from lookalike.core.object_store import is_address
from lookalike.core.types import Origin
from lookalike.encode.batch_size import planned_batch
from lookalike.encode.fetched import fetched_file
from lookalike.encode.inputs.preprocessing import OPTIONS, Preprocessing
from lookalike.encode.spec import EncoderSpec
from lookalike.encode.zoo.networks import of_source

METADATA = "lookalike.preprocessing.values"
BATCH, SIDE = 16, 224
CHUNK = 1 << 24  # bytes of a file that are hashed at a time
KINDS = {"tensor(uint8)": np.uint8, "tensor(float)": np.float32, "tensor(float16)": np.float16}


class OnnxFile:
    """An ONNX file, ready to encode: one thread per core."""

    def __init__(self, spec: EncoderSpec, session: Any, preprocessing: Preprocessing, weights: str) -> None:  # noqa: ANN401
        self.session, self.preprocessing = session, preprocessing
        self.origin = Origin(str(spec), str(preprocessing), weights, "float32")
        self.prepare, self.size_hint = preprocessing.pixels, preprocessing.size_hint
        self.input, self.threads = session.get_inputs()[0], cores()
        self.output = _output(spec, session)
        fixed = self.input.shape[0]
        self.batch = fixed if isinstance(fixed, int) and fixed > 0 else planned_batch() or BATCH
        self.whole = self.batch == fixed
        self.dimension = self.vectors(np.zeros((1, *preprocessing.size, 3), np.uint8)).shape[1]

    @classmethod
    def of(cls, spec: EncoderSpec, base: Path) -> "OnnxFile":
        """The file that a spec names: by its address, or looked up in `base`, then in the current folder."""
        options = dict(spec.options)
        if "layers" in options:
            raise EncoderError(
                f"{spec}: an ONNX file has outputs and no layers that can be named.",
                fix="Leave out layers=, or name an output: ?output=NAME",
            )
        if unknown := sorted(set(options) - {*OPTIONS, "output"}):
            raise EncoderError(
                f"{spec}: an ONNX file takes no option {unknown[0]!r}.",
                fix=f"Use {', '.join(OPTIONS)} or output.",
            )
        if is_address(spec.name):
            file: Path | None = fetched_file(spec.name, str(spec))
        else:
            file = next((one for one in (base / spec.name, Path(spec.name)) if one.is_file()), None)
        if file is None:
            known = of_source(str(spec))
            raise EncoderError(
                f"{spec}: there is no file {spec.name!r}.",
                fix=f"{known.note} The weights: {known.weights}"
                if known
                else "Give the path of an .onnx file.",
            )
        session = _session(spec, file)
        preprocessing = _preprocessing(spec, session).with_options(options, str(spec))
        return cls(spec, session, preprocessing, _hash(file))

    def vectors(
        self, ready: UInt8[np.ndarray, "photos height width 3"]
    ) -> Float32[np.ndarray, "photos dimension"]:
        """Prepared photos, stacked, to their vectors. A file for batches of one size gets blank photos to fill one."""
        parts = []
        for first in range(0, len(ready), self.batch):
            part = ready[first : first + self.batch]
            blank = np.zeros((self.batch - len(part) if self.whole else 0, *part.shape[1:]), np.uint8)
            parts.append(self._run(np.concatenate([part, blank]))[: len(part)])
        return np.concatenate(parts)

    def _run(self, pixels: np.ndarray) -> np.ndarray:
        kind, x = KINDS[self.input.type], pixels
        if kind is not np.uint8:
            mean, std = (
                np.array(part, np.float32) for part in (self.preprocessing.mean, self.preprocessing.std)
            )
            x = (pixels.astype(np.float32) / 255 - mean) / std
        if not _channels_last(self.input.shape):
            x = x.transpose(0, 3, 1, 2)
        try:
            (found,) = self.session.run([self.output], {self.input.name: np.ascontiguousarray(x, kind)})
        except Exception as error:  # onnxruntime raises classes of its own
            height, width = self.preprocessing.size
            raise EncoderError(
                f"{self.origin.spec} cannot take photos of {width} x {height} pixels: {first_line(error)}.",
                fix="Give the size it was made for: ?size=224",
            ) from None
        found = np.asarray(found, np.float32)
        if len(found) != len(pixels) or found.ndim < 2 or found.size // len(found) != found.shape[1]:
            raise EncoderError(
                f"{self.origin.spec}: output {self.output!r} has the shape {found.shape}, not one vector per photo.",
                fix=f"Name another output: ?output=NAME of {_outputs(self.session)}.",
            )
        return found.reshape(len(found), -1)


def _session(spec: EncoderSpec, file: Path) -> Any:  # noqa: ANN401 - the library's own class
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads, settings.log_severity_level = 1, 4
    there = onnxruntime.get_available_providers()
    providers = [one for one in ("CUDAExecutionProvider", "CPUExecutionProvider") if one in there]
    try:
        session = onnxruntime.InferenceSession(str(file), settings, providers=providers)
    except Exception as error:  # onnxruntime raises classes of its own
        raise EncoderError(
            f"{file} cannot be read as an ONNX network: {first_line(error)}.", fix="Export it again."
        ) from None
    inputs = session.get_inputs()
    if len(inputs) != 1 or len(inputs[0].shape) != 4 or inputs[0].type not in KINDS:
        listed = ", ".join(f"{one.name} {one.type} {one.shape}" for one in inputs)
        raise EncoderError(
            f"{spec} does not take photos: its inputs are {listed}.",
            fix="Use a network with one input: (n, 3, height, width) or (n, height, width, 3) of float or uint8.",
        )
    return session


def _preprocessing(spec: EncoderSpec, session: Any) -> Preprocessing:  # noqa: ANN401
    held = session.get_modelmeta().custom_metadata_map.get(METADATA)
    if held is not None:
        return Preprocessing.of_values(json.loads(held), str(spec))
    shape = session.get_inputs()[0].shape
    sides = shape[1:3] if _channels_last(shape) else shape[2:]
    height, width = (side if isinstance(side, int) and side > 0 else SIDE for side in sides)
    return Preprocessing((height, width))


def _channels_last(shape: list[Any]) -> bool:
    return shape[3] == 3 and shape[1] != 3


def _output(spec: EncoderSpec, session: Any) -> str:  # noqa: ANN401
    names = [one.name for one in session.get_outputs()]
    given = dict(spec.options).get("output")
    if given is not None and given not in names:
        raise EncoderError(f"{spec}: it has no output {given!r}.", fix=f"Use one of {_outputs(session)}.")
    flat = [one.name for one in session.get_outputs() if len(one.shape) == 2]
    return given or (flat or names)[0]


def _outputs(session: Any) -> str:  # noqa: ANN401
    return ", ".join(f"{one.name} {one.shape}" for one in session.get_outputs())


def _hash(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while part := opened.read(CHUNK):
            digest.update(part)
    return digest.hexdigest()
