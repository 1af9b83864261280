"""Ours for each table, from plain rows: what an audit or a measure found, in the papers' names and units."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.reproduce.ours import Figure, OurRow, OurTable

PERCENT = 100.0
PRINTED_AS = {"DCS(alpha=10)": "DCS", "BPREF": "BPF"}


@dataclass(frozen=True)
class Correlations:
    """Spearman (sc), Kendall's tau-b (kt) and Pearson (r) over n encoders; NaN where undefined."""

    sc: float
    kt: float
    r: float
    n: int


@dataclass(frozen=True)
class ConsistencyRow:
    """VSD Table 1: one measure, from 0 to 1, and the encoder whose labels were left out.

    `mean` and `spread` are of this encoder's score over the leave-one-out subsets.
    """

    metric: str
    encoder: str
    mean: float
    spread: float
    bias: Correlations
    full_coverage: Correlations


@dataclass(frozen=True)
class CoverageRow:
    """VSD Tables 5 and 6: one measure at one coverage (0, .2, ..., 1) against HR@5 at full coverage."""

    coverage: float
    metric: str
    correlations: Correlations


@dataclass(frozen=True)
class LeaveOneOutRow:
    """EDS Table 3: micro and macro ROC-AUC, from 0 to 1, with Spearman's correlation and its p-value."""

    encoder: str
    micro: tuple[float, float, float, float]  # mean, standard deviation, SC, p
    macro: tuple[float, float, float, float]
    n: int


@dataclass(frozen=True)
class IdentificationRow:
    """EDS Table 4: HR and MRR at 5 and 9, from 0 to 1, over so many queries."""

    encoder: str
    hr: tuple[float, float]
    mrr: tuple[float, float]
    queries: int


def printed_metric(name: str) -> str:
    """The paper's name of one of our measures.

    >>> printed_metric("DCS(alpha=10)"), printed_metric("AUC_mac")
    ('DCS', 'AUC_mac')
    """
    return PRINTED_AS.get(name, name)


def consistency_table(rows: Iterable[ConsistencyRow], remarks: Sequence[str] = ()) -> OurTable:
    """VSD Table 1 for one catalog."""
    listed = list(rows)
    kinds = ("SC", "KT", "r")
    return OurTable(
        columns=("Score", *(f"Bias / {kind}" for kind in kinds), *(f"FC / {kind}" for kind in kinds)),
        decimals=(2,) * 7,
        rows=tuple(
            OurRow(
                (printed_metric(row.metric), row.encoder),
                (
                    Figure(PERCENT * row.mean, PERCENT * row.spread),
                    *_three(row.bias),
                    *_three(row.full_coverage),
                ),
            )
            for row in listed
        ),
        remarks=(
            *remarks,
            *_over("Bias", [row.bias.n for row in listed]),
            *_over("FC", [row.full_coverage.n for row in listed]),
        ),
    )


def coverage_table(rows: Iterable[CoverageRow], remarks: Sequence[str] = ()) -> OurTable:
    """VSD Tables 5 and 6 for one catalog."""
    listed = list(rows)
    return OurTable(
        columns=("r", "KT", "SC"),
        decimals=(2, 2, 2),
        rows=tuple(
            OurRow(
                (f"{row.coverage:.1f}", printed_metric(row.metric)),
                tuple(Figure(getattr(row.correlations, kind)) for kind in ("r", "kt", "sc")),
            )
            for row in listed
        ),
        remarks=(*remarks, *_over("Correlations", [row.correlations.n for row in listed], "queries")),
    )


def leave_one_out_table(rows: Iterable[LeaveOneOutRow], remarks: Sequence[str] = ()) -> OurTable:
    """EDS Table 3 for one catalog."""
    listed = list(rows)
    columns = [
        f"{average} ROC-AUC / {column}"
        for average in ("Micro", "Macro")
        for column in ("AUC", "SC", "p-value")
    ]
    return OurTable(
        columns=tuple(columns),
        decimals=(1, 2, 3) * 2,
        rows=tuple(
            OurRow(
                (row.encoder,),
                tuple(
                    figure
                    for mean, spread, sc, p in (row.micro, row.macro)
                    for figure in (Figure(PERCENT * mean, PERCENT * spread), Figure(sc), Figure(p))
                ),
            )
            for row in listed
        ),
        remarks=(*remarks, *_over("SC", [row.n for row in listed])),
    )


def identification_table(rows: Iterable[IdentificationRow], remarks: Sequence[str] = ()) -> OurTable:
    """EDS Table 4 for one catalog."""
    listed = list(rows)
    return OurTable(
        columns=("HR / @5", "HR / @9", "MRR / @5", "MRR / @9"),
        decimals=(1,) * 4,
        rows=tuple(
            OurRow((row.encoder,), tuple(Figure(PERCENT * value) for value in (*row.hr, *row.mrr)))
            for row in listed
        ),
        remarks=(*remarks, *_over("Means", [row.queries for row in listed], "queries")),
    )


def ground_truth_table(discovery: tuple[int, int], wild: tuple[int, int]) -> OurTable:
    """EDS Table 1: queries and annotated pairs of the catalog's own queries and of wild ones; none is no row."""
    rows = [
        OurRow((name,), (Figure(queries), Figure(pairs)))
        for name, (queries, pairs) in (("Discovery", discovery), ("Wild", wild))
        if queries
    ]
    return OurTable(("# of queries", "# of annotated pairs"), (0, 0), tuple(rows))


def overlap_table(generators: Sequence[str], overlap: np.ndarray, remarks: Sequence[str] = ()) -> OurTable:
    """EDS Table 2: overlap of the generators' candidates in %; nothing on the diagonal."""
    return OurTable(
        columns=tuple(generators),
        decimals=(1,) * len(generators),
        rows=tuple(
            OurRow(
                (name,),
                tuple(None if i == j else Figure(float(overlap[i, j])) for j in range(len(generators))),
            )
            for i, name in enumerate(generators)
        ),
        remarks=tuple(remarks),
    )


def curve_table(p: np.ndarray, curves: dict[float, np.ndarray]) -> OurTable:
    """VSD Figure 1 as numbers: phi at each percentile rank p for each alpha; a negative earns 1 - phi."""
    return OurTable(
        columns=tuple(f"alpha = {alpha:g}" for alpha in curves),
        decimals=(4,) * len(curves),
        rows=tuple(
            OurRow((f"{one:.2f}",), tuple(Figure(float(curve[at])) for curve in curves.values()))
            for at, one in enumerate(p)
        ),
        remarks=("A positive earns phi, as here; a negative earns 1 - phi.",),
    )


def _three(found: Correlations) -> tuple[Figure, Figure, Figure]:
    return Figure(found.sc), Figure(found.kt), Figure(found.r)


def _over(what: str, counts: list[int], whom: str = "encoders") -> tuple[str, ...]:
    """Over how many the numbers are, in a sentence."""
    if not counts:
        return ()
    low, high = min(counts), max(counts)
    span = f"{low:,}" if low == high else f"{low:,} to {high:,}"
    return (f"{what}: over {span} {whom}.",)
