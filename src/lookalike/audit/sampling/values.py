"""A value from drawn labels as it is published, and what it decides about two encoders."""

from dataclasses import dataclass
from math import nan
from typing import Literal

from lookalike.audit.sampling.estimate import Estimate

MARGIN = 0.02
Decision = Literal["better", "worse", "alike", "open", ""]


@dataclass(frozen=True)
class SampledValue:
    """The value of an encoder, or of the first less the second ("": there is none), with its interval.

    `decision` is about the first of two: "better", "worse", "alike" (the interval is within the margin) or "open".
    `unanswered` drawn units have no answer; the interval holds whatever these are. `bootstrap_for_information` has the
    ends of a bootstrap interval, which decides nothing.
    """

    measure: str
    first: str
    second: str
    value: float
    low: float
    high: float
    method: str
    labels: int
    unanswered: int
    decision: Decision
    bootstrap_for_information: tuple[float, float] = (nan, nan)


def sampled_value(
    measure: str, encoders: tuple[str, str | None], found: Estimate, margin: float = MARGIN
) -> SampledValue:
    """An estimate as published, with what it decides about two encoders."""
    first, second = encoders
    ends = (found.value, found.low, found.high)
    decision = decision_of(found.low, found.high, margin) if second else ""
    counts = (found.method, found.labels, found.open)
    return SampledValue(measure, first, second or "", *ends, *counts, decision, found.bootstrap)


def decision_of(low: float, high: float, margin: float) -> Decision:
    """What an interval of a difference decides about the first of two encoders.

    >>> decision_of(0.01, 0.2, 0.02), decision_of(-0.01, 0.02, 0.02), decision_of(-0.1, 0.2, 0.02)
    ('better', 'alike', 'open')
    """
    if low > 0:
        return "better"
    if high < 0:
        return "worse"
    return "alike" if -margin <= low and high <= margin else "open"
