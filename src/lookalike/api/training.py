"""Training a head on cached vectors, from frozen values and without a workspace: its data and its result."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch

from lookalike.core.errors import ArgumentError, EmbeddingsError, LabelsError, first_line
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog, Labels
from lookalike.encode.heads.head import Head
from lookalike.encode.heads.two_layers import ProjectionHead, ResidualHead
from lookalike.learn.batches import Anchors, anchors, plan_of
from lookalike.learn.epoch import Epoch
from lookalike.learn.examples import Cached, Examples
from lookalike.learn.finetune import Finetuned, Keeper, finetune
from lookalike.learn.settings import PROJECTION, TrainingRequest
from lookalike.learn.validation import Validation, validator
from lookalike.positive.graph import label_graph

TRAINING, VALIDATION = "train", "validation"


class Material(NamedTuple):
    """The data of a run: the anchors of the training split, and the measure on the validation split."""

    around: Anchors
    validation: Validation


@dataclass(frozen=True, eq=False)
class Trained:
    """The result of a run. `best` and `head` are None if it stopped before the end of the first epoch.

    `before` is the encoder's own value on the pairs that chose the epoch, NaN where undefined.
    """

    head: Head | None
    before: float
    run: Finetuned

    @property
    def best(self) -> Epoch | None:
        """The chosen epoch."""
        return self.run.history[self.run.best - 1] if self.run.best else None


def material(catalog: Catalog, labels: Labels, features: np.ndarray, request: TrainingRequest) -> Material:
    """The data of a run. Raises LabelsError if no label can be used."""
    if not len(labels):
        raise LabelsError(
            "There are no labels, so there is nothing to learn from.",
            fix="Import some: lookalike labels import FILE. `lookalike discover` selects pairs to label.",
        )
    rows = np.flatnonzero(catalog.split == TRAINING)
    graph = label_graph(catalog, labels, nodes=request.nodes, split=TRAINING)
    around = anchors(graph, rows)
    return Material(around, validator(catalog, labels, features, request.measure, split=VALIDATION))


def train(
    given: Material,
    views: Sequence[np.ndarray],
    request: TrainingRequest,
    keeper: Keeper,
    *,
    device: torch.device,
    on_epoch: Callable[[Epoch], None] | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Train a head on views of the catalog's images (images, features), rows as the catalog's.

    Equal arguments give equal bytes on one kind of processor, however often the run is stopped and resumed.
    """
    require_learnable(given, views)
    head = new_head(views[0].shape[1], request).to(device)
    examples = Examples(
        given.around, plan_of(request), request.soft, Cached(views, device), request.seed, device
    )
    run = finetune(head, examples, request, given.validation, keeper, on_epoch=on_epoch, progress=progress)
    if run.best:
        head.load_state_dict(run.parameters)
    trained = head.cpu().eval().requires_grad_(False) if run.best else None
    return Trained(trained, given.validation.untrained(), run)


def new_head(features: int, request: TrainingRequest) -> Head:
    """The untrained head of a request, on vectors of so many numbers."""
    if request.residual:
        return ResidualHead.seeded(features, features, seed=request.seed)
    return ProjectionHead.seeded(features, request.projection or PROJECTION, seed=request.seed)


def require_learnable(given: Material, views: Sequence[np.ndarray]) -> None:
    """Refuse NaN and infinite vectors before a run starts: they would give an infinite loss later."""
    if len({view.shape for view in views}) > 1:
        raise EmbeddingsError(
            f"The views have different shapes: {sorted({view.shape for view in views})}.",
            fix="Make them with one encoder.",
        )
    for number, view in enumerate(views, 1):
        rows = given.around.photos.node
        if not np.isfinite(view[rows]).all():
            raise EmbeddingsError(
                f"View {number} contains NaN or infinite numbers.",
                fix="Embed the catalog again, with --replace.",
            )


def chosen_device(name: str) -> torch.device:
    """The device of a name; `auto` is a GPU if there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ArgumentError(
            f"--device is {name!r}, which cannot be used here: {first_line(error)}",
            fix="Use auto, cpu or cuda.",
        ) from None
    return device


class Unkept:
    """A keeper for a run in memory: it saves nothing."""

    def last(self) -> bytes | None:
        """There is no earlier state."""
        return None

    def due(self) -> bool:
        """Never."""
        return False

    def keep(self, state: bytes) -> None:
        """Nothing is kept."""
