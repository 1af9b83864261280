"""What a step of training minimises: a loss of the vectors of a batch, which may have a state of its own."""

import torch
from torch import Tensor, nn

from lookalike.learn.examples import TrainingBatch
from lookalike.learn.losses import weighted
from lookalike.learn.losses.symmetric import symmetric
from lookalike.learn.losses.weighted import Loss
from lookalike.learn.settings import TrainingSettings


class Objective(nn.Module):
    """A loss of vectors, rows in the order of the batch's inputs. Its buffers and modules belong to a run's state."""

    def forward(self, vectors: Tensor, batch: TrainingBatch) -> Loss:
        """The loss of a batch."""
        raise NotImplementedError

    def follow(self, model: nn.Module, share: float) -> None:
        """Called after each step with the share of the run that is done."""

    def remark(self) -> str:
        """What a user should know of the run, "" for nothing."""
        return ""


def of_all(value: Tensor, kept: int, negatives: int = 0) -> Loss:
    """The loss of a batch of which every view counts."""
    return Loss(value, torch.tensor(kept), torch.tensor(0), torch.tensor(negatives))


class PairObjective(Objective):
    """A loss of pairs: how images stand to each other comes with the batch."""

    def __init__(self, settings: TrainingSettings) -> None:
        super().__init__()
        self.loss = symmetric if settings.in_pairs else weighted.LOSSES[settings.loss]
        self.options = settings.objective

    def forward(self, vectors: Tensor, batch: TrainingBatch) -> Loss:
        """The loss of a batch."""
        return self.loss(vectors, *batch.relation, **self.options)
