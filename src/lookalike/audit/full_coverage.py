"""Full coverage: does a measure on fewer labels agree with HR@K where nothing is unjudged (VSD exp. 2)?"""

from collections.abc import Sequence
from collections.abc import Set as AnySet
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Bool

from lookalike.audit.agreement import ScoreAgreement, agreements
from lookalike.audit.leave_one_out import Subsets
from lookalike.core.checks import one_of
from lookalike.core.progress import Progress
from lookalike.core.types import JudgedRanks, Score
from lookalike.evaluate.groups import only_queries
from lookalike.evaluate.measures.fold import per_query
from lookalike.evaluate.measures.hit_rate import hit_rate, membership
from lookalike.evaluate.significance.bootstrap import Resampling

WHICH = ("every", "each")
NO_QUERY = "no query is left"
NONE_COVERED = "no query has all of its top K labelled"
NEARLY = 1e-9


@dataclass(frozen=True, eq=False)
class Covered:
    """Queries whose top `k` are all labelled: `chosen[e, q]` for encoder e and query q of `query`.

    `which="every"`: for every generator, and then for the encoder itself on all of those queries, or none of them
    is chosen for it. `"each"`: for the encoder itself.
    """

    which: str
    k: int
    query: np.ndarray
    chosen: Bool[np.ndarray, "encoders queries"]

    @cached_property
    def names(self) -> list[frozenset[str]]:
        """Each encoder's chosen queries."""
        return [frozenset(self.query[chosen]) for chosen in self.chosen]

    def benchmark(self, encoders: Sequence[JudgedRanks]) -> list[Score]:
        """Each encoder's HR@K on its chosen queries, where nothing is unjudged."""
        return self.of([hit_rate(one, self.k) for one in encoders])

    def of(self, scores: Sequence[Score]) -> list[Score]:
        """One score per encoder, over its chosen queries only."""
        return [on_queries(score, names) for score, names in zip(scores, self.names, strict=True)]


@dataclass(frozen=True)
class CoveredEncoder:
    """How many queries are fully covered for one encoder, and its HR@K on them (NaN where there are none)."""

    encoder: str
    queries: int
    hit_rate: float


@dataclass(frozen=True)
class FullCoverage:
    """`agreements`: each measure, on all labels (omitted "") and without each generator's, against HR@K."""

    which: str
    k: int
    covered: tuple[CoveredEncoder, ...]
    agreements: tuple[ScoreAgreement, ...]
    reason: str

    def agreement(self, measure: str, omitted: str) -> ScoreAgreement:
        """How a measure without one generator's labels ("": on all) agrees with HR@K."""
        return next(a for a in self.agreements if (a.measure, a.omitted) == (measure, omitted))


def covered_queries(
    encoders: Sequence[JudgedRanks], generators: Sequence[JudgedRanks], k: int, which: str = "every"
) -> Covered:
    """The queries with coverage@K = 1 (VSD 5), for every generator at once or for each encoder by itself."""
    one_of(which, WHICH, "full coverage")
    own = np.stack([_is_covered(judged, k) for judged in encoders])
    if which == "every":
        shared = np.stack([_is_covered(judged, k) for judged in generators or encoders]).all(axis=0)
        own = np.asarray(shared & own[:, shared].all(axis=1, keepdims=True))
    return Covered(which, k, encoders[0].query_codes[0], own)


def full_coverage(
    found: Subsets,
    encoders: Sequence[JudgedRanks],
    covered: Covered,
    resampling: Resampling | None = None,
    progress: Progress | None = None,
) -> FullCoverage:
    """Correlate, over encoders, each measure on reduced labels with HR@K on all, both over the covered queries.

    The labels are reduced as in the leave-one-out audit (VSD 7.2.2). Encoders without a covered query are left out;
    with fewer than three others every correlation is undefined.
    """
    keys = [(measure, omitted) for measure in found.measures for omitted in ("", *found.omitted)]
    benchmark = covered.benchmark(encoders)
    agreed = agreements(
        found.encoders,
        {(measure, omitted): covered.of(found.of(omitted, measure)) for measure, omitted in keys},
        dict.fromkeys(keys, benchmark),
        resampling,
        progress,
    )
    return FullCoverage(
        covered.which,
        covered.k,
        tuple(
            CoveredEncoder(name, len(chosen), score.value)
            for name, chosen, score in zip(found.encoders, covered.names, benchmark, strict=True)
        ),
        tuple(ScoreAgreement(*key, *one) for key, one in agreed.items()),
        "" if covered.chosen.any() else NONE_COVERED,
    )


def on_queries(score: Score, chosen: AnySet[str]) -> Score:
    """The same score over some of its queries only."""
    here = np.fromiter((query in chosen for query in score.query), bool, len(score.query))
    if here.all():
        return score
    part = only_queries(score, here)
    if np.isnan(part.value):
        return replace(
            part, reason=score.reason or ("not defined on these queries" if here.any() else NO_QUERY)
        )
    return part


def values_by_query(score: Score, query: np.ndarray) -> np.ndarray:
    """A measure's value of each query alone (numerator / denominator), NaN where it has none."""
    found = dict(zip(score.query, _shares(score), strict=True)) if score.pooled is None else {}
    return np.array([found.get(name, np.nan) for name in query], np.float64)


def _shares(score: Score) -> np.ndarray:
    none = np.full(len(score.query), np.nan)
    return np.divide(score.numerator, score.denominator, out=none, where=score.denominator > 0)


def _is_covered(judged: JudgedRanks, k: int) -> Bool[np.ndarray, " queries"]:
    return np.asarray(per_query(judged, membership(judged, k)) > k - NEARLY)
