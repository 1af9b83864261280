"""One call of `evaluate`: the scores at one level or several, how sure they are, and what they show."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import Unpack

from lookalike.core.progress import Bar
from lookalike.core.types import Rule, Scores
from lookalike.evaluate.measures.table import parse
from lookalike.evaluate.significance.compare import Comparison
from lookalike.evaluate.significance.intervals import Interval
from lookalike.evaluate.significance.sentence import is_significant, sentence, verdict
from lookalike.evaluate.significance.summary import Settings, Significance, significance
from lookalike.rank.pairs import Unusable
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.evaluate import Evaluation, QueryGroup, by_column, evaluate
from lookalike.workflows.decide.pairs import SelectOptions

BRIEF = ("EHR@5", "AUC_mac")  # what is printed by a column if no measure is named
MISSED = MappingProxyType(
    {
        "HR": "counts unjudged results as misses",
        "MRR": "counts unjudged results as misses",
        "RR": "counts unjudged results as misses",
        "NDCG": "counts unjudged results as misses",
        "coverage": "counts how many results are labelled",
    }
)
LEFT_OUT = ("EHR", "EMRR", "ENDCG")  # of judged results alone


@dataclass(frozen=True, eq=False)
class Measured:
    """The evaluation at one level; `sure` is None without bootstrap, `per` without a column of groups.

    `brief`: two measures are printed, not all.
    """

    found: Evaluation
    sure: Significance | None
    per: str | None = None
    groups: Sequence[QueryGroup] = ()
    brief: bool = False

    @property
    def measures(self) -> list[tuple[str, str]]:
        """Names as requested, and the measures' own."""
        return list(self.found.printed.items())

    @property
    def shown(self) -> list[tuple[str, str]]:
        """Those that are printed."""
        return [(name, own) for name, own in self.measures if name in BRIEF or not self.brief]

    @property
    def is_identification(self) -> bool:
        """Whether pairs are photos of one item, without labels."""
        return "identification" in self.found.sources

    @property
    def favoured(self) -> Sequence[str]:
        """Encoders that a measure can favour because they fed the pool; none without labels."""
        return () if self.is_identification else self.found.generators

    def verdict(self, name: str) -> list[str]:
        """The best encoder by a measure against the others; nothing if no encoder has a value."""
        best = ranked(self.found.scores, name)[0]
        if self.sure is None or not self.sure.comparisons or math.isnan(best[name].value):
            return []
        sentences = verdict(best.encoder, self.sure.comparisons[name])
        if self.is_identification:  # by the catalog alone
            return [one.replace("these labels", "these photos") for one in sentences]
        return sentences

    def caveats(self, name: str) -> list[str]:
        """Whether a claim for the best encoder depends on which encoders fed the pool."""
        if self.sure is None or not self.sure.comparisons or not self.favoured:
            return []
        best, family = ranked(self.found.scores, name)[0].encoder, parse(name).family
        claims = [
            one if one.encoders[0] == best else one.swapped
            for one in self.sure.comparisons[name]
            if best in one.encoders and is_significant(one)
        ]
        beaten = [one.encoders[1] for one in claims if one.difference > 0]
        outside = [other for other in beaten if other not in self.favoured]
        if family in MISSED and best in self.favoured and outside:
            return [f"{name} {MISSED[family]}; {', '.join(outside)} did not feed the pool"]
        if family in LEFT_OUT and best not in self.favoured and beaten:
            return [f"{name} leaves unjudged results out; {best} did not feed the pool"]
        return []


def measure_levels(
    workspace: Workspace,
    encoders: Sequence[str],
    measures: Sequence[str],
    *,
    levels: Sequence[str],
    similarity: str,
    split: str | None,
    settings: Settings | None,
    runs: Sequence[Path] = (),
    per: str | None = None,
    brief: bool = False,
    bar: Bar,
    **select: Unpack[SelectOptions],
) -> dict[str, Measured]:
    """The same measures at each level, each on its own basis. Encoders are compared if there is one level."""
    measured = {}
    for level in levels:
        with bar("Ranking") as progress:
            rule = Rule(level=level, similarity=similarity, split=split)
            found = evaluate(workspace, encoders, measures, rule=rule, runs=runs, progress=progress, **select)
        sure: Significance | None = None
        groups: tuple[QueryGroup, ...] = ()
        if settings is not None:
            with bar("Computing intervals") as progress:
                sure = significance(found.scores, settings, comparisons=len(levels) == 1, progress=progress)
        if per is not None:
            with bar(f"Computing intervals by {per}") as progress:
                groups = by_column(workspace.catalog, found, per, settings, progress=progress)
        measured[level] = Measured(found, sure, per, groups, brief)
    return measured


def ranked(scores: Sequence[Scores], name: str) -> list[Scores]:
    """Best first, undefined last."""
    return sorted(scores, key=lambda one: math.inf if math.isnan(one[name].value) else -one[name].value)


# ---- as plain values


@dataclass(frozen=True)
class ScoreResult:
    """One measure of one encoder; undefined for a reason."""

    value: float
    queries: int
    measure: str
    reason: str
    interval: Interval | None


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


@dataclass(frozen=True)
class EvaluationResult:
    """Everything that one level of `evaluate` found; `written` are files."""

    scores: ScoresResult
    labels: int
    unusable: tuple[Unusable, ...]
    generators: tuple[str, ...]
    level: str
    similarity: str
    split: str | None
    catalog: str
    labels_fingerprint: str
    absences: tuple[str, ...]
    notes: tuple[str, ...]
    sources: dict[str, int]
    bootstrap: Settings | None
    comparisons: ComparisonsResult | None
    verdicts: dict[str, list[str]] | None
    caveats: dict[str, list[str]] | None
    per: GroupsResult | None
    written: list[str]


@dataclass(frozen=True)
class LevelsResult:
    """The results of several levels."""

    levels: dict[str, EvaluationResult]
    similarity: str
    split: str | None
    bootstrap: Settings | None


def results(
    measured: Mapping[str, Measured], written: Sequence[Path] = ()
) -> EvaluationResult | LevelsResult:
    """The result of one level, or of several by level."""
    levels = {level: _result(one, written) for level, one in measured.items()}
    first = next(iter(levels.values()))
    if len(levels) == 1:
        return first
    return LevelsResult(levels, first.similarity, first.split, first.bootstrap)


def _result(one: Measured, written: Sequence[Path]) -> EvaluationResult:
    found, sure, basis = one.found, one.sure, one.found.scores[0].basis
    compared = sure if sure is not None and sure.comparisons else None
    groups = [
        GroupResult(at.value, at.queries, _scores(one, at.scores, at.sure), _comparisons(one, at.sure))
        for at in one.groups
    ]
    return EvaluationResult(
        scores=_scores(one, found.scores, sure),
        labels=found.labels,
        unusable=found.unusable,
        generators=tuple(found.generators),
        level=found.rule.level,
        similarity=found.rule.similarity,
        split=found.rule.split,
        catalog=basis.catalog,
        labels_fingerprint=basis.labels,
        absences=found.absences,
        notes=found.notes,
        sources=dict(found.sources),
        bootstrap=None if sure is None else sure.settings,
        comparisons=_comparisons(one, compared),
        verdicts=None if compared is None else {name: one.verdict(own) for name, own in one.measures},
        caveats=None if compared is None else {name: one.caveats(own) for name, own in one.measures},
        per=None if one.per is None else GroupsResult(one.per, groups),
        written=[str(path) for path in written],
    )


def _scores(one: Measured, scores: Sequence[Scores], sure: Significance | None) -> ScoresResult:
    return {
        at.encoder: {
            name: ScoreResult(
                at[own].value,
                at[own].queries,
                at[own].measure,
                at[own].reason,
                None if sure is None else sure.intervals[at.encoder][own],
            )
            for name, own in one.measures
        }
        for at in scores
    }


def _comparisons(one: Measured, sure: Significance | None) -> ComparisonsResult | None:
    if sure is None:
        return None
    return {name: [_comparison(pair) for pair in sure.comparisons[own]] for name, own in one.measures}


def _comparison(one: Comparison) -> ComparisonResult:
    known = {field.name: getattr(one, field.name) for field in fields(one)}
    return ComparisonResult(**known, p=one.p, words=sentence(one))
