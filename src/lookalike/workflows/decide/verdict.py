"""The verdict on a workspace's labels: which measure can be trusted for which encoder, and HR@K corrected."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from lookalike.audit.audits import Audits
from lookalike.audit.corrected import Correction
from lookalike.audit.judging import verdicts
from lookalike.audit.leave_one_out import LeaveOneOut
from lookalike.audit.sampling.values import SampledValue, best_first
from lookalike.audit.verdict import CorrectedRate, Judgement, Steadiness
from lookalike.core.errors import EmbeddingsError
from lookalike.core.progress import Progress, part
from lookalike.core.types import Catalog, Embeddings, JudgedRanks, Score, Scores
from lookalike.discover.splitting import is_within_splits
from lookalike.evaluate.measures.table import evaluate as score_all
from lookalike.evaluate.measures.table import parse
from lookalike.evaluate.significance.compare import Comparison
from lookalike.evaluate.significance.intervals import Interval
from lookalike.evaluate.significance.summary import DEFAULT_SETTINGS, Settings, Significance, significance
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.corrected import corrected
from lookalike.workflows.decide.pairs import RankedPairs

K = 5  # the calibration is for the first five results
NOT_RECORDED = (
    "It is not recorded which encoders proposed the labelled pairs, so no measure can be trusted and HR@K cannot be "
    "corrected. If you know the encoders, name them: lookalike audit --generators color,hog"
)
GONE = (
    "HR@K cannot be corrected: the generator {0} has no usable vectors. Compute them again: lookalike embed"
)


def verdict(
    catalog: Catalog,
    vectors: Mapping[str, Embeddings],
    ranked: RankedPairs,
    found: Audits,
    settings: Settings,
    *,
    named: bool = False,
    within_splits: bool = False,
    drawn: Sequence[SampledValue] = (),
    progress: Progress | None = None,
) -> Judgement:
    """Verdicts by the audit's measures on all labels; encoders in `ranked` are not ranked again.

    `vectors` are those of the encoders audited, and of the generators that still have any. `named`: the user has named
    the encoders that fed the pool, where no pool has recorded them.
    """
    fed = found.generators if found.recorded or named else None
    names = found.leave_one_out.encoders
    rates = corrected_rates(
        catalog, vectors, ranked, names, fed, found.top, k=found.full_coverage.k, within_splits=within_splits
    )
    measures = [parse(name) for name in found.leave_one_out.measures]
    scores = [score_all(one, measures) for one in ranked.of(names)]
    sure = rates.significance(scores, settings, progress=part(progress, 0, 1))
    return judgement(
        ranked.of(names),
        rates,
        sure,
        fed,
        steadiness=_steadiness(found.leave_one_out),
        alone={
            one.generator: one.alone / found.labels
            for one in found.leave_one_out.omissions
            if fed is not None
        },
        drawn=drawn,
    )


@dataclass(frozen=True, eq=False)
class CorrectedRates:
    """HR@k corrected by encoder; where there is none, `why`."""

    of: Mapping[str, Correction]
    k: int = K
    why: str = ""

    @property
    def name(self) -> str:
        """The measure's name."""
        return f"HR@{self.k} corrected"

    def added_to(self, scores: Sequence[Scores]) -> list[Scores]:
        """Scores with the corrected rate first, so that both are resampled together."""
        return [
            replace(one, scores={self.name: self.of[one.encoder].score, **one.scores})
            if one.encoder in self.of
            else one
            for one in scores
        ]

    def significance(
        self,
        scores: Sequence[Scores],
        settings: Settings = DEFAULT_SETTINGS,
        *,
        comparisons: bool = True,
        progress: Progress | None = None,
    ) -> Significance:
        """Intervals and comparisons of the scores with the corrected rates.

        The intervals of these have the curve's error, and so have those of their differences; p-values have not.
        """
        sure = significance(self.added_to(scores), settings, comparisons=comparisons, progress=progress)
        intervals = {
            encoder: {
                name: self.of[encoder].interval(one) if name == self.name else one
                for name, one in known.items()
            }
            for encoder, known in sure.intervals.items()
        }
        compared = {**sure.comparisons}
        if self.name in compared:
            compared[self.name] = tuple(map(self._with_error, compared[self.name]))
        return replace(sure, intervals=intervals, comparisons=compared)

    def _with_error(self, one: Comparison) -> Comparison:
        """Without the share of queries won: the parts of a corrected rate are those of its curve."""
        first, second = (self.of[encoder] for encoder in one.encoders)
        around = first.interval_of_difference(second, one.interval)
        return replace(one, interval=around, won=float("nan"))


NOT_CORRECTED = CorrectedRates({})


def corrected_rates(
    catalog: Catalog,
    vectors: Mapping[str, Embeddings],
    ranked: RankedPairs,
    encoders: Sequence[str],
    generators: Sequence[str] | None,
    top: int,
    *,
    k: int = K,
    within_splits: bool = False,
) -> CorrectedRates:
    """HR@k corrected of some encoders. `generators` fed the pool with their best `top`; None: not recorded.

    `within_splits`: the pool was made so.
    """
    gone = [name for name in generators or () if name not in vectors]
    if generators is None or gone:
        return CorrectedRates({}, k, GONE.format(gone[0]) if gone else NOT_RECORDED)
    found = corrected(
        catalog,
        list(vectors.values()),
        ranked.pairs,
        generators,
        top,
        k=k,
        ranks=ranked.ranks,
        within_splits=within_splits,
    )
    return CorrectedRates({name: found[name] for name in encoders if name in found}, k)


def corrected_on_pool(workspace: Workspace, ranked: RankedPairs) -> CorrectedRates:
    """HR@K corrected of encoders that are ranked on the labels of the workspace's pool.

    A generator whose vectors are missing, stale or damaged leaves no correction; the encoders themselves are ranked.
    """
    pool = workspace.pool()
    if pool is None:
        return CorrectedRates({}, why=NOT_RECORDED)
    names = dict.fromkeys([*ranked.ranks, *pool.generators])
    vectors = {}
    for name in names:
        with suppress(EmbeddingsError):
            vectors[name] = workspace.embeddings(name)
    catalog, encoders = workspace.catalog, list(ranked.ranks)
    within = is_within_splits(catalog, pool)
    return corrected_rates(
        catalog, vectors, ranked, encoders, pool.generators, pool.top, within_splits=within
    )


def judgement(
    judged: Sequence[JudgedRanks],
    rates: CorrectedRates,
    sure: Significance,
    generators: Sequence[str] | None,
    *,
    steadiness: Mapping[str, Steadiness] | None = None,
    alone: Mapping[str, float] | None = None,
    drawn: Sequence[SampledValue] = (),
) -> Judgement:
    """Verdicts on the encoders of some ranks, by the measures that `sure` compares, best encoders first.

    Among the best, what `drawn` labels have decided comes before the order by HR@K corrected.
    """
    k, name = rates.k, rates.name
    helpers = {one.encoder: score_all(one, [f"coverage@{k}", f"EHR@{k}"]) for one in judged}
    coverage = {encoder: one[f"coverage@{k}"].value for encoder, one in helpers.items()}
    label = judged[0].labelled.label
    return Judgement(
        k=k,
        encoders=best_first(sorted(coverage, key=lambda one: _place(rates.of.get(one))), drawn),
        generators=None if generators is None else tuple(generators),
        coverage=coverage,
        verdicts=verdicts(
            [one for ones in sure.comparisons.values() for one in ones],
            coverage,
            generators,
            k=k,
            steadiness=steadiness,
            alone=alone,
            similar=float(np.mean(label)) if len(label) else float("nan"),
            items=int(judged[0].candidates.max(initial=0)),
        ),
        corrected={
            encoder: _rate(one.score, sure.intervals[encoder][name], helpers[encoder][f"EHR@{k}"].value)
            for encoder, one in rates.of.items()
        },
        comparisons=sure.comparisons,
        uncorrected=rates.why,
        drawn=tuple(drawn),
    )


def _rate(score: Score, around: Interval, estimated: float) -> CorrectedRate:
    return CorrectedRate(
        score.measure, score.value, around.low, around.high, score.queries, score.reason, estimated
    )


def _steadiness(found: LeaveOneOut) -> dict[str, Steadiness]:
    """Each measure's least Spearman correlation over the generators left out, where any is defined."""
    steady = {}
    for measure in found.measures:
        agreed = [found.agreement(measure, one.generator) for one in found.omissions]
        known = [a for a in agreed if not np.isnan(a.correlations.spearman.value)]
        if known:
            least = min(known, key=lambda a: a.correlations.spearman.value)
            spearman = least.correlations.spearman
            steady[measure] = Steadiness(measure, spearman.value, least.omitted, spearman.n)
    return steady


def _place(one: Correction | None) -> float:
    return float("inf") if one is None or np.isnan(one.score.value) else -one.score.value
