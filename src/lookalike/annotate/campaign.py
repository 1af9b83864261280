"""The settings of a labelling: each with its default, bounds, title and help."""

from typing import Literal

from pydantic import Field, model_validator

from lookalike.annotate.protocol import Protocol
from lookalike.core.errors import ArgumentError
from lookalike.core.settings import Declared

MINUTE = 60_000


class Campaign(Declared):
    """The settings of one labelling. The form, the JSON interface and the database use these names."""

    protocol_name: Literal["consensus", "majority"] = Field(
        default="consensus",
        alias="protocol",
        title="Protocol",
        description="Consensus: annotators discuss a pair when their answers differ or one is unsure. "
        "Majority: the most frequent answer wins, unsure does not count, and a tie means dissimilar.",
    )
    votes: int = Field(
        default=2, ge=1, le=50, title="Votes per pair",
        description="Number of annotators who judge each pair. Pairs already in the queue keep their number.",
    )  # fmt: skip
    lease_minutes: float = Field(
        default=10.0, ge=0.5, le=24 * 60, title="Reservation (minutes)",
        description="How long a pair stays reserved for an annotator. Then another annotator can get it.",
    )  # fmt: skip
    undo_seconds: float = Field(
        default=30.0, ge=0, le=3600, title="Time to undo (seconds)",
        description="How long annotators can undo the last vote on a pair. Then the pair is resolved.",
    )  # fmt: skip
    prefetch: int = Field(
        default=50, ge=1, le=50, title="Pairs loaded in advance",
        description="Most pairs reserved for an annotator at once, so that labelling continues without a network. "
        "Nobody gets more than a fair share of the open pairs.",
    )  # fmt: skip
    repeats: int = Field(
        default=200, ge=0, le=10_000, title="Repeated pairs per annotator",
        description="Number of pairs each annotator sees three times, to measure self-agreement. 0: none.",
    )  # fmt: skip
    gap_least: int = Field(
        default=20, ge=1, le=10_000, title="Minimum gap between repeats (answers)",
        description="Fewest answers to other pairs before a pair is repeated.",
    )  # fmt: skip
    gap_most: int = Field(
        default=60, ge=1, le=10_000, title="Maximum gap between repeats (answers)",
        description="Most answers to other pairs before a pair is repeated.",
    )  # fmt: skip
    gold_every: int = Field(
        default=50, ge=0, le=10_000, title="Answers between gold pairs",
        description="After this many answers, an annotator sees a pair with a known answer. 0: never.",
    )  # fmt: skip
    reasons: Literal["never", "unsure", "always"] = Field(
        default="unsure", title="Ask for a reason",
        description="Unsure: with the answer unsure. Always: with every answer. Annotators can leave it out.",
    )  # fmt: skip
    planned_hours: float = Field(
        default=0.0, ge=0, le=1e6, title="Planned time (hours)",
        description="Total working time of all annotators. The plan page compares against it. 0: no plan.",
    )  # fmt: skip
    break_minutes: float = Field(
        default=50.0, ge=0, le=24 * 60, title="Time until a break (minutes)",
        description="After this long without a pause, the page suggests a short break. 0: never.",
    )  # fmt: skip
    seed: int = Field(
        default=0, ge=0, le=2**53, title="Random seed",
        description="Seed of the random order of pairs. Pairs already in the queue keep their places.",
    )  # fmt: skip

    @model_validator(mode="after")
    def _gap_is_a_range(self) -> "Campaign":
        if self.gap_least > self.gap_most:
            raise ArgumentError(
                f'"gap_least" is {self.gap_least}, but "gap_most" is {self.gap_most}.',
                fix="Give a minimum gap that is not larger than the maximum gap.",
            )
        return self

    @property
    def protocol(self) -> Protocol:
        """How the votes on a pair become its label."""
        return Protocol(self.protocol_name, self.votes)

    @property
    def gap(self) -> tuple[int, int]:
        """Fewest and most answers to other pairs before a pair is repeated."""
        return self.gap_least, self.gap_most

    @property
    def lease(self) -> int:
        """How long a pair stays reserved for an annotator, in milliseconds."""
        return round(self.lease_minutes * MINUTE)

    @property
    def grace(self) -> int:
        """Time between the last vote on a pair and its resolution, in milliseconds."""
        return round(self.undo_seconds * 1000)
