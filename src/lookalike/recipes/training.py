"""Training a head on cached vectors, from frozen values: what it learns from, and what comes of it. No workspace."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import torch

from lookalike.core.errors import ArgumentError, EmbeddingsError, LabelsError
from lookalike.core.progress import Progress
from lookalike.core.types import Catalog, Labels
from lookalike.encode.head import PROJECTION, Head
from lookalike.learn.batches import Anchors, Plan, anchors
from lookalike.learn.examples import Cached, Examples
from lookalike.learn.finetune import Finetuned, Keeper, finetune
from lookalike.learn.settings import Settings
from lookalike.learn.state import Epoch
from lookalike.learn.validation import Validation, choosing, validator
from lookalike.positive.graph import label_graph

TRAINING, VALIDATION = "train", "validation"
WIDEST = 65_536  # numbers of a vector; beyond, a head alone is larger than memory


@dataclass(frozen=True)
class Asked:
    """What a head is trained with beside the loop's own settings.

    With items as `nodes` the photos of an item are one: a label on a photo is a label of its item (SPEC 4), and an
    item that is similar must not be pushed away by its other photo.
    """

    settings: Settings = field(default_factory=Settings)
    nodes: str = "item"
    views: int = 1
    projection: int = PROJECTION

    def __post_init__(self) -> None:
        choosing(self.settings.measure)
        for value, least, name in ((self.views, 1, "views"), (self.projection, 1, "projection")):
            if value < least:
                raise ArgumentError(
                    f"{name} is {value}; it must be {least} or more.", fix=f"Give {name} >= {least}."
                )
        if self.projection > WIDEST:
            raise ArgumentError(
                f"projection is {self.projection:,}; it must be {WIDEST:,} or less.",
                fix="Leave it out, or give 2048: a wider vector knows no more than the one it is made from.",
            )

    @property
    def plan(self) -> Plan:
        """How a batch is filled; without soft positives nothing is fetched from farther off."""
        return Plan(size=self.settings.batch, soft=Plan.soft if self.settings.soft else 0)


class Material(NamedTuple):
    """What there is to learn from: the anchors of the training split, and the measure of the validation split."""

    around: Anchors
    validation: Validation


@dataclass(frozen=True, eq=False)
class Trained:
    """What came of a run. `best` is 0, and `head` None, where it stopped before the first epoch was done.

    `before` is the encoder's own value on the pairs that chose the epoch, NaN where undefined.
    """

    head: Head | None
    before: float
    found: Finetuned

    @property
    def best(self) -> Epoch | None:
        """The chosen epoch."""
        return self.found.history[self.found.best - 1] if self.found.best else None


def material(catalog: Catalog, labels: Labels, features: np.ndarray, asked: Asked) -> Material:
    """What a head is trained and chosen by. Raises LabelsError where there is nothing to learn from."""
    if not len(labels):
        raise LabelsError(
            "There are no labels, so there is nothing to learn from.",
            fix="Import some: lookalike labels import FILE. `lookalike discover` says which pairs to label.",
        )
    rows = np.flatnonzero(catalog.split == TRAINING)
    graph = label_graph(catalog, labels, nodes=asked.nodes, split=TRAINING)
    around = anchors(graph, rows)
    return Material(around, validator(catalog, labels, features, asked.settings.measure, split=VALIDATION))


def train(
    given: Material,
    views: Sequence[np.ndarray],
    asked: Asked,
    keeper: Keeper,
    *,
    device: torch.device,
    told: Callable[[Epoch], None] | None = None,
    progress: Progress | None = None,
) -> Trained:
    """Train a head on views of the catalog's images (images, features), rows as the catalog's.

    Equal arguments give equal bytes on one kind of processor, however often the run is stopped and gone on from.
    """
    require_learnable(given, views)
    settings = asked.settings
    head = Head.seeded(views[0].shape[1], asked.projection, seed=settings.seed).to(device)
    examples = Examples(given.around, asked.plan, settings.soft, Cached(views, device), settings.seed, device)
    found = finetune(head, examples, settings, given.validation, keeper, told=told, progress=progress)
    if found.best:
        head.load_state_dict(found.parameters)
    trained = head.cpu().eval().requires_grad_(False) if found.best else None
    return Trained(trained, given.validation.untrained(), found)


def require_learnable(given: Material, views: Sequence[np.ndarray]) -> None:
    """Refuse vectors that are no numbers before a run begins; they would show as an infinite loss of some batch."""
    if len({view.shape for view in views}) > 1:
        raise EmbeddingsError(
            f"The views have different shapes: {sorted({view.shape for view in views})}.",
            fix="Make them with one encoder.",
        )
    for number, view in enumerate(views, 1):
        rows = given.around.photos.node
        if not np.isfinite(view[rows]).all():
            raise EmbeddingsError(
                f"View {number} holds NaN or infinite numbers.",
                fix="Embed the catalog again, with --replace.",
            )


def chosen_device(name: str) -> torch.device:
    """The device of a name; `auto` is a card where there is one."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        said = str(error).strip().split("\n", 1)[0]
        raise ArgumentError(
            f"device is {name!r}, which cannot be used here: {said}", fix="Use auto, cpu or cuda."
        ) from None
    return device


class Unkept:
    """A keeper of nothing: a run in memory that begins once and ends."""

    def last(self) -> bytes | None:
        """There is no earlier state."""
        return None

    def due(self) -> bool:
        """Never."""
        return False

    def keep(self, state: bytes) -> None:
        """Nothing is kept."""
