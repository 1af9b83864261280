"""From parts, looks, light and room to pixels."""

from math import sqrt
from typing import NamedTuple

import numpy as np

from lookalike.studio.compiled import inner, kernel
from lookalike.studio.rendering.light import Light, lit, polished, shine
from lookalike.studio.rendering.room import SEAMLESS, Colour, Room, floor_at, wall_at
from lookalike.studio.rendering.surface import GLOSS, GLOW, MATERIAL, back, dressed, normal, place
from lookalike.studio.rendering.textures import clamp, step
from lookalike.studio.rendering.trace import FAR, Camera, Frame, clearance, nearest

_FLAT, _OUTLINE, _JUMP = range(3)
_CONTRAST = 0.40
_AO = 0.10


class Scene(NamedTuple):
    """Everything in front of the camera."""

    parts: np.ndarray
    camera: Camera
    frame: Frame
    light: Light
    room: Room


@kernel
def render(scene: Scene, size: int) -> np.ndarray:
    """(size, size, 3) uint8. One ray a pixel, and four more where a part ends or its colour changes fast."""
    colours = np.empty((size, size, 3))
    met = np.empty((size, size), dtype=np.int16)
    for row in range(size):
        for column in range(size):
            right, up = _toward(scene.frame, size, row + 0.5, column + 0.5)
            part, far = nearest(scene.parts, scene.camera, right, up, 2.0 * FAR)
            colour = _colour(scene, part, far, right, up, scene.frame.width / size)
            met[row, column] = part
            colours[row, column, 0], colours[row, column, 1], colours[row, column, 2] = colour
    picture = np.empty((size, size, 3), dtype=np.uint8)
    for row in range(size):
        for column in range(size):
            edge = _edge(met, colours, row, column)
            colour = (colours[row, column, 0], colours[row, column, 1], colours[row, column, 2])
            if edge != _FLAT:
                colour = _finer(scene, met, colours, row, column, edge == _OUTLINE)
            dark = _corners((row + 0.5) / size - 0.5, (column + 0.5) / size - 0.5)
            for channel in range(3):
                picture[row, column, channel] = _shown(dark * colour[channel])
    return picture


@kernel
def silhouette(scene: Scene, own: int, size: int) -> np.ndarray:
    """(size, size) bool: the pixels whose middle shows one of the first `own` parts, with nothing before it."""
    seen = np.empty((size, size), dtype=np.bool_)
    for row in range(size):
        for column in range(size):
            right, up = _toward(scene.frame, size, row + 0.5, column + 0.5)
            part, _ = nearest(scene.parts, scene.camera, right, up, 2.0 * FAR)
            seen[row, column] = 0 <= part < own
    return seen


@inner
def _toward(frame: Frame, size: int, row: float, column: float) -> tuple[float, float]:
    return frame.left + column / size * frame.width, frame.bottom + (1.0 - row / size) * frame[2]


@inner
def _edge(met: np.ndarray, colours: np.ndarray, row: int, column: int) -> int:
    """Whether a pixel lies inside one surface, on the outline of a part, or where a part's colour jumps."""
    size, part = len(met), met[row, column]
    tone = _tone(colours, row, column)
    edge = _FLAT
    for k in range(4):
        i = row + (k == 0) - (k == 1)
        j = column + (k == 2) - (k == 3)
        if i < 0 or j < 0 or i >= size or j >= size:
            continue
        if met[i, j] != part:
            edge = _OUTLINE
        elif part >= 0 and abs(_tone(colours, i, j) - tone) > _CONTRAST * (tone + 0.1):
            return _JUMP
    return edge


@inner
def _tone(colours: np.ndarray, row: int, column: int) -> float:
    return 0.3 * colours[row, column, 0] + 0.6 * colours[row, column, 1] + 0.1 * colours[row, column, 2]


@inner
def _finer(scene: Scene, met: np.ndarray, colours: np.ndarray, row: int, column: int, borrow: bool) -> Colour:
    """The mean of the middle of a pixel and four more places in it; colours may be borrowed from neighbours."""
    size = len(met)
    red, green, blue = colours[row, column, 0], colours[row, column, 1], colours[row, column, 2]
    for k in range(4):
        across = 0.375 if k == 0 else (0.875 if k == 1 else (0.125 if k == 2 else 0.625))
        right, up = _toward(scene.frame, size, row + 0.125 + 0.25 * k, column + across)
        part, far = nearest(scene.parts, scene.camera, right, up, 2.0 * FAR)
        i, j = _like(met, part, row, column) if borrow or part < 0 else (-1, -1)
        if i >= 0:
            colour = (colours[i, j, 0], colours[i, j, 1], colours[i, j, 2])
        else:
            colour = _colour(scene, part, far, right, up, scene.frame.width / size)
        red, green, blue = red + colour[0], green + colour[1], blue + colour[2]
    return red / 5.0, green / 5.0, blue / 5.0


@inner
def _like(met: np.ndarray, part: int, row: int, column: int) -> tuple[int, int]:
    """The pixel itself, or one beside it, that shows this part; (-1, -1) if none does."""
    size = len(met)
    if met[row, column] == part:
        return row, column
    for i in range(max(row - 1, 0), min(row + 2, size)):
        for j in range(max(column - 1, 0), min(column + 2, size)):
            if met[i, j] == part:
                return i, j
    return -1, -1


@inner
def _shown(linear: float) -> int:
    """Linear light as a byte: bright tones are bent a little, and a square root stands for the display's curve."""
    bent = linear * (1.0 + 0.06 * linear) / (1.0 + 0.30 * linear)
    return int(255.0 * sqrt(clamp(1.18 * bent)) + 0.5)


@kernel
def _colour(scene: Scene, part: int, far: float, right: float, up: float, soft: float) -> Colour:
    """The light that comes back along a ray from the part that it meets, or from the room (part -1)."""
    camera = scene.camera
    along = far - FAR if part >= 0 else _room_distance(scene.room, camera, up)
    y = up * camera.up[1] + along * camera.forward[1]
    z = up * camera.up[2] + along * camera.forward[2]
    if part >= 0:
        return _item(scene, part, right, y, z)
    return _room(scene, right, y, z, soft)


@inner
def _room_distance(room: Room, camera: Camera, up: float) -> float:
    """How far along a ray the floor or the wall is, whichever comes first."""
    to_wall = (-room.back - up * camera.up[2]) / camera.forward[2]
    to_floor = -up * camera.up[1] / camera.forward[1]
    return min(to_wall, to_floor)


@inner
def _corners(x: float, y: float) -> float:
    return 1.06 - 0.42 * (x * x + y * y)


@inner
def _item(scene: Scene, part: int, x: float, y: float, z: float) -> Colour:
    parts, light = scene.parts, scene.light
    at = place(parts, part, x, y, z)
    smooth = normal(parts, part, at[0], at[1], at[2])
    base, leaning = dressed(parts, part, at, smooth)
    if parts[part, GLOW] > 0.0:
        glow = parts[part, GLOW]
        return _glowing(base, glow, leaning)
    facing = back(parts, part, leaning[0], leaning[1], leaning[2])
    flat = back(parts, part, smooth[0], smooth[1], smooth[2])
    share = shine(light, x + 0.02 * flat[0], y + 0.02 * flat[1], z + 0.02 * flat[2], 0.035)
    room = clearance(parts, x + _AO * flat[0], y + _AO * flat[1], z + _AO * flat[2], _AO)
    sky = (0.35 + 0.65 * clamp(room / _AO)) * (0.7 + 0.3 * step(0.0, 0.12, y))
    matt = lit(light, base, facing, share, sky)
    material = int(parts[part, MATERIAL])
    return polished(
        light, material, parts[part, GLOSS] * sky, base, matt, facing, scene.camera.forward, share
    )


@inner
def _glowing(base: Colour, glow: float, leaning: tuple[float, float, float]) -> Colour:
    even = glow * (0.75 + 0.25 * leaning[2])
    return base[0] * even, base[1] * even * 0.92, base[2] * even * 0.78


@inner
def _room(scene: Scene, x: float, y: float, z: float, soft: float) -> Colour:
    room, light = scene.room, scene.light
    on_floor = z > -room.back + 1e-9
    if on_floor:
        colour = floor_at(room, x, z, soft)
        share = shine(light, x, 0.0, z, 0.01)
        free = clearance(scene.parts, x, 0.01, z, 0.14)
        sky = 0.40 + 0.60 * clamp(free / 0.14)
        level = 0.5 + 0.5 * step(0.0, 0.8, z + room.back) if room.wall == SEAMLESS else 1.0
    else:
        colour = wall_at(room, x, y, soft)
        share = shine(light, x, y, z, 0.01)
        sky = 1.0
        level = 0.5 - 0.5 * step(0.0, 0.5, y) if room.wall == SEAMLESS else 0.0
        if room.wall != SEAMLESS:
            sky = 0.86 + 0.14 * step(0.0, 0.2, y)
    return lit(light, colour, (0.0, level, 1.0 - level), share, sky)
