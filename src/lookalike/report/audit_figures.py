"""The audits' figures: score by omitted generator, correlation by coverage, and the curves of DCS (VSD Figure 1)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lookalike.evaluate.credit import phi
from lookalike.report.drawing import axis, short, svg, text
from lookalike.report.formats import value

WIDTH, LEFT, TOP, PLOT_HEIGHT = 340, 34, 12, 170
NAMES, LINE_HEIGHT, ROOM = 124, 14, 18
ALPHAS = (1.0, 5.0, 10.0, 50.0)


@dataclass(frozen=True)
class Line:
    """One line of a figure: its points over x, and a band around them where `low` and `high` are given.

    `rings` are places that get a ring in place of a dot.
    """

    name: str
    y: tuple[float, ...]
    dashed: bool = False
    rings: tuple[int, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


def score_figure(lines: Sequence[Line], ticks: Sequence[str], title: str) -> str:
    """Scores of encoders by what is left out; names stand at the lines' ends."""
    finite = [y for line in lines for y in line.y if math.isfinite(y)]
    frame = _Frame(len(ticks), *axis(finite), WIDTH - NAMES)
    parts = [*frame.grid(), *frame.slanted(ticks)]
    for line in lines:
        parts += frame.line(line)
    for line in lines:
        parts += frame.rings(line)
    parts += frame.end_names(lines)
    longest = max((len(short(tick, ROOM)) for tick in ticks), default=0)
    height = TOP + PLOT_HEIGHT + 22 + 5.2 * longest
    return svg("line-plot", WIDTH, height, (title, _told(lines, ticks)), parts)


def coverage_figure(line: Line, ticks: Sequence[str], title: str, low: float = 0.0) -> str:
    """A correlation by coverage, with its band, on an axis from `low` (a multiple of .25) to 1."""
    frame = _Frame(len(ticks), low, 1.0, 0.25, WIDTH - 8)
    parts = [
        *frame.grid(),
        *(text(frame.x(i), frame.bottom + 15, tick, "small", "middle") for i, tick in enumerate(ticks)),
    ]
    parts.append(
        text(
            frame.right, frame.bottom + 31, "share of the first results that still has labels", "small", "end"
        )
    )
    parts += [*frame.band(line), *frame.line(line)]
    return svg("line-plot", WIDTH, frame.bottom + 40, (title, _told([line], ticks)), parts)


def dcs_curves(label: int, title: str) -> str:
    """C(p, y, alpha) by percentile for several alpha (VSD Figure 1): phi for label 1, 1 - phi for label 0."""
    p = np.linspace(0.0, 1.0, 81)
    frame = _Frame(len(p), 0.0, 1.0, 0.25, WIDTH - 8)
    parts = frame.grid()
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        parts.append(text(frame.x(tick * (len(p) - 1)), frame.bottom + 15, f"{tick:.2f}", "small", "middle"))
    parts.append(
        text(frame.right, frame.bottom + 31, "place in the list: 0 the last, 1 the first", "small", "end")
    )
    for at, alpha in enumerate(ALPHAS):
        curve = phi(p, alpha) if label == 1 else 1.0 - phi(p, alpha)
        line = " ".join(f"{frame.x(i):.1f},{frame.y(float(c)):.1f}" for i, c in enumerate(curve))
        parts.append(f'<polyline points="{line}" class="curve curve-{at}"/>')
        y = TOP + 14 + 17 * at if label == 1 else frame.bottom - 12 - 17 * (len(ALPHAS) - 1 - at)
        ends = f'x1="{LEFT + 12}" y1="{y - 4:.1f}" x2="{LEFT + 42}" y2="{y - 4:.1f}"'
        parts.append(f'<line {ends} class="curve curve-{at}"/>')
        parts.append(text(LEFT + 50, y, f"α = {alpha:.0f}", "small"))
    told = "; ".join(
        f"alpha {alpha:.0f}: {value(float(phi(np.array([0.9]), alpha)[0]))} at 0.9" for alpha in ALPHAS
    )
    return svg("line-plot", WIDTH, frame.bottom + 40, (title, f"phi(p, alpha): {told}"), parts)


class _Frame:
    """The axes of a plot with `count` places across, from `low` to `high` in steps."""

    def __init__(self, count: int, low: float, high: float, step: float, right: float) -> None:
        self.count, self.low, self.high, self.step, self.right = count, low, high, step, right
        self.bottom = TOP + PLOT_HEIGHT

    def x(self, at: float) -> float:
        """Where a place stands."""
        inner = 10
        return (
            LEFT
            + inner
            + (self.right - LEFT - 2 * inner) * (at / (self.count - 1) if self.count > 1 else 0.5)
        )

    def y(self, number: float) -> float:
        """Where a value stands."""
        return self.bottom - PLOT_HEIGHT * (number - self.low) / (self.high - self.low)

    def grid(self) -> list[str]:
        """Horizontal lines with their values."""
        parts = []
        for tick in np.arange(self.low, self.high + self.step / 2, self.step):
            y = self.y(float(tick))
            parts.append(f'<line x1="{LEFT}" x2="{self.right:.1f}" y1="{y:.1f}" y2="{y:.1f}" class="grid"/>')
            parts.append(text(LEFT - 5, y + 4, f"{tick:.2f}", "small", "end"))
        return parts

    def slanted(self, ticks: Sequence[str]) -> list[str]:
        """Names under the places, which may be long."""
        y = self.bottom + 14
        return [
            f'<g transform="rotate(-40 {self.x(i):.1f} {y:.1f})">'
            f"{text(self.x(i), y, short(tick, ROOM), 'small', 'end', whole=tick)}</g>"
            for i, tick in enumerate(ticks)
        ]

    def line(self, line: Line) -> list[str]:
        """The points and what joins them; an undefined one leaves a gap."""
        at = [(i, y) for i, y in enumerate(line.y) if math.isfinite(y)]
        kind = "outside" if line.dashed else "generator"
        parts = []
        for (i, a), (j, b) in pairwise(at):
            if j == i + 1:
                ends = f'x1="{self.x(i):.1f}" y1="{self.y(a):.1f}" x2="{self.x(j):.1f}" y2="{self.y(b):.1f}"'
                parts.append(f'<line {ends} class="join join-{kind}"/>')
        return parts + [self._dot(i, y, kind) for i, y in at if i not in line.rings]

    def rings(self, line: Line) -> list[str]:
        """The places that get a ring, drawn over everything else."""
        return [self._dot(i, line.y[i], "own") for i in line.rings if math.isfinite(line.y[i])]

    def _dot(self, at: int, number: float, kind: str) -> str:
        radius = 5 if kind == "own" else 4
        return f'<circle cx="{self.x(at):.1f}" cy="{self.y(number):.1f}" r="{radius}" class="{kind}"/>'

    def band(self, line: Line) -> list[str]:
        """The area between low and high, where both are defined."""
        at = [i for i, (a, b) in enumerate(zip(line.low, line.high, strict=True)) if math.isfinite(a + b)]
        if not at:
            return []
        ends = [(i, line.high[i]) for i in at] + [(i, line.low[i]) for i in at[::-1]]
        points = " ".join(f"{self.x(i):.1f},{self.y(y):.1f}" for i, y in ends)
        return [f'<polygon points="{points}" class="band"/>']

    def end_names(self, lines: Sequence[Line]) -> list[str]:
        """Each line's name right of its last point, moved apart where lines end together."""
        ends = []
        for line in lines:
            defined = [(i, y) for i, y in enumerate(line.y) if math.isfinite(y)]
            if defined:
                ends.append((self.y(defined[-1][1]), self.x(defined[-1][0]), line.name))
        ends.sort(key=lambda end: end[0])
        parts = []
        for place, (y, x, name) in zip(_apart([y for y, _, _ in ends], self.bottom + 4), ends, strict=True):
            to = f'x2="{self.right + 6:.1f}" y2="{place:.1f}"'
            parts.append(f'<line x1="{x + 6:.1f}" y1="{y:.1f}" {to} class="leader"/>')
            parts.append(text(self.right + 9, place + 4, short(name, ROOM), "small", whole=name))
        return parts


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


def _told(lines: Sequence[Line], ticks: Sequence[str]) -> str:
    return "; ".join(
        f"{line.name}: " + ", ".join(f"{tick} {value(y)}" for tick, y in zip(ticks, line.y, strict=True))
        for line in lines
    )
