"""The base class of heads: modules on one encoder's vectors, described by a kind and sizes."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import nn


class Head(nn.Module, ABC):
    """A function of an encoder's vectors: `features` numbers to `projection` numbers.

    `kind` names the function. `sizes` are the arguments that build it before its parameters are loaded.
    """

    kind: ClassVar[str]

    def __init__(self, features: int, projection: int) -> None:
        super().__init__()
        self.features, self.projection = features, projection

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes by name, as the checkpoint keeps them."""
        return {"features": self.features, "projection": self.projection}

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return next(iter(self.state_dict().values())).device

    @property
    def learned(self) -> nn.Module:
        """The part that is trained: all of the head, unless a kind says otherwise."""
        return self

    def fixed(self, vectors: Float[torch.Tensor, "n features"]) -> Float[torch.Tensor, "n _"]:
        """What the learned part takes; training computes it once."""
        return vectors

    @abstractmethod
    def forward(self, vectors: Float[torch.Tensor, "n features"]) -> Float[torch.Tensor, "n projection"]:
        """The head's vectors of an encoder's."""


def placed(head: Head) -> Head:
    """The head on the best device of this machine, for inference."""
    return head.eval().requires_grad_(False).to("cuda" if torch.cuda.is_available() else "cpu")


def apply_head(head: Head, vectors: Float32[np.ndarray, "n features"]) -> Float32[np.ndarray, "n projection"]:
    """The head's vectors of an encoder's, computed in float32 on the head's device."""
    with torch.inference_mode():
        sent = torch.from_numpy(np.array(vectors, np.float32)).to(head.device)
        return np.asarray(head(sent).cpu().numpy())
