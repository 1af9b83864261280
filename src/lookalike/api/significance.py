"""How sure scores and differences are, from Python: `intervals` and `compare` over what `score` returned."""

from collections.abc import Mapping, Sequence

from lookalike.core.progress import Progress
from lookalike.core.types import Scores
from lookalike.evaluate.significance.compare import Comparison
from lookalike.evaluate.significance.intervals import LEVEL, METHOD, REPLICATES, Interval
from lookalike.evaluate.significance.summary import Settings, significance


def intervals(
    scores: Sequence[Scores],
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    confidence: float = LEVEL,
    method: str = METHOD,
    progress: Progress | None = None,
) -> Mapping[str, Mapping[str, Interval]]:
    """The bootstrap interval over queries of every score, by encoder and measure; nothing is ranked again."""
    settings = Settings(replicates, seed, confidence, method)
    return significance(scores, settings, comparisons=False, progress=progress).intervals


def compare(
    scores: Sequence[Scores],
    *,
    replicates: int = REPLICATES,
    seed: int = 0,
    confidence: float = LEVEL,
    method: str = METHOD,
    progress: Progress | None = None,
) -> Mapping[str, tuple[Comparison, ...]]:
    """Every pair of encoders by each measure: difference, interval, p before and after Holm's adjustment, effect."""
    settings = Settings(replicates, seed, confidence, method)
    return significance(scores, settings, progress=progress).comparisons
