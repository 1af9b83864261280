"""The settings of a training run: type, default, bounds and help text of each, declared once.

The options of `lookalike finetune`, the keywords of `lookalike.finetune` and the checks of both are made from them.
"""

from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from lookalike.core.errors import ArgumentError, MeasureError
from lookalike.core.settings import CheckedSettings
from lookalike.evaluate.measures.table import Measure, parse
from lookalike.positive.positiveness import Beta, MaxDistance, Softness

Positives = Literal["soft", "full", "labels"]
PAPER = Softness()
PROJECTION = 2048  # dimensions (VSD E)
DEFAULT_HEAD = "residual"


class TrainingSettings(CheckedSettings):
    """How a model is trained (VSD E where it gives a value)."""

    loss: Literal["supcon", "con", "trpl"] = Field(
        "supcon",
        description="supcon: contrast similar images with all others of the batch; con: pull similar images together "
        "and keep others a margin apart; trpl: triplets, others farther than similar images by a margin.",
    )
    positives: Positives = Field(
        "soft",
        description="Which pairs count as similar. labels: pairs labelled similar; soft: also pairs joined by a chain "
        "of them, with less weight the longer the chain (SPA); full: such pairs with full weight (NSPA).",
    )
    beta: Beta = PAPER.beta
    max_distance: MaxDistance = PAPER.max_distance
    unjudged: Literal["negative", "ignore"] = Field(
        "negative",
        description="How to use unlabelled pairs of a batch that no chain joins: negative (as in the paper) or ignore.",
    )
    temperature: float = Field(
        0.1,
        gt=0,
        description="For supcon: the lower the temperature, the more the nearest dissimilar images count.",
    )
    margin: float | None = Field(
        None,
        ge=0,
        examples=[0.2],
        description="For con and trpl: the distance to keep (default: 1 for con, 0.2 for trpl).",
    )
    triplets: Literal["all", "hard", "semihard"] = Field(
        "all",
        description="For trpl: which triplets count. hard: the dissimilar image is nearer; semihard: it is farther, "
        "but within the margin.",
    )
    epochs: int = Field(
        100, ge=1, description="Number of epochs: passes over all images with a similar image."
    )
    batch: int = Field(256, ge=2, description="Images in a batch.")
    rate: float = Field(
        3e-4, gt=0, description="Initial learning rate. It falls by a cosine to a tenth of this value."
    )
    measure: str = Field(
        "DCS(alpha=10)",
        description="Measure on the validation split that chooses the epoch. It must need labels only, no sampled "
        "negatives.",
    )
    keep: Literal["best", "last"] = Field(
        "best",
        description="Which epoch to keep. best: the best by the measure; last: the last, for few validation labels.",
    )
    patience: int | None = Field(
        None,
        ge=1,
        examples=[10],
        description="Stop after this number of epochs without improvement (default: never).",
    )
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the head, the batches and the views.")

    @field_validator("measure")
    @classmethod
    def _can_choose(cls, measure: str) -> str:
        choosing_measure(measure)
        return measure

    @model_validator(mode="after")
    def _patience_needs_the_best(self) -> "TrainingSettings":
        if self.patience is not None and self.keep == "last":
            raise ArgumentError(
                f"patience is {self.patience}, but keep is 'last': patience needs a best epoch.",
                fix="Leave out patience, or set keep to best.",
            )
        return self

    @property
    def soft(self) -> Softness | None:
        """The soft positives; None for the labels alone. Full weight for every chain is beta = 0 (NSPA)."""
        if self.positives == "labels":
            return None
        return Softness(beta=0.0 if self.positives == "full" else self.beta, max_distance=self.max_distance)

    @property
    def objective(self) -> dict[str, Any]:
        """The keywords of the loss function itself."""
        options: dict[str, Any] = {"unjudged": self.unjudged}
        if self.loss == "supcon":
            return options | {"temperature": self.temperature}
        if self.loss == "trpl":
            options |= {"triplets": self.triplets}
        return options | ({} if self.margin is None else {"margin": self.margin})


class TrainingRequest(TrainingSettings):
    """What `finetune` trains a head with: the settings of the loop, and what the head is and learns from.

    With items as `nodes` all photos of an item share its labels: a label of one photo holds for the item (VSD 4), and a
    similar item must not be pushed away by its other photo.
    """

    nodes: Literal["item", "image"] = Field(
        "item",
        description="item: a label holds for all photos of its two items; image: only for its two photos.",
    )
    views: int = Field(
        1,
        ge=1,
        le=100,
        description="1: use the vectors that exist. More: encode this number of augmented views of each photo first.",
    )
    head: Literal["residual", "projection"] | None = Field(
        None,
        examples=["residual"],
        description="residual: begins as the encoder itself and learns a correction; projection: begins at random, as "
        f"in the paper (default: {DEFAULT_HEAD}, or projection if --projection is given).",
    )
    # A wider head is larger than memory.
    projection: int | None = Field(
        None,
        ge=1,
        le=65_536,
        examples=[PROJECTION],
        description="Dimension of a projection head's vectors "
        f"(default: {PROJECTION:,}). A residual head keeps the dimension of the encoder.",
    )

    @model_validator(mode="after")
    def _residual_keeps_the_dimension(self) -> "TrainingRequest":
        if self.head == "residual" and self.projection is not None:
            raise ArgumentError(
                f"projection is {self.projection}, but a residual head keeps the encoder's dimension.",
                fix="Leave out projection, or set head to projection.",
            )
        return self

    @property
    def residual(self) -> bool:
        """Whether the head begins as the encoder itself."""
        return (self.head or (DEFAULT_HEAD if self.projection is None else "projection")) == "residual"


def choosing_measure(measure: str) -> Measure:
    """A measure that can choose an epoch: one of labels alone, so that all epochs are measured on the same pairs."""
    parsed = parse(measure)
    if parsed.drawing is not None:
        raise MeasureError(
            f"{parsed.name} needs sampled negatives, so it cannot choose an epoch.",
            fix="Use a measure of labels alone, for example DCS, EHR@5 or AUC_mac.",
        )
    if parsed.name.startswith("coverage@"):
        raise MeasureError(
            f"{parsed.name} measures how much is labelled, not how good an encoder is, so it cannot choose an epoch.",
            fix="Use a measure of quality, for example DCS, EHR@5 or AUC_mac.",
        )
    return parsed
