"""The figure of `lookalike bias`: how biased estimates of HR@5 are for newcomers, and who orders encoders right."""

import math
from collections.abc import Callable, Sequence

from lookalike.audit.bias import Cell, Estimate, band_name
from lookalike.audit.trust import BANDS, KINDS
from lookalike.report.drawing import svg as drawing
from lookalike.report.drawing import text

LINES = ("HR@5", "EHR@5", "HR@5 alone x own odds", "HR@5 corrected", "HR@5 with 100 labels")
WIDTH, LEFT, RIGHT, TOP = 784, 72, 580, 54
PLOT_HEIGHT, ROW, ROWS_LEFT = 250, 30, 222
STYLE = """
svg { --ink: #1d2126; --soft: #565e68; --line: #dcd9d3; --raised: #fff; background: #fdfcfa; font-family: sans-serif; }
svg text { font-size: 13px; fill: var(--ink); } svg .name { font-weight: 600; }
svg .small { font-size: 11px; fill: var(--soft); }
svg .grid { stroke: var(--line); stroke-dasharray: 2 3; } svg .track { stroke: var(--soft); }
svg .tone-0 { --tone: #1b5a9c; } svg .tone-1 { --tone: #a04a12; } svg .tone-2 { --tone: #17683f; }
svg .tone-3 { --tone: #7a3f97; } svg .tone-4 { --tone: #565e68; }
svg .curve { fill: none; stroke: var(--tone); stroke-width: 2; }
svg .whisker { stroke: var(--tone); stroke-width: 1.5; }
svg .spot { fill: var(--tone); stroke: var(--raised); }
"""


def bias_figure(cells: Sequence[Cell], title: str) -> str:
    """Above: score minus the true HR@5 of newcomers by coverage. Below: pairs ordered as the truth has them.

    Bars are 95 % intervals. The picture stands alone: it carries its style.
    """
    found = {(cell.measure, cell.figure, cell.where): cell.estimate for cell in cells}
    measures = list(dict.fromkeys(cell.measure for cell in cells))
    parts = [f"<style>{STYLE}</style>"]
    parts += _curves({(name, where): one for (name, figure, where), one in found.items() if figure == "bias"})
    below = TOP + PLOT_HEIGHT + 96
    ordered = sorted(measures, key=lambda name: -_value(found.get((name, "ordered right", "one newcomer"))))
    parts += _dots(
        {
            (name, where): one
            for (name, figure, where), one in found.items()
            if figure == "ordered right" and where in KINDS
        },
        ordered,
        below,
    )
    told = "; ".join(
        f"{name}: {_value(found.get((name, 'ordered right', kind))):.2f} ({kind})"
        for name in ordered
        for kind in KINDS
    )
    picture = drawing("bias", WIDTH, below + ROW * len(ordered) + 40, (title, told), parts)
    return picture.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)


def _curves(found: dict[tuple[str, str], Estimate]) -> list[str]:
    """One line for each estimate of HR@5, over the bands of coverage."""
    wheres = [f"newcomers, {band_name(place)}" for place in range(len(BANDS) - 1)]
    shown = [name for name in LINES if any((name, where) in found for where in wheres)]
    known = [found[name, where] for name in shown for where in wheres if (name, where) in found]
    ends = [end for one in known for end in (one.low, one.high) if math.isfinite(end)]
    low, high = math.floor(10 * min([-0.1, *ends])) / 10, math.ceil(10 * max([0.1, *ends])) / 10
    high_y, low_y = TOP + 8, TOP + PLOT_HEIGHT

    def y(value: float) -> float:
        return low_y - (low_y - high_y) * (value - low) / (high - low)

    def x(place: float) -> float:
        return LEFT + (RIGHT - LEFT) * (place + 0.5) / len(wheres)

    parts = [text(12, 22, "Score minus the true HR@5, encoders that did not feed the pool", "name")]
    for tick in range(round(10 * low), round(10 * high) + 1):
        line = "track" if tick == 0 else "grid"
        parts.append(
            f'<line x1="{LEFT}" x2="{RIGHT}" y1="{y(tick / 10):.1f}" y2="{y(tick / 10):.1f}" class="{line}"/>'
        )
        parts.append(text(LEFT - 8, y(tick / 10) + 4, f"{tick / 10:+.1f}" if tick else "0", "small", "end"))
    for place, where in enumerate(wheres):
        parts.append(text(x(place), low_y + 20, where.rpartition("@5 ")[2], "small", "middle"))
    parts.append(text((LEFT + RIGHT) / 2, low_y + 38, "coverage@5 of the encoder", "small", "middle"))
    last: list[tuple[float, int, str]] = []
    for tone, name in enumerate(shown):
        points = [
            (x(place) + 6 * (tone - (len(shown) - 1) / 2), found[name, where])
            for place, where in enumerate(wheres)
            if (name, where) in found and math.isfinite(found[name, where].value)
        ]
        parts.append(_curve(points, y, tone))
        if points:
            last.append((y(points[0][1].value), tone, name))
    return parts + _names(last)


def _curve(points: list[tuple[float, Estimate]], y: Callable[[float], float], tone: int) -> str:
    path = " ".join(f"{at:.1f},{y(one.value):.1f}" for at, one in points)
    bars = "".join(
        f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{y(one.low):.1f}" y2="{y(one.high):.1f}" class="whisker"/>'
        + mark(tone, at, y(one.value))
        for at, one in points
    )
    return f'<g class="tone-{tone}"><polyline points="{path}" class="curve"/>{bars}</g>'


def _names(last: list[tuple[float, int, str]]) -> list[str]:
    """The names beside the plot, in the order of the lines' left ends."""
    parts = []
    for row, (_, tone, name) in enumerate(sorted(last)):
        y = TOP + 30 + 24 * row
        parts.append(
            f'<g class="tone-{tone}">{mark(tone, RIGHT + 20, y)}</g>' + text(RIGHT + 34, y + 4, name, "label")
        )
    return parts


def _dots(found: dict[tuple[str, str], Estimate], measures: Sequence[str], top: float) -> list[str]:
    """One row for each measure, one mark for each kind of pair."""
    bottom = top + ROW * len(measures)
    low = min([0.9, *(one.low for one in found.values() if math.isfinite(one.low) and one.n > 100)])
    low = max(0.0, math.floor(10 * low) / 10)

    def x(value: float) -> float:
        return ROWS_LEFT + (RIGHT - ROWS_LEFT) * (value - low) / (1.0 - low)

    parts = [text(12, top - 36, "Share of pairs of encoders ordered as the true HR@5 orders them", "name")]
    for tick in range(round(10 * low), 11):
        at = x(tick / 10)
        parts.append(f'<line x1="{at:.1f}" x2="{at:.1f}" y1="{top - 8}" y2="{bottom}" class="grid"/>')
        parts.append(text(at, bottom + 16, f"{10 * tick} %", "small", "middle"))
    for row, name in enumerate(measures):
        y = top + ROW * row + 10
        parts.append(text(ROWS_LEFT - 14, y + 4, name, "label", "end"))
        for tone, kind in enumerate(KINDS):
            one = found.get((name, kind))
            if one is not None and math.isfinite(one.value):
                at = y + 6 * (tone - 1)
                parts.append(
                    f'<g class="tone-{tone}"><line x1="{x(max(one.low, low)):.1f}" x2="{x(one.high):.1f}" '
                    f'y1="{at:.1f}" '
                    f'y2="{at:.1f}" class="whisker"/>{mark(tone, x(one.value), at)}</g>'
                )
    for tone, kind in enumerate(KINDS):
        y = top + 12 + 24 * tone
        parts.append(
            f'<g class="tone-{tone}">{mark(tone, RIGHT + 20, y)}</g>' + text(RIGHT + 34, y + 4, kind, "label")
        )
    return parts


def mark(tone: int, x: float, y: float) -> str:
    """A mark of a shape of its own for each tone: circle, diamond, square, triangle, small circle."""
    if tone in (0, 4):
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{5 if tone == 0 else 3.5}" class="spot"/>'
    corners = {
        1: ((0, -6), (6, 0), (0, 6), (-6, 0)),
        2: ((-4.5, -4.5), (4.5, -4.5), (4.5, 4.5), (-4.5, 4.5)),
        3: ((0, -6), (5.5, 4.5), (-5.5, 4.5)),
    }[tone]
    points = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in corners)
    return f'<polygon points="{points}" class="spot"/>'


def _value(estimate: Estimate | None) -> float:
    return estimate.value if estimate is not None else float("nan")
