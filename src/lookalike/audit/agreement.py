"""How scores on some labels agree with scores on others, over encoders: the stage that all audits share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from lookalike.audit.correlation import Correlations, coefficients, correlate, defined_points, with_interval
from lookalike.core.progress import Progress
from lookalike.core.types import Score
from lookalike.evaluate.significance.bootstrap import Resampling, replicates

Key = TypeVar("Key")


@dataclass(frozen=True)
class ScoreAgreement:
    """How scores on other labels correlate, over encoders.

    `omitted` is the generator whose labels are left out ("": none). `left_out` are encoders without both values.
    """

    measure: str
    omitted: str
    correlations: Correlations
    left_out: tuple[str, ...]


def agreements(
    encoders: Sequence[str],
    reduced: Mapping[Key, Sequence[Score]],
    benchmark: Mapping[Key, Sequence[Score]],
    resampling: Resampling | None = None,
    progress: Progress | None = None,
) -> dict[Key, tuple[Correlations, tuple[str, ...]]]:
    """Correlate each list of scores (one per encoder) with its benchmark; and the encoders without both values.

    `resampling` adds intervals: all scores are replicated once, on the same drawn queries.
    """
    pairs = {key: (scores, benchmark[key]) for key, scores in reduced.items()}
    distinct = {id(score): score for sides in pairs.values() for side in sides for score in side}
    column = {name: at for at, name in enumerate(distinct)}
    drawn = None if resampling is None else replicates(list(distinct.values()), resampling, progress)
    found = {}
    for key, sides in pairs.items():
        x, y = (np.array([score.value for score in side]) for side in sides)
        both = defined_points(x, y)
        correlations = correlate(x, y)
        if drawn is not None:
            columns = (np.array([column[id(score)] for score in side], np.int64)[both] for side in sides)
            correlations = with_interval(correlations, coefficients(*(drawn[:, at] for at in columns)))
        found[key] = correlations, tuple(name for name, here in zip(encoders, both, strict=True) if not here)
    return found
