"""Putting solids together: the builder that every piece of furniture is written with.

Lengths are in metres, x to the right, y up from the floor, z towards the camera.
"""

from math import sqrt

import numpy as np

from lookalike.studio.furniture import solids

Point = tuple[float, float, float]
BODY, FRAME, DARK, LINEN, GLOW, PAGE, LEAF, POT, PROP, ACCENT = range(10)
"""Slots: what a part is dressed in. The first six belong to the item, the others to what stands beside it."""

_FACING = {
    "front": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "up": ((1.0, 0.0, 0.0), (0.0, 0.0, -1.0), (0.0, 1.0, 0.0)),
    "side": ((0.0, 0.0, -1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)),
}


class Build:
    """A growing list of parts."""

    def __init__(self) -> None:
        self.rows: list[list[float]] = []

    def panel(
        self,
        slot: int,
        at: Point,
        half: Point,
        *,
        facing: str = "front",
        edge: float = 0.008,
        above: float = 0.0,
        below: float = 0.0,
        recline: float = 0.0,
    ) -> None:
        """A board or cushion: half width, half height and half depth as seen from the side that it faces.

        `above` and `below` are the radii of its upper and lower corners, `recline` how far it leans back per
        unit of height.
        """
        width, height, depth = half
        edge = min(edge, width, height, depth)
        above, below = (min(max(radius, edge), width, height) for radius in (above, below))
        axes = _leaning(recline) if recline else _FACING[facing]
        self._add(solids.PANEL, slot, at, axes, half, edge, (above, below, 0.0, 0.0))

    def board(self, slot: int, at: Point, half: Point, edge: float, corner: float = 0.0) -> None:
        """A horizontal panel whose four corners have one radius."""
        self.panel(slot, at, half, facing="up", edge=edge, above=corner, below=corner)

    def bar(
        self, slot: int, foot: Point, head: Point, below: float, above: float, *, edge: float = 0.004
    ) -> None:
        """A round column from foot to head with these radii at its ends."""
        along = (head[0] - foot[0], head[1] - foot[1], head[2] - foot[2])
        middle = ((foot[0] + head[0]) / 2, (foot[1] + head[1]) / 2, (foot[2] + head[2]) / 2)
        widest = max(below, above)
        edge = min(edge, 0.9 * min(below, above))
        half = (widest, length(along) / 2, widest)
        self._add(solids.CONE, slot, middle, _upright(unit(along)), half, edge, (below, above, 0.0, 0.0))

    def ball(self, slot: int, at: Point, half: Point, *, up: Point = (0.0, 1.0, 0.0)) -> None:
        """An ellipsoid; `up` (of any length) is where its y axis points."""
        self._add(solids.BALL, slot, at, _upright(unit(up)), half, 0.0, (0.0, 0.0, 0.0, 0.0))

    def hoop(
        self, slot: int, at: Point, radius: float, thick: float, *, opening: float, facing: str = "front"
    ) -> None:
        """A bent bar; `opening` in (0, 1] grows from the top of the bow to a closed ring."""
        # tangent of half the angle: opening / (1 - opening) is 0, 1 and infinity at 0, 1/2 and 1
        sine, cosine = (0.0, -1.0) if opening >= 0.999 else sine_cosine(opening / (1.0 - opening))
        outer = radius + thick
        self._add(
            solids.HOOP, slot, at, _FACING[facing], (outer, outer, thick), 0.0, (radius, thick, sine, cosine)
        )

    def array(self) -> np.ndarray:
        """(parts, COLUMNS) float64."""
        return np.array(self.rows)

    def _add(
        self,
        solid: int,
        slot: int,
        at: Point,
        axes: tuple[Point, Point, Point],
        half: Point,
        edge: float,
        shape: tuple[float, float, float, float],
    ) -> None:
        grain = float(max(range(3), key=lambda axis: half[axis]))
        row = [float(solid), float(slot), grain, *at, *axes[0], *axes[1], *axes[2], *half, edge, *shape]
        self.rows.append([*row, length(half)])


def length(vector: Point) -> float:
    """The Euclidean length of a vector."""
    x, y, z = vector
    return sqrt(x * x + y * y + z * z)


def unit(vector: Point) -> Point:
    """The vector at length 1."""
    x, y, z = vector
    size = length(vector)
    return x / size, y / size, z / size


def _leaning(slope: float) -> tuple[Point, Point, Point]:
    cosine = 1.0 / sqrt(1.0 + slope * slope)
    sine = slope * cosine
    return (1.0, 0.0, 0.0), (0.0, cosine, -sine), (0.0, sine, cosine)


def _upright(up: Point) -> tuple[Point, Point, Point]:
    """Axes whose y is `up`, with x kept as level as can be."""
    x, y, z = up
    if abs(z) > 0.9:
        level = sqrt(x * x + z * z)
        side = (abs(z) / level, 0.0, -x * z / abs(z) / level)
    else:
        level = sqrt(x * x + y * y)
        side = (y / level, -x / level, 0.0)
    return side, up, cross(side, up)


def cross(a: Point, b: Point) -> Point:
    """The vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def sine_cosine(tangent: float) -> tuple[float, float]:
    """Sine and cosine of an angle from the tangent of its half, without trigonometry."""
    square = tangent * tangent
    return 2.0 * tangent / (1.0 + square), (1.0 - square) / (1.0 + square)


def blend(low: float, high: float, share: float) -> float:
    """From `low` at share 0 to `high` at share 1."""
    return low + (high - low) * share
