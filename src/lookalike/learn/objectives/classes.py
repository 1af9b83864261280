"""Classification of photos by item, by category, or both (EDS 6.1): linear layers on the network, cross-entropy."""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor, nn
from torch.nn import functional

from lookalike.core.errors import LabelsError
from lookalike.core.types import Catalog
from lookalike.learn.losses.weighted import Loss
from lookalike.learn.networks.photo_batches import PhotoBatch
from lookalike.learn.objectives.objective import Objective, of_all
from lookalike.learn.settings import CLASSES

NONE = -1


class Classes:
    """The classes of catalog rows by one column. `code` (images,) is -1 for rows that are not trained on."""

    def __init__(self, column: str, code: Int64[np.ndarray, " images"], count: int) -> None:
        self.column, self.code, self.count = column, code, count


def classes_of(catalog: Catalog, rows: Int64[np.ndarray, " rows"], loss: str) -> tuple[Classes, ...]:
    """The classes of some rows, for a loss that classifies.

    Raises LabelsError where one class is all there is, or where every item has one photo.
    """
    return tuple(_classes(catalog, rows, column) for column in CLASSES[loss])


def _classes(catalog: Catalog, rows: np.ndarray, column: str) -> Classes:
    values = np.asarray(getattr(catalog, column))[rows]
    known, found, sizes = np.unique(values, return_inverse=True, return_counts=True)
    if len(known) < 2:
        raise LabelsError(
            f"All photos of the training split have the same {column}, so there is nothing to tell apart.",
            fix="Train with another loss.",
        )
    if column == "item" and sizes.max() < 2:
        raise LabelsError(
            "No item of the training split has two photos, so items cannot be learned from photos.",
            fix="Train with another loss, for example category or simclr.",
        )
    code = np.full(len(catalog), NONE, np.int64)
    code[rows] = found
    return Classes(column, code, len(known))


class ClassObjective(Objective):
    """The sum over columns of the mean cross-entropy of a photo's class among all classes of the column.

    vectors (n, classes) are scores: those of the first column's classes, then of the second's.
    """

    def __init__(self, classes: Sequence[Classes]) -> None:
        super().__init__()
        self.classes = tuple(classes)

    def forward(self, vectors: Tensor, batch: PhotoBatch) -> Loss:  # type: ignore[override]
        """The loss of a batch."""
        scores = torch.split(batch.by_view(vectors), [one.count for one in self.classes], dim=1)
        value = vectors.new_zeros(())
        for one, score in zip(self.classes, scores, strict=True):
            wanted = torch.from_numpy(one.code[batch.rows]).to(vectors.device)
            value = value + functional.cross_entropy(score, wanted.repeat(len(vectors) // len(wanted)))
        return of_all(value, len(vectors))


def classifier(features: int, classes: Sequence[Classes], seed: int) -> nn.Linear:
    """A linear layer with a score for each class, initialised as by PyTorch, from a seed of its own."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return nn.Linear(features, sum(one.count for one in classes))
