"""DINO: a network learns what a slower copy of itself says of other views (Caron et al. 2021)."""

import copy
import math

import torch
from jaxtyping import Float32
from torch import Tensor, nn
from torch.nn import functional

from lookalike.encode.heads.two_layers import ProjectionHead
from lookalike.learn.losses.weighted import Loss
from lookalike.learn.networks.photo_batches import PhotoBatch
from lookalike.learn.networks.processes import ALONE, Processes
from lookalike.learn.objectives.lightly import lightly_part
from lookalike.learn.objectives.objective import Objective, of_all
from lookalike.learn.request import MICRO
from lookalike.learn.settings import PROJECTION

MOMENTUM = 0.996  # of the teacher at the start; it rises to 1 by a cosine (3.1)
GLOBAL_VIEWS = 2
LEAST_INFORMATION = 1e-3  # nats; below it the outputs say nothing of the photo


class PrototypeHead(nn.Module):
    """The projection head, and one linear layer with rows of length 1 as prototypes (its weight normalisation, g = 1).

        h(v) = C u / |u|,    u the projection of v, C (prototypes, projection) with |C_k| = 1

    Source: Caron et al. 2021, appendix C. The paper of the tables prints the layer as 2048 in and out, which would
    make as many prototypes as dimensions; their number is a setting here, and the authors' own 65,536 is for millions
    of photos.
    """

    def __init__(self, features: int, prototypes: int, *, seed: int) -> None:
        super().__init__()
        self.projection = ProjectionHead.seeded(features, PROJECTION, seed=seed)
        draw = torch.Generator().manual_seed(seed + 1)
        self.prototypes = nn.Parameter(torch.randn(prototypes, PROJECTION, generator=draw))

    def forward(self, vectors: Float32[Tensor, "n features"]) -> Float32[Tensor, "n prototypes"]:
        """The cosine with each prototype."""
        return functional.linear(
            functional.normalize(self.projection(vectors)), functional.normalize(self.prototypes)
        )


class DinoObjective(Objective):
    """Cross-entropy between the teacher's and the student's prototypes of different views (Eq. 3), by `lightly`.

    The teacher is a moving average of the student: theta_t <- m theta_t + (1 - m) theta_s after each step, m from .996
    to 1 by a cosine. It sees the global views only; its outputs are centred (Eq. 4) and sharpened (temperature .04).
    vectors: the views of the batch one after another, global ones first.
    """

    def __init__(self, student: nn.Module, prototypes: int, processes: Processes = ALONE) -> None:
        super().__init__()
        self.processes = processes
        self.teacher = copy.deepcopy(student).requires_grad_(False)
        self.loss = lightly_part("lightly.loss", "DINOLoss")(output_dim=prototypes)
        self.said: Tensor
        self.register_buffer("said", torch.zeros(2))

    def forward(self, vectors: Tensor, batch: PhotoBatch) -> Loss:  # type: ignore[override]
        """The loss of a batch."""
        self.teacher.eval()
        images = len(batch.rows)
        own = batch.shares[self.processes.rank] if self.processes.count > 1 else images
        groups = batch.inputs if isinstance(batch.inputs, tuple) else (batch.inputs,)
        views = [view for group in groups for view in torch.split(group, own)][:GLOBAL_VIEWS]
        told = [self.processes.gathered(self._taught(view)) for view in views]
        shares = torch.softmax((torch.cat(told) - self.loss.center[0]) / self.loss.teacher_temp, dim=-1)
        self.said = torch.stack([_entropy(shares.mean(0)), _entropy(shares).mean()]).detach()
        value = self.loss(told, list(torch.split(batch.by_view(vectors), images)))
        return of_all(value, len(vectors))

    @torch.no_grad()
    def _taught(self, view: Tensor) -> Tensor:
        """The teacher's outputs of a view, a piece at a time, so that they need little memory."""
        return torch.cat([self.teacher(piece) for piece in torch.split(view, MICRO)])

    @torch.no_grad()
    def follow(self, model: nn.Module, share: float) -> None:
        """Move the teacher towards the student."""
        momentum = 1 - (1 - MOMENTUM) * (1 + math.cos(math.pi * share)) / 2
        for own, its in zip(self.teacher.parameters(), model.parameters(), strict=True):
            own.lerp_(its, 1.0 - momentum)
        for held, new in zip(self.teacher.buffers(), model.buffers(), strict=True):
            held.copy_(new)

    def remark(self) -> str:
        """Whether the teacher says the same of all photos: then nothing is learned."""
        mean, each = self.said.tolist()
        if mean - each >= LEAST_INFORMATION:
            return ""
        where = "one prototype" if mean < math.log(2) else "all prototypes alike"
        return (
            f"DINO has collapsed: the teacher gives {where} to every photo, so the views teach nothing. Train with a "
            "lower rate, more photos or fewer prototypes."
        )


def _entropy(shares: Tensor) -> Tensor:
    return -(shares * shares.clamp(min=1e-30).log()).sum(-1)
