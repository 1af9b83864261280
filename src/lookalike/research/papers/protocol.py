"""The settings of `reproduce`: how often and how long it trains, and what."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field

from lookalike.core.settings import CheckedSettings
from lookalike.research.adaptation.protocol import AdaptationProtocol

ADAPT = AdaptationProtocol()
OF_CELLS = ("part", "blocks", "rank", "epochs", "batch", "rate", "projection", "prototypes", "micro", "seed")


class ReproduceProtocol(CheckedSettings):
    """The settings of the tables that train: of ADAPT's heads, and of the cells of VSD and EDS."""

    repeats: int = Field(
        ADAPT.repeats, ge=1, le=1_000, description="For ADAPT: number of random splits of the pairs."
    )
    resamples: int = Field(
        ADAPT.resamples,
        ge=1,
        le=1_000,
        description="For ADAPT: number of resamples that choose the number of epochs.",
    )
    epochs: int | None = Field(
        None,
        ge=1,
        description=f"Number of epochs; for ADAPT the largest (default: {ADAPT.epochs} for ADAPT, 30 for networks, 100 "
        "for heads).",
    )
    seed: int = Field(0, ge=0, lt=2**31, description="Seed of all training.")
    encoders: str | None = Field(
        None,
        description="For VSD and EDS: encoders to train, separated by commas (default: all that can be trained).",
    )
    methods: str | None = Field(
        None,
        description="For VSD and EDS: methods by the paper's names, separated by commas, e.g. SupCon_SPA,Pre (default: "
        "those of the table).",
    )
    part: Literal["network", "blocks", "adapters", "head"] | None = Field(
        None,
        description="For VSD and EDS: what is trained, as for finetune (default: network, as in the papers).",
    )
    blocks: int | None = Field(None, ge=1, description="For blocks: number of last blocks.")
    rank: int | None = Field(None, ge=1, description="For adapters: rank of the matrices.")
    batch: int | None = Field(None, ge=2, description="For VSD and EDS: images in a batch (default: 256).")
    rate: float | None = Field(
        None, gt=0, description="For VSD and EDS: initial learning rate (default: that of finetune)."
    )
    projection: int | None = Field(
        None, ge=1, le=65_536, description="For VSD: dimension of the head's vectors (default: 2,048)."
    )
    prototypes: int | None = Field(None, ge=2, description="For DINO: number of prototypes (default: 4,096).")
    micro: int | None = Field(None, ge=1, description="For VSD and EDS: photos in memory at once.")

    @property
    def adaptation(self) -> AdaptationProtocol:
        """The settings of ADAPT's experiment."""
        return AdaptationProtocol(
            repeats=self.repeats, resamples=self.resamples, epochs=self.epochs or ADAPT.epochs, seed=self.seed
        )

    @property
    def of_cells(self) -> Mapping[str, Any]:
        """The settings of all cells that were given, those of `TrainingRequest`."""
        return {name: getattr(self, name) for name in OF_CELLS if getattr(self, name)}

    @property
    def options(self) -> list[str]:
        """The settings that are not the default, as options of the command."""
        given = {name: getattr(self, name) for name in type(self).model_fields}
        usual = type(self).model_fields
        return [
            word
            for name, value in given.items()
            if value != usual[name].default
            for word in (f"--{name}", str(value))
        ]
