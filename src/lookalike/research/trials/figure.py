"""The figures of repeated trials: ways of learning side by side, and along an axis."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from lookalike.core.text import percent, value
from lookalike.evaluate.significance.repeated_splits import OverSplits
from lookalike.report.figures.plot import Axis, Plot, two_decimals

WIDTH, LEFT, RIGHT, ROW = 784, 190, 660, 28
TOP, BOTTOM, PLOT_LEFT, PLOT_RIGHT = 44.0, 284.0, 72, 566


@dataclass(frozen=True)
class GroundMeans:
    """One ground: the mean of each way of learning, in the order shown."""

    title: str
    means: Mapping[str, OverSplits]


@dataclass(frozen=True)
class Series:
    """One way of learning along an axis."""

    name: str
    points: tuple[tuple[float, OverSplits], ...]


def dots(grounds: Sequence[GroundMeans], title: str) -> str:
    """A row for each way of learning, a panel for each ground; bars are intervals, a line the first row's value."""
    plot, top, described = Plot("trials", WIDTH, alone=True), TOP, []
    plot.text(12, 22, title, "name")
    for ground in grounds:
        bottom = top + 22 + ROW * len(ground.means)
        axis = Axis.around(_numbers(ground.means.values()), LEFT, RIGHT)
        plot.text(12, top + 8, ground.title, "label")
        plot.columns(axis, top + 16, bottom, two_decimals)
        reference = next(iter(ground.means.values()), None)
        if reference is not None and math.isfinite(reference.value):
            plot.line((axis(reference.value), top + 16), (axis(reference.value), bottom), "zero")
        for row, (name, one) in enumerate(ground.means.items()):
            _dot(plot, axis, name, one, top + 32 + ROW * row)
            described.append(f"{ground.title}, {name}: {value(one.value)}")
        top = bottom + 44
    return plot.svg(top - 10, title, "; ".join(described))


def _dot(plot: Plot, axis: Axis, name: str, one: OverSplits, y: float) -> None:
    """A row; the mark shows the kind: circle plain or pretrained, diamond SPA, square NSPA."""
    tone = 2 if name.endswith(" NSPA") else 1 if name.endswith(" SPA") else 0
    plot.text(LEFT - 20, y + 4, name, "label", "end")
    if not math.isfinite(one.value):
        return plot.text(LEFT + 6, y + 4, "undefined")
    plot.interval(tone, (axis(one.low), y), (axis(one.high), y))
    plot.tone(tone, axis(one.value), y)
    return plot.text(WIDTH - 12, y + 4, value(one.value), anchor="end")


def series(lines: Sequence[Series], title: str, along: str) -> str:
    """A line for each way of learning; bars are intervals, set a little apart."""
    places = sorted({place for line in lines for place, _ in line.points}) or [0.0, 1.0]
    first, last = places[0], places[-1]
    x = Axis(first, last if last > first else first + 1, 1, PLOT_LEFT + 12, PLOT_RIGHT - 24)
    y = Axis.around(_numbers(one for line in lines for _, one in line.points), BOTTOM, TOP)
    plot = Plot("trials", WIDTH, alone=True)
    plot.text(12, 22, title, "name")
    plot.rows(y, PLOT_LEFT, PLOT_RIGHT, two_decimals)
    for place in places:
        plot.text(x(place), BOTTOM + 20, percent(place, 0), anchor="middle")
    plot.text(320, BOTTOM + 40, along, anchor="middle")
    for tone, line in enumerate(lines):
        apart = 5 * (tone - (len(lines) - 1) / 2)
        known = [(x(place) + apart, one) for place, one in line.points if math.isfinite(one.value)]
        plot.curve([(at, y(one.value)) for at, one in known], f"curve tone-{tone % 5}")
        for at, one in known:
            plot.interval(tone, (at, y(one.low)), (at, y(one.high)))
            plot.tone(tone, at, y(one.value))
        plot.tone(tone, 596, TOP + 20 + 24 * tone, line.name)
    described = (
        f"{line.name} at {percent(place, 0)}: {value(one.value)}"
        for line in lines
        for place, one in line.points
    )
    return plot.svg(BOTTOM + 56, title, "; ".join(described))


def _numbers(found: Iterable[OverSplits]) -> list[float]:
    return [number for one in found for number in (one.value, one.low, one.high)]
