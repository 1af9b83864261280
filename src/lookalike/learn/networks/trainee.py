"""A network that learns, with the head on it: inputs are photos as pixels, results the vectors of the loss."""

from collections.abc import Callable

import numpy as np
import torch
from jaxtyping import Float32, UInt8
from torch import Tensor, nn

from lookalike.encode.heads.head import Head
from lookalike.encode.network import Network
from lookalike.learn.networks.parts import add_adapters, freeze_statistics, merged, train_last
from lookalike.learn.request import BLOCKS, RANK, TrainingRequest


class Trainee(nn.Module):
    """A network and what is trained on it. `kept`: the head belongs to the encoder, and its vectors are compared.

    On a GPU with bfloat16 it computes in that precision; its parameters are float32.
    """

    def __init__(self, network: Network, head: nn.Module, request: TrainingRequest, *, kept: bool) -> None:
        super().__init__()
        self.network, self.kept, self.request = network, kept, request
        _ = network.dimension  # measured before anything learns
        module = network.module.requires_grad_(True)
        if request.part == "blocks":
            train_last(module, request.blocks or BLOCKS)
        elif request.part == "adapters":
            module = add_adapters(module, request.rank or RANK)
        network.module = self.backbone = module.to(network.device)
        self.head = head.to(network.device)

    def forward(self, pixels: UInt8[Tensor, "photos height width 3"]) -> Float32[Tensor, "photos d"]:
        """The vectors that the loss takes."""
        found: Tensor = self.head(self.features(pixels))
        return found

    def features(self, pixels: UInt8[Tensor, "photos height width 3"]) -> Float32[Tensor, "photos features"]:
        """The vectors of the network."""
        with torch.autocast(
            self.network.device.type, torch.bfloat16, enabled=self.network.origin.precision == "bfloat16"
        ):
            return self.network.features(pixels).float()

    @property
    def dimension(self) -> int:
        """The length of the vectors that are compared."""
        return self.head.projection if self.kept and isinstance(self.head, Head) else self.network.dimension

    def train(self, mode: bool = True) -> "Trainee":
        """Training or not, but BatchNorm keeps its statistics where the request says so."""
        super().train(mode)
        if self.request.batchnorm == "frozen":
            freeze_statistics(self.backbone)
        return self

    def vectors(self, ready: np.ndarray) -> np.ndarray:
        """Prepared photos, stacked, to the vectors that are compared."""
        with torch.inference_mode():
            found = self.features(torch.from_numpy(np.ascontiguousarray(ready)))
            return np.asarray((self.head(found) if self.kept else found).float().cpu().numpy())

    def finished(self) -> tuple[nn.Module, Head | None]:
        """The network with its adapters merged, and the head if it belongs to the encoder."""
        module = merged(self.backbone).cpu().eval().requires_grad_(False)
        head = self.head.cpu().eval().requires_grad_(False)
        return module, head if self.kept and isinstance(head, Head) else None


Measured = Callable[[Trainee], float]
