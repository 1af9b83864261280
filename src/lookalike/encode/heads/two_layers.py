"""The heads that are trained on an encoder's vectors: two linear layers with a ReLU between them (VSD, appendix E)."""

import math
from typing import Self

import torch
from jaxtyping import Float
from torch import nn

from lookalike.core.errors import ArgumentError
from lookalike.encode.heads.head import Head


class ProjectionHead(Head):
    """Linear(features, features), ReLU, Linear(features, projection), on rows brought to one length.

        h(v) = B max(0, A s(v) + a) + b,    s(v) = sqrt(features) v / |v|

    Source: VSD appendix E; the scaling s is ours: encoders' vectors have lengths from 1 to hundreds, and PyTorch's
    initialisation and AdamW's rates suppose entries of size 1. A zero row stays zero under s. What comes out
    is not normalised: every similarity and loss here does that itself.

    >>> ProjectionHead.seeded(4, 3, seed=0)(torch.ones(2, 4)).shape
    torch.Size([2, 3])
    """

    kind = "projection"

    def __init__(self, features: int, projection: int) -> None:
        super().__init__(features, projection)
        self.first = nn.Linear(features, features)
        self.last = nn.Linear(features, projection)

    @classmethod
    def seeded(cls, features: int, projection: int, *, seed: int) -> Self:
        """PyTorch's initialisation of linear layers, U(-1/sqrt(features), 1/sqrt(features)), from a seed of its own.

        >>> one, same = ProjectionHead.seeded(4, 2, seed=1), ProjectionHead.seeded(4, 2, seed=1)
        >>> torch.equal(one.last.weight, same.last.weight)
        True
        """
        generator = torch.Generator().manual_seed(seed)
        with torch.device("meta"):  # so that no other generator is touched
            made = cls(features, projection)
        made = made.to_empty(device="cpu")
        bound = 1 / math.sqrt(features)
        with torch.no_grad():
            for value in made.parameters():
                value.uniform_(-bound, bound, generator=generator)
        return made

    def forward(self, vectors: Float[torch.Tensor, "n features"]) -> Float[torch.Tensor, "n projection"]:
        """An encoder's vectors to the head's."""
        return self.layers(scaled(vectors))

    def layers(self, given: Float[torch.Tensor, "n features"]) -> Float[torch.Tensor, "n projection"]:
        """The two layers on scaled rows."""
        found: torch.Tensor = self.last(torch.relu(self.first(given)))
        return found


class ResidualHead(ProjectionHead):
    """A projection head with a way around its layers: it corrects the encoder's own vectors.

        h(v) = s(v) + B max(0, A s(v) + a) + b,    B = 0 and b = 0 at the start

    Source: He et al. 2016; zero at the start as in Goyal et al. 2017, 5.1. It has as many numbers as the encoder, and
    gives the encoder's cosines before training.

    >>> ResidualHead.seeded(4, 4, seed=0)(torch.tensor([[3.0, 0.0, 4.0, 0.0]])).detach()
    tensor([[1.2000, 0.0000, 1.6000, 0.0000]])
    """

    kind = "residual"

    def __init__(self, features: int, projection: int) -> None:
        if projection != features:
            raise ArgumentError(
                f"A residual head on {features:,} numbers gives {features:,}, not {projection:,}.",
                fix="Use a projection head for another dimension.",
            )
        super().__init__(features, projection)

    @classmethod
    def seeded(cls, features: int, projection: int, *, seed: int) -> Self:
        """The first layer as that of a projection head, the last layer 0."""
        made = super().seeded(features, projection, seed=seed)
        with torch.no_grad():
            made.last.weight.zero_()
            made.last.bias.zero_()
        return made

    def forward(self, vectors: Float[torch.Tensor, "n features"]) -> Float[torch.Tensor, "n features"]:
        """An encoder's vectors, corrected."""
        given = scaled(vectors)
        return given + self.layers(given)


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
