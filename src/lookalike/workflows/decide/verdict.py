"""The verdict on a workspace's labels: which measure can be trusted for which encoder, and HR@K corrected."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from lookalike.audit.audits import Audits
from lookalike.audit.leave_one_out import LeaveOneOut
from lookalike.audit.verdict import CorrectedRate, Judgement, Steadiness, verdicts
from lookalike.core.progress import Progress, part
from lookalike.core.types import Catalog, Embeddings, Score, Scores
from lookalike.evaluate.measures.table import Measure, parse
from lookalike.evaluate.measures.table import evaluate as score_all
from lookalike.evaluate.significance.compare import Comparison
from lookalike.evaluate.significance.intervals import Interval
from lookalike.evaluate.significance.summary import Settings, significance
from lookalike.workflows.decide.corrected import corrected
from lookalike.workflows.decide.pairs import RankedPairs

NOT_RECORDED = (
    "It is not recorded which encoders proposed the labelled pairs, so no measure can be trusted and HR@K cannot be "
    "corrected. If you know the encoders, name them: lookalike audit --generators color,hog"
)
GONE = (
    "HR@K cannot be corrected: the generator {0} has no vectors any more. Compute them again: lookalike embed"
)


def verdict(
    catalog: Catalog,
    vectors: Mapping[str, Embeddings],
    ranked: RankedPairs,
    found: Audits,
    settings: Settings,
    *,
    named: bool = False,
    progress: Progress | None = None,
) -> Judgement:
    """Verdicts by the audit's measures on all labels; encoders in `ranked` are not ranked again.

    `vectors` are those of the encoders audited, and of the generators that still have any. `named`: the user has named
    the encoders that fed the pool, where no pool has recorded them.
    """
    k = found.full_coverage.k
    fed = found.generators if found.recorded or named else None
    names = found.leave_one_out.measures
    measures = [parse(name) for name in names]
    helpers = [parse(f"coverage@{k}"), parse(f"EHR@{k}")]
    judged = ranked.of(found.leave_one_out.encoders)
    scores = [score_all(one, [*measures, *helpers]) for one in judged]
    gone = [name for name in found.generators if name not in vectors]
    why = NOT_RECORDED if fed is None else GONE.format(gone[0]) if gone else ""
    fixed = {} if why else _corrected(catalog, vectors, ranked, found)
    wanted = [_with(one, measures, fixed.get(one.encoder)) for one in scores]
    sure = significance(wanted, settings, progress=part(progress, 0, 1))
    coverage = {one.encoder: one[f"coverage@{k}"].value for one in scores}
    label = judged[0].labelled.label
    given = verdicts(
        [one for ones in sure.comparisons.values() for one in ones],
        coverage,
        fed,
        k=k,
        steadiness=_steadiness(found.leave_one_out),
        alone={
            one.generator: one.alone / found.labels
            for one in found.leave_one_out.omissions
            if fed is not None
        },
        similar=float(np.mean(label)) if len(label) else float("nan"),
    )
    name = f"HR@{k} corrected"
    return Judgement(
        k=k,
        encoders=tuple(sorted(coverage, key=lambda one: _place(fixed.get(one)))),
        generators=fed,
        coverage=coverage,
        verdicts=given,
        corrected={
            one.encoder: _rate(fixed[one.encoder], sure.intervals[one.encoder][name], one[f"EHR@{k}"].value)
            for one in scores
            if one.encoder in fixed
        },
        comparisons={measure: _without_won(ones, name) for measure, ones in sure.comparisons.items()},
        uncorrected=why,
    )


def _rate(score: Score, around: Interval, estimated: float) -> CorrectedRate:
    return CorrectedRate(
        score.measure, score.value, around.low, around.high, score.queries, score.reason, estimated
    )


def _without_won(ones: Sequence[Comparison], corrected_name: str) -> tuple[Comparison, ...]:
    """Comparisons without the share of queries won for the corrected hit rate: its parts are those of the curve."""
    return tuple(replace(one, won=float("nan")) if one.measure == corrected_name else one for one in ones)


def _corrected(
    catalog: Catalog, vectors: Mapping[str, Embeddings], ranked: RankedPairs, found: Audits
) -> dict[str, Score]:
    """HR@K corrected of every encoder that was audited."""
    fixed = corrected(
        catalog,
        list(vectors.values()),
        ranked.pairs,
        found.generators,
        found.top,
        k=found.full_coverage.k,
        ranks=ranked.ranks,
    )
    audited = (one.encoder for one in ranked.of(found.leave_one_out.encoders))
    return {name: fixed[name] for name in audited if name in fixed}


def _with(scores: Scores, measures: Sequence[Measure], fixed: Score | None) -> Scores:
    """The measures of the verdict: those of the audit, and the corrected hit rate."""
    kept = {one.name: scores[one.name] for one in measures}
    return Scores(scores.encoder, scores.basis, kept | ({fixed.measure: fixed} if fixed is not None else {}))


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


def _place(score: Score | None) -> float:
    return float("inf") if score is None or np.isnan(score.value) else -score.value
