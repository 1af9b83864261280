"""Ours for the tables of counts and of measures, in the papers' names and units."""

from collections.abc import Sequence

import numpy as np

from lookalike.audit.correlation import correlate
from lookalike.core.types import Scores
from lookalike.research.papers.computed import PERCENT, ComputedFigure, ComputedRow, ComputedTable


def identification_table(
    scores: Sequence[Scores], measures: Sequence[str], remarks: Sequence[str] = ()
) -> ComputedTable:
    """EDS Table 4 for one catalog; `measures` are the printable names of HR at 5 and 9 and MRR at 5 and 9."""
    return ComputedTable(
        columns=("HR / @5", "HR / @9", "MRR / @5", "MRR / @9"),
        decimals=(1,) * 4,
        rows=tuple(ComputedRow((one.encoder,), _percents(one, measures)) for one in scores),
        remarks=tuple(remarks),
    )


def discovery_measures(n: int) -> tuple[str, ...]:
    """The measures of EDS Tables 5 and 6 in the order of their columns; under Neg with n drawn a query.

    >>> discovery_measures(4)[3:6]
    ('MRR@9', 'AUC_mic', 'AUC_mic(n=4,negatives=sampled)')
    """
    areas = ("AUC_mic", "AUC_mac", "PR-AUC_mic", "PR-AUC_mac")
    both = [name + negatives for name in areas for negatives in ("", f"(n={n},negatives=sampled)")]
    return ("HR@5", "HR@9", "MRR@5", "MRR@9", *both)


def discovery_table(
    scores: Sequence[Scores], generators: Sequence[str], n: int, remarks: Sequence[str] = ()
) -> ComputedTable:
    """EDS Tables 5 and 6 for one catalog, from scores by `discovery_measures(n)`; who fed the pool comes first."""
    areas = [
        f"{area} / {average} / {negatives}"
        for area in ("ROC-AUC", "PR-AUC")
        for average in ("Micro", "Macro")
        for negatives in ("Anno.", "Neg")
    ]
    kinds = {one.encoder: "GT generators" if one.encoder in generators else "New models" for one in scores}
    return ComputedTable(
        columns=("HR / @5", "HR / @9", "MRR / @5", "MRR / @9", *areas),
        decimals=(1,) * 12,
        rows=tuple(
            ComputedRow((kinds[one.encoder], one.encoder), _percents(one, discovery_measures(n)))
            for one in sorted(scores, key=lambda one: kinds[one.encoder])
        ),
        remarks=tuple(remarks),
    )


def order_agreement(
    first: Sequence[Scores], measure: str, second: Sequence[Scores], names: Sequence[str]
) -> str:
    """Spearman's correlation over encoders of one measure with others, as part of a sentence.

    The encoders are those of `second`; `first` has at least these. It is 1 if both measures order them alike, and
    undefined below three encoders or for equal scores.
    """
    by_name = {one.encoder: one[measure].value for one in first}
    ours = np.array([by_name[one.encoder] for one in second])
    parts = []
    for name in names:
        found = correlate(ours, np.array([one[name].value for one in second])).spearman
        shown = f"undefined ({found.reason})" if found.reason else f"{found.value:.2f} (p = {found.p:.3f})"
        parts.append(f"{name} {shown}")
    return f"over {len(second)} encoders: {', '.join(parts)}"


def ground_truth_table(discovery: tuple[int, int], wild: tuple[int, int]) -> ComputedTable:
    """EDS Table 1: queries and annotated pairs of the catalog's own queries and of wild ones; none is no row."""
    rows = [
        ComputedRow((name,), (ComputedFigure(queries), ComputedFigure(pairs)))
        for name, (queries, pairs) in (("Discovery", discovery), ("Wild", wild))
        if queries
    ]
    return ComputedTable(("# of queries", "# of annotated pairs"), (0, 0), tuple(rows))


def overlap_table(
    generators: Sequence[str], overlap: np.ndarray, remarks: Sequence[str] = ()
) -> ComputedTable:
    """EDS Table 2: overlap of the generators' candidates in %; nothing on the diagonal."""
    return ComputedTable(
        columns=tuple(generators),
        decimals=(1,) * len(generators),
        rows=tuple(
            ComputedRow(
                (name,),
                tuple(
                    None if i == j else ComputedFigure(float(overlap[i, j])) for j in range(len(generators))
                ),
            )
            for i, name in enumerate(generators)
        ),
        remarks=tuple(remarks),
    )


def curve_table(p: np.ndarray, curves: dict[float, np.ndarray]) -> ComputedTable:
    """VSD Figure 1 as numbers: phi at each percentile rank p for each alpha; a negative earns 1 - phi."""
    return ComputedTable(
        columns=tuple(f"alpha = {alpha:g}" for alpha in curves),
        decimals=(4,) * len(curves),
        rows=tuple(
            ComputedRow((f"{one:.2f}",), tuple(ComputedFigure(float(curve[at])) for curve in curves.values()))
            for at, one in enumerate(p)
        ),
        remarks=("A positive earns phi, as here; a negative earns 1 - phi.",),
    )


def _percents(scores: Scores, measures: Sequence[str]) -> tuple[ComputedFigure, ...]:
    return tuple(
        ComputedFigure(PERCENT * one.value, n=one.queries, reason=one.reason)
        for one in map(scores.__getitem__, measures)
    )
