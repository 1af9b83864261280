"""The journal of `growth.py`, and power laws with intervals through what it holds."""

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import t as student

TARGET = 10**8
LIKE = {
    "discover": "top lists",
    "evaluate": "ranks",
    "report": "top lists",
}  # whose memory they need when large
LEAST_SECONDS, LEAST_SIZES, CONFIDENCE = 0.5, 4, 0.95


class Journal(NamedTuple):
    """What was measured, by stage and size; the machines, and the seconds expected of what was left out."""

    machines: list[dict[str, Any]]
    results: dict[tuple[str, int], dict[str, Any]]
    skipped: dict[tuple[str, int], float]


class Fit(NamedTuple):
    """seconds = exp(constant) size^exponent by least squares on logarithms; `error` is the residual standard error."""

    constant: float
    exponent: float
    error: float
    mean: float
    spread: float
    sizes: int

    def interval(self) -> tuple[float, float]:
        """The interval of the exponent."""
        half = self._quantile() * self.error / math.sqrt(self.spread)
        return self.exponent - half, self.exponent + half

    def at(self, size: float) -> float:
        """The prediction at a size."""
        return math.exp(self.constant + self.exponent * math.log(size))

    def interval_at(self, size: float) -> tuple[float, float]:
        """The interval in which one more measurement at a size would lie, if the power law holds there."""
        away = (math.log(size) - self.mean) ** 2 / self.spread
        half = self._quantile() * self.error * math.sqrt(1 + 1 / self.sizes + away)
        return self.at(size) * math.exp(-half), self.at(size) * math.exp(half)

    def reaches(self, value: float) -> float:
        """The size at which the prediction reaches a value; infinite where it does not grow."""
        return math.exp((math.log(value) - self.constant) / self.exponent) if self.exponent > 0 else math.inf

    def _quantile(self) -> float:
        if self.sizes < LEAST_SIZES:
            raise ValueError(f"An interval needs {LEAST_SIZES} sizes, and there are {self.sizes}.")
        return float(student.ppf((1 + CONFIDENCE) / 2, self.sizes - 2))


def fitted(sizes: Iterable[float], values: Iterable[float]) -> Fit:
    """The power law through values at two sizes or more."""
    x, y = np.log(list(sizes)), np.log(list(values))
    spread = float(((x - x.mean()) ** 2).sum())
    exponent = float(((x - x.mean()) * (y - y.mean())).sum()) / spread
    constant = float(y.mean() - exponent * x.mean())
    rest = float(((y - constant - exponent * x) ** 2).sum())
    error = math.sqrt(rest / (len(x) - 2)) if len(x) > 2 else 0.0
    return Fit(constant, exponent, error, float(x.mean()), spread, len(x))


def read(file: Path) -> Journal:
    """A journal; a last line that a stopped run left unfinished is not counted, and of two results the later counts."""
    found = Journal([], {}, {})
    for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else []:
        try:
            one = json.loads(line)
        except json.JSONDecodeError:
            continue
        if "machine" in one:
            found.machines.append(one["machine"])
        elif "skipped" in one:
            found.skipped[one["stage"], one["size"]] = one["skipped"]
        else:
            found.results[one["stage"], one["size"]] = one
    return found


def points(journal: Journal, stage: str, figure: str, least: float) -> list[tuple[int, float]]:
    """Sizes and values of a stage, where the value is above the least."""
    return sorted(
        (size, one[figure])
        for (name, size), one in journal.results.items()
        if name == stage and one[figure] > least
    )


def law(journal: Journal, stage: str, figure: str = "seconds") -> Fit | None:
    """The power law of a stage; None with fewer than two sizes above the limit."""
    found = points(journal, stage, figure, LEAST_SECONDS)
    return fitted(*zip(*found, strict=True)) if len(found) > 1 else None


def line_of_memory(journal: Journal, stage: str) -> tuple[float, float]:
    """The line through the two largest sizes: bytes at size zero, and bytes per image."""
    found = points(journal, LIKE.get(stage, stage), "megabytes", -1.0) or points(
        journal, stage, "megabytes", -1.0
    )
    (before, low), (last, high) = found[-2:] if len(found) > 1 else [(0, 0.0), *found]
    slope = max(high - low, 0.0) / (last - before) * 1e6
    return high * 1e6 - slope * last, slope


def number(value: float) -> str:
    """A number with three digits that count, and no exponent.

    >>> number(0.01234), number(5.678), number(123456.7)
    ('0.0123', '5.68', '123,000')
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "–"
    places = 2 - math.floor(math.log10(abs(value)))
    rounded = round(value, places)
    return f"{rounded:,.{max(places, 0)}f}"
