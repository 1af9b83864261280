"""`Plot`: one figure as SVG, with a description in words. No plotting library, no script, colours from `figures.css`.

Nothing is shown by colour alone: marks differ in shape, lines in dashes, and both carry names.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files

import numpy as np

from lookalike.core.text import printable

STEPS = (0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)
CORNERS = {
    "diamond": ((0, -6), (6, 0), (0, 6), (-6, 0)),
    "square": ((-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)),
    "triangle": ((0, -6), (5.5, 4.5), (-5.5, 4.5)),
}
TONES = (("circle", 5.0), ("diamond", 0), ("square", 0), ("triangle", 0), ("circle", 3.5))  # shape, radius

Point = tuple[float, float]


@dataclass(frozen=True)
class Axis:
    """Values from `low` to `high` with a tick at every `step`, placed from `start` to `end` on the page."""

    low: float
    high: float
    step: float
    start: float
    end: float

    @classmethod
    def around(cls, values: Iterable[float], start: float, end: float) -> "Axis":
        """An axis that holds all the defined ones of some values."""
        return cls(*bounds([value for value in values if math.isfinite(value)]), start, end)

    def __call__(self, value: float) -> float:
        """Where a value is placed."""
        return self.start + (self.end - self.start) * (value - self.low) / (self.high - self.low)

    @property
    def ticks(self) -> list[float]:
        """The values with a tick."""
        return np.arange(self.low, self.high + self.step / 2, self.step).tolist()


def bounds(values: Sequence[float]) -> tuple[float, float, float]:
    """Ends and step of an axis around some scores: four steps or fewer where these suffice, and 1 as the end of all 1.

    >>> bounds([0.31, 0.44]), bounds([0.1, 1.0]), bounds([1.0, 1.0])
    ((0.3, 0.45, 0.05), (0.0, 1.0, 0.25), (0.95, 1.0, 0.05))
    """
    if not values:
        return 0.0, 1.0, 0.25
    for step in STEPS:
        low, high = math.floor(min(values) / step + 1e-9), max(math.ceil(max(values) / step - 1e-9), 1)
        if high - low <= 4:
            break
    if low == high:
        low, high = (low - 1, high) if max(values) == 1.0 else (low, high + 1)
    return round(low * step, 9), round(high * step, 9), step


def short(name: str, most: int) -> str:
    """A name cut in its middle: encoder names often begin alike."""
    return name if len(name) <= most else f"{name[: most // 2]}…{name[len(name) - (most - 1) // 2 :]}"


def places(points: Iterable[Point]) -> str:
    """Points as SVG has them."""
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in points)


class Plot:
    """A figure under construction: add parts in the order in which they are drawn, then call `svg`.

    `name` is its class in the style sheet. A figure that is `alone` in a file contains the style sheet.
    """

    def __init__(self, name: str, width: float, *, alone: bool = False) -> None:
        self.name, self.width, self.alone = name, width, alone
        self.parts: list[str] = []
        self.role = "img"

    def text(
        self,
        x: float,
        y: float,
        words: str,
        name: str = "small",
        anchor: str = "start",
        *,
        whole: str = "",
        slanted: bool = False,
    ) -> None:
        """Safe text at a place; a shortened name keeps the whole one as its title."""
        shown = escape(printable(words))
        if whole and whole != words:
            shown = f"<title>{escape(printable(whole))}</title>{shown}"
        turned = f' transform="rotate(-40 {x:.1f} {y:.1f})"' if slanted else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" class="{name}" text-anchor="{anchor}"{turned}>{shown}</text>'
        )

    def line(self, start: Point, end: Point, name: str) -> None:
        """A straight line."""
        ends = f'x1="{start[0]:.1f}" x2="{end[0]:.1f}" y1="{start[1]:.1f}" y2="{end[1]:.1f}"'
        self.parts.append(f'<line {ends} class="{name}"/>')

    def curve(self, points: Iterable[Point], name: str, title: str = "") -> None:
        """A line through points."""
        described = f"<title>{escape(printable(title))}</title>" if title else ""
        self.parts.append(f'<polyline points="{places(points)}" class="{name}">{described}</polyline>')

    def area(self, points: Iterable[Point], name: str) -> None:
        """A filled outline."""
        self.parts.append(f'<polygon points="{places(points)}" class="{name}"/>')

    def box(self, x: float, y: float, width: float, height: float, name: str, radius: float = 0) -> None:
        """A rectangle."""
        size = f'width="{width:.1f}" height="{height:.1f}" rx="{radius:g}"'
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" {size} class="{name}"/>')

    def mark(self, shape: str, x: float, y: float, name: str, radius: float = 4.5) -> None:
        """A mark: "circle" or one of `CORNERS`."""
        if shape == "circle":
            self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}" class="{name}"/>')
        else:
            self.area([(x + dx, y + dy) for dx, dy in CORNERS[shape]], name)

    def tone(self, number: int, x: float, y: float, label: str = "") -> None:
        """The mark of one series, with its name beside it where that is given."""
        shape, radius = TONES[number % len(TONES)]
        self.mark(shape, x, y, f"spot tone-{number % len(TONES)}", radius)
        if label:
            self.text(x + 14, y + 4, label, "label")

    def interval(self, number: int, start: Point, end: Point) -> None:
        """The interval of one series's value; nothing where an end is undefined."""
        if math.isfinite(sum((*start, *end))):
            self.line(start, end, f"whisker tone-{number % len(TONES)}")

    def columns(self, axis: Axis, top: float, bottom: float, write: Callable[[float], str]) -> None:
        """A vertical grid line at every tick, with its value below."""
        for tick in axis.ticks:
            self.line((axis(tick), top), (axis(tick), bottom), "grid")
            self.text(axis(tick), bottom + 15, write(tick), anchor="middle")

    def rows(self, axis: Axis, left: float, right: float, write: Callable[[float], str]) -> None:
        """A horizontal grid line at every tick, with its value to the left."""
        for tick in axis.ticks:
            self.line((left, axis(tick)), (right, axis(tick)), "grid")
            self.text(left - 6, axis(tick) + 4, write(tick), anchor="end")

    def link(self, first: int, address: str, title: str) -> None:
        """Make a link of the parts since number `first`; the figure is no longer one picture for screen readers."""
        to, name = escape(address), escape(printable(title))
        inside = "".join(self.parts[first:])
        self.parts[first:] = [f'<a href="{to}" aria-label="{name}"><title>{name}</title>{inside}</a>']
        self.role = "group"

    def svg(self, height: float, title: str, described: str) -> str:
        """The whole figure, with its title and what it shows in words, for screen readers."""
        size = f'viewBox="0 0 {self.width:.0f} {height:.0f}" width="{self.width:.0f}" height="{height:.0f}"'
        head = f"<title>{escape(printable(title))}</title><desc>{escape(printable(described))}</desc>"
        space = ' xmlns="http://www.w3.org/2000/svg"' if self.alone else ""
        style = f"<style>{_style()}svg {{ background: var(--paper); }}</style>" if self.alone else ""
        return f'<svg{space} class="{self.name}" {size} role="{self.role}">{head}{style}{"".join(self.parts)}</svg>'


def two_decimals(tick: float) -> str:
    """A tick's value."""
    return f"{tick:.2f}"


@cache
def _style() -> str:
    return files("lookalike.report").joinpath("templates/figures.css").read_text(encoding="utf-8")
