"""A value with its interval and the number of cases. An undefined value is NaN with a reason."""

from dataclasses import dataclass
from math import isnan, nan, sqrt
from statistics import NormalDist

LEVEL = 0.95
FEWEST = 10  # pairs (or hours): intervals from fewer are too narrow


@dataclass(frozen=True)
class Figure:
    """A value with its 95% confidence interval, computed from `count` pairs.

    An undefined value or interval is NaN, and `reason` says why.
    """

    value: float
    low: float
    high: float
    count: int
    reason: str = ""

    @property
    def is_sure(self) -> bool:
        """Whether it has an interval."""
        return not isnan(self.low)


def undefined(reason: str, count: int = 0) -> Figure:
    """A figure without a value."""
    return Figure(nan, nan, nan, count, reason)


def deviate(level: float = LEVEL) -> float:
    """How many standard errors an interval reaches to each side: Phi^-1((1 + level) / 2).

    >>> round(deviate(), 2)
    1.96
    """
    return NormalDist().inv_cdf((1.0 + level) / 2.0)


def share(part: int, whole: int, *, of: str = "pairs", level: float = LEVEL) -> Figure:
    """A share of independent cases, with Wilson's interval (Wilson 1927).

    With p = part / whole, n = whole and z = `deviate(level)`, its ends are

        (p + z^2 / 2n +- z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)

    so that also 0 of n and n of n have an interval. Undefined where there are no cases.

    >>> found = share(19, 20)
    >>> found.value, round(found.low, 3), round(found.high, 3)
    (0.95, 0.764, 0.991)
    """
    if whole == 0:
        return undefined(f"there are no {of}")
    p, z = part / whole, deviate(level)
    middle = p + z * z / (2 * whole)
    half = z * sqrt(p * (1 - p) / whole + z * z / (4 * whole * whole))
    scale = 1 + z * z / whole
    low = 0.0 if part == 0 else (middle - half) / scale
    high = 1.0 if part == whole else (middle + half) / scale
    return Figure(p, low, high, whole)
