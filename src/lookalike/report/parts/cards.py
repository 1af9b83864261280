"""One card per measure: what it asks, what a value means, what to watch, and its figure."""

import math
from dataclasses import dataclass

from lookalike.core.text import value
from lookalike.report.content import MeasureTable
from lookalike.report.figures.measures import Mark, dot_plot
from lookalike.report.parts.cautions import cautions, cell
from lookalike.report.parts.explanations import MeasureName, explanation, sentence

UNKNOWN = "The documentation defines this measure."


@dataclass(frozen=True)
class Card:
    """One measure in words and as a figure; `figure` is SVG."""

    measure: str
    asks: str
    means: str
    watch: str
    cautions: tuple[str, ...]
    figure: str


def cards(table: MeasureTable) -> tuple[Card, ...]:
    """The cards of all measures of a table, in its order."""
    return tuple(_card(table, measure) for measure in table.measures)


def _card(table: MeasureTable, measure: str) -> Card:
    name = MeasureName.of(measure)
    words = explanation(name)
    marks = [_mark(table, encoder, name) for encoder in table.values]
    return Card(
        measure=measure,
        asks=words.asks if words else UNKNOWN,
        means=_example(name, marks),
        watch=words.watch if words else "",
        cautions=cautions(table, measure),
        figure=dot_plot(marks, f"{measure} of each encoder"),
    )


def _example(name: MeasureName, marks: list[Mark]) -> str:
    """The highest value in words; for coverage the lowest, which matters most."""
    defined = [mark for mark in marks if math.isfinite(mark.value)]
    if not defined:
        return "It is undefined for every encoder here."
    pick = min if name.base == "coverage" else max
    shown = pick(defined, key=lambda mark: mark.value)
    meaning = sentence(name, shown.value)
    return f"{shown.encoder} has {value(shown.value)}. {meaning}" if meaning else ""


def _mark(table: MeasureTable, encoder: str, name: MeasureName) -> Mark:
    shown = table.values[encoder][name.text]
    around = shown.interval
    return Mark(
        encoder,
        encoder in table.generators,
        shown.value,
        _true_value(table.truth, encoder, name),
        low=around.low if around else math.nan,
        high=around.high if around else math.nan,
    )


def _true_value(truth: MeasureTable | None, encoder: str, name: MeasureName) -> float:
    """The measure on the complete truth, where EHR@K is HR@K; a true coverage, always 1, is no mark."""
    if truth is None or name.base == "coverage":
        return math.nan
    same = [name.text, f"HR@{name.top}"] if name.base == "EHR" else [name.text]
    found = (cell(truth, encoder, measure) for measure in same)
    return next((known.value for known in found if known), math.nan)
