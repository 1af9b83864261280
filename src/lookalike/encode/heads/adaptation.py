"""The light heads of ADAPT: a matrix with a ReLU on principal components, and a weight for each number of a vector."""

from typing import Self

import torch
from jaxtyping import Float
from torch import nn

from lookalike.core.errors import ArgumentError
from lookalike.encode.heads.head import Head
from lookalike.encode.heads.pca import PcaHead


class AdaptationHead(Head):
    """a = max(0, W d), d = PCA(v): W (components, projection) is learned, without a bias, and the PCA is fixed.

    Source: ADAPT 3.3 (256 components, 1,024 numbers). The paper does not mention a bias, and its authors' code has
    none. Without one, the cosines of a do not depend on the scale of W or d.

    >>> head = AdaptationHead.seeded(PcaHead(4, 2), 3, seed=0)
    >>> head(torch.ones(5, 4)).shape, head.sizes
    (torch.Size([5, 3]), {'features': 4, 'projection': 3, 'components': 2})
    """

    kind = "adaptation"

    def __init__(self, features: int, projection: int, components: int) -> None:
        super().__init__(features, projection)
        self.pca = PcaHead(features, components)
        self.adapter = Adapter(components, projection)

    @classmethod
    def seeded(cls, pca: PcaHead, projection: int, *, seed: int) -> Self:
        """PyTorch's initialisation of a linear layer, from a seed of its own, on fitted components."""
        with torch.device("meta"):  # so that no other generator is touched
            made = cls(pca.features, projection, pca.projection)
        made = made.to_empty(device="cpu")
        made.pca.load_state_dict(pca.state_dict())
        made.adapter.seed(seed)
        return made

    @property
    def sizes(self) -> dict[str, int]:
        """The sizes by name, as the checkpoint keeps them."""
        return super().sizes | {"components": self.pca.projection}

    @property
    def learned(self) -> nn.Module:
        """The matrix and its ReLU, on principal components."""
        return self.adapter

    def fixed(self, vectors: Float[torch.Tensor, "n features"]) -> Float[torch.Tensor, "n components"]:
        """The principal components of an encoder's vectors."""
        found: torch.Tensor = self.pca(vectors)
        return found

    def forward(self, vectors: Float[torch.Tensor, "n features"]) -> Float[torch.Tensor, "n projection"]:
        """An encoder's vectors, adapted."""
        found: torch.Tensor = self.adapter(self.fixed(vectors))
        return found


class Adapter(nn.Module):
    """max(0, W d)."""

    def __init__(self, components: int, projection: int) -> None:
        super().__init__()
        self.matrix = nn.Linear(components, projection, bias=False)

    def seed(self, seed: int) -> Self:
        """W from U(-1/sqrt(components), 1/sqrt(components)), PyTorch's initialisation."""
        bound = self.matrix.in_features**-0.5
        with torch.no_grad():
            self.matrix.weight.uniform_(-bound, bound, generator=torch.Generator().manual_seed(seed))
        return self

    def forward(self, vectors: Float[torch.Tensor, "n components"]) -> Float[torch.Tensor, "n projection"]:
        """Principal components, adapted."""
        return torch.relu(self.matrix(vectors))


class DiagonalHead(Head):
    """h(v) = max(0, w) v: each number of a vector has a learned weight that is not negative, 1 at the start.

    Source: Peterson et al. 2018, in the form of the code of ADAPT's authors. The cosine of two vectors then weighs each
    product by w^2.

    >>> DiagonalHead(2, 2)(torch.tensor([[3.0, 4.0]])).detach()
    tensor([[3., 4.]])
    """

    kind = "diagonal"

    def __init__(self, features: int, projection: int) -> None:
        if projection != features:
            raise ArgumentError(
                f"A diagonal head on {features:,} numbers gives {features:,}, not {projection:,}.",
                fix="Use a projection head for another dimension.",
            )
        super().__init__(features, projection)
        self.weight = nn.Parameter(torch.ones(features))

    def forward(self, vectors: Float[torch.Tensor, "n features"]) -> Float[torch.Tensor, "n features"]:
        """An encoder's vectors, weighted."""
        return vectors * torch.relu(self.weight)
