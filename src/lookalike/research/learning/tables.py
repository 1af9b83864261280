"""Ours for VSD Tables 2 to 4: measures of trained cells on the test split, with intervals and the papers' test."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lookalike.core.progress import Progress
from lookalike.core.text import listed, plural
from lookalike.core.types import Rule, Scores
from lookalike.evaluate.significance.compare import Comparison, holm
from lookalike.evaluate.significance.results import best_by
from lookalike.evaluate.significance.summary import Significance, significance
from lookalike.research.learning.cells import Cell
from lookalike.research.learning.methods import PRETRAINED
from lookalike.research.papers.audit_tables import printed_metric
from lookalike.research.papers.computed import PERCENT, ComputedFigure, ComputedRow, ComputedTable
from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.evaluate import evaluate
from lookalike.workflows.decide.trained import TEST

COLUMNS = {
    "EHR@5": "EHR / @5",
    "EHR@20": "EHR / @20",
    "AUC_mac": "AUC / mac",
    "AUC_mic": "AUC / mic",
    "DCS(alpha=10)": "DCS",
}
BEST = "best supervised - best other"
SPA, NSPA = "_SPA", "_NSPA"
SHOWN = 8  # cells that a remark names
NOT_TRUTH = (
    "These are measures on the pool's labels, which can rise while the true hit rate falls. Labels of drawn pairs tell "
    "whether training helped: `lookalike compare`."
)


@dataclass(frozen=True, eq=False)
class MeasuredCells:
    """Cells on the test split: the scores by encoder, their intervals, and what was measured on."""

    cells: tuple[Cell, ...]
    scores: Mapping[str, Scores]
    sure: Significance
    labels: int
    notes: tuple[str, ...]

    def value(self, encoder: str, measure: str) -> float:
        """A value, as a share of 1."""
        return self.scores[encoder][measure].value

    def figures(self, encoder: str) -> tuple[ComputedFigure, ...]:
        """The figures of a row."""
        row = []
        for measure in COLUMNS:
            one, ends = self.scores[encoder][measure], self.sure.intervals[encoder][measure]
            row.append(
                ComputedFigure(
                    PERCENT * one.value,
                    n=one.queries,
                    low=PERCENT * ends.low,
                    high=PERCENT * ends.high,
                    reason=one.reason,
                )
            )
        return tuple(row)

    @property
    def counted(self) -> str:
        """What was measured on."""
        return f"On {self.labels:,} labelled pairs of the test split; intervals are in .csv and .json files."


def measured(workspace: Workspace, cells: Sequence[Cell], progress: Progress | None = None) -> MeasuredCells:
    """Score cells that have vectors, all on the test split."""
    names = list(dict.fromkeys(cell.name for cell in cells))
    found = evaluate(workspace, names, tuple(COLUMNS), rule=Rule(split=TEST), progress=progress)
    return MeasuredCells(
        tuple(cells),
        {one.encoder: one for one in found.scores},
        significance(found.scores, comparisons=False),
        found.labels,
        found.notes,
    )


def method_table(found: MeasuredCells, remarks: Sequence[str]) -> ComputedTable:
    """VSD Tables 2 and 3: a row for each cell, and one with the best supervised against the best of the others."""
    tests = best_tests(found)
    rows = [ComputedRow((cell.encoder, cell.method.name), found.figures(cell.name)) for cell in found.cells]
    rows += [
        ComputedRow((encoder, BEST), tuple(map(_difference, of.values()))) for encoder, of in tests.items()
    ]
    return ComputedTable(
        tuple(COLUMNS.values()),
        (2,) * len(COLUMNS),
        tuple(rows),
        (found.counted, *found.notes, *_tested(tests), *contradictions(found), *remarks, NOT_TRUTH),
    )


def ablation_table(
    found: MeasuredCells, settings: Mapping[str, tuple[int, float]], chosen: str, remarks: Sequence[str]
) -> ComputedTable:
    """VSD Table 4: a row for each L and beta, which `settings` has by encoder. `chosen`: by the validation split."""
    rows = (
        ComputedRow((str(settings[cell.name][0]), f"{settings[cell.name][1]:.2f}"), found.figures(cell.name))
        for cell in found.cells
    )
    return ComputedTable(
        tuple(COLUMNS.values()),
        (2,) * len(COLUMNS),
        tuple(rows),
        (found.counted, *found.notes, chosen, *remarks, NOT_TRUTH),
    )


def best_tests(found: MeasuredCells) -> dict[str, dict[str, Comparison]]:
    """By encoder and measure: the best supervised method against the best of the others (VSD 7.1).

    Holm's adjustment is over all of them.
    """
    tests: dict[str, dict[str, Comparison]] = {}
    for encoder in dict.fromkeys(cell.encoder for cell in found.cells):
        of = [cell for cell in found.cells if cell.encoder == encoder]
        sides = [
            [cell for cell in of if (cell.method.kind == "supervised") is which] for which in (True, False)
        ]
        for measure in COLUMNS:
            best = [best_by([found.scores[cell.name] for cell in side], measure) for side in sides]
            if all(best):
                pair = [
                    Scores(name, found.scores[name].basis, {measure: found.scores[name][measure]})
                    for name in best
                    if name
                ]
                tests.setdefault(encoder, {})[measure] = significance(pair).comparisons[measure][0]
    flat = [(encoder, measure, one) for encoder, of_one in tests.items() for measure, one in of_one.items()]
    adjusted = holm(np.array([p_of(one) for *_, one in flat], np.float64))
    for (encoder, measure, one), p in zip(flat, adjusted, strict=True):
        tests[encoder][measure] = replace(one, p_holm=float(p), family=len(flat))
    return tests


def p_of(one: Comparison) -> float:
    """p of the paired t-test for a mean over queries; else of the permutation, or of the bootstrap for a micro AUC."""
    return one.p if math.isnan(one.p_t) else one.p_t


def contradictions(found: MeasuredCells) -> tuple[str, ...]:
    """Cells that stand against what the paper concludes on such a table, in sentences."""
    by = {(cell.encoder, cell.method.name): cell for cell in found.cells}

    def beside(of: Callable[[Cell], bool], other: Callable[[str], str]) -> list[tuple[Cell, Cell]]:
        pairs = [(cell, by.get((cell.encoder, other(cell.method.name)))) for cell in found.cells if of(cell)]
        return [(cell, one) for cell, one in pairs if one is not None]

    plain = beside(_is_soft, lambda name: name.removesuffix(SPA))
    full = beside(_is_soft, lambda name: name.removesuffix(SPA) + NSPA)
    base = beside(lambda cell: cell.method.kind == "supervised", lambda _: PRETRAINED)
    said = (
        _against(found, plain, "SPA is not above the method without it"),
        _against(found, full, "Soft weight is not above full weight (NSPA)"),
        _against(found, base, "Training on labels is not above the encoder as it is"),
    )
    return tuple(filter(None, said))


def _is_soft(cell: Cell) -> bool:
    return cell.method.name.endswith(SPA)


def _against(found: MeasuredCells, pairs: Sequence[tuple[Cell, Cell]], words: str) -> str:
    """In how many cells the first is not above the second; "" where there is nothing to compare."""
    both = [
        (first, measure, found.value(first.name, measure), found.value(second.name, measure))
        for first, second in pairs
        for measure in COLUMNS
    ]
    both = [one for one in both if not (math.isnan(one[2]) or math.isnan(one[3]))]
    below = [
        f"{cell.encoder} {cell.method.name} {printed_metric(measure)}"
        for cell, measure, a, b in both
        if a <= b
    ]
    if not both:
        return ""
    named = f": {listed(below, SHOWN)}" if below else ""
    return f"{words} in {len(below):,} of {plural(len(both), 'cell')} here{named}."


def _difference(one: Comparison) -> ComputedFigure:
    return ComputedFigure(
        PERCENT * one.difference,
        n=one.queries,
        p=one.p_holm,
        low=PERCENT * one.interval.low,
        high=PERCENT * one.interval.high,
        reason="" if math.isfinite(one.difference) else "no query counts for both",
    )


def _tested(tests: Mapping[str, Mapping[str, Comparison]]) -> Iterable[str]:
    """A sentence for each encoder: which methods are the best, and whether the labels separate them."""
    for encoder, of in tests.items():
        parts = [
            f"{printed_metric(measure)} {' - '.join(one.encoders)}, p {_p(p_of(one))}, after Holm {_p(one.p_holm)}"
            for measure, one in of.items()
        ]
        yield f"{encoder}, {BEST}: {'; '.join(parts)}."
    if tests:
        yield (
            "p by a paired t-test for means over queries (EHR, AUC_mac), by permutation for DCS and by bootstrap for "
            "AUC_mic. The best are chosen by the same labels, as in the paper, so p is too small."
        )


def _p(p: float) -> str:
    return "undefined" if math.isnan(p) else "< 0.001" if p < 0.001 else f"= {p:.3f}"
