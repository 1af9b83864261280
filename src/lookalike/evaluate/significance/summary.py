"""Intervals of every value and comparisons of every pair of encoders, on the same resampled queries."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated, Literal

import numpy as np
from pydantic import ConfigDict, Field

from lookalike.core.errors import ArgumentError
from lookalike.core.progress import Progress, part
from lookalike.core.settings import CheckedSettings
from lookalike.core.types import Score, Scores
from lookalike.evaluate.significance.bootstrap import Resampling, queries_of, replicates, without_each
from lookalike.evaluate.significance.compare import (
    Comparison,
    are_means,
    bootstrap_p,
    effect,
    holm,
    left_out,
    on_both,
    per_query_differences,
    share_won,
    t_test,
)
from lookalike.evaluate.significance.intervals import (
    FEWEST_REPLICATES,
    LEAST_LEVEL,
    LEVEL,
    METHOD,
    MOST_REPLICATES,
    REPLICATES,
    Interval,
    Method,
    interval,
    too_few,
)
from lookalike.evaluate.significance.permutation import ScorePair, permutation_p, swaps

Enough = Annotated[int, Field(ge=FEWEST_REPLICATES, le=MOST_REPLICATES)]
Seed = Annotated[int, Field(ge=0, description="Seed of the random choices.")]


class Settings(CheckedSettings):
    """How intervals and comparisons are made. Commands call `level` and `method` --confidence and --interval."""

    model_config = ConfigDict(populate_by_name=True)

    replicates: Enough = REPLICATES
    seed: Seed = 0
    level: float = Field(
        LEVEL,
        ge=LEAST_LEVEL,
        lt=1,
        validation_alias="confidence",
        description="Confidence level of the intervals.",
    )
    method: Method = Field(METHOD, validation_alias="interval", description="Kind of bootstrap interval.")


class OptionalSettings(Settings):
    """The same for a command, which makes no intervals with 0 replicates."""

    replicates: Literal[0] | Enough = Field(
        REPLICATES, description="Bootstrap samples for intervals and p-values. 0: no intervals."
    )

    @property
    def settings(self) -> Settings | None:
        """The settings of the intervals, None for no intervals."""
        return Settings(**dict(self)) if self.replicates else None


@dataclass(frozen=True, eq=False)
class Significance:
    """`intervals[encoder][measure]`, and per measure all pairs of encoders, in order."""

    settings: Settings
    intervals: Mapping[str, Mapping[str, Interval]]
    comparisons: Mapping[str, tuple[Comparison, ...]]


DEFAULT_SETTINGS = Settings()
JACKKNIFE = 4096  # rows at most: leaving out sets of queries estimates the same acceleration
PARTS = 3  # of progress: replicates, jackknife, permutations


def significance(
    scores: Sequence[Scores],
    settings: Settings = DEFAULT_SETTINGS,
    *,
    comparisons: bool = True,
    progress: Progress | None = None,
) -> Significance:
    """Intervals of all values, and of all differences between encoders unless `comparisons` is off.

    All encoders must have been measured on one basis. By each measure those are compared that have it.
    """
    measures = _measures(scores)
    compared = [
        (measure, a, b, *on_both(scores[a][measure], scores[b][measure]))
        for measure in measures
        for a, b in combinations([at for at, one in enumerate(scores) if measure in one.scores], 2)
        if comparisons
    ]
    columns = [score for one in scores for score in one.scores.values()]
    columns += [score for *_, a, b in compared for score in (a, b)]
    resampled = _Resampled.of(columns, settings, progress, PARTS if compared else PARTS - 1)
    intervals = {
        one.encoder: {name: resampled.interval(score) for name, score in one.scores.items()} for one in scores
    }
    pairs = [(a, b) for *_, a, b in compared]
    many = swaps(len(scores) * (len(scores) - 1) // 2, settings.replicates, settings.level)
    permuted = _permuted(pairs, resampled, many, part(progress, PARTS - 1, PARTS))
    found = [
        replace(
            _comparison((scores[i].encoder, scores[j].encoder), resampled, a, b, float(p), 1.0 / (many + 1)),
            left_out=left_out(scores[i][measure], scores[j][measure]),
        )
        for (measure, i, j, a, b), p in zip(compared, permuted, strict=True)
    ]
    families = {
        name: _adjusted([one for one, (measure, *_) in zip(found, compared, strict=True) if measure == name])
        for name in measures
    }
    return Significance(settings, intervals, families)


def _measures(scores: Sequence[Scores]) -> list[str]:
    """All measures; refuses two encoders of one name, and results on different bases."""
    names = [one.encoder for one in scores]
    if len(set(names)) < len(names):
        raise ArgumentError(
            f"Two of these encoders have one name: {', '.join(names)}.",
            fix="Give each encoder a name of its own.",
        )
    for other in scores[1:]:
        scores[0].basis.require_same(other.basis)
    return list(dict.fromkeys(name for one in scores for name in one.scores))


@dataclass(frozen=True, eq=False)
class _Resampled:
    """Replicates and jackknife of distinct scores; a difference is one column minus another."""

    settings: Settings
    queries: np.ndarray
    scores: list[Score]
    place: dict[int, int]
    replicates: np.ndarray
    without: np.ndarray

    @classmethod
    def of(
        cls, scores: Sequence[Score], settings: Settings, progress: Progress | None, parts: int
    ) -> "_Resampled":
        distinct = list({id(score): score for score in scores}.values())
        queries = queries_of(distinct)
        drawn = replicates(
            distinct, Resampling(queries, settings.replicates, settings.seed), part(progress, 0, parts)
        )
        if settings.method == "bca" and len(queries):
            without = without_each(distinct, queries, part(progress, 1, parts), most=JACKKNIFE)
        else:
            without = np.full((0, len(distinct)), np.nan)
        place = {id(score): i for i, score in enumerate(distinct)}
        return cls(settings, queries, distinct, place, drawn, without)

    def interval(self, score: Score) -> Interval:
        at = self.place[id(score)]
        return self._interval(score.value, score.queries, self.replicates[:, at], self.without[:, at])

    def of_difference(self, a: Score, b: Score) -> tuple[np.ndarray, Interval]:
        i, j = self.place[id(a)], self.place[id(b)]
        drawn = self.replicates[:, i] - self.replicates[:, j]
        without, queries = self.without[:, i] - self.without[:, j], min(a.queries, b.queries)
        return drawn, self._interval(a.value - b.value, queries, drawn, without)

    def _interval(self, value: float, queries: int, drawn: np.ndarray, without: np.ndarray) -> Interval:
        made = self.settings
        return interval(value, queries, drawn, without, level=made.level, method=made.method)


def _permuted(
    pairs: Sequence[tuple[Score, Score]], resampled: _Resampled, many: int, progress: Progress | None
) -> np.ndarray:
    """p by permutation of each pair, NaN where a measure has no parts or no query counts for both."""
    place: dict[int, int] = {}
    scores: list[Score] = []
    for score in (score for pair in pairs for score in pair):
        if score.pooled is None and id(score) not in place:
            place[id(score)] = len(scores)
            scores.append(score)
    with_parts = [at for at, (a, b) in enumerate(pairs) if a.pooled is None and min(a.queries, b.queries) > 0]
    asked = [ScorePair(place[id(pairs[at][0])], place[id(pairs[at][1])]) for at in with_parts]
    p = np.full(len(pairs), np.nan)
    if asked:
        p[with_parts] = permutation_p(
            scores, asked, resampled.queries, replicates=many, seed=resampled.settings.seed, progress=progress
        )
    return p


def _comparison(
    encoders: tuple[str, str], resampled: _Resampled, a: Score, b: Score, permuted: float, least: float
) -> Comparison:
    """One pair, Holm's adjustment still to come; `least` is the least p of random swaps."""
    drawn, ends = resampled.of_difference(a, b)
    difference, apart = a.value - b.value, per_query_differences(a, b)
    queries, means = min(a.queries, b.queries), are_means(a, b)
    return Comparison(
        measure=a.measure,
        encoders=encoders,
        values=(a.value, b.value),
        difference=difference,
        interval=ends,
        queries=queries,
        left_out=0,
        p_t=t_test(apart) if means else float("nan"),
        p_permutation=permuted,
        p_bootstrap=_bootstrap_p(difference, queries, drawn),
        p_holm=float("nan"),
        family=0,
        d_z=effect(apart) if means else float("nan"),
        won=share_won(apart),
        least_p=1.0 / (int(np.sum(~np.isnan(drawn))) + 1) if np.isnan(permuted) else least,
    )


def _bootstrap_p(difference: float, queries: int, drawn: np.ndarray) -> float:
    """Undefined where an interval would be for want of queries or of values."""
    if np.isnan(difference) or too_few(queries):
        return float("nan")
    return bootstrap_p(difference, drawn)


def _adjusted(family: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """The comparisons of one measure with Holm's p over all of them."""
    p = holm(np.array([one.p for one in family], np.float64))
    return tuple(
        replace(one, p_holm=float(value), family=len(family)) for one, value in zip(family, p, strict=True)
    )
