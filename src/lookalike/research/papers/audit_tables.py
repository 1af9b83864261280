"""Ours for the tables of the audits, in the papers' names and units."""

from collections.abc import Iterable, Sequence
from math import isfinite, isnan, nan

from lookalike.audit.correlation import Correlation, Correlations
from lookalike.audit.coverage_sweep import CoverageSweep
from lookalike.audit.full_coverage import FullCoverage
from lookalike.audit.leave_one_out import LeaveOneOut, Spread
from lookalike.research.papers.computed import PERCENT, ComputedFigure, ComputedRow, ComputedTable
from lookalike.research.papers.published import MEAN

PRINTED_AS = {"DCS(alpha=10)": "DCS", "BPREF": "BPF"}
AREAS = ("AUC_mic", "AUC_mac")


def printed_metric(name: str) -> str:
    """The paper's name of one of our measures.

    >>> printed_metric("DCS(alpha=10)"), printed_metric("AUC_mac")
    ('DCS', 'AUC_mac')
    """
    return PRINTED_AS.get(name, name)


def consistency_table(audit: LeaveOneOut, full: FullCoverage, remarks: Sequence[str] = ()) -> ComputedTable:
    """VSD Table 1 for one catalog; an encoder that is no generator has a score alone.

    The last row of a measure has the means of its correlations over the generators (VSD 7.2.1 concludes on them).
    """
    kinds = ("SC", "KT", "r")
    left_out = [one.generator for one in audit.omissions]
    others = [name for name in audit.encoders if name not in left_out]
    rows = []
    for measure in audit.measures:
        found = {
            name: (
                *_three(audit.agreement(measure, name).correlations),
                *_three(full.agreement(measure, name).correlations),
            )
            for name in left_out
        }
        rows += [
            ComputedRow(
                (printed_metric(measure), name),
                (_score(audit, measure, name), *found.get(name, (None,) * 6)),
            )
            for name in (*left_out, *others)
        ]
        means = tuple(_mean(column) for column in zip(*found.values(), strict=True))
        rows.append(ComputedRow((printed_metric(measure), MEAN), (None, *means)))
    return ComputedTable(
        columns=("Score", *(f"Bias / {kind}" for kind in kinds), *(f"FC / {kind}" for kind in kinds)),
        decimals=(2,) * 7,
        rows=tuple(rows),
        remarks=(
            *remarks,
            *_fewer_subsets(audit, audit.measures),
            *_over("Bias", (one.correlations for one in audit.bias)),
            *_over("FC", (one.correlations for one in full.agreements if one.omitted)),
        ),
    )


def leave_one_out_table(audit: LeaveOneOut, remarks: Sequence[str] = ()) -> ComputedTable:
    """EDS Table 3 for one catalog: a row for each encoder whose labels were left out."""
    return ComputedTable(
        columns=tuple(
            f"{average} ROC-AUC / {column}"
            for average in ("Micro", "Macro")
            for column in ("AUC", "SC", "p-value")
        ),
        decimals=(1, 2, 3) * 2,
        rows=tuple(
            ComputedRow(
                (omission.generator,),
                tuple(
                    figure
                    for measure in AREAS
                    for figure in (
                        _score(audit, measure, omission.generator),
                        *_with_p(audit.agreement(measure, omission.generator).correlations.spearman),
                    )
                ),
            )
            for omission in audit.omissions
        ),
        remarks=(
            *remarks,
            *_fewer_subsets(audit, AREAS),
            *_over("SC", (one.correlations for one in audit.bias if one.measure in AREAS)),
        ),
    )


def coverage_table(sweep: CoverageSweep, remarks: Sequence[str] = ()) -> ComputedTable:
    """VSD Tables 5 and 6 for one catalog: correlations over queries, mean over encoders."""
    return ComputedTable(
        columns=("r", "KT", "SC"),
        decimals=(2, 2, 2),
        rows=tuple(
            ComputedRow(
                (f"{cell.coverage:.1f}", printed_metric(cell.measure)),
                tuple(map(_figure, _linear_first(cell.over_queries))),
            )
            for cell in sorted(sweep.cells, key=lambda cell: cell.coverage)
        ),
        remarks=(
            *remarks,
            f"Each figure: one query against another, of the fully labelled ones, mean over encoders: "
            f"{_queries(sweep)}.",
        ),
    )


def _score(audit: LeaveOneOut, measure: str, name: str) -> ComputedFigure | None:
    """Mean and standard deviation over the label sets; nothing for a generator without vectors here."""
    if name not in audit.encoders:
        return None
    found = audit.spread(measure, name)
    reason = "; ".join(found.reasons) if isnan(found.mean) else ""
    return ComputedFigure(PERCENT * found.mean, PERCENT * found.sd, found.n, reason=reason)


def _mean(column: Sequence[ComputedFigure]) -> ComputedFigure:
    """The mean of the figures that are defined, and how many these are."""
    known = [one.value for one in column if isfinite(one.value)]
    reason = "" if known else next((one.reason for one in column), "")
    return ComputedFigure(sum(known) / len(known) if known else nan, n=len(known), reason=reason)


def _fewer_subsets(audit: LeaveOneOut, measures: Sequence[str]) -> tuple[str, ...]:
    """Which scores are means over fewer label sets than the others, and why."""
    sentences = []
    for measure in measures:
        some = [one for one in audit.spreads if one.measure == measure and _is_partly_undefined(one)]
        if some:
            why = dict.fromkeys(reason for one in some for reason in one.reasons)
            counts = [f"{one.encoder} ({one.n} of {len(one.without)})" for one in some]
            sentences.append(
                f"{printed_metric(measure)} is a mean over fewer label sets for {', '.join(counts)}: on the others "
                f"{'; or '.join(why)}."
            )
    return tuple(sentences)


def _is_partly_undefined(one: Spread) -> bool:
    return 0 < one.n < len(one.without)


def _three(found: Correlations) -> tuple[ComputedFigure, ...]:
    return tuple(map(_figure, (found.spearman, found.kendall, found.pearson)))


def _linear_first(found: Correlations) -> tuple[Correlation, ...]:
    return found.pearson, found.kendall, found.spearman


def _with_p(found: Correlation) -> tuple[ComputedFigure, ComputedFigure]:
    return _figure(found), ComputedFigure(found.p, n=found.n, reason=found.reason)


def _figure(found: Correlation) -> ComputedFigure:
    return ComputedFigure(
        found.value, n=found.n, p=found.p, low=found.low, high=found.high, reason=found.reason
    )


def _over(what: str, found: Iterable[Correlations]) -> tuple[str, ...]:
    """Over how many encoders the correlations are, in a sentence."""
    counts = [one.spearman.n for one in found]
    if not counts:
        return ()
    span = _span(counts)
    return (f"{what}: over {span} encoder{'' if span == '1' else 's'}.",)


def _queries(sweep: CoverageSweep) -> str:
    return ", ".join(
        f"{name} ({count:,} queries)" for name, count in zip(sweep.encoders, sweep.queries, strict=True)
    )


def _span(counts: Sequence[int]) -> str:
    low, high = min(counts), max(counts)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
