"""The figures of repeated trials: ways of learning side by side, and along an axis."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from lookalike.evaluate.repeated import OverSplits
from lookalike.report.bias_figure import STYLE, mark
from lookalike.report.drawing import axis, svg, text

WIDTH, LEFT, RIGHT, ROW, PLOT = 784, 190, 660, 28, 240
TONES = 5


@dataclass(frozen=True)
class Panel:
    """One ground: the mean of each way of learning, in the order shown."""

    title: str
    means: Mapping[str, OverSplits]


@dataclass(frozen=True)
class Series:
    """One way of learning along an axis."""

    name: str
    points: tuple[tuple[float, OverSplits], ...]


def dots(panels: Sequence[Panel], title: str) -> str:
    """A row for each way of learning, a panel for each ground; whiskers are intervals, a line the first row's value."""
    parts, top, told = [f"<style>{STYLE}</style>", text(12, 22, title, "name")], 44.0, []
    for panel in panels:
        bottom = top + 22 + ROW * len(panel.means)
        parts.append(text(12, top + 8, panel.title, "label"))
        low, high, step = axis([end for one in panel.means.values() for end in _ends(one)])
        parts += _ticks(low, high, step, top + 16, bottom)
        reference = next(iter(panel.means.values()), None)
        if reference is not None and math.isfinite(reference.value):
            x = _place(reference.value, low, high)
            parts.append(
                f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top + 16:.1f}" y2="{bottom:.1f}" class="track"/>'
            )
        for row, (name, one) in enumerate(panel.means.items()):
            y = top + 32 + ROW * row
            parts += _dot(name, one, low, high, y)
            told.append(f"{panel.title}, {name}: {one.value:.3f}")
        top = bottom + 44
    return _whole("trials", top - 10, (title, "; ".join(told)), parts)


def series(lines: Sequence[Series], title: str, along: str) -> str:
    """A line for each way of learning; whiskers are intervals, set a little apart."""
    places = sorted({place for line in lines for place, _ in line.points})
    low, high, step = axis([end for line in lines for _, one in line.points for end in _ends(one)])
    top, bottom = 44.0, 44.0 + PLOT
    first, last = (places[0], places[-1]) if places else (0.0, 1.0)

    def x(place: float) -> float:
        return 72 + 470 * (place - first) / ((last - first) or 1.0) + 12

    def y(value: float) -> float:
        return bottom - (bottom - top) * (value - low) / (high - low)

    parts = [f"<style>{STYLE}</style>", text(12, 22, title, "name")]
    for tick in range(round((high - low) / step) + 1):
        at = y(low + tick * step)
        parts.append(f'<line x1="72" x2="566" y1="{at:.1f}" y2="{at:.1f}" class="grid"/>')
        parts.append(text(64, at + 4, f"{low + tick * step:.2f}", "small", "end"))
    for place in places:
        parts.append(text(x(place), bottom + 20, f"{100 * place:.0f} %", "small", "middle"))
    parts.append(text(320, bottom + 40, along, "small", "middle"))
    for number, line in enumerate(lines):
        tone, apart = number % TONES, 5 * (number - (len(lines) - 1) / 2)
        known = [(x(place) + apart, one) for place, one in line.points if math.isfinite(one.value)]
        path = " ".join(f"{at:.1f},{y(one.value):.1f}" for at, one in known)
        bars = "".join(
            _whisker(at, at, y(one.low), y(one.high)) for at, one in known if math.isfinite(one.low)
        )
        marks = "".join(mark(tone, at, y(one.value)) for at, one in known)
        parts.append(f'<g class="tone-{tone}"><polyline points="{path}" class="curve"/>{bars}{marks}</g>')
        at = top + 20 + 24 * number
        parts.append(
            f'<g class="tone-{tone}">{mark(tone, 596, at)}</g>' + text(612, at + 4, line.name, "label")
        )
    told = "; ".join(
        f"{line.name} at {100 * place:.0f} %: {one.value:.3f}" for line in lines for place, one in line.points
    )
    return _whole("trials", bottom + 56, (title, told), parts)


def _dot(name: str, one: OverSplits, low: float, high: float, y: float) -> list[str]:
    """A row; the mark tells the kind: circle plain or pretrained, diamond SPA, square NSPA."""
    tone = 2 if name.endswith(" NSPA") else 1 if name.endswith(" SPA") else 0
    parts = [text(LEFT - 20, y + 4, name, "label", "end")]
    if not math.isfinite(one.value):
        return [*parts, text(LEFT, y + 4, "undefined", "small")]
    x = _place(one.value, low, high)
    bar = (
        _whisker(_place(one.low, low, high), _place(one.high, low, high), y, y)
        if math.isfinite(one.low)
        else ""
    )
    return [
        *parts,
        f'<g class="tone-{tone}">{bar}{mark(tone, x, y)}</g>',
        text(WIDTH - 12, y + 4, f"{one.value:.3f}", "small", "end"),
    ]


def _ticks(low: float, high: float, step: float, top: float, bottom: float) -> list[str]:
    parts = []
    for tick in range(round((high - low) / step) + 1):
        x = _place(low + tick * step, low, high)
        parts.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}" class="grid"/>')
        parts.append(text(x, bottom + 16, f"{low + tick * step:.2f}", "small", "middle"))
    return parts


def _whisker(x1: float, x2: float, y1: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" y2="{y2:.1f}" class="whisker"/>'


def _place(value: float, low: float, high: float) -> float:
    return LEFT + (RIGHT - LEFT) * (value - low) / (high - low)


def _ends(one: OverSplits) -> list[float]:
    return [value for value in (one.value, one.low, one.high) if math.isfinite(value)]


def _whole(name: str, height: float, words: tuple[str, str], parts: list[str]) -> str:
    picture = svg(name, WIDTH, height, words, parts)
    return picture.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
