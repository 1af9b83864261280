"""What `finetune` is asked for: the settings of the loop, and what is trained and learns from what."""

from typing import Any, Literal

from pydantic import Field, model_validator

from lookalike.core.errors import ArgumentError
from lookalike.learn.settings import (
    ADAPTED,
    ADAPTING,
    COMPONENTS,
    DEFAULT_HEAD,
    PROJECTION,
    TrainingSettings,
)

BLOCKS, RANK, PROTOTYPES = 2, 8, 4_096
MICRO = 32  # inputs that a processor holds at once; 16 and 64 took 4 and 12% longer (MobileNet v2, 96 pixels)
OF_NETWORKS = ("part", "blocks", "rank", "micro", "batchnorm", "prototypes")


class TrainingRequest(TrainingSettings):
    """What `finetune` trains with: the settings of the loop, which part of the network learns, and the head on it.

    With items as `nodes` all photos of an item share its labels: a label of one photo holds for the item (VSD 4), and a
    similar item must not be pushed away by its other photo.
    """

    nodes: Literal["item", "image"] = Field(
        "item",
        description="item: a label holds for all photos of its two items; image: only for its two photos.",
    )
    part: Literal["head", "blocks", "adapters", "network"] = Field(
        "head",
        description="What is trained. head: a small head on vectors that exist, which takes minutes; blocks: also the "
        "last blocks of the network; adapters: also small matrices beside all its layers (LoRA); network: all of it. "
        "For more than the head, photos are read again in each epoch.",
    )
    blocks: int | None = Field(
        None, ge=1, examples=[BLOCKS], description=f"For blocks: number of last blocks (default: {BLOCKS})."
    )
    rank: int | None = Field(
        None, ge=1, examples=[RANK], description=f"For adapters: rank of the matrices (default: {RANK})."
    )
    micro: int | None = Field(
        None,
        ge=1,
        examples=[MICRO],
        description="For networks: photos in memory at once. A larger batch is computed in pieces, with the same "
        f"gradient but one more forward pass (default: {MICRO} on a processor; on a GPU all, or as many as fit).",
    )
    batchnorm: Literal["frozen", "trained"] = Field(
        "frozen",
        description="For networks: whether BatchNorm layers keep the means and variances that they have.",
    )
    prototypes: int | None = Field(
        None,
        ge=2,
        examples=[PROTOTYPES],
        description=f"For dino: number of prototypes (default: {PROTOTYPES:,}).",
    )
    views: int = Field(
        1,
        ge=1,
        le=100,
        description="1: use the vectors that exist. More: encode this number of augmented views of each photo first.",
    )
    head: Literal["residual", "projection", "adaptation", "diagonal"] | None = Field(
        None,
        examples=["residual"],
        description="residual: begins as the encoder itself and learns a correction; projection: begins at random, as "
        "in the paper; adaptation: principal components, a matrix and a ReLU; diagonal: a weight for each number of "
        f"the vector (default: {DEFAULT_HEAD}, or projection if --projection is given).",
    )
    dimensions: int | None = Field(
        None,
        ge=1,
        examples=[COMPONENTS],
        description="For an adaptation head: number of principal components of the encoder's vectors "
        f"(default: {COMPONENTS}).",
    )
    # A wider head is larger than memory.
    projection: int | None = Field(
        None,
        ge=1,
        le=65_536,
        examples=[PROJECTION],
        description=f"Dimension of the vectors of a projection head (default: {PROJECTION:,}) or an adaptation head "
        f"(default: {ADAPTED:,}). Other heads keep the dimension of the encoder.",
    )

    @model_validator(mode="after")
    def _fits_the_part(self) -> "TrainingRequest":
        found = self._wrong_for_a_head() if self.part == "head" else self._wrong_for_a_network()
        if found:
            raise ArgumentError(found[0], fix=found[1])
        return self

    def _wrong_for_a_head(self) -> tuple[str, str] | None:
        if not self.relates:
            return (
                f"loss is {self.loss!r}, which needs photos, but only a head on vectors is trained.",
                "Set part to network, blocks or adapters.",
            )
        for name in OF_NETWORKS[1:]:
            value = getattr(self, name)
            if value != type(self).model_fields[name].default:
                return (
                    f"{name} is {value!r}, but only a head is trained.",
                    f"Leave out {name}, or set part to network, blocks or adapters.",
                )
        return None

    def _wrong_for_a_network(self) -> tuple[str, str] | None:
        for name, part in (("blocks", "blocks"), ("rank", "adapters")):
            if getattr(self, name) is not None and self.part != part:
                return (
                    f"{name} is {getattr(self, name)}, but part is {self.part!r}.",
                    f"Leave out {name}, or set part to {part}.",
                )
        if self.in_pairs or self.head in ADAPTING:
            return (
                f"An adaptation is trained on vectors that exist, but part is {self.part!r}.",
                "Set part to head, or choose another head and loss.",
            )
        wrong = (
            ("prototypes", self.prototypes is not None and self.loss != "dino", f"loss is {self.loss!r}"),
            (
                "views",
                self.views != 1,
                f"part is {self.part!r}: two new views of each photo are drawn each time",
            ),
            (
                "head",
                self.head is not None and not self.relates,
                f"{self.loss} compares by the network itself",
            ),
        )
        for name, is_wrong, why in wrong:
            if is_wrong:
                return f"{name} is {getattr(self, name)!r}, but {why}.", f"Leave out {name}."
        return None

    @model_validator(mode="after")
    def _sizes_fit_the_head(self) -> "TrainingRequest":
        if self.head in ("residual", "diagonal") and self.projection is not None:
            raise ArgumentError(
                f"projection is {self.projection}, but a {self.head} head keeps the encoder's dimension.",
                fix="Leave out projection, or set head to projection.",
            )
        if self.dimensions is not None and self.head != "adaptation":
            raise ArgumentError(
                f"dimensions is {self.dimensions}, but only an adaptation head has principal components.",
                fix="Leave out dimensions, or set head to adaptation.",
            )
        return self

    def as_values(self) -> dict[str, Any]:
        """The settings as JSON holds them, without those that do not concern the part or the head."""
        without = () if self.head == "adaptation" else ("dimensions",)
        if self.part == "head":
            without = (*without, *OF_NETWORKS)
        return {name: value for name, value in super().as_values().items() if name not in without}

    @property
    def kind(self) -> str:
        """The kind of the head."""
        by_part = DEFAULT_HEAD if self.part == "head" else "projection"
        return self.head or (by_part if self.projection is None else "projection")
