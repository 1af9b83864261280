"""What every head is: a module on one encoder's vectors, which its kind and its sizes describe."""

from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import nn


class Head(nn.Module):
    """A function of an encoder's vectors: `features` numbers to `projection` numbers.

    `kind` names the function, and `sizes` are the arguments that build it with parameters yet to be filled in.
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
        """The part before it, which is computed once."""
        return vectors

    def forward(self, vectors: Float[torch.Tensor, "n features"]) -> Float[torch.Tensor, "n projection"]:
        """An encoder's vectors to the head's."""
        raise NotImplementedError


def placed(head: Head) -> Head:
    """The head on the best device here, for use and not for training."""
    return head.eval().requires_grad_(False).to("cuda" if torch.cuda.is_available() else "cpu")


def apply_head(head: Head, vectors: Float32[np.ndarray, "n features"]) -> Float32[np.ndarray, "n projection"]:
    """The head's vectors of an encoder's, in float32, on the device the head is on."""
    with torch.inference_mode():
        sent = torch.from_numpy(np.array(vectors, np.float32)).to(head.device)
        return np.asarray(head(sent).cpu().numpy())
