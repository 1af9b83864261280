"""How often a measure orders two encoders right on pools like this one, from simulated pools of the studio."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float64
from scipy.special import ndtri

from lookalike.core.checks import one_of
from lookalike.core.errors import ArgumentError

KINDS = ("both generators", "one outside", "both outside")
"""Of two encoders, how many did not feed the pool."""
BANDS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
"""Edges of the bands of coverage@5; a band holds its lower edge, the last one both."""
TRUSTED, WITH_CARE = 0.95, 0.80
FEWEST_PAIRS, FEWEST_POOLS = 30, 10
FILE = Path(__file__).with_name("calibration.toml")


@dataclass(frozen=True)
class Trust:
    """What the studio's pools showed of pairs of encoders like these.

    `share` of `pairs` pairs, on `pools` pools, was ordered as the true HR@5 orders them; `low` is Wilson's lower bound
    of the share, `separates` how often the measure's own test separated the two. `word` is "trusted",
    "with care", "not to be trusted", or "unknown" where fewer than 30 pairs or 10 pools
    were seen.
    """

    measure: str
    kind: str
    separated: bool
    share: float
    low: float
    pairs: int
    pools: int
    separates: float
    word: str


def trust(
    measure: str, kind: str, coverage: float, separated: bool, table: Mapping[str, Any] | None = None
) -> Trust:
    """The trust in a measure's order of two encoders.

    `kind` is one of `KINDS`, `coverage` the coverage@5 of the less covered of the two, `separated` whether the
    measure's own paired test separates them at p < .05. A measure that was not calibrated is "unknown".
    """
    one_of(kind, KINDS, "kind")
    cells = (table or calibration())["cells"].get(measure, {}).get(kind)
    place = band(coverage)
    if cells is None:
        return Trust(measure, kind, separated, math.nan, math.nan, 0, 0, math.nan, "unknown")
    here, other = (
        cells["separated" if separated else "open"][place],
        cells["open" if separated else "separated"][place],
    )
    pairs = here["pairs"]
    apart = pairs if separated else other["pairs"]
    both = pairs + other["pairs"]
    share, low = (here["share"], here["low"]) if pairs else (math.nan, math.nan)
    return Trust(
        measure,
        kind,
        separated,
        share,
        low,
        pairs,
        here["pools"],
        apart / both if both else math.nan,
        word(low, pairs, here["pools"]),
    )


def word(low: float, pairs: int, pools: int) -> str:
    """The word for a lower bound of the share ordered right.

    >>> word(0.96, 500, 90), word(0.9, 500, 90), word(0.5, 500, 90), word(1.0, 12, 3)
    ('trusted', 'with care', 'not to be trusted', 'unknown')
    """
    if pairs < FEWEST_PAIRS or pools < FEWEST_POOLS or math.isnan(low):
        return "unknown"
    return "trusted" if low >= TRUSTED else "with care" if low >= WITH_CARE else "not to be trusted"


def band(coverage: float) -> int:
    """The place of a coverage among the bands.

    >>> band(0.0), band(0.2), band(0.99), band(1.0)
    (0, 1, 4, 4)
    """
    if not -1e-9 <= coverage <= 1.0 + 1e-9:
        raise ArgumentError(
            f"coverage is {coverage}; it must be from 0 to 1.", fix="Give the coverage@5 of an encoder."
        )
    return min(sum(coverage + 1e-9 >= edge for edge in BANDS) - 1, len(BANDS) - 2)


@cache
def calibration() -> dict[str, Any]:
    """The table that came with this version."""
    return tomllib.loads(FILE.read_text(encoding="utf-8"))


def wilson(rate: float, n: float, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval of a rate seen over n trials (Wilson 1927), where n need not be a whole number.

        (rate + z^2/2n +- z sqrt(rate (1 - rate)/n + z^2/4n^2)) / (1 + z^2/n)

    The rate itself for endless trials, 0 to 1 for none.

    >>> [round(end, 3) for end in wilson(0.0, 10.0, 0.95)]
    [0.0, 0.278]
    """
    low, high = wilson_ends(np.array(rate), np.array(n), float(ndtri((1.0 + level) / 2.0)))
    return float(low), float(high)


def wilson_ends(
    rate: Float64[np.ndarray, "*each"], n: Float64[np.ndarray, "*each"], z: float
) -> tuple[Float64[np.ndarray, "*each"], Float64[np.ndarray, "*each"]]:
    """`wilson` of many rates at once, for the quantile z."""
    n, none = np.maximum(n, 1e-300), n <= 0
    middle = rate + z * z / (2 * n)
    half = z * np.sqrt(rate * (1 - rate) / n + z * z / (4 * n) / n)
    scale = 1 + z * z / n
    low, high = np.maximum(0.0, (middle - half) / scale), np.minimum(1.0, (middle + half) / scale)
    return np.where(none, 0.0, low), np.where(none, 1.0, high)
