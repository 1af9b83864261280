"""The audits' figures: score by generator left out, and correlation by coverage."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from lookalike.core.text import value
from lookalike.report.figures.plot import Axis, Plot, Point, short, two_decimals

WIDTH, LEFT, INNER, TOP, BOTTOM = 340, 34, 10, 12, 182
NAMES, LINE_HEIGHT, ROOM = 124, 14, 18


@dataclass(frozen=True)
class ScoreLine:
    """One line of a figure: its points over the ticks, and a band around them where `low` and `high` are given.

    `rings` are ticks that get a ring in place of a dot.
    """

    name: str
    y: tuple[float, ...]
    dashed: bool = False
    rings: tuple[int, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    @property
    def kind(self) -> str:
        """Its class in the style sheet."""
        return "outside" if self.dashed else "generator"

    def points(self, x: Axis, y: Axis) -> dict[int, Point]:
        """Where the defined points are placed, by tick."""
        return {i: (x(i), y(one)) for i, one in enumerate(self.y) if math.isfinite(one)}


def score_figure(lines: Sequence[ScoreLine], ticks: Sequence[str], title: str) -> str:
    """Scores of encoders by what is left out; names are at the ends of the lines."""
    right = WIDTH - NAMES
    x = _ticks_axis(len(ticks), right)
    y = Axis.around((one for line in lines for one in line.y), BOTTOM, TOP)
    plot = Plot("line-plot", WIDTH)
    plot.rows(y, LEFT, right, two_decimals)
    for i, tick in enumerate(ticks):
        plot.text(x(i), BOTTOM + 14, short(tick, ROOM), anchor="end", whole=tick, slanted=True)
    for line in lines:
        _draw(plot, line, x, y)
    for line in lines:  # rings are drawn over everything else
        for i, (px, py) in line.points(x, y).items():
            if i in line.rings:
                plot.mark("circle", px, py, "own", 5)
    _end_names(plot, lines, x, y, right)
    longest = max((len(short(tick, ROOM)) for tick in ticks), default=0)
    return plot.svg(BOTTOM + 22 + 5.2 * longest, title, _described(lines, ticks))


def coverage_figure(line: ScoreLine, ticks: Sequence[str], title: str, low: float = 0.0) -> str:
    """A correlation by coverage, with its band, on an axis from `low` (a multiple of .25) to 1."""
    right = WIDTH - 8
    x, y = _ticks_axis(len(ticks), right), Axis(low, 1.0, 0.25, BOTTOM, TOP)
    plot = Plot("line-plot", WIDTH)
    plot.rows(y, LEFT, right, two_decimals)
    for i, tick in enumerate(ticks):
        plot.text(x(i), BOTTOM + 15, tick, anchor="middle")
    plot.text(right, BOTTOM + 31, "share of the first results that still has labels", anchor="end")
    at = [i for i, (a, b) in enumerate(zip(line.low, line.high, strict=True)) if math.isfinite(a + b)]
    if at:
        upper, lower = ([(x(i), y(end[i])) for i in at] for end in (line.high, line.low))
        plot.area([*upper, *lower[::-1]], "band")
    _draw(plot, line, x, y)
    return plot.svg(BOTTOM + 40, title, _described([line], ticks))


def _ticks_axis(count: int, right: float) -> Axis:
    """An axis over the places 0, 1, ...; a single one is in the middle."""
    low, high = (0, count - 1) if count > 1 else (-1, 1)
    return Axis(low, high, 1, LEFT + INNER, right - INNER)


def _draw(plot: Plot, line: ScoreLine, x: Axis, y: Axis) -> None:
    """The points and what joins them; an undefined one leaves a gap."""
    points = line.points(x, y)
    for i, j in pairwise(points):
        if j == i + 1:
            plot.line(points[i], points[j], f"join join-{line.kind}")
    for i, (px, py) in points.items():
        if i not in line.rings:
            plot.mark("circle", px, py, line.kind, 4)


def _end_names(plot: Plot, lines: Sequence[ScoreLine], x: Axis, y: Axis, right: float) -> None:
    """Each line's name right of its last point, moved apart where lines end together."""
    ends = sorted(
        (*list(points.values())[-1][::-1], line.name) for line in lines if (points := line.points(x, y))
    )
    apart = _apart([top for top, _, _ in ends], BOTTOM + 4)
    for place, (top, left, name) in zip(apart, ends, strict=True):
        plot.line((left + 6, top), (right + 6, place), "leader")
        plot.text(right + 9, place + 4, short(name, ROOM), whole=name)


def _apart(places: Sequence[float], bottom: float) -> list[float]:
    """The same places from the top down, a line's height apart, none below the bottom if there is room."""
    moved: list[float] = []
    for place in places:
        moved.append(max(place, moved[-1] + LINE_HEIGHT) if moved else place)
    limit = bottom
    for at in range(len(moved) - 1, -1, -1):
        moved[at] = min(moved[at], limit)
        limit = moved[at] - LINE_HEIGHT
    return moved


def _described(lines: Sequence[ScoreLine], ticks: Sequence[str]) -> str:
    return "; ".join(
        f"{line.name}: " + ", ".join(f"{tick} {value(y)}" for tick, y in zip(ticks, line.y, strict=True))
        for line in lines
    )
