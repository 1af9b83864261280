"""What samples tell, as the page shows it: a row per value."""

from collections.abc import Sequence

from lookalike.audit.sampling.values import SampledValue
from lookalike.core.text import bracketed, plural, value
from lookalike.report.parts.cells import ShownCell, ShownColumn, ShownRow

COLUMNS = tuple(map(ShownColumn, ("value", "labels", "result")))


def shown_drawn(values: Sequence[SampledValue]) -> tuple[ShownRow, ...]:
    """The values in order. A difference is that of the first encoder minus the second."""
    return tuple(
        ShownRow(
            f"{one.first} minus {one.second}" if one.second else one.first,
            one.measure,
            (
                ShownCell(value(one.value), bracketed(one.low, one.high)),
                ShownCell(plural(one.labels, "label")),
                ShownCell(_result(one)),
            ),
        )
        for one in values
    )


def _result(one: SampledValue) -> str:
    if one.decision in ("better", "worse"):
        return f"{one.first if one.decision == 'better' else one.second} is better"
    return {"alike": "no relevant difference", "open": "not decided yet"}.get(one.decision, "")
