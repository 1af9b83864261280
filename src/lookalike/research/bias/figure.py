"""The figure of `lookalike bias`: the bias of estimates of HR@5, and which measures order encoders right."""

import math
from collections.abc import Mapping, Sequence

from lookalike.audit.trust import BANDS, KINDS
from lookalike.core.text import percent, value
from lookalike.report.figures.plot import Axis, Plot
from lookalike.research.bias.encoder_pairs import band_name
from lookalike.research.bias.statistics import BiasFigure

LINES = ("HR@5", "EHR@5", "HR@5 alone x own odds", "HR@5 corrected", "HR@5 with 100 labels")
WIDTH, LEFT, RIGHT, TOP = 784, 72, 580, 54
PLOT_HEIGHT, ROW, ROWS_LEFT = 250, 30, 236

Found = Mapping[tuple[str, str], BiasFigure]  # by measure and where


def bias_figure(cells: Sequence[BiasFigure], title: str) -> str:
    """Above: score minus the true HR@5 of outside encoders by coverage. Below: pairs ordered as the truth has them.

    Bars are 95% intervals.
    """
    bias, ordered = (
        {
            (cell.measure, cell.where): cell
            for cell in cells
            if cell.figure == figure and math.isfinite(cell.value)
        }
        for figure in ("bias", "ordered right")
    )
    by_kind = {at: one for at, one in ordered.items() if at[1] in KINDS}
    measures = sorted(
        dict.fromkeys(cell.measure for cell in cells),
        key=lambda name: -by_kind[name, KINDS[1]].value if (name, KINDS[1]) in by_kind else math.inf,
    )
    plot, below = Plot("bias", WIDTH, alone=True), TOP + PLOT_HEIGHT + 96
    _biases(plot, bias)
    _orders(plot, by_kind, measures, below)
    shown = (f"{name}: {value(one.value, 2)} ({kind})" for (name, kind), one in by_kind.items())
    return plot.svg(below + ROW * len(measures) + 40, title, "; ".join(shown))


def _biases(plot: Plot, found: Found) -> None:
    """One line for each estimate of HR@5, over the bands of coverage."""
    wheres = [f"outside, {band_name(place)}" for place in range(len(BANDS) - 1)]
    shown = [name for name in LINES if any((name, where) in found for where in wheres)]
    known = [found[name, where] for name in shown for where in wheres if (name, where) in found]
    ends = [end for one in known for end in (one.low, one.high) if math.isfinite(end)]
    low, high = math.floor(10 * min([-0.1, *ends])) / 10, math.ceil(10 * max([0.1, *ends])) / 10
    y, x = Axis(low, high, 0.1, TOP + PLOT_HEIGHT, TOP + 8), Axis(-0.5, len(wheres) - 0.5, 1, LEFT, RIGHT)
    plot.text(12, 22, "Score minus the true HR@5, encoders that did not feed the pool", "name")
    plot.rows(y, LEFT, RIGHT, lambda tick: f"{tick:+.1f}" if abs(tick) > 0.01 else "0")
    plot.line((LEFT, y(0)), (RIGHT, y(0)), "zero")
    for place, where in enumerate(wheres):
        plot.text(x(place), y.start + 20, where.rpartition("@5 ")[2], anchor="middle")
    plot.text((LEFT + RIGHT) / 2, y.start + 38, "coverage@5 of the encoder", anchor="middle")
    firsts = []
    for tone, name in enumerate(shown):
        apart = 6 * (tone - (len(shown) - 1) / 2)
        points = [(x(at) + apart, found[name, w]) for at, w in enumerate(wheres) if (name, w) in found]
        plot.curve([(at, y(one.value)) for at, one in points], f"curve tone-{tone}")
        for at, one in points:
            plot.interval(tone, (at, y(one.low)), (at, y(one.high)))
            plot.tone(tone, at, y(one.value))
        firsts.append((y(points[0][1].value), tone, name))
    for row, (_, tone, name) in enumerate(sorted(firsts)):  # in the order of the lines' left ends
        plot.tone(tone, RIGHT + 20, TOP + 30 + 24 * row, name)


def _orders(plot: Plot, found: Found, measures: Sequence[str], top: float) -> None:
    """One row for each measure, one mark for each kind of pair."""
    least = min([0.9, *(one.low for one in found.values() if math.isfinite(one.low) and one.n > 100)])
    x = Axis(max(0.0, math.floor(10 * least) / 10), 1.0, 0.1, ROWS_LEFT, RIGHT)
    plot.text(12, top - 36, "Share of pairs of encoders ordered as the true HR@5 orders them", "name")
    plot.columns(x, top - 8, top + ROW * len(measures), lambda tick: percent(tick, 0))
    for row, name in enumerate(measures):
        middle = top + ROW * row + 10
        plot.text(ROWS_LEFT - 14, middle + 4, name, "label", "end")
        for tone, kind in enumerate(KINDS):
            if (name, kind) in found:
                one, y = found[name, kind], middle + 6 * (tone - 1)
                plot.interval(tone, (x(max(one.low, x.low)), y), (x(one.high), y))
                plot.tone(tone, x(one.value), y)
    for tone, kind in enumerate(KINDS):
        plot.tone(tone, RIGHT + 20, top + 12 + 24 * tone, kind)
