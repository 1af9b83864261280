"""Curves as an SVG file of its own: panels side by side, lines told apart by their dashes and by name."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from lookalike.report.formats import printable

SIDE, LEFT, TOP, SPACE, LEGEND = 260, 46, 40, 40, 46
DASHES = ("", "9 3", "5 3", "2 3", "9 3 2 3", "2 6")
STYLE = (
    "text{font:12px system-ui,'Liberation Sans',Arial,sans-serif;fill:#1d2126}"
    ".title{font-weight:600}.line{fill:none;stroke:#2c68a9;stroke-width:1.8}"
    ".grid{stroke:#c9d0d8;stroke-dasharray:2 3}.paper{fill:#ffffff}"
)


@dataclass(frozen=True, eq=False)
class Line:
    """One curve: its name, and points with both coordinates from 0 to 1."""

    name: str
    x: np.ndarray
    y: np.ndarray


@dataclass(frozen=True)
class Panel:
    """One square of curves with a title and the words on its axis."""

    title: str
    axis: str
    lines: tuple[Line, ...]


def curves(panels: Sequence[Panel], title: str) -> str:
    """The panels from left to right, one legend below; lines of one place in every panel have one dash."""
    width = LEFT + len(panels) * (SIDE + SPACE)
    height = TOP + SIDE + SPACE + LEGEND
    told = "; ".join(f"{panel.title}: {', '.join(line.name for line in panel.lines)}" for panel in panels)
    parts = [f'<rect class="paper" width="{width}" height="{height}"/>']
    for at, panel in enumerate(panels):
        parts.append(_panel(panel, LEFT + at * (SIDE + SPACE)))
    if panels:
        parts.append(_legend(panels[0].lines, TOP + SIDE + SPACE + 16))
    size = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    words = f"<title>{escape(printable(title))}</title><desc>{escape(printable(told))}</desc>"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img">{words}<style>{STYLE}</style>'
    return f"{head}{''.join(parts)}</svg>\n"


def _panel(panel: Panel, left: float) -> str:
    parts = [_text(left + SIDE / 2, TOP - 14, panel.title, "title")]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = left + SIDE * tick, TOP + SIDE * (1 - tick)
        parts.append(
            f'<path class="grid" d="M{x:.1f} {TOP}V{TOP + SIDE}M{left:.1f} {y:.1f}H{left + SIDE:.1f}"/>'
        )
        parts.append(_text(x, TOP + SIDE + 16, f"{tick:g}"))
        parts.append(_text(left - 6, y + 4, f"{tick:g}", anchor="end"))
    parts.append(_text(left + SIDE / 2, TOP + SIDE + 32, panel.axis))
    parts += [_line(line, at, left) for at, line in enumerate(panel.lines)]
    return "".join(parts)


def _line(line: Line, at: int, left: float) -> str:
    points = " ".join(
        f"{left + SIDE * x:.1f},{TOP + SIDE * (1 - y):.1f}" for x, y in zip(line.x, line.y, strict=True)
    )
    return (
        f'<polyline class="line" {_dash(at)} points="{points}"><title>{escape(line.name)}</title></polyline>'
    )


def _legend(lines: Sequence[Line], y: float) -> str:
    parts, x = [], float(LEFT)
    for at, line in enumerate(lines):
        parts.append(f'<path class="line" {_dash(at)} d="M{x:.1f} {y - 4:.1f}h30"/>')
        parts.append(_text(x + 36, y, line.name, anchor="start"))
        x += 50 + 7.2 * len(line.name)
    return "".join(parts)


def _dash(at: int) -> str:
    return f'stroke-dasharray="{DASHES[at % len(DASHES)] or "none"}"'


def _text(x: float, y: float, text: str, name: str = "", *, anchor: str = "middle") -> str:
    kind = f' class="{name}"' if name else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{kind}>{escape(printable(text))}</text>'
