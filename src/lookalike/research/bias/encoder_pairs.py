"""Every two encoders on every simulated pool: whether a measure orders them right, by kind of pair and coverage."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from lookalike.audit.trust import BANDS
from lookalike.core.errors import MeasureError
from lookalike.research.bias.simulate import SEPARATED, SimulatedPools


@dataclass(frozen=True, eq=False)
class EncoderPairs:
    """Every pair of encoders on every pool by one measure, as flat columns.

    `right` is 1 where the measure orders the two as the true HR@5 of all queries does, 0 where not, .5 where it ties
    them. Pairs whose true values are equal, or whose score is undefined, are left out. `separable` says whether
    complete labels of the pool's queries separate the two at p < .05, `separated` whether the measure does.
    """

    pool: np.ndarray
    kind: np.ndarray
    band: np.ndarray
    right: np.ndarray
    separable: np.ndarray
    separated: np.ndarray
    undefined: int


def pairs(outcome: SimulatedPools, measure: str) -> EncoderPairs:
    """The pairs of one outcome; `band` is that of the coverage@5 of the less covered encoder of the two."""
    m = place_of(outcome, measure)
    i, j = np.triu_indices(len(outcome.encoders), 1)
    value, fed = outcome.value[:, m], outcome.generator.astype(int)
    difference = value[:, i] - value[:, j]
    truth = np.broadcast_to(outcome.true_all[i] - outcome.true_all[j], difference.shape)
    kind = 2 - fed[:, i] - fed[:, j]
    use = np.isfinite(difference) & (truth != 0)
    right = 0.5 * (1.0 + np.sign(difference) * np.sign(truth))
    pool = np.broadcast_to(np.arange(len(outcome))[:, None], difference.shape)
    return EncoderPairs(
        pool=pool[use],
        kind=kind[use],
        band=bands(np.minimum(outcome.coverage[:, i], outcome.coverage[:, j]))[use],
        right=right[use],
        separable=(np.abs(outcome.true_z[:, i, j]) > SEPARATED)[use],
        separated=(np.abs(outcome.z[:, m, i, j]) > SEPARATED)[use],
        undefined=int(np.count_nonzero(~np.isfinite(difference) & (truth != 0))),
    )


def all_pairs(outcomes: Sequence[SimulatedPools], measure: str) -> EncoderPairs:
    """The pairs of several outcomes; pools are numbered on."""
    parts = [pairs(one, measure) for one in outcomes]
    starts = [0, *np.cumsum([len(one) for one in outcomes])[:-1].tolist()]
    parts = [replace(one, pool=one.pool + start) for one, start in zip(parts, starts, strict=True)]
    columns = {
        one.name: np.concatenate([getattr(part, one.name) for part in parts])
        for one in fields(EncoderPairs)
        if one.name != "undefined"
    }
    return EncoderPairs(**columns, undefined=sum(one.undefined for one in parts))


def bands(coverage: np.ndarray) -> np.ndarray:
    """The place of each coverage among the bands."""
    return np.clip(np.searchsorted(BANDS, np.asarray(coverage) + 1e-9, side="right") - 1, 0, len(BANDS) - 2)


def band_name(place: int) -> str:
    """A band in words.

    >>> band_name(0), band_name(4)
    ('coverage@5 0 to .2', 'coverage@5 .8 to 1')
    """
    low, high = (
        f"{edge:.1f}".lstrip("0").replace("1.0", "1").replace(".0", "0") for edge in BANDS[place : place + 2]
    )
    return f"coverage@5 {low} to {high}"


def place_of(outcome: SimulatedPools, measure: str) -> int:
    """The place of a measure among those of some pools."""
    if measure not in outcome.measures:
        raise MeasureError(
            f"The pools were not scored by {measure}.", fix=f"Name one of: {', '.join(outcome.measures)}."
        )
    return outcome.measures.index(measure)
