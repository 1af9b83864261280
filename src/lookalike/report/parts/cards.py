"""One card per measure: what it asks, what a value means, what to watch, and its figure."""

import math
from dataclasses import dataclass

from lookalike.core.text import value
from lookalike.evaluate.measures.table import Measure, parse
from lookalike.report.content import MeasureTable
from lookalike.report.figures.measures import Mark, dot_plot
from lookalike.report.parts.cautions import cautions, cell
from lookalike.report.parts.explanations import explanation, sentence

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
    words = explanation(parse(measure))
    marks = marks_of(table, measure)
    return Card(
        measure=measure,
        asks=words.asks if words else UNKNOWN,
        means=_example(parse(measure), marks),
        watch=words.watch if words else "",
        cautions=cautions(table, measure),
        figure=dot_plot(marks, f"{measure} of each encoder"),
    )


def marks_of(table: MeasureTable, measure: str) -> list[Mark]:
    """One measure of every encoder, as its figure shows it."""
    return [_mark(table, encoder, measure) for encoder in table.values]


def _example(measure: Measure, marks: list[Mark]) -> str:
    """The highest value in words; for coverage the lowest, which matters most."""
    defined = [mark for mark in marks if math.isfinite(mark.value)]
    if not defined:
        return "It is undefined for every encoder here."
    pick = min if measure.family == "coverage" else max
    shown = pick(defined, key=lambda mark: mark.value)
    meaning = sentence(measure, shown.value)
    return f"{shown.encoder} has {value(shown.value)}. {meaning}" if meaning else ""


def _mark(table: MeasureTable, encoder: str, measure: str) -> Mark:
    shown = table.values[encoder][measure]
    around = shown.interval
    return Mark(
        encoder,
        encoder in table.generators,
        shown.value,
        _true_value(table.truth, encoder, measure),
        low=around.low if around else math.nan,
        high=around.high if around else math.nan,
    )


def _true_value(truth: MeasureTable | None, encoder: str, name: str) -> float:
    """The measure on the complete truth, where EHR@K is HR@K; a true coverage, always 1, is no mark."""
    measure = parse(name)
    if truth is None or measure.family == "coverage":
        return math.nan
    same = [name, f"HR@{measure.k}"] if measure.family == "EHR" else [name]
    found = (cell(truth, encoder, one) for one in same)
    return next((known.value for known in found if known), math.nan)
