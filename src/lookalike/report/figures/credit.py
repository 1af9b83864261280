"""The credit that DCS gives a labelled pair for its place in the list (VSD Figure 1)."""

from collections.abc import Sequence

import numpy as np

from lookalike.core.text import value
from lookalike.evaluate.measures.credit import phi
from lookalike.report.figures.plot import Axis, Plot

SIDE, LEFT, TOP, SPACE = 260, 46, 40, 40
BOTTOM = TOP + SIDE


def credit_curves(
    alphas: Sequence[float],
    panels: Sequence[tuple[str, int]],
    title: str,
    *,
    points: int = 81,
    alone: bool = False,
) -> str:
    """Panels (title, label) side by side, a curve for each alpha: phi(p, alpha) for label 1, 1 - phi for label 0."""
    names = [f"alpha = {alpha:g}" for alpha in alphas]
    width = max(LEFT + len(panels) * (SIDE + SPACE), LEFT + sum(map(_room, names)))
    plot = Plot("line-plot", width, alone=alone)
    p = np.linspace(0.0, 1.0, points)
    for at, (head, label) in enumerate(panels):
        left = LEFT + at * (SIDE + SPACE)
        x, y = Axis(0, 1, 0.25, left, left + SIDE), Axis(0, 1, 0.25, BOTTOM, TOP)
        plot.columns(x, TOP, BOTTOM, "{:g}".format)
        plot.rows(y, left, left + SIDE, "{:g}".format)
        if head:
            plot.text(left + SIDE / 2, TOP - 14, head, "name", "middle")
        plot.text(left + SIDE / 2, BOTTOM + 31, "percentile rank: 0 last, 1 first", anchor="middle")
        for dash, (name, alpha) in enumerate(zip(names, alphas, strict=True)):
            credit = phi(p, alpha) if label == 1 else 1.0 - phi(p, alpha)
            plot.curve([(x(a), y(b)) for a, b in zip(p, credit, strict=True)], f"curve dash-{dash}", name)
    place = LEFT
    for dash, name in enumerate(names):
        plot.line((place, BOTTOM + 52), (place + 26, BOTTOM + 52), f"curve dash-{dash}")
        plot.text(place + 31, BOTTOM + 56, name)
        place += _room(name)
    described = "; ".join(
        f"{name}: {value(phi(np.array([0.9]), alpha)[0])} at 0.9"
        for name, alpha in zip(names, alphas, strict=True)
    )
    return plot.svg(BOTTOM + 66, title, f"Credit of a similar pair, phi(p, alpha): {described}")


def _room(name: str) -> int:
    return 42 + 6 * len(name)
