"""The settings of a training run: type, default, bounds and help text of each, declared once.

The options of `lookalike finetune`, the keywords of `lookalike.finetune` and the checks of both are made from them.
"""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, field_validator, model_validator

from lookalike.audit.depth import ADVISED
from lookalike.core.errors import ArgumentError, MeasureError
from lookalike.core.settings import CheckedSettings
from lookalike.evaluate.measures.table import Measure, parse
from lookalike.positive.positiveness import Beta, MaxDistance, Softness

Loss = Literal["supcon", "con", "trpl", "symmetric", "simclr", "dino", "item", "category", "item+category"]
UNLABELLED = ("simclr", "dino")  # losses of photos alone; labels only choose the epoch
CLASSES = {"item": ("item",), "category": ("category",), "item+category": ("item", "category")}
"""Losses that classify, each with the columns of the catalog whose values are its classes."""
Positives = Literal["soft", "full", "labels"]
PAPER = Softness()
PROJECTION = 2048  # dimensions (VSD E)
COMPONENTS, ADAPTED = 256, 1024  # of an adaptation head (ADAPT 4.2)
DEFAULT_HEAD = "residual"
ADAPTING = ("adaptation", "diagonal")  # heads that are trained on pairs, as in ADAPT
SYMMETRIC = "symmetric"
BY_LOSS: Any = None  # the default depends on the loss, and the loss on the head
IN_BATCHES = {"loss": "supcon", "epochs": 100, "rate": 3e-4, "keep": "best"}
IN_NETWORKS = {"epochs": 30, "rate": 1e-4}
IN_PAIRS = {"loss": SYMMETRIC, "epochs": 150, "rate": 1e-3, "keep": "bootstrap"}
DIAGONAL_RATE = 1e-2  # a weight begins at 1, and Adam moves it by about the rate in a step
ONLY_IN_PAIRS = ("sigma", "resamples")


class TrainingSettings(CheckedSettings):
    """How a model is trained (VSD E where it gives a value)."""

    loss: Loss = Field(
        BY_LOSS,
        description="supcon: contrast similar images with all others of the batch; con: pull similar images together "
        "and keep others a margin apart; trpl: triplets, others farther than similar images by a margin; symmetric: "
        "each image of a similar pair finds the other among all pairs at once. For networks also simclr and dino, "
        "which learn from photos without labels, and item, category and item+category, which classify (default: "
        "supcon, or symmetric for an adaptation or diagonal head).",
    )
    sigma: float = Field(
        15.0,
        gt=0,
        description="For symmetric: factor of the cosines. The larger it is, the less a pair counts that is found.",
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
        description="For supcon and simclr: the lower the temperature, the more the nearest dissimilar images count.",
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
        BY_LOSS,
        ge=1,
        description="Number of epochs: passes over all images with a similar image, or over all images where the loss "
        "needs no labelled pairs (default: 100, 150 for symmetric, 30 for networks).",
    )
    batch: int = Field(256, ge=2, description="Images in a batch.")
    rate: float = Field(
        BY_LOSS,
        gt=0,
        description="Initial learning rate. It falls by a cosine to a tenth of this value; for symmetric it is "
        "constant (default: 0.0003, or 0.001 for symmetric, 0.01 with a diagonal head, "
        "0.0001 for networks).",
    )
    measure: str = Field(
        ADVISED,
        description="Measure on the validation split that chooses the epoch. It must need labels only, no sampled "
        "negatives. The papers use DCS(alpha=10), which looks deeper the larger the catalog is.",
    )
    keep: Literal["best", "last", "bootstrap"] = Field(
        BY_LOSS,
        description="Which epoch to keep. best: the best by the measure; last: the last, for few validation labels; "
        "bootstrap, for symmetric: train as many epochs as are best for training pairs left out of resamples (default: "
        "best, or bootstrap for symmetric).",
    )
    resamples: int = Field(
        20, ge=1, le=1_000, description="For bootstrap: number of resamples, each trained for all epochs."
    )
    patience: int | None = Field(
        None,
        ge=1,
        examples=[10],
        description="Stop after this number of epochs without improvement (default: never).",
    )
    seed: int = Field(0, ge=0, lt=2**63, description="Seed of the head, the batches and the views.")

    @model_validator(mode="before")
    @classmethod
    def _defaults(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        given = {name: one for name, one in values.items() if one is not None or name not in IN_BATCHES}
        in_pairs = given.get("loss", SYMMETRIC if given.get("head") in ADAPTING else "") == SYMMETRIC
        diagonal = {"rate": DIAGONAL_RATE} if given.get("head") == "diagonal" else {}
        network = IN_NETWORKS if given.get("part", "head") != "head" else {}
        return (IN_PAIRS | diagonal if in_pairs else IN_BATCHES | network) | given

    @field_validator("measure")
    @classmethod
    def _can_choose(cls, measure: str) -> str:
        choosing_measure(measure)
        return measure

    @model_validator(mode="after")
    def _kept_as_possible(self) -> "TrainingSettings":
        if self.patience is not None and self.keep != "best":
            raise ArgumentError(
                f"patience is {self.patience}, but keep is {self.keep!r}: patience needs a best epoch.",
                fix="Leave out patience, or set keep to best.",
            )
        if self.keep == "bootstrap" and not self.in_pairs:
            raise ArgumentError(
                f"keep is 'bootstrap', but the loss is {self.loss!r}: resamples are of the pairs of symmetric.",
                fix="Set keep to best or last, or loss to symmetric.",
            )
        return self

    def as_values(self) -> dict[str, Any]:
        """The settings as JSON holds them, without those of pairs where the loss is another one."""
        values = super().as_values()
        return values if self.in_pairs else {k: v for k, v in values.items() if k not in ONLY_IN_PAIRS}

    @property
    def in_pairs(self) -> bool:
        """Whether a step sees all pairs at once, as left and right images (ADAPT)."""
        return self.loss == SYMMETRIC

    @property
    def relates(self) -> bool:
        """Whether the loss learns from labelled pairs."""
        return self.loss not in (*UNLABELLED, *CLASSES)

    @property
    def soft(self) -> Softness | None:
        """The soft positives; None for the labels alone. Full weight for every chain is beta = 0 (NSPA)."""
        if self.positives == "labels":
            return None
        return Softness(beta=0.0 if self.positives == "full" else self.beta, max_distance=self.max_distance)

    @property
    def objective(self) -> dict[str, Any]:
        """The keywords of the loss function itself."""
        if self.in_pairs:
            return {"sigma": self.sigma}
        if self.loss == "simclr":
            return {"temperature": self.temperature}
        if self.loss in (*UNLABELLED, *CLASSES):
            return {}
        options: dict[str, Any] = {"unjudged": self.unjudged}
        if self.loss == "supcon":
            return options | {"temperature": self.temperature}
        if self.loss == "trpl":
            options |= {"triplets": self.triplets}
        return options | ({} if self.margin is None else {"margin": self.margin})


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
