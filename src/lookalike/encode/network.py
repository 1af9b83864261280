"""A torch network as an encoder: device, precision, batches, and smaller batches when memory runs out."""

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

import numpy as np
import torch
from jaxtyping import Float32, UInt8
from torch import nn

from lookalike.core.cores import cores
from lookalike.core.errors import EmbeddingsError, EncoderError, first_line
from lookalike.core.types import Origin
from lookalike.encode.batch_size import planned_batch
from lookalike.encode.encoder import Prepare
from lookalike.encode.inputs.preprocessing import Preprocessing
from lookalike.encode.inputs.regions import WithRegion, pools, whole_photo
from lookalike.encode.layers import with_layers
from lookalike.encode.spec import EncoderSpec
from lookalike.encode.weights import parameters_hash

PRECISIONS = ("float32", "bfloat16")
ON_PROCESSOR, ON_CARD = 16, 256  # photos per batch

Value = bool | int | float | str | None
Arguments = dict[str, Value]
Options = Mapping[str, str]
NONE: Options = MappingProxyType({})


@dataclass(frozen=True)
class Backbone:
    """A library's network without its classifier, and the preprocessing of its photos."""

    module: nn.Module
    preprocessing: Preprocessing


class Network:
    """A network that is ready to encode: on a CPU one thread per core, on a GPU one thread."""

    def __init__(
        self, origin: Origin, module: nn.Module, preprocessing: Preprocessing, device: torch.device
    ) -> None:
        self.origin = origin
        self.preprocessing = preprocessing
        self.prepare: Prepare = preprocessing.pixels
        self.size_hint = preprocessing.size_hint
        self.device = device
        self._planned = planned_batch()
        self.batch = self._planned or (ON_CARD if device.type == "cuda" else ON_PROCESSOR)
        self.threads = 1 if device.type == "cuda" else cores()
        self.module = module.eval().requires_grad_(False).to(device)
        self.module = self.module.to(memory_format=torch.channels_last)
        self._limit = self.batch
        shape = (1, 3, 1, 1)
        self.scale = (1 / (255 * torch.tensor(preprocessing.std))).reshape(shape).to(device)
        mean = torch.tensor(preprocessing.mean) / torch.tensor(preprocessing.std)
        self.shift = mean.reshape(shape).to(device)

    @classmethod
    def of(
        cls, spec: EncoderSpec, module: nn.Module, preprocessing: Preprocessing, options: Options = NONE
    ) -> "Network":
        """A network on the best device: float32 on a CPU, bfloat16 on a GPU that has it.

        `options` are those of the encoder string that concern any network: layers, region and precision.
        """
        region, precision = pools(options, str(spec)), options.get("precision")
        if region:
            preprocessing = whole_photo(preprocessing, options, str(spec))
        size = preprocessing.size if region else None
        module = with_layers(module, options.get("layers"), str(spec), size)
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        if precision is None:
            card = device.type == "cuda" and torch.cuda.is_bf16_supported()
            precision = "bfloat16" if card else "float32"
        if precision not in PRECISIONS:
            raise EncoderError(
                f"{spec}: the precision {precision!r} is unknown.", fix=f"Use {' or '.join(PRECISIONS)}."
            )
        origin = Origin(str(spec), str(preprocessing), parameters_hash(module), precision)
        made = cls(origin, module, preprocessing, device)
        if region:
            made.prepare = WithRegion(preprocessing)
        return made

    def on(self, device: torch.device) -> "Network":
        """The network on a device."""
        if device == self.device:
            return self
        return Network(self.origin, self.module, self.preprocessing, device)

    @cached_property
    def dimension(self) -> int:
        """The length of a vector, measured on a blank photo, which also checks that the network runs."""
        height, width = self.preprocessing.size
        return int(self.vectors(np.zeros((1, height, width, 3), np.uint8)).shape[1])

    def vectors(
        self, ready: UInt8[np.ndarray, "photos height width 3"]
    ) -> Float32[np.ndarray, "photos dimension"]:
        """Photos to vectors. If memory does not hold a batch, it is halved until it fits, and stays that small.

        A planned batch size is not halved: the error names the size that fits.
        """
        share_cores(self.device)
        while True:
            limit = self._limit
            try:
                parts = [ready[first : first + limit] for first in range(0, len(ready), limit)]
                found = np.concatenate([self._run(part) for part in parts])
                if self._planned and limit < self._planned:
                    raise EmbeddingsError(
                        f"{self.origin.spec}: the memory of this machine does not hold a batch of {self._planned:,} "
                        "photos, the batch size of the plan.",
                        fix=f"Plan again with --batch {limit}, or use a machine with more memory.",
                    )
                return found
            except (
                RuntimeError,
                AssertionError,
                ValueError,
            ) as error:  # the layers of networks raise all of these
                if not out_of_memory(error):
                    raise self._fails(error) from error
                if limit == 1:
                    raise EmbeddingsError(
                        f"{self.origin.spec} does not fit into this machine's memory, even one photo at a time.",
                        fix="Stop other programs that use memory, or use a smaller network.",
                    ) from error
            self._limit = min(self._limit, max(1, min(limit, len(ready)) // 2))
            if self.device.type == "cuda":
                torch.cuda.empty_cache()

    def _run(self, pixels: np.ndarray) -> np.ndarray:
        """The vectors of one batch that fits."""
        with (
            torch.inference_mode(),
            torch.autocast(self.device.type, torch.bfloat16, enabled=self.origin.precision == "bfloat16"),
            exact_convolutions(),
        ):
            found = self.features(torch.from_numpy(np.ascontiguousarray(pixels)))
        if not isinstance(found, torch.Tensor) or found.ndim != 2:
            shape = tuple(found.shape) if isinstance(found, torch.Tensor) else type(found).__name__
            raise EncoderError(
                f"{self.origin.spec} returns {shape} for a batch, not one vector per photo.",
                fix="Use a network that ends in pooled features.",
            )
        return np.asarray(found.float().cpu().numpy())

    def features(self, pixels: UInt8[torch.Tensor, "photos height width channels"]) -> torch.Tensor:
        """What the network makes of photos. They are sent as uint8 and scaled on the device.

        A fourth channel is the region of `region=pool`.
        """
        sent = pixels.to(self.device, non_blocking=True)
        x = sent[..., :3].permute(0, 3, 1, 2).float() * self.scale - self.shift
        region = [sent[..., 3:].permute(0, 3, 1, 2)] if sent.shape[3] == 4 else []
        found: torch.Tensor = self.module(x.contiguous(memory_format=torch.channels_last), *region)
        return found

    def _fails(self, error: Exception) -> EncoderError:
        height, width = self.preprocessing.size
        return EncoderError(
            f"{self.origin.spec} cannot take photos of {width} x {height} pixels: {first_line(error)}.",
            fix="Give the size it was made for: ?size=224 (or img_size=..., where it takes that argument).",
        )


@contextmanager
def exact_convolutions() -> Iterator[None]:
    """Float32 convolutions without TF32, which cards use unless told otherwise: float32 means the same everywhere."""
    before = torch.backends.cudnn.allow_tf32
    torch.backends.cudnn.allow_tf32 = False
    try:
        yield
    finally:
        torch.backends.cudnn.allow_tf32 = before


def share_cores(device: torch.device) -> None:
    """On a CPU each worker thread computes with one core: the threads together use all of them."""
    if device.type == "cpu" and threading.current_thread() is not threading.main_thread():
        torch.set_num_threads(1)  # of this thread alone


def out_of_memory(error: Exception) -> bool:
    """Whether an error says that memory ran out."""
    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)
