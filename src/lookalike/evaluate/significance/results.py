"""Scores and comparisons with how sure they are, as tables, pages and JSON show them."""

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from lookalike.core.types import Scores
from lookalike.evaluate.significance.compare import Comparison
from lookalike.evaluate.significance.intervals import Interval
from lookalike.evaluate.significance.sentence import sentence, verdict
from lookalike.evaluate.significance.summary import Significance


@dataclass(frozen=True)
class ScoreResult:
    """One measure of one encoder; undefined for a reason."""

    value: float
    queries: int
    measure: str
    reason: str
    interval: Interval | None

    @property
    def is_defined(self) -> bool:
        """Whether it has a value."""
        return math.isfinite(self.value)


@dataclass(frozen=True)
class ComparisonResult(Comparison):
    """Two encoders by one measure, with the p-value before Holm's adjustment, and in words."""

    p: float = math.nan
    words: str = ""


ScoresResult = dict[str, dict[str, ScoreResult]]  # by encoder and measure
ComparisonsResult = dict[str, list[ComparisonResult]]  # by measure


@dataclass(frozen=True)
class GroupResult:
    """The queries with one value of a column."""

    value: str
    queries: int
    scores: ScoresResult
    comparisons: ComparisonsResult | None


@dataclass(frozen=True)
class GroupsResult:
    """Scores by a column of the catalog."""

    column: str
    groups: list[GroupResult]


def scores_result(
    scores: Iterable[Scores], sure: Significance | None, names: Mapping[str, str]
) -> ScoresResult:
    """Values with their intervals; `names` maps the names in the result to the measures' own."""
    return {
        one.encoder: {
            name: ScoreResult(
                one[own].value,
                one[own].queries,
                own,
                one[own].reason,
                None if sure is None else sure.intervals[one.encoder][own],
            )
            for name, own in names.items()
        }
        for one in scores
    }


def comparisons_result(
    sure: Significance | None, names: Mapping[str, str], untested: Collection[str] = ()
) -> ComparisonsResult | None:
    """Each two encoders by each measure; None where they were not compared. `untested`: see `sentence`."""
    if sure is None or not sure.comparisons:
        return None
    return {
        name: [
            ComparisonResult(**vars(one), p=one.p, words=sentence(one, is_tested=own not in untested))
            for one in sure.comparisons[own]
        ]
        for name, own in names.items()
    }


def best_by(scores: Sequence[Scores], measure: str) -> str | None:
    """The encoder with the highest value of a measure; None if no encoder has a value."""
    defined = [one for one in scores if not math.isnan(one[measure].value)]
    return max(defined, key=lambda one: one[measure].value).encoder if defined else None


def verdict_on_best(
    scores: Sequence[Scores], sure: Significance, measure: str, untested: Collection[str] = ()
) -> list[str]:
    """The best encoder by a measure against the others; nothing if no encoder has a value.

    `untested`: see `sentence`.
    """
    best = best_by(scores, measure)
    if best is None:
        return []
    return verdict(best, sure.comparisons[measure], is_tested=measure not in untested)
