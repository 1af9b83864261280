"""How sure scores and differences are, from Python: `intervals` and `compare` over what `score` returned."""

from collections.abc import Mapping, Sequence
from typing import Any

from lookalike.core.progress import Progress
from lookalike.core.types import Scores
from lookalike.evaluate.significance.compare import Comparison
from lookalike.evaluate.significance.intervals import Interval
from lookalike.evaluate.significance.summary import Settings, significance


def intervals(
    scores: Sequence[Scores],
    *,
    progress: Progress | None = None,
    **settings: Any,  # noqa: ANN401 - fields of Settings
) -> Mapping[str, Mapping[str, Interval]]:
    """The bootstrap interval over queries of every score, by encoder and measure; nothing is ranked again.

    `settings` are those of `Settings`: replicates, seed, confidence and method.
    """
    return significance(scores, Settings(**settings), comparisons=False, progress=progress).intervals


def compare(
    scores: Sequence[Scores],
    *,
    progress: Progress | None = None,
    **settings: Any,  # noqa: ANN401 - fields of Settings
) -> Mapping[str, tuple[Comparison, ...]]:
    """Every pair of encoders by each measure: difference, interval, p before and after Holm's adjustment, effect.

    `settings` are those of `intervals`.
    """
    return significance(scores, Settings(**settings), progress=progress).comparisons
