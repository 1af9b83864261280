"""The measures' figures: a heat map of overlaps, and one line per encoder with its value."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.core.errors import ArgumentError
from lookalike.core.text import bracketed, value
from lookalike.report.figures.plot import Axis, Plot, short, two_decimals

HEAT_STEPS = 6
CELL_WIDTH, CELL_HEIGHT, LABEL_HEIGHT, ROOM = 64, 40, 22, 24
PLOT_WIDTH, TRACK_LEFT, TRACK_RIGHT, ROW_HEIGHT = 340, 13, 240, 40


@dataclass(frozen=True)
class Mark:
    """One encoder in a dot plot: its value, the true one where that is known, and the ends of its interval."""

    encoder: str
    is_generator: bool
    value: float
    truth: float = math.nan
    low: float = math.nan
    high: float = math.nan

    @property
    def interval(self) -> str:
        """Its interval as it is written; "" where there is none."""
        return bracketed(self.low, self.high) if math.isfinite(self.value) else ""

    @property
    def kind(self) -> str:
        """What the encoder is, in words."""
        return "generator" if self.is_generator else "not a generator"

    @property
    def style(self) -> tuple[str, str]:
        """Shape and class of its mark."""
        return ("circle", "generator") if self.is_generator else ("diamond", "outside")


def heat_map(names: Sequence[str], overlap: np.ndarray, title: str) -> str:
    """A square of percentages, one row and one column per name; NaN (the diagonal) is left empty."""
    if overlap.shape != (len(names), len(names)):
        raise ArgumentError(
            f"The overlap has the shape {overlap.shape} for {len(names)} generators.",
            fix="Give a square array with one row and one column per generator.",
        )
    shown = [short(name, ROOM) for name in names]
    longest, slanted = max(map(len, shown), default=0), any(len(name) > 8 for name in names)
    left, top = 16 + 8 * longest, LABEL_HEIGHT + (5.4 * longest if slanted else 4)
    hang = 6.2 * len(shown[-1]) if slanted else 0
    plot = Plot("heat-map", max(left + len(names) * CELL_WIDTH + hang, left + 230))
    finite = overlap[np.isfinite(overlap)]
    limit = max(10.0, math.ceil(float(finite.max()) / 10) * 10) if finite.size else 100.0
    for i, name in enumerate(names):
        x, y = left + (i + 0.5) * CELL_WIDTH, top + (i + 0.5) * CELL_HEIGHT
        plot.text(left - 10, y + 4, shown[i], "label", "end", whole=name)
        plot.text(
            x, top - 8, shown[i], "label", "start" if slanted else "middle", whole=name, slanted=slanted
        )
        for j in range(len(names)):
            _cell(plot, left + j * CELL_WIDTH, top + i * CELL_HEIGHT, float(overlap[i, j]), limit)
    bottom = top + len(names) * CELL_HEIGHT + 16
    plot.text(left, bottom + 9, "0%")
    for step in range(HEAT_STEPS):
        plot.box(left + 34 + 22 * step, bottom, 22, 10, f"heat-{step}")
    plot.text(left + 42 + 22 * HEAT_STEPS, bottom + 9, f"{limit:.0f}%")
    described = (
        f"{names[i]} and {names[j]}: {value(overlap[i, j], 1)}%" for i in range(len(names)) for j in range(i)
    )
    return plot.svg(bottom + 24, title, "; ".join(described))


def _cell(plot: Plot, x: float, y: float, percentage: float, limit: float) -> None:
    if not math.isfinite(percentage):
        return plot.box(x + 1, y + 1, CELL_WIDTH - 2, CELL_HEIGHT - 2, "heat-none", 3)
    step = min(HEAT_STEPS - 1, max(0, int(percentage / limit * HEAT_STEPS)))
    plot.box(x + 1, y + 1, CELL_WIDTH - 2, CELL_HEIGHT - 2, f"heat-{step}", 3)
    middle = x + CELL_WIDTH / 2
    return plot.text(middle, y + CELL_HEIGHT / 2 + 4, value(percentage, 1), f"heat-text-{step}", "middle")


def dot_plot(
    marks: Sequence[Mark], title: str, links: Mapping[str, str] | None = None, *, differences: bool = False
) -> str:
    """One line per encoder, highest first: a circle for a generator, a diamond for any other encoder.

    A bar across marks the value on the ground truth, a band the interval. Undefined values come last, in words. The
    axis is that of the values at hand; that of `differences` has 0, with a line. A row with a link leads there.
    """
    ordered = sorted(marks, key=lambda mark: -mark.value if math.isfinite(mark.value) else math.inf)
    every = [number for mark in ordered for number in (mark.value, mark.truth, mark.low, mark.high)]
    axis = Axis.around([*every, *([0.0] if differences else [])], TRACK_LEFT, TRACK_RIGHT)
    plot = Plot("dot-plot", PLOT_WIDTH)
    bottom = ROW_HEIGHT * len(ordered) + 6
    plot.columns(axis, 18, bottom, two_decimals)
    if differences:
        plot.line((axis(0.0), 18), (axis(0.0), bottom), "zero")
    for i, mark in enumerate(ordered):
        first, address = len(plot.parts), (links or {}).get(mark.encoder, "")
        if address:
            plot.box(0, i * ROW_HEIGHT + 2, PLOT_WIDTH, ROW_HEIGHT, "hit", 4)
        _row(plot, axis, mark, i * ROW_HEIGHT)
        if address:
            plot.link(first, address, f"{_described(mark)}. See the queries.")
    height = _legend(plot, ordered, bottom + 42)
    return plot.svg(height, title, "; ".join(map(_described, ordered)))


def _described(mark: Mark) -> str:
    truth = f", ground truth {value(mark.truth)}" if math.isfinite(mark.truth) else ""
    around = f", interval {mark.interval}" if mark.interval else ""
    return f"{mark.encoder} ({mark.kind}): {value(mark.value)}{around}{truth}"


def _row(plot: Plot, axis: Axis, mark: Mark, top: float) -> None:
    middle, defined, known = top + 28, math.isfinite(mark.value), math.isfinite(mark.truth)
    plot.text(0, top + 14, short(mark.encoder, 22 if known else 30), "name", whole=mark.encoder)
    plot.text(PLOT_WIDTH, top + 14, value(mark.value), "number", "end")
    plot.text(PLOT_WIDTH, middle + 4, mark.interval or mark.kind, anchor="end")
    plot.line((TRACK_LEFT, middle), (TRACK_RIGHT, middle), "track")
    if mark.interval:
        _band(plot, mark, axis(mark.low), axis(mark.high), middle)
    if known:
        plot.text(PLOT_WIDTH - (52 if defined else 84), top + 14, f"truth {value(mark.truth)}", anchor="end")
        _bar(plot, axis(mark.truth), middle)
    if defined:
        shape, name = mark.style
        plot.mark(shape, axis(mark.value), middle, name)


def _band(plot: Plot, mark: Mark, left: float, right: float, y: float) -> None:
    """The interval: higher than the mark on it, so that a narrow one is seen too."""
    plot.box(left, y - 8, max(right - left, 1.0), 16, f"span span-{mark.style[1]}", 2)


def _bar(plot: Plot, x: float, y: float) -> None:
    plot.line((x, y - 9), (x, y + 9), "truth")


def _legend(plot: Plot, marks: Sequence[Mark], y: float) -> float:
    """What the marks mean, in one line or two; returns the height of the figure."""
    x = 8.0
    for mark in {mark.kind: mark for mark in sorted(marks, key=lambda one: not one.is_generator)}.values():
        shape, name = mark.style
        plot.mark(shape, x, y - 4, name)
        plot.text(x + 13, y, mark.kind)
        x += 82 if mark.is_generator else 114
    if any(math.isfinite(mark.truth) for mark in marks):
        _bar(plot, x, y - 4)
        plot.text(x + 9, y, "on the ground truth")
    spans = [mark for mark in marks if mark.interval]
    if spans:
        y += 22
        _band(plot, spans[0], 3, 31, y - 4)
        plot.text(37, y, "interval of the value")
    return y + 8
