"""How the labelling is run: the few choices a lead makes, with their defaults."""

from dataclasses import dataclass, field

from lookalike.annotate.protocol import Protocol
from lookalike.core.errors import ArgumentError

MINUTE = 60_000


@dataclass(frozen=True)
class Campaign:
    """The settings of the labelling. Times in the names' units; `seed` is of every random choice.

    `ahead` pairs are given to an annotator at once, so that the next photos are loaded before they are needed.
    `repeats` pairs of each annotator come back twice more, hidden, after `gap` other answers (VSD asks 200 pairs three
    times); `gold_every` answers a gold pair is due, 0: never. `undo_seconds` after its last vote a pair settles.
    `planned_hours` of all experts together; 0: no plan. `break_minutes` of work until a break is suggested.
    """

    protocol: Protocol = field(default_factory=Protocol)
    lease_minutes: float = 10.0
    undo_seconds: float = 30.0
    ahead: int = 4
    repeats: int = 200
    gap: tuple[int, int] = (20, 60)
    gold_every: int = 50
    planned_hours: float = 0.0
    break_minutes: float = 50.0
    seed: int = 0

    def __post_init__(self) -> None:
        wrong = {
            "lease_minutes": not 0.5 <= self.lease_minutes <= 24 * 60,
            "undo_seconds": not 0 <= self.undo_seconds <= 3600,
            "ahead": not 1 <= self.ahead <= 50,
            "repeats": not 0 <= self.repeats <= 10_000,
            "gap": not 1 <= self.gap[0] <= self.gap[1] <= 10_000,
            "gold_every": not 0 <= self.gold_every <= 10_000,
            "planned_hours": not 0 <= self.planned_hours <= 1e6,
            "break_minutes": not 0 <= self.break_minutes <= 24 * 60,
            "votes": self.protocol.votes > 50,
        }
        for name, is_wrong in wrong.items():
            if is_wrong:
                value = self.protocol.votes if name == "votes" else getattr(self, name)
                raise ArgumentError(
                    f"{name} cannot be {value}.",
                    fix="Choose a value that makes sense; see docs/labelling.md.",
                )

    @property
    def lease(self) -> int:
        """Milliseconds that a lease lasts."""
        return round(self.lease_minutes * MINUTE)

    @property
    def grace(self) -> int:
        """Milliseconds between a pair's last vote and its settling."""
        return round(self.undo_seconds * 1000)
