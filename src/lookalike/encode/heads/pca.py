"""Principal components as a head: the directions in which an encoder's vectors vary most."""

import torch
from jaxtyping import Float

from lookalike.encode.heads.head import Head


class PcaHead(Head):
    """Vectors in the coordinates of their first principal components.

        h(v) = (v - m) C

    m (features) is the mean of the vectors it was fitted on, the columns of C (features, projection) are the
    eigenvectors of their covariance with the largest eigenvalues. Source: ADAPT 3.2. There is no whitening, and v is
    taken as it is: the scale of what comes out is that of the vectors.

    >>> head = PcaHead(2, 1)
    >>> _ = head.mean.copy_(torch.tensor([1.0, 0.0])), head.components.copy_(torch.tensor([[0.6], [0.8]]))
    >>> head(torch.tensor([[2.0, 1.0]]))
    tensor([[1.4000]])
    """

    kind = "pca"
    mean: torch.Tensor
    components: torch.Tensor

    def __init__(self, features: int, projection: int) -> None:
        super().__init__(features, projection)
        self.register_buffer("mean", torch.zeros(features))
        self.register_buffer("components", torch.zeros(features, projection))

    def forward(self, vectors: Float[torch.Tensor, "n features"]) -> Float[torch.Tensor, "n projection"]:
        """An encoder's vectors in the components' coordinates."""
        return (vectors - self.mean) @ self.components
