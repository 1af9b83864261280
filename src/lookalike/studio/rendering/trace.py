"""Which part a ray meets first. All rays of a camera run side by side."""

from typing import NamedTuple

import numpy as np

from lookalike.studio.compiled import inner, kernel
from lookalike.studio.furniture.solids import AXES, CENTRE, HALF, REACH, distance
from lookalike.studio.rendering.surface import AIM

FAR = 50.0
CLOSE = 0.0008
"""Where a ray starts, and how near to a surface it has met it; the item is about 1 across."""
_STEPS = 40


Point = tuple[float, float, float]


class Camera(NamedTuple):
    """Three axes at right angles. Numbers rather than arrays: kernels count references to arrays, which is slow."""

    right: Point
    up: Point
    forward: Point


class Frame(NamedTuple):
    """The square that a camera sees."""

    left: float
    bottom: float
    width: float


@kernel
def aimed(parts: np.ndarray, camera: Camera) -> np.ndarray:
    """The parts with 7 more columns from AIM on, which `nearest` needs for this camera.

    They are its direction in the part's axes, then the part's left, right, bottom and top as it sees them.
    """
    seen = np.empty((len(parts), AIM + 7))
    for i in range(len(parts)):
        for column in range(AIM):  # a slice would take numba another second to compile
            seen[i, column] = parts[i, column]
        for axis in range(3):
            a = AXES + 3 * axis
            seen[i, AIM + axis] = _dot(parts, i, a, camera.forward)
        for side in range(2):
            level = camera.right if side == 0 else camera.up
            middle = _dot(parts, i, CENTRE, level)
            spread = 0.0
            for axis in range(3):
                spread += abs(_dot(parts, i, AXES + 3 * axis, level)) * parts[i, HALF + axis]
            seen[i, AIM + 3 + 2 * side] = middle - spread
            seen[i, AIM + 4 + 2 * side] = middle + spread
    return seen


@kernel
def nearest(parts: np.ndarray, camera: Camera, right: float, up: float, limit: float) -> tuple[int, float]:
    """The part met first by the ray at (right, up), and how far from the start; (-1, limit) if none before."""
    best, part = limit, -1
    x = right * camera.right[0] + up * camera.up[0] - FAR * camera.forward[0]
    y = right * camera.right[1] + up * camera.up[1] - FAR * camera.forward[1]
    z = right * camera.right[2] + up * camera.up[2] - FAR * camera.forward[2]
    for i in range(len(parts)):
        if (
            right < parts[i, AIM + 3]
            or right > parts[i, AIM + 4]
            or up < parts[i, AIM + 5]
            or up > parts[i, AIM + 6]
        ):
            continue
        met = _meet(parts, i, x - parts[i, CENTRE], y - parts[i, CENTRE + 1], z - parts[i, CENTRE + 2], best)
        if met < best:
            best, part = met, i
    return part, best


@inner
def _meet(parts: np.ndarray, i: int, x: float, y: float, z: float, limit: float) -> float:
    """How far along the ray part i is met; `limit` if it is not met before."""
    u = x * parts[i, AXES] + y * parts[i, AXES + 1] + z * parts[i, AXES + 2]
    v = x * parts[i, AXES + 3] + y * parts[i, AXES + 4] + z * parts[i, AXES + 5]
    w = x * parts[i, AXES + 6] + y * parts[i, AXES + 7] + z * parts[i, AXES + 8]
    du, dv, dw = parts[i, AIM], parts[i, AIM + 1], parts[i, AIM + 2]
    start, end = _between(u, du, parts[i, HALF], 0.0, limit)
    start, end = _between(v, dv, parts[i, HALF + 1], start, end)
    start, end = _between(w, dw, parts[i, HALF + 2], start, end)
    along = start
    for _ in range(_STEPS):
        if along >= end:
            return limit
        gap = distance(parts, i, u + along * du, v + along * dv, w + along * dw)
        if gap < CLOSE:
            return along
        along += gap
    return limit


@inner
def _between(at: float, step: float, half: float, start: float, end: float) -> tuple[float, float]:
    """The part of a ray between two planes at -half and half."""
    if abs(step) < 1e-9:
        return (start, end) if abs(at) <= half else (start, start)
    first, last = (-half - at) / step, (half - at) / step
    if first > last:
        first, last = last, first
    return max(start, first), min(end, last)


@inner
def clearance(parts: np.ndarray, x: float, y: float, z: float, reach: float) -> float:
    """How much room there is round a point, up to `reach`."""
    room = reach
    for i in range(len(parts)):
        dx, dy, dz = x - parts[i, CENTRE], y - parts[i, CENTRE + 1], z - parts[i, CENTRE + 2]
        beyond = parts[i, REACH] + room
        if dx * dx + dy * dy + dz * dz > beyond * beyond:
            continue
        u = dx * parts[i, AXES] + dy * parts[i, AXES + 1] + dz * parts[i, AXES + 2]
        v = dx * parts[i, AXES + 3] + dy * parts[i, AXES + 4] + dz * parts[i, AXES + 5]
        w = dx * parts[i, AXES + 6] + dy * parts[i, AXES + 7] + dz * parts[i, AXES + 8]
        room = min(room, distance(parts, i, u, v, w))
    return room


@kernel
def depths(parts: np.ndarray, camera: Camera, frame: Frame, cells: int) -> np.ndarray:
    """(cells, cells) distances along the rays through a frame: what a lamp there lights."""
    depth = np.empty((cells, cells))
    step = frame.width / cells
    for row in range(cells):
        for column in range(cells):
            right, up = frame.left + (column + 0.5) * step, frame.bottom + (row + 0.5) * step
            depth[row, column] = nearest(parts, camera, right, up, 2.0 * FAR)[1]
    return depth


@inner
def _dot(parts: np.ndarray, i: int, column: int, axis: Point) -> float:
    return parts[i, column] * axis[0] + parts[i, column + 1] * axis[1] + parts[i, column + 2] * axis[2]
