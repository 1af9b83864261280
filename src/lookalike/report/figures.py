"""The page's figures as inline SVG: no plotting library, no script, colours from the style sheet.

Nothing is told by colour alone: heat-map cells carry their value, marks differ in shape and by a word.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lookalike.core.errors import ArgumentError
from lookalike.report.drawing import axis, short, svg, text
from lookalike.report.formats import ends, tenth, value

HEAT_STEPS = 6
CELL_WIDTH, CELL_HEIGHT, LABEL_HEIGHT = 64, 40, 22
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
    def known(self) -> list[float]:
        """All its numbers that are defined."""
        return [x for x in (self.value, self.truth, self.low, self.high) if math.isfinite(x)]

    @property
    def interval(self) -> str:
        """Its interval as it is written; "" where there is none."""
        return ends(self.low, self.high) if math.isfinite(self.value) else ""


def heat_map(names: Sequence[str], overlap: np.ndarray, title: str) -> str:
    """A square of percentages, one row and one column per name; NaN (the diagonal) is left empty."""
    if overlap.shape != (len(names), len(names)):
        raise ArgumentError(
            f"The overlap has the shape {overlap.shape} for {len(names)} generators.",
            fix="Give a square array with one row and one column per generator.",
        )
    limit = _limit(overlap)
    left = 16 + 8 * max((len(short(name, 24)) for name in names), default=0)
    slanted = any(len(name) > 8 for name in names)
    top = LABEL_HEIGHT + (5.4 * max(len(short(name, 24)) for name in names) if slanted else 4)
    parts = []
    for i, name in enumerate(names):
        middle = top + (i + 0.5) * CELL_HEIGHT
        parts.append(text(left - 10, middle + 4, short(name, 24), "label", "end", whole=name))
        parts.append(_column_name(left + (i + 0.5) * CELL_WIDTH, top - 8, name, slanted))
        parts += [
            _cell(left + j * CELL_WIDTH, top + i * CELL_HEIGHT, float(overlap[i, j]), limit)
            for j in range(len(names))
        ]
    bottom = top + len(names) * CELL_HEIGHT
    parts.append(_scale(left, bottom + 16, limit))
    hang = 6.2 * len(short(names[-1], 24)) if slanted and names else 0
    width = max(left + len(names) * CELL_WIDTH + hang, left + 230)
    return svg("heat-map", width, bottom + 40, (title, _pairs_told(names, overlap)), parts)


def dot_plot(marks: Sequence[Mark], title: str) -> str:
    """One line per encoder, highest first: a circle for a generator, a diamond for any other encoder.

    A bar across marks the value on the complete truth, a band the interval. Undefined values come last, in words. The
    axis is that of the values at hand.
    """
    ordered = sorted(marks, key=lambda mark: -mark.value if math.isfinite(mark.value) else math.inf)
    low, high, step = axis([number for mark in ordered for number in mark.known])
    bottom = ROW_HEIGHT * len(ordered) + 6
    parts = [_axis(low, high, step, bottom)]
    for i, mark in enumerate(ordered):
        parts.append(_row(mark, i * ROW_HEIGHT, low, high))
    legend, height = _legend(ordered, bottom + 42)
    return svg("dot-plot", PLOT_WIDTH, height, (title, "; ".join(map(_told, ordered))), [*parts, legend])


def _limit(overlap: np.ndarray) -> float:
    """The scale's end: the largest value, rounded up to 10, 20, ... %."""
    finite = overlap[np.isfinite(overlap)]
    return max(10.0, math.ceil(float(finite.max()) / 10) * 10) if finite.size else 100.0


def _cell(x: float, y: float, percentage: float, limit: float) -> str:
    size = f'width="{CELL_WIDTH - 2}" height="{CELL_HEIGHT - 2}" rx="3"'
    if not math.isfinite(percentage):
        return f'<rect x="{x + 1:.1f}" y="{y + 1:.1f}" {size} class="heat-none"/>'
    step = min(HEAT_STEPS - 1, max(0, int(percentage / limit * HEAT_STEPS)))
    words = text(
        x + CELL_WIDTH / 2, y + CELL_HEIGHT / 2 + 4, tenth(percentage), f"heat-text-{step}", "middle"
    )
    return f'<rect x="{x + 1:.1f}" y="{y + 1:.1f}" {size} class="heat-{step}"/>{words}'


def _column_name(x: float, y: float, name: str, slanted: bool) -> str:
    if not slanted:
        return text(x, y, name, "label", "middle")
    return (
        f'<g transform="rotate(-40 {x:.1f} {y:.1f})">{text(x, y, short(name, 24), "label", whole=name)}</g>'
    )


def _scale(x: float, y: float, limit: float) -> str:
    boxes = "".join(
        f'<rect x="{x + 34 + 22 * step:.1f}" y="{y:.1f}" width="22" height="10" class="heat-{step}"/>'
        for step in range(HEAT_STEPS)
    )
    end = x + 42 + 22 * HEAT_STEPS
    return text(x, y + 9, "0 %", "small") + boxes + text(end, y + 9, f"{limit:.0f} %", "small")


def _pairs_told(names: Sequence[str], overlap: np.ndarray) -> str:
    return "; ".join(
        f"{names[i]} and {names[j]}: {tenth(float(overlap[i, j]))} %"
        for i in range(len(names))
        for j in range(i)
    )


def _told(mark: Mark) -> str:
    truth = f", complete truth {value(mark.truth)}" if math.isfinite(mark.truth) else ""
    around = f", interval {mark.interval}" if mark.interval else ""
    return f"{mark.encoder} ({_kind(mark)}): {value(mark.value)}{around}{truth}"


def _kind(mark: Mark) -> str:
    return "generator" if mark.is_generator else "not a generator"


def _place(number: float, low: float, high: float) -> float:
    return TRACK_LEFT + (TRACK_RIGHT - TRACK_LEFT) * (number - low) / (high - low)


def _axis(low: float, high: float, step: float, bottom: float) -> str:
    parts = []
    for tick in np.arange(low, high + step / 2, step):
        x = _place(float(tick), low, high)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="18" y2="{bottom:.1f}" class="grid"/>')
        parts.append(text(x, bottom + 14, f"{tick:.2f}", "small", "middle"))
    return "".join(parts)


def _row(mark: Mark, top: float, low: float, high: float) -> str:
    line = top + 28
    known = math.isfinite(mark.truth)
    room = 22 if known else 30
    parts = [
        text(0, top + 14, short(mark.encoder, room), "name", whole=mark.encoder),
        text(PLOT_WIDTH, top + 14, value(mark.value), "number", "end"),
        text(PLOT_WIDTH, line + 4, mark.interval or _kind(mark), "small", "end"),
        f'<line x1="{TRACK_LEFT}" x2="{TRACK_RIGHT}" y1="{line:.1f}" y2="{line:.1f}" class="track"/>',
    ]
    if mark.interval:
        parts.append(
            _span(mark.is_generator, _place(mark.low, low, high), _place(mark.high, low, high), line)
        )
    if known:
        told = f"truth {value(mark.truth)}"
        parts.append(
            text(PLOT_WIDTH - (52 if math.isfinite(mark.value) else 84), top + 14, told, "small", "end")
        )
        parts.append(_bar(_place(mark.truth, low, high), line))
    if math.isfinite(mark.value):
        parts.append(_shape(mark.is_generator, _place(mark.value, low, high), line))
    return "".join(parts)


def _shape(is_generator: bool, x: float, y: float) -> str:
    if is_generator:
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" class="generator"/>'
    corners = f"{x:.1f},{y - 6:.1f} {x + 6:.1f},{y:.1f} {x:.1f},{y + 6:.1f} {x - 6:.1f},{y:.1f}"
    return f'<polygon points="{corners}" class="outside"/>'


def _span(is_generator: bool, left: float, right: float, y: float) -> str:
    """The interval: higher than the mark on it, so that a narrow one is seen too."""
    kind = "generator" if is_generator else "outside"
    size = f'width="{max(right - left, 1.0):.1f}" height="16" rx="2"'
    return f'<rect x="{left:.1f}" y="{y - 8:.1f}" {size} class="span span-{kind}"/>'


def _bar(x: float, y: float) -> str:
    return f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{y - 9:.1f}" y2="{y + 9:.1f}" class="truth"/>'


def _legend(marks: Sequence[Mark], y: float) -> tuple[str, float]:
    """What the signs mean, in one line or two, and where the figure ends below it."""
    x, parts = 8.0, []
    for is_generator, word, width in ((True, "generator", 82), (False, "not a generator", 114)):
        if any(mark.is_generator == is_generator for mark in marks):
            parts += [_shape(is_generator, x, y - 4), text(x + 13, y, word, "small")]
            x += width
    if any(math.isfinite(mark.truth) for mark in marks):
        parts += [_bar(x, y - 4), text(x + 9, y, "on the complete truth", "small")]
    spans = [mark for mark in marks if mark.interval]
    if not spans:
        return "".join(parts), y + 8
    y += 22
    parts += [_span(spans[0].is_generator, 3, 31, y - 4), text(37, y, "interval of the value", "small")]
    return "".join(parts), y + 8
