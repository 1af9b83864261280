"""The data and the result of a training, and a head trained on cached vectors, without a workspace."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch

from lookalike.core.errors import ArgumentError, EmbeddingsError, LabelsError, first_line
from lookalike.core.progress import Progress, part
from lookalike.core.types import Catalog, Labels, Origin
from lookalike.encode.heads.adaptation import AdaptationHead, DiagonalHead
from lookalike.encode.heads.head import Head
from lookalike.encode.heads.pca import PcaHead
from lookalike.encode.heads.two_layers import ProjectionHead, ResidualHead
from lookalike.encode.sources.checkpoint import head_files
from lookalike.learn.batches import Anchors, anchors, plan_of
from lookalike.learn.bootstrap import ChosenEpoch, ResampleKeeper, bootstrap_epochs
from lookalike.learn.components import fit_components
from lookalike.learn.epoch import Epoch
from lookalike.learn.examples import Cached, Examples
from lookalike.learn.finetune import Finetuned, finetune
from lookalike.learn.keeper import Keeper
from lookalike.learn.request import TrainingRequest
from lookalike.learn.settings import ADAPTED, COMPONENTS, PROJECTION
from lookalike.learn.similar_pairs import PairExamples, SimilarPairs, similar_pairs
from lookalike.learn.validation import SLICE, Validation, validator
from lookalike.positive.graph import label_graph

TRAINING, VALIDATION = "train", "validation"


class Material(NamedTuple):
    """The data of a run: the anchors and similar pairs of the training split, and the measure on the validation split.

    `training` are the catalog rows of the training split. A loss that needs no labelled pairs has neither anchors nor
    pairs.
    """

    around: Anchors | None
    validation: Validation
    pairs: SimilarPairs | None
    training: np.ndarray

    @property
    def labelled(self) -> tuple[Anchors, SimilarPairs]:
        """The anchors and pairs of a loss that learns from them."""
        assert self.around is not None  # noqa: S101 - `material` made both
        assert self.pairs is not None  # noqa: S101
        return self.around, self.pairs


@dataclass(frozen=True, eq=False)
class Trained:
    """The result of a run. `best` and `head` are None if it stopped before the end of the first epoch.

    `before` is the encoder's own value on the pairs that chose the epoch, NaN where undefined. `chosen` is there if
    resamples chose the number of epochs.
    """

    head: Head | None
    before: float
    run: Finetuned
    chosen: ChosenEpoch | None = None

    def as_model(self, base: Origin) -> "TrainedModel":
        """The result as files; `base` is the origin of the vectors."""
        files = None if self.head is None else partial(head_files, base, self.head)
        return TrainedModel(self.run, self.before, files, self.chosen)


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """The result of a run as files of a checkpoint: `files` makes them from the record of training.

    It is None if the run stopped before the end of the first epoch.
    """

    run: Finetuned
    before: float
    files: Callable[[Mapping[str, Any]], dict[str, bytes]] | None
    chosen: ChosenEpoch | None = None

    @property
    def best(self) -> Epoch | None:
        """The chosen epoch."""
        return self.run.history[self.run.best - 1] if self.run.best else None


def material(catalog: Catalog, labels: Labels, features: np.ndarray, request: TrainingRequest) -> Material:
    """The data of a run. Raises LabelsError if no label can be used."""
    rows = np.flatnonzero(catalog.split == TRAINING)
    if not request.relates:
        if len(rows) < 2:
            raise LabelsError(
                "The training split has fewer than two photos.",
                fix="Divide the catalog again: lookalike init",
            )
        return Material(None, validator(catalog, labels, features, request.measure), None, rows)
    if not len(labels):
        raise LabelsError(
            "There are no labels, so there is nothing to learn from.",
            fix="Import some: lookalike labels import FILE. `lookalike discover` selects pairs to label.",
        )
    graph = label_graph(catalog, labels, nodes=request.nodes, split=TRAINING)
    around = anchors(graph, rows)
    validation = validator(catalog, labels, features, request.measure, split=VALIDATION)
    return Material(around, validation, similar_pairs(catalog, labels, graph, TRAINING), rows)


class RunKeeper(Keeper, ResampleKeeper, Protocol):
    """Keeps the state of a run and the curves of its resamples."""


def train(
    given: Material,
    views: Sequence[np.ndarray],
    request: TrainingRequest,
    keeper: RunKeeper,
    *,
    device: torch.device,
    on_epoch: Callable[[Epoch], None] | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Train a head on views of the catalog's images (images, features), rows as the catalog's.

    Equal arguments give equal bytes on one kind of processor, however often the run is stopped and resumed.
    """
    require_learnable(given, views)
    around, pairs = given.labelled
    head = new_head(views[0], given.training, request)
    inputs = Cached([_fixed(head, view) for view in views], device)
    validation = replace(given.validation, features=_fixed(head, given.validation.features))
    settings, chosen = request, None
    if request.keep == "bootstrap":
        chosen = bootstrap_epochs(
            lambda seed: _seeded(head.features, request, seed, getattr(head, "pca", None)).learned,
            pairs,
            inputs,
            request,
            keeper,
            device,
            part(progress, 0, 2),
        )
        settings, progress = request.changed(epochs=chosen.epochs, keep="last"), part(progress, 1, 2)
    examples = (
        PairExamples(pairs, inputs, request.seed, device)
        if request.in_pairs
        else Examples(around, plan_of(request), request.soft, inputs, request.seed, device)
    )
    model = head.learned.to(device)
    run = finetune(model, examples, settings, validation, keeper, on_epoch=on_epoch, progress=progress)
    if run.best:
        head.learned.load_state_dict(run.parameters)
    trained = head.cpu().eval().requires_grad_(False) if run.best else None
    return Trained(trained, given.validation.untrained(), run, chosen)


def new_head(vectors: np.ndarray, training: np.ndarray, request: TrainingRequest) -> Head:
    """The untrained head of a request. Principal components are fitted on the vectors of the training split."""
    pca = None
    if request.kind == "adaptation":
        pca = fit_components(vectors, training, request.dimensions or COMPONENTS).head
    return _seeded(vectors.shape[1], request, request.seed, pca)


def _seeded(features: int, request: TrainingRequest, seed: int, pca: PcaHead | None) -> Head:
    """A new head from a seed."""
    if pca is not None:
        return AdaptationHead.seeded(pca, request.projection or ADAPTED, seed=seed)
    if request.kind == "diagonal":
        return DiagonalHead(features, features)
    if request.kind == "residual":
        return ResidualHead.seeded(features, features, seed=seed)
    return ProjectionHead.seeded(features, request.projection or PROJECTION, seed=seed)


def _fixed(head: Head, view: np.ndarray) -> np.ndarray:
    """The vectors that the learned part of a head takes; a view itself where all of the head is learned."""
    if head.learned is head:
        return view
    with torch.inference_mode():
        slices = (view[first : first + SLICE] for first in range(0, max(len(view), 1), SLICE))
        return np.concatenate(
            [head.fixed(torch.from_numpy(np.array(one, np.float32))).numpy() for one in slices]
        )


def require_learnable(given: Material, views: Sequence[np.ndarray]) -> None:
    """Refuse NaN and infinite vectors before a run starts: they would give an infinite loss later."""
    if len({view.shape for view in views}) > 1:
        raise EmbeddingsError(
            f"The views have different shapes: {sorted({view.shape for view in views})}.",
            fix="Make them with one encoder.",
        )
    for number, view in enumerate(views, 1):
        rows = given.labelled[0].photos.node
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
