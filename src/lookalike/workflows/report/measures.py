"""A report's measures: values with intervals, what the labels prove, one measure by category."""

import math
from collections.abc import Sequence
from dataclasses import replace

from lookalike.core.progress import Progress, part
from lookalike.core.types import Catalog, Scores
from lookalike.evaluate.measures.table import parse
from lookalike.evaluate.significance.sentence import verdict
from lookalike.evaluate.significance.summary import DEFAULT_SETTINGS, Settings, Significance
from lookalike.report.content import (
    GroupRow,
    GroupTable,
    MeasureCell,
    MeasureFinding,
    MeasureRow,
    MeasureTable,
)
from lookalike.workflows.decide.evaluate import Evaluation, by_column, certainty

MAIN = ("DCS", "EHR", "HR", "AUC_mac")  # families with findings on the page
BY_CATEGORY = ("AUC_mac", "EHR")  # the first of them that was measured is shown by category
MOST_CATEGORIES = 20


def measure_table(
    catalog: Catalog,
    found: Evaluation,
    truth: Sequence[Scores],
    *,
    settings: Settings = DEFAULT_SETTINGS,
    remarks: Sequence[str] = (),
    progress: Progress | None = None,
) -> MeasureTable:
    """The table of scores with intervals; beside it, where the complete truth is known, the same against that."""
    names = tuple(parse(name).name for name in found.measures)
    sure = certainty(found, settings, progress=part(progress, 0, 2))
    return MeasureTable(
        names,
        _rows(names, found.scores, found.generators, sure),
        MeasureTable(names, _rows(names, truth, found.generators, None)) if truth else None,
        settings,
        findings(found, sure),
        by_category(catalog, found, settings, progress=part(progress, 1, 2)),
        tuple(remarks),
    )


def findings(found: Evaluation, sure: Significance) -> tuple[MeasureFinding, ...]:
    """The best encoder against the others by each main measure, in words."""
    listed = []
    for name in found.printed.values():
        defined = [one for one in found.scores if not math.isnan(one[name].value)]
        if parse(name).family in MAIN and defined:
            best = max(defined, key=lambda one: one[name].value)
            listed.append(MeasureFinding(name, tuple(verdict(best.encoder, sure.comparisons[name]))))
    return tuple(listed)


def by_category(
    catalog: Catalog, found: Evaluation, settings: Settings, *, progress: Progress | None = None
) -> GroupTable | None:
    """One measure by the queries' category; None where there is one category, or more than a page can show."""
    name = next(
        (n for family in BY_CATEGORY for n in found.printed.values() if parse(n).family == family), None
    )
    if name is None or not 1 < len(set(catalog.category)) <= MOST_CATEGORIES:
        return None
    alone = replace(found, scores=tuple(replace(one, scores={name: one[name]}) for one in found.scores))
    groups = by_column(catalog, alone, "category", settings, progress=progress)
    rows = tuple(
        GroupRow(
            group.value,
            group.queries,
            tuple(_cell(one, name, group.sure) for one in group.scores),
        )
        for group in groups
    )
    return GroupTable("category", name, tuple(one.encoder for one in found.scores), rows)


def _rows(
    names: Sequence[str], scores: Sequence[Scores], generators: Sequence[str], sure: Significance | None
) -> tuple[MeasureRow, ...]:
    return tuple(
        MeasureRow(one.encoder, one.encoder in generators, tuple(_cell(one, name, sure) for name in names))
        for one in scores
    )


def _cell(one: Scores, name: str, sure: Significance | None) -> MeasureCell:
    score = one[name]
    around = None if sure is None else sure.intervals[one.encoder][name]
    return MeasureCell(score.value, score.queries, score.reason, around)
