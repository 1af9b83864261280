"""What an audit could not say, and why: each reason once, with the figures it leaves out."""

import math
from collections.abc import Iterable

from lookalike.audit.audits import Audits
from lookalike.audit.correlation import Correlations
from lookalike.core.checks import shortened


def reasons(found: Audits) -> list[str]:
    """Why figures are undefined."""
    told = []
    for spread in found.leave_one_out.spreads:
        gone = [name for name, at in zip(found.generators, spread.without, strict=True) if math.isnan(at)]
        if gone:
            without = f"{spread.encoder} without {', '.join(gone)}"
            told.append(f"{spread.measure}: {'; '.join(spread.reasons)}: {without}")
    told += _of((one.measure, one.correlations) for one in found.leave_one_out.bias)
    told += _of(
        (f"{one.measure} at full coverage", one.correlations) for one in found.full_coverage.agreements
    )
    told += _of((f"{cell.measure} over queries", cell.over_queries) for cell in found.coverage_sweep.cells)
    return list(dict.fromkeys(told))


def no_intervals(found: Audits) -> str:
    """Which SC have a value but no interval, of those that are printed with one; "" where none lacks it."""
    shown = [
        *((f"{one.measure} without {one.omitted}", one.correlations) for one in found.leave_one_out.bias),
        *(
            (f"{one.measure} without {one.omitted} at full coverage", one.correlations)
            for one in found.full_coverage.agreements
        ),
        *(
            (f"{cell.measure} over queries at coverage {cell.coverage:.1f}", cell.over_queries)
            for cell in found.coverage_sweep.cells
        ),
    ]
    names = [name for name, three in shown if three.spearman.no_interval and not three.spearman.reason]
    return f"in more than 5 % of the draws there is no value of {shortened(names)}" if names else ""


def _of(named: Iterable[tuple[str, Correlations]]) -> list[str]:
    return [f"{name}: {three.reason}" for name, three in named if three.reason]
