"""A torch network as an encoder: its batches, its device, its precision, and what to do when memory runs out."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from jaxtyping import Float32, UInt8
from PIL import Image
from torch import nn

from lookalike.core.cores import cores
from lookalike.core.errors import EmbeddingsError, EncoderError
from lookalike.core.types import Origin
from lookalike.encode.preprocessing import Preprocessing
from lookalike.encode.spec import EncoderSpec
from lookalike.encode.weights import parameters_hash

PRECISIONS = ("float32", "bfloat16")
ON_PROCESSOR, ON_CARD = 16, 256  # photos per batch

Value = bool | int | float | str | None
Arguments = dict[str, Value]


@dataclass(frozen=True)
class Parts:
    """What a source makes of a name: the network without its classifier, and how photos are prepared for it."""

    module: nn.Module
    preprocessing: Preprocessing


class Network:
    """A network that is ready to work. Threads on a processor take one core each; a card takes one thread."""

    def __init__(
        self, origin: Origin, module: nn.Module, preprocessing: Preprocessing, device: torch.device
    ) -> None:
        self.origin = origin
        self.preprocessing = preprocessing
        self.prepare: Callable[[Image.Image], np.ndarray] = preprocessing.pixels
        self.size_hint = preprocessing.size_hint
        self.device = device
        self.batch = ON_CARD if device.type == "cuda" else ON_PROCESSOR
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
        cls, spec: EncoderSpec, module: nn.Module, preprocessing: Preprocessing, precision: str | None = None
    ) -> "Network":
        """A network on the best device here; float32 on a processor, bfloat16 on a card that has it."""
        device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        if precision is None:
            card = device.type == "cuda" and torch.cuda.is_bf16_supported()
            precision = "bfloat16" if card else "float32"
        if precision not in PRECISIONS:
            raise EncoderError(
                f"{spec}: precision cannot be {precision!r}.", fix=f"Use one of: {', '.join(PRECISIONS)}."
            )
        origin = Origin(str(spec), str(preprocessing), parameters_hash(module), precision)
        return cls(origin, module, preprocessing, device)

    @cached_property
    def dimension(self) -> int:
        """How many numbers a vector has; found by a blank photo, which also shows that the network runs."""
        height, width = self.preprocessing.size
        return int(self.vectors(np.zeros((1, height, width, 3), np.uint8)).shape[1])

    def vectors(
        self, ready: UInt8[np.ndarray, "photos height width 3"]
    ) -> Float32[np.ndarray, "photos dimension"]:
        """Photos to vectors. Where memory does not hold the batch, halves of it are tried, and kept to."""
        if self.device.type == "cpu" and threading.current_thread() is not threading.main_thread():
            torch.set_num_threads(1)  # of this thread alone: several of them share the cores
        while True:
            limit = self._limit
            try:
                return np.concatenate([self._run(part) for part in _parts(ready, limit)])
            except (RuntimeError, AssertionError, ValueError) as error:  # all that a network's layers raise
                if not _out_of_memory(error):
                    raise self._fails(error) from error
                if limit == 1:
                    raise EmbeddingsError(
                        f"{self.origin.spec} does not fit into the memory of this machine, even one photo at a time.",
                        fix="Stop other programs that use the memory, or use a smaller network.",
                    ) from error
            self._limit = min(self._limit, max(1, min(limit, len(ready)) // 2))
            if self.device.type == "cuda":
                torch.cuda.empty_cache()

    def _run(self, pixels: np.ndarray) -> np.ndarray:
        """One batch that fits. uint8 travels to the device; scaling happens there."""
        with (
            torch.inference_mode(),
            torch.autocast(self.device.type, torch.bfloat16, enabled=self.origin.precision == "bfloat16"),
        ):
            sent = torch.from_numpy(np.ascontiguousarray(pixels)).to(self.device, non_blocking=True)
            x = sent.permute(0, 3, 1, 2).float() * self.scale - self.shift
            found = self.module(x.contiguous(memory_format=torch.channels_last))
        if not isinstance(found, torch.Tensor) or found.ndim != 2:
            shape = tuple(found.shape) if isinstance(found, torch.Tensor) else type(found).__name__
            raise EncoderError(
                f"{self.origin.spec} gives {shape} for a batch, not one vector per photo.",
                fix="Use a network that ends in pooled features.",
            )
        return np.asarray(found.float().cpu().numpy())

    def _fails(self, error: Exception) -> EncoderError:
        height, width = self.preprocessing.size
        return EncoderError(
            f"{self.origin.spec} cannot take photos of {width} x {height} pixels: {_first_line(error)}.",
            fix="Give the size it was made for: ?size=224 (or img_size=..., where it takes that argument).",
        )


def _parts(pixels: np.ndarray, limit: int) -> Iterator[np.ndarray]:
    for first in range(0, len(pixels), limit):
        yield pixels[first : first + limit]


def _out_of_memory(error: Exception) -> bool:
    return isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error)


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0][:300] or type(error).__name__
