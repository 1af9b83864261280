"""The four solids that furniture is put together from, as distances from a point to their surface.

a part is one row of 24 numbers: its solid, its slot (which look it wears), where it is, how it is turned, how large
it is. Points are given in the part's own axes, its centre at 0. Distances are negative inside; they never exceed the
true distance, so a ray may step by them.
"""

from math import sqrt

import numpy as np

from lookalike.studio.compiled import inner, kernel

PANEL, CONE, BALL, HOOP = range(4)
SOLID, SLOT, GRAIN = 0, 1, 2
CENTRE, AXES, HALF, EDGE, SHAPE = 3, 6, 15, 18, 19
REACH = 23
LOOK = 24
"""Columns of a part, LOOK being the first of its looks. CENTRE has 3 numbers, HALF 3, SHAPE 4, AXES 9: the rows are
the part's x, y and z.

| solid | what                                                  | SHAPE                                   |
|-------|-------------------------------------------------------|-----------------------------------------|
| PANEL | rounded rectangle in x, y with depth in z             | radius of the corners above, below      |
| CONE  | round column along y                                  | radius below, above                     |
| BALL  | ellipsoid                                             |                                         |
| HOOP  | bent round bar in the x, y plane, open below          | radius, half thickness, opening         |

An opening is two numbers: sine and cosine of half of it.
"""


@kernel
def distance(parts: np.ndarray, i: int, x: float, y: float, z: float) -> float:
    """From a point in part i's own axes to its surface."""
    solid = int(parts[i, SOLID])
    edge = parts[i, EDGE]
    if solid == PANEL:
        return _panel(parts, i, x, y, z, edge)
    if solid == CONE:
        return (
            _cone(x, y, z, parts[i, HALF + 1] - edge, parts[i, SHAPE] - edge, parts[i, SHAPE + 1] - edge)
            - edge
        )
    if solid == BALL:
        return _ball(x / parts[i, HALF], y / parts[i, HALF + 1], z / parts[i, HALF + 2], parts, i)
    bent = _arc(parts, i, x, y)
    return sqrt(bent * bent + z * z) - parts[i, SHAPE + 1]


@inner
def _panel(parts: np.ndarray, i: int, x: float, y: float, z: float, edge: float) -> float:
    round_off = parts[i, SHAPE] if y > 0.0 else parts[i, SHAPE + 1]
    across = abs(x) - parts[i, HALF] + round_off
    up = abs(y) - parts[i, HALF + 1] + round_off
    out_x, out_y = max(across, 0.0), max(up, 0.0)
    flat = sqrt(out_x * out_x + out_y * out_y) + min(max(across, up), 0.0) - round_off
    return _slab(flat + edge, abs(z) - parts[i, HALF + 2] + edge) - edge


@inner
def _slab(flat: float, deep: float) -> float:
    """A flat shape with depth, from the distances in the plane and across it."""
    out_f, out_d = max(flat, 0.0), max(deep, 0.0)
    return min(max(flat, deep), 0.0) + sqrt(out_f * out_f + out_d * out_d)


@inner
def _cone(x: float, y: float, z: float, half: float, below: float, above: float) -> float:
    radius = sqrt(x * x + z * z)
    cap = radius - min(radius, below if y < 0.0 else above)
    over = abs(y) - half
    lean = above - below
    tall = 2.0 * half
    share = ((above - radius) * lean + (half - y) * tall) / (lean * lean + tall * tall)
    share = min(max(share, 0.0), 1.0)
    side = radius - above + lean * share
    rise = y - half + tall * share
    near = min(cap * cap + over * over, side * side + rise * rise)
    return -sqrt(near) if side < 0.0 and over < 0.0 else sqrt(near)


@inner
def _ball(x: float, y: float, z: float, parts: np.ndarray, i: int) -> float:
    """A bound for ellipsoids: exact on the surface, and close to it (x, y, z in half sizes)."""
    a, b, c = x / parts[i, HALF], y / parts[i, HALF + 1], z / parts[i, HALF + 2]
    length = sqrt(x * x + y * y + z * z)
    slope = sqrt(a * a + b * b + c * c)
    if slope < 1e-9:
        return -min(parts[i, HALF], parts[i, HALF + 1], parts[i, HALF + 2])
    return length * (length - 1.0) / slope


@inner
def _arc(parts: np.ndarray, i: int, x: float, y: float) -> float:
    """From a point to the middle line of a bow round 0, open downwards."""
    radius, sine, cosine = parts[i, SHAPE], parts[i, SHAPE + 2], parts[i, SHAPE + 3]
    x = abs(x)
    if cosine * x > sine * y:
        dx, dy = x - sine * radius, y - cosine * radius
        return sqrt(dx * dx + dy * dy)
    return abs(sqrt(x * x + y * y) - radius)
