"""The head that is trained on an encoder's vectors: two linear layers with a ReLU between them (VSD, appendix E)."""

import math

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import nn

from lookalike.core.errors import ArgumentError


class Head(nn.Module):
    """Linear(features, features), ReLU, Linear(features, projection), on rows brought to one length.

        projection head   h(v) = B max(0, A s(v) + a) + b,    s(v) = sqrt(features) v / |v|
        residual head     h(v) = s(v) + B max(0, A s(v) + a) + b,    B = 0 and b = 0 at the start

    Source: VSD appendix E; the scaling s is ours: encoders' vectors have lengths from 1 to hundreds, and PyTorch's
    initialisation and AdamW's rates suppose entries of size 1. A zero row stays zero under s. What comes out
    is not normalised: every similarity and loss here does that itself. A residual head (He et al. 2016; zero at the
    start as in Goyal et al. 2017, 5.1) has as many numbers as the encoder and gives its cosines before training.

    >>> Head.seeded(4, 3, seed=0)(torch.ones(2, 4)).shape
    torch.Size([2, 3])
    >>> Head.seeded(4, 4, seed=0, residual=True)(torch.tensor([[3.0, 0.0, 4.0, 0.0]])).detach()
    tensor([[1.2000, 0.0000, 1.6000, 0.0000]])
    """

    def __init__(self, features: int, projection: int, *, residual: bool = False) -> None:
        super().__init__()
        if residual and projection != features:
            raise ArgumentError(
                f"A residual head on {features:,} numbers gives {features:,}, not {projection:,}.",
                fix="Use a projection head for another dimension.",
            )
        self.features, self.projection, self.residual = features, projection, residual
        self.first = nn.Linear(features, features)
        self.last = nn.Linear(features, projection)

    @classmethod
    def empty(cls, features: int, projection: int, *, residual: bool = False) -> "Head":
        """A head whose parameters are yet to be filled in; no generator is touched."""
        with torch.device("meta"):
            made = cls(features, projection, residual=residual)
        return made.to_empty(device="cpu")

    @classmethod
    def seeded(cls, features: int, projection: int, *, seed: int, residual: bool = False) -> "Head":
        """PyTorch's initialisation of linear layers, U(-1/sqrt(features), 1/sqrt(features)), from a seed of its own.

        The last layer of a residual head is 0.

        >>> torch.equal(Head.seeded(4, 2, seed=1).last.weight, Head.seeded(4, 2, seed=1).last.weight)
        True
        """
        generator = torch.Generator().manual_seed(seed)
        made = cls.empty(features, projection, residual=residual)
        bound = 1 / math.sqrt(features)
        with torch.no_grad():
            for value in made.parameters():
                value.uniform_(-bound, bound, generator=generator)
            if residual:
                made.last.weight.zero_()
                made.last.bias.zero_()
        return made

    def forward(self, vectors: Float[torch.Tensor, "n features"]) -> Float[torch.Tensor, "n projection"]:
        """An encoder's vectors to the head's."""
        given = scaled(vectors)
        found: torch.Tensor = self.last(torch.relu(self.first(given)))
        return given + found if self.residual else found


def scaled(vectors: Float[torch.Tensor, "n features"]) -> Float[torch.Tensor, "n features"]:
    """Rows of length sqrt(features), so that entries are of size 1; zero rows stay zero.

        s(v) = sqrt(features) v / |v|

    Dividing by the largest entry first keeps squares of tiny and huge entries within float32; it is a constant to the
    gradient, which is right because s does not depend on the length of v.

    >>> scaled(torch.tensor([[3e30, 4e30], [0.0, 0.0]]))
    tensor([[0.8485, 1.1314],
            [0.0000, 0.0000]])
    """
    largest = vectors.detach().abs().amax(1, keepdim=True)
    near = vectors / torch.where(largest > 0, largest, 1.0)
    length = torch.linalg.vector_norm(near, dim=1, keepdim=True)
    return near * (math.sqrt(vectors.shape[1]) / length.clamp_min(1.0))  # below 1 only where the row is zero


def placed(head: Head) -> Head:
    """The head on the best device here, for use and not for training."""
    return head.eval().requires_grad_(False).to("cuda" if torch.cuda.is_available() else "cpu")


def apply_head(head: Head, vectors: Float32[np.ndarray, "n features"]) -> Float32[np.ndarray, "n projection"]:
    """The head's vectors of an encoder's, in float32, on the device the head is on."""
    with torch.inference_mode():
        sent = torch.from_numpy(np.array(vectors, np.float32)).to(head.first.weight.device)
        return np.asarray(head(sent).cpu().numpy())
