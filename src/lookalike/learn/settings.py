"""What a training run is told, and what is wrong with it, before anything is computed."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from lookalike.core.checks import at_least, one_of
from lookalike.core.errors import ArgumentError
from lookalike.positive.positiveness import Softness

LOSSES = ("supcon", "con", "trpl")
UNJUDGED = ("negative", "ignore")
TRIPLETS = ("all", "hard", "semihard")
KEEP = ("best", "last")
SEEDS = 2**63  # PyTorch takes no larger one


@dataclass(frozen=True)
class Settings:
    """How a model is trained (SPEC 10; VSD E where it says).

    `soft` None takes the labels alone, `Softness(beta=0)` is NSPA. `rate` falls by a cosine to a tenth of itself
    over `epochs`. `keep` "best" takes the epoch that is best by `measure` on the validation split, "last" the last one:
    a few labelled pairs choose by chance. `patience`: how many epochs without a better one end the run; None: never.
    """

    loss: str = "supcon"
    soft: Softness | None = field(default_factory=Softness)
    unjudged: str = "negative"
    temperature: float = 0.1
    margin: float | None = None  # None: the loss's own
    triplets: str = "all"
    epochs: int = 100
    batch: int = 256
    rate: float = 3e-4
    measure: str = "DCS(alpha=10)"
    keep: str = "best"
    patience: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        one_of(self.loss, LOSSES, "loss")
        one_of(self.unjudged, UNJUDGED, "unjudged")
        one_of(self.triplets, TRIPLETS, "triplets")
        one_of(self.keep, KEEP, "keep")
        at_least(self.epochs, 1, "epochs")
        at_least(self.batch, 2, "batch")
        if self.patience is not None:
            at_least(self.patience, 1, "patience")
            if self.keep == "last":
                raise ArgumentError(
                    f"patience is {self.patience}, but the last epoch is to be kept, and patience waits for the best.",
                    fix="Leave out patience, or keep the best.",
                )
        for name in ("temperature", "rate"):
            _above_zero(getattr(self, name), name)
        if self.margin is not None and not 0.0 <= self.margin < float("inf"):
            raise ArgumentError(
                f"margin is {self.margin}; it must be 0 or more.", fix="Leave it out, or give 0.2."
            )
        if not 0 <= self.seed < SEEDS:
            raise ArgumentError(
                f"seed is {self.seed}; it must be from 0 to {SEEDS - 1}.",
                fix="Give a smaller one, such as 0.",
            )

    @property
    def objective(self) -> dict[str, Any]:
        """The options of the loss itself."""
        options: dict[str, Any] = {"unjudged": self.unjudged}
        if self.loss == "supcon":
            return options | {"temperature": self.temperature}
        if self.loss == "trpl":
            options |= {"triplets": self.triplets}
        return options | ({} if self.margin is None else {"margin": self.margin})

    def as_values(self) -> dict[str, Any]:
        """The settings as JSON holds them."""
        return asdict(self)

    @classmethod
    def of_values(cls, values: Mapping[str, Any]) -> "Settings":
        """The settings that `as_values` wrote."""
        soft = values["soft"]
        return cls(**{**values, "soft": None if soft is None else Softness(**soft)})


def _above_zero(value: float, name: str) -> None:
    if not 0.0 < value < float("inf"):
        raise ArgumentError(
            f"{name} is {value}; it must be above 0.", fix=f"Give a {name} above 0, such as 0.1."
        )
