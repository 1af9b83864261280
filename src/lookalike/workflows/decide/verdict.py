"""The verdict on a workspace's labels: which measure can be trusted for which encoder, and HR@K corrected."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from pydantic import computed_field

from lookalike.audit.audits import Audits
from lookalike.audit.leave_one_out import LeaveOneOut
from lookalike.audit.verdict import Steadiness, Verdict, verdicts
from lookalike.core.progress import Progress, part
from lookalike.core.text import bracketed, value
from lookalike.core.types import Score, Scores
from lookalike.evaluate.measures.table import Measure, parse
from lookalike.evaluate.measures.table import evaluate as score_all
from lookalike.evaluate.significance.compare import Comparison
from lookalike.evaluate.significance.intervals import Interval
from lookalike.evaluate.significance.sentence import full
from lookalike.evaluate.significance.sentence import verdict as verdict_of
from lookalike.evaluate.significance.summary import Settings, significance
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.corrected import corrected
from lookalike.workflows.decide.pairs import RankedPairs

NOBODY_KNOWS = (
    "Nobody recorded which encoders proposed the labelled pairs, so no measure can be trusted and HR@K cannot be "
    "corrected. If you know the encoders, name them: lookalike audit --generators color,hog"
)
GONE = (
    "HR@K cannot be corrected: the generator {0} has no vectors any more. Compute them again: lookalike embed"
)


@dataclass(frozen=True)
class CorrectedRate:
    """HR@K of one encoder, corrected for unjudged candidates, with its interval; `estimated` is its EHR@K."""

    measure: str
    value: float
    low: float
    high: float
    queries: int
    reason: str
    estimated: float


@dataclass(frozen=True, eq=False)
class Judgement:
    """Verdicts, and what they rest on.

    `generators` is None if no record says who fed the pool. `corrected` is by encoder; if it is empty, `uncorrected`
    says why. `comparisons` are by measure. Best encoders first.
    """

    k: int
    encoders: tuple[str, ...]
    generators: tuple[str, ...] | None
    coverage: Mapping[str, float]
    verdicts: tuple[Verdict, ...]
    corrected: Mapping[str, CorrectedRate]
    comparisons: Mapping[str, tuple[Comparison, ...]]
    uncorrected: str = ""

    @computed_field  # type: ignore[prop-decorator]
    @property
    def headline(self) -> str:
        """The best encoder by HR@K corrected, whether that is proved, and what it is worth; "" for want of two."""
        name = f"HR@{self.k} corrected"
        compared = self.comparisons.get(name, ())
        said = verdict_of(self.encoders[0], compared) if self.encoders and compared else []
        return f"{full(said[0])}{self._worth(name)}" if said else ""

    def _worth(self, measure: str) -> str:
        """What the claim about the best two is worth, where it is one and is not trusted."""
        orders = next((v.orders for v in self.of(self.encoders[0]) if v.measure == measure), ())
        claim = next((o.trust for o in orders if o.other == self.encoders[1] and o.separated), None)
        if claim is None or claim.word in ("trusted", "unknown"):
            return "" if claim is None or claim.word == "trusted" else " No simulation covers this case."
        share = f"{100 * claim.share:.0f} of 100 such results were right where the ground truth is known"
        return f" {claim.word.capitalize()}: {share}."

    def correction(self, encoder: str, decimals: int = 3) -> str:
        """One encoder's corrected HR@K as sentences, or why it is undefined; "" if nothing was corrected."""
        one = self.corrected.get(encoder)
        if one is None:
            return ""
        if np.isnan(one.value):
            return f"HR@{self.k} cannot be corrected: {one.reason}."
        shown = f"{value(one.value, decimals)} {bracketed(one.low, one.high, decimals)}".rstrip()
        plain = "" if np.isnan(one.estimated) else f" EHR@{self.k} is {value(one.estimated, decimals)}."
        return f"HR@{self.k} corrected for unjudged results: {shown}.{plain}"

    def of(self, encoder: str) -> tuple[Verdict, ...]:
        """One encoder's verdicts, those to rely on first."""
        mine = [one for one in self.verdicts if one.encoder == encoder]
        return tuple(sorted(mine, key=lambda one: 1.0 if np.isnan(one.right) else -one.right))


def verdict(
    workspace: Workspace,
    ranked: RankedPairs,
    found: Audits,
    settings: Settings,
    *,
    k: int = 5,
    named: bool = False,
    progress: Progress | None = None,
) -> Judgement:
    """Verdicts by the audit's measures on all labels; encoders in `ranked` are not ranked again.

    `named`: the user has said which encoders fed the pool, where no pool has it recorded.
    """
    fed = found.generators if found.recorded or named else None
    names = found.leave_one_out.measures
    asked = [parse(name) for name in names]
    helpers = [parse(f"coverage@{k}"), parse(f"EHR@{k}")]
    judged = ranked.of(found.leave_one_out.encoders)
    scores = [score_all(one, [*asked, *helpers]) for one in judged]
    gone = [name for name in found.generators if name not in workspace.encoders]
    why = NOBODY_KNOWS if fed is None else GONE.format(gone[0]) if gone else ""
    fixed = {} if why else _corrected(workspace, ranked, found, k)
    wanted = [_with(one, asked, fixed.get(one.encoder)) for one in scores]
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


def _corrected(workspace: Workspace, ranked: RankedPairs, found: Audits, k: int) -> dict[str, Score]:
    """HR@K corrected of every encoder that has vectors here."""
    audited = [one.encoder for one in ranked.of(found.leave_one_out.encoders)]
    names = [name for name in dict.fromkeys([*audited, *found.generators]) if name in workspace.encoders]
    fixed = corrected(
        workspace.catalog,
        [workspace.embeddings(name) for name in names],
        ranked.pairs,
        found.generators,
        found.top,
        k=k,
        ranks=ranked.ranks,
    )
    return {name: fixed[name] for name in audited if name in fixed}


def _with(scores: Scores, asked: Sequence[Measure], fixed: Score | None) -> Scores:
    """The measures of the verdict: those of the audit, and the corrected hit rate."""
    kept = {one.name: scores[one.name] for one in asked}
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
