"""The decision: which encoder to use, how sure that is, and everybody's corrected hit rate."""

import math
from dataclasses import dataclass

from lookalike.audit.verdict import DISTRUSTED, UNKNOWN, Judgement
from lookalike.core.text import interval, percent, value
from lookalike.evaluate.significance.compare import Comparison
from lookalike.evaluate.significance.sentence import is_significant
from lookalike.report.content import MeasureTable
from lookalike.report.figures.measures import Mark, dot_plot


@dataclass(frozen=True)
class ShownDecision:
    """The head of the page. `encoder` is the one to use; "" where the labels do not decide between the best two.

    `trust` is a word of the verdict with its reasons; "" where nothing is claimed. `figure` is SVG, and shows `marks`.
    """

    encoder: str
    best: tuple[str, str]
    why: tuple[str, ...]
    trust: str
    reasons: str
    figure: str
    marks: tuple[Mark, ...] = ()


def shown_decision(found: Judgement, table: MeasureTable | None) -> ShownDecision | None:
    """The decision by HR@K corrected; None where it was not corrected for two encoders or more."""
    name = f"HR@{found.k} corrected"
    known = [encoder for encoder in found.encoders if not math.isnan(_rate(found, encoder))]
    if len(known) < 2:
        return None
    best, second = known[:2]
    one = next((one for one in found.comparisons.get(name, ()) if {best, second} == set(one.encoders)), None)
    if one is None:
        return None
    one = one if one.encoders[0] == best else one.swapped
    claim = next(
        (o.trust for v in found.of(best) if v.measure == name for o in v.orders if o.other == second), None
    )
    word = claim.word if claim is not None and is_significant(one) else ""
    decided = word not in ("", DISTRUSTED, UNKNOWN) and not one.interval.low <= 0.0 <= one.interval.high
    share = (
        f"In simulations like this, {100 * claim.share:.0f} of 100 such results were right."
        if claim is not None and word != UNKNOWN and not math.isnan(claim.share)
        else "No simulation covers this case."
    )
    marks = _marks(found, table)
    return ShownDecision(
        encoder=best if decided else "",
        best=(best, second),
        why=_why(found, one, is_distrusted=word == DISTRUSTED),
        trust=word,
        reasons=f"{_unjudged(found, best)} {share}" if word else "",
        figure=dot_plot(marks, f"{name} of each encoder"),
        marks=marks,
    )


def _why(found: Judgement, one: Comparison, *, is_distrusted: bool) -> tuple[str, ...]:
    """The two best in numbers of results, which need no statistics."""
    k, (best, second) = found.k, one.encoders
    ends = interval(k * one.interval.low, k * one.interval.high, 2)
    around = (
        f" ({percent(one.interval.level, 0)} interval {ends}, with the error of the correction)"
        if ends
        else ""
    )
    difference = f"The difference is {value(k * one.difference, 2)} results per query{around}"
    chance = ", which can be chance."
    if is_significant(one):
        is_open = one.interval.low <= 0 <= one.interval.high
        chance = (
            ". The labels separate the two; the error of the correction could change their order."
            if is_open
            else "."
        )
    return (
        f"Of the first {k} results of {best}, about {value(k * one.values[0], 1)} are similar; "
        f"{second}, the next, has {value(k * one.values[1], 1)}.",
        difference + ("." if is_distrusted else chance),
    )


def _unjudged(found: Judgement, encoder: str) -> str:
    share = 1 - found.coverage[encoder]
    return f"{percent(share, 0)} of the first {found.k} results of {encoder} were never labelled."


def _marks(found: Judgement, table: MeasureTable | None) -> tuple[Mark, ...]:
    truth = table.truth.values if table is not None and table.truth is not None else {}
    plain = f"HR@{found.k}"
    return tuple(
        Mark(
            encoder,
            encoder in (found.generators or ()),
            one.value,
            truth[encoder][plain].value if plain in truth.get(encoder, {}) else math.nan,
            one.low,
            one.high,
        )
        for encoder, one in found.corrected.items()
    )


def _rate(found: Judgement, encoder: str) -> float:
    one = found.corrected.get(encoder)
    return math.nan if one is None else one.value
