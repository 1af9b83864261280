"""Where unjudged results make HR@K or EHR@K misleading, for each encoder and value.

VSD section 5: HR@K counts unjudged results as misses; EHR@K uses the judged ones alone. Where few are judged
it may be too high: on a real catalog with complete human labels it was, for every encoder outside the pool.
"""

import math

from lookalike.core.text import percent, value
from lookalike.report.content import MeasureCell, MeasureRow, MeasureTable
from lookalike.report.parts.explanations import MeasureName

ALL_JUDGED = 0.995
ENOUGH_JUDGED = 0.9


def cell(table: MeasureTable, row: MeasureRow, measure: str) -> MeasureCell | None:
    """One encoder's cell of one measure, or None where the table lacks it or it is undefined."""
    if measure not in table.measures:
        return None
    found = row.values[table.measures.index(measure)]
    return found if math.isfinite(found.value) else None


def caution(table: MeasureTable, row: MeasureRow, measure: str) -> str:
    """Why this encoder's value is misleading; "" where it is not."""
    name = MeasureName.of(measure)
    shown = cell(table, row, measure)
    if shown is None or name.base not in ("HR", "EHR"):
        return ""
    covered = cell(table, row, f"coverage@{name.top}")
    if covered is None:
        return "" if row.is_generator else _unknown_coverage(row, name)
    enough = ALL_JUDGED if name.base == "HR" else ENOUGH_JUDGED
    if covered.value >= enough:
        return ""
    return _low_hr(row, name, shown, covered) if name.base == "HR" else _low_ehr(row, name, shown, covered)


def cautions(table: MeasureTable, measure: str) -> tuple[str, ...]:
    """All cautions of one measure, in the order of the encoders."""
    return tuple(filter(None, (caution(table, row, measure) for row in table.rows)))


def _unknown_coverage(row: MeasureRow, name: MeasureName) -> str:
    effect = "each of them counts as a miss" if name.base == "HR" else "this value may be too high"
    return (
        f"{row.encoder} is not a generator of the pool, so some of its first {name.top} results may be unjudged: "
        f"{effect}. See coverage@{name.top}."
    )


def _low_hr(row: MeasureRow, name: MeasureName, shown: MeasureCell, covered: MeasureCell) -> str:
    outside = "" if row.is_generator else ", which did not fill the pool,"
    sentence = (
        f"{percent(1 - covered.value)} of the first {name.top} results of {row.encoder}{outside} are unjudged. "
        f"{value(shown.value)} counts all of them as misses"
    )
    if shown.queries != covered.queries:
        return sentence + "."
    most = min(1.0, shown.value + 1 - covered.value)
    return f"{sentence}. With all of them judged it would be {value(shown.value)} to {value(most)}."


def _low_ehr(row: MeasureRow, name: MeasureName, shown: MeasureCell, covered: MeasureCell) -> str:
    return (
        f"Only {percent(covered.value)} of the first {name.top} results of {row.encoder} are judged. "
        f"{value(shown.value)} uses these alone and may be too high."
    )
