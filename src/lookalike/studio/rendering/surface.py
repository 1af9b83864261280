"""How a part of the item looks at a point: its colour there, and the lean of its surface."""

from math import sqrt

import numpy as np

from lookalike.studio.compiled import inner
from lookalike.studio.furniture.solids import (
    AXES,
    BALL,
    CENTRE,
    CONE,
    GRAIN,
    HALF,
    LOOK,
    PANEL,
    SOLID,
    distance,
)
from lookalike.studio.rendering.textures import grain, ornament

MATERIAL, COLOUR, SECOND, CHARACTER, SCALE = LOOK, LOOK + 1, LOOK + 4, LOOK + 7, LOOK + 8
PATTERN, DENSITY, STRENGTH, GLOSS, GLOW, SEED = range(LOOK + 9, LOOK + 15)
AIM = LOOK + 15
"""Columns of a part's look, AIM the first after them. COLOUR and SECOND (the ornament's) have 3, linear light."""

Point = tuple[float, float, float]


@inner
def place(parts: np.ndarray, i: int, x: float, y: float, z: float) -> Point:
    """A point of the room in part i's own axes."""
    return _turn(parts, i, x - parts[i, CENTRE], y - parts[i, CENTRE + 1], z - parts[i, CENTRE + 2])


@inner
def _turn(parts: np.ndarray, i: int, x: float, y: float, z: float) -> Point:
    return (
        x * parts[i, AXES] + y * parts[i, AXES + 1] + z * parts[i, AXES + 2],
        x * parts[i, AXES + 3] + y * parts[i, AXES + 4] + z * parts[i, AXES + 5],
        x * parts[i, AXES + 6] + y * parts[i, AXES + 7] + z * parts[i, AXES + 8],
    )


@inner
def back(parts: np.ndarray, i: int, u: float, v: float, w: float) -> Point:
    """A direction in part i's own axes as one of the room."""
    return (
        u * parts[i, AXES] + v * parts[i, AXES + 3] + w * parts[i, AXES + 6],
        u * parts[i, AXES + 1] + v * parts[i, AXES + 4] + w * parts[i, AXES + 7],
        u * parts[i, AXES + 2] + v * parts[i, AXES + 5] + w * parts[i, AXES + 8],
    )


@inner
def unit(x: float, y: float, z: float) -> Point:
    """The vector at length 1."""
    length = sqrt(x * x + y * y + z * z) + 1e-12
    return x / length, y / length, z / length


@inner
def normal(parts: np.ndarray, i: int, u: float, v: float, w: float) -> Point:
    """Which way the surface faces, in the part's own axes: the slope of its distance at four corners."""
    h = 0.0015
    a = distance(parts, i, u + h, v - h, w - h)
    b = distance(parts, i, u - h, v - h, w + h)
    c = distance(parts, i, u - h, v + h, w - h)
    d = distance(parts, i, u + h, v + h, w + h)
    return unit(a - b - c + d, c + d - a - b, b + d - a - c)


@inner
def dressed(parts: np.ndarray, i: int, at: Point, facing: Point) -> tuple[Point, Point]:
    """At a point of part i (own axes): its colour in linear light, and which way the surface faces there."""
    across, along, to_u, to_v = _unrolled(parts, i, at, facing)
    seed = int(parts[i, SEED])
    u, v = (along, across) if parts[i, GRAIN] == 1.0 else (across, along)
    if parts[i, GRAIN] == 2.0 and abs(facing[1]) >= abs(facing[0]):
        u, v = v, u
    shift = 0.37 * i
    bright, lean_u, lean_v = grain(
        int(parts[i, MATERIAL]), u + shift, v - shift, parts[i, CHARACTER], parts[i, SCALE], seed
    )
    if parts[i, GRAIN] == 1.0:
        lean_u, lean_v = lean_v, lean_u
    second, dark, rise_u, rise_v = _pattern(parts, i, across, along, facing)
    lean_u, lean_v = lean_u + rise_u, lean_v + rise_v
    bright *= dark
    first = 1.0 - second
    colour = (
        bright * (first * parts[i, COLOUR] + second * parts[i, SECOND]),
        bright * (first * parts[i, COLOUR + 1] + second * parts[i, SECOND + 1]),
        bright * (first * parts[i, COLOUR + 2] + second * parts[i, SECOND + 2]),
    )
    lean = (
        facing[0] - lean_u * to_u[0] - lean_v * to_v[0],
        facing[1] - lean_u * to_u[1] - lean_v * to_v[1],
        facing[2] - lean_u * to_u[2] - lean_v * to_v[2],
    )
    return colour, unit(lean[0], lean[1], lean[2])


@inner
def _pattern(
    parts: np.ndarray, i: int, across: float, along: float, facing: Point
) -> tuple[float, float, float, float]:
    """The ornament there. On flat parts it runs on from one part of the item to the next."""
    if int(parts[i, SOLID]) == PANEL:
        middle = place(parts, i, 0.0, 0.0, 0.0)
        off = _flat(middle, facing)
        across, along = across - off[0], along - off[1]
    return ornament(int(parts[i, PATTERN]), across, along, parts[i, DENSITY], parts[i, STRENGTH])


@inner
def _flat(at: Point, facing: Point) -> tuple[float, float]:
    """The two coordinates of a point in the plane of the part's axes that the surface lies nearest to."""
    if abs(facing[2]) >= abs(facing[0]) and abs(facing[2]) >= abs(facing[1]):
        return at[0], at[1]
    return (at[2], at[1]) if abs(facing[0]) >= abs(facing[1]) else (at[0], at[2])


@inner
def _unrolled(parts: np.ndarray, i: int, at: Point, facing: Point) -> tuple[float, float, Point, Point]:
    """The surface laid flat: where the point is on it, across and along, and the directions of the two."""
    x, y, z = at
    solid = int(parts[i, SOLID])
    if solid in (CONE, BALL) and abs(facing[1]) < 0.8:
        # A turn in four straight quarters stands in for the angle.
        total = abs(x) + abs(z) + 1e-9
        turn = x / total if z > 0.0 else (2.0 - x / total if x > 0.0 else -2.0 - x / total)
        length = sqrt(x * x + z * z) + 1e-9
        return turn * 1.5708 * parts[i, HALF], y, (z / length, 0.0, -x / length), (0.0, 1.0, 0.0)
    if abs(facing[2]) >= abs(facing[0]) and abs(facing[2]) >= abs(facing[1]):
        return x, y, (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    if abs(facing[0]) >= abs(facing[1]):
        return z, y, (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)
    return x, z, (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
