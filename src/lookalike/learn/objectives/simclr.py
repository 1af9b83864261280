"""SimCLR: the two views of a photo find each other among all views of the batch (Chen et al. 2020, Eq. 1)."""

from torch import Tensor

from lookalike.learn.losses.weighted import Loss
from lookalike.learn.networks.photo_batches import PhotoBatch
from lookalike.learn.objectives.lightly import lightly_part
from lookalike.learn.objectives.objective import Objective, of_all


class SimclrObjective(Objective):
    """NT-Xent by `lightly`: L_i = -log( exp(z_i.z_j / tau) / sum_{a != i} exp(z_i.z_a / tau) ), j the other view of i.

    It is SupCon where the only positive is the other view. vectors (2n, d): all first views, then all second ones.
    """

    def __init__(self, temperature: float) -> None:
        super().__init__()
        self.loss = lightly_part("lightly.loss", "NTXentLoss")(temperature=temperature)

    def forward(self, vectors: Tensor, batch: PhotoBatch) -> Loss:  # type: ignore[override]
        """The loss of a batch."""
        first, second = batch.by_view(vectors).chunk(2)
        n, half = len(vectors), first.dtype.itemsize < 4
        value = self.loss(first.float(), second.float()) if half else self.loss(first, second)
        return of_all(value, n, n * max(n - 2, 0))
