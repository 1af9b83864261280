"""Where unjudged results make HR@K or EHR@K misleading, for each encoder and value.

VSD section 5: HR@K counts unjudged results as misses; EHR@K uses the judged ones alone. Where few are judged
it may be too high: on a real catalog with complete human labels it was, for every encoder outside the pool.
"""

from lookalike.core.text import percent, value
from lookalike.evaluate.measures.table import Measure, parse
from lookalike.evaluate.significance.results import ScoreResult
from lookalike.report.content import MeasureTable

ALL_JUDGED = 0.995
ENOUGH_JUDGED = 0.9


def cell(table: MeasureTable, encoder: str, measure: str) -> ScoreResult | None:
    """One encoder's value of one measure, or None where the table lacks it or it is undefined."""
    found = table.values.get(encoder, {}).get(measure)
    return found if found is not None and found.is_defined else None


def caution(table: MeasureTable, encoder: str, measure: str) -> str:
    """Why this encoder's value is misleading; "" where it is not."""
    name = parse(measure)
    shown = cell(table, encoder, measure)
    if shown is None or name.family not in ("HR", "EHR"):
        return ""
    covered = cell(table, encoder, f"coverage@{name.k}")
    if covered is None:
        return "" if encoder in table.generators else _unknown_coverage(encoder, name)
    enough = ALL_JUDGED if name.family == "HR" else ENOUGH_JUDGED
    if covered.value >= enough:
        return ""
    if name.family == "EHR":
        return _low_ehr(encoder, name, shown, covered)
    outside = "" if encoder in table.generators else ", which did not feed the pool,"
    return _low_hr(encoder + outside, name, shown, covered)


def cautions(table: MeasureTable, measure: str) -> tuple[str, ...]:
    """All cautions of one measure, in the order of the encoders."""
    return tuple(filter(None, (caution(table, encoder, measure) for encoder in table.values)))


def _unknown_coverage(encoder: str, name: Measure) -> str:
    effect = "each of them counts as a miss" if name.family == "HR" else "this value may be too high"
    return (
        f"{encoder} is not a generator of the pool, so some of its first {name.k} results may be unjudged: "
        f"{effect}. See coverage@{name.k}."
    )


def _low_hr(encoder: str, name: Measure, shown: ScoreResult, covered: ScoreResult) -> str:
    sentence = (
        f"{percent(1 - covered.value)} of the first {name.k} results of {encoder} are unjudged. "
        f"{value(shown.value)} counts all of them as misses"
    )
    if shown.queries != covered.queries:
        return sentence + "."
    most = min(1.0, shown.value + 1 - covered.value)
    return f"{sentence}. With all of them judged it would be {value(shown.value)} to {value(most)}."


def _low_ehr(encoder: str, name: Measure, shown: ScoreResult, covered: ScoreResult) -> str:
    return (
        f"Only {percent(covered.value)} of the first {name.k} results of {encoder} are judged. "
        f"{value(shown.value)} uses these alone and may be too high."
    )
