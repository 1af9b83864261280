"""Light on a point: key light with soft shadows, sky and floor bounce, highlights, reflections."""

from math import floor
from typing import NamedTuple

import numpy as np

from lookalike.studio.attributes import CANE, LACQUER, LEATHER, METAL, STONE, VELVET
from lookalike.studio.compiled import inner
from lookalike.studio.rendering.room import Colour
from lookalike.studio.rendering.surface import Point, unit
from lookalike.studio.rendering.textures import clamp, step
from lookalike.studio.rendering.trace import FAR, Camera, Frame


class Light(NamedTuple):
    """The lamp as a camera, the frame it lights, how far it sees there (cells, cells), the colours of the light."""

    lamp: Camera
    frame: Frame
    depth: np.ndarray
    key: Colour
    fill: Colour
    bounce: Colour


@inner
def shine(light: Light, x: float, y: float, z: float, room: float) -> float:
    """The share of the key light that reaches a point, with a soft edge; `room` keeps a surface off itself."""
    lamp = light.lamp
    cells = len(light.depth)
    scale = cells / light.frame.width
    across = (x * lamp.right[0] + y * lamp.right[1] + z * lamp.right[2] - light.frame.left) * scale - 0.5
    up = (x * lamp.up[0] + y * lamp.up[1] + z * lamp.up[2] - light.frame.bottom) * scale - 0.5
    far = x * lamp.forward[0] + y * lamp.forward[1] + z * lamp.forward[2] + FAR - room
    column, row = floor(across), floor(up)
    if column < 1 or row < 1 or column >= cells - 2 or row >= cells - 2:
        return 1.0
    s, t = across - column, up - row
    total = 0.0
    for j in range(-1, 3):
        tall = 1.0 - t if j == -1 else (t if j == 2 else 1.0)
        for i in range(-1, 3):
            wide = 1.0 - s if i == -1 else (s if i == 2 else 1.0)
            if light.depth[row + j, column + i] >= far:
                total += tall * wide
    return total * (1.0 / 9.0)


@inner
def lit(light: Light, colour: Colour, facing: Point, share: float, open_sky: float) -> Colour:
    """A matt surface facing this way, with a share of the key light and of the sky."""
    lamp = light.lamp
    toward = -(facing[0] * lamp.forward[0] + facing[1] * lamp.forward[1] + facing[2] * lamp.forward[2])
    key = clamp((toward + 0.15) / 1.15) * share
    sky = (0.62 + 0.38 * facing[1]) * open_sky
    floor_light = (0.5 - 0.5 * facing[1]) * open_sky
    return (
        colour[0] * (light.key[0] * key + light.fill[0] * sky + light.bounce[0] * floor_light),
        colour[1] * (light.key[1] * key + light.fill[1] * sky + light.bounce[1] * floor_light),
        colour[2] * (light.key[2] * key + light.fill[2] * sky + light.bounce[2] * floor_light),
    )


@inner
def polished(
    light: Light,
    material: int,
    gloss: float,
    base: Colour,
    matt: Colour,
    facing: Point,
    ray: Point,
    share: float,
) -> Colour:
    """The matt colour with what the material adds: highlight, mirrored room, the bloom of velvet."""
    toward = max(0.0, -(facing[0] * ray[0] + facing[1] * ray[1] + facing[2] * ray[2]))
    rim = (1.0 - toward) * (1.0 - toward)
    if material == VELVET:
        bloom = 0.80 + 1.3 * rim
        return matt[0] * bloom + 0.03 * rim, matt[1] * bloom + 0.03 * rim, matt[2] * bloom + 0.03 * rim
    mirror_y = ray[1] + 2.0 * toward * facing[1]
    mirror_x = ray[0] + 2.0 * toward * facing[0]
    room = (
        0.22
        + 0.55 * step(-0.2, 0.9, mirror_y)
        + 0.55 * step(0.25, 0.5, mirror_x) * step(-0.9, -0.65, -mirror_x)
    )
    glint = _glint(light, facing, ray, material) * share
    if material == METAL:
        shown = 1.25 * room + 0.9 * glint
        return (
            0.25 * matt[0] + base[0] * shown + 0.25 * glint,
            0.25 * matt[1] + base[1] * shown + 0.25 * glint,
            0.25 * matt[2] + base[2] * shown + 0.25 * glint,
        )
    added = gloss * (0.05 + 0.5 * rim * (1.0 - toward)) * room + gloss * glint
    return matt[0] + added * light.key[0], matt[1] + added * light.key[1], matt[2] + added * light.key[2]


@inner
def _glint(light: Light, facing: Point, ray: Point, material: int) -> float:
    """The lamp's highlight: cosine of the half-way vector to the 8th, or to the 32nd where it is hard."""
    half = unit(
        -light.lamp.forward[0] - ray[0], -light.lamp.forward[1] - ray[1], -light.lamp.forward[2] - ray[2]
    )
    near = max(0.0, half[0] * facing[0] + half[1] * facing[1] + half[2] * facing[2])
    near *= near
    near *= near
    near *= near
    if material in (LACQUER, STONE):
        near *= near
        near *= near
    return near


GLOSS_OF = {LEATHER: 0.22, LACQUER: 0.55, STONE: 0.22, CANE: 0.05}
"""How much of the room and the lamp a material mirrors, beside metal; other materials .06."""
