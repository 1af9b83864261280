"""Curves of aR@k before and after adaptation, with two standard deviations (ADAPT Figure 3)."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from lookalike.core.text import value
from lookalike.report.figures.plot import Axis, Plot
from lookalike.research.adaptation.protocol import KS
from lookalike.research.adaptation.tables import BEFORE, before_and_after
from lookalike.store.journal import Entry

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 784, 60, 560, 44.0, 344.0


def recall_curves(found: Mapping[str, Sequence[Entry]], title: str) -> str:
    """A colour for each encoder: dashed before, plain after; bars are two standard deviations over splits."""
    plot, described = Plot("line-plot", WIDTH, alone=True), []
    x = Axis(0.0, math.log(KS[-1]), 1.0, LEFT + 8, RIGHT - 8)
    y = Axis(0.0, 1.0, 0.25, BOTTOM, TOP)
    plot.text(12, 22, title, "name")
    plot.rows(y, LEFT, RIGHT, "{:g}".format)
    for k in KS:
        plot.text(x(math.log(k)), BOTTOM + 16, f"{k}", anchor="middle")
    plot.text((LEFT + RIGHT) / 2, BOTTOM + 34, "k of aR@k", anchor="middle")
    for tone, (name, entries) in enumerate(found.items()):
        for kind, curves in before_and_after(entries).items():
            mean = curves.mean(0)
            twice = 2 * curves.std(0, ddof=1) if len(curves) > 1 else np.zeros(len(KS))
            apart = (tone - (len(found) - 1) / 2) * 3
            places = [x(math.log(k)) + apart for k in KS]
            dash = " dash-1" if kind == BEFORE else ""
            points = list(zip(places, map(y, mean), strict=True))
            plot.curve(points, f"curve tone-{tone % 5}{dash}", f"{name}, {kind}")
            for place, middle, reach in zip(places, mean, twice, strict=True):
                low, high = max(middle - reach, 0.0), min(middle + reach, 1.0)
                plot.interval(tone, (place, y(low)), (place, y(high)))
            described.append(f"{name}, {kind}: {value(mean[0])} at 1")
        plot.tone(tone, RIGHT + 30, TOP + 20 + 24 * tone, name)
    for line, text in enumerate(("dashed: before; plain: after", "bars: two standard deviations")):
        plot.text(RIGHT + 20, TOP + 30 + 24 * len(found) + 20 * line, text)
    return plot.svg(BOTTOM + 48, title, "; ".join(described))
