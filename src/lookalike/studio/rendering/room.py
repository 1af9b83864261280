"""The room that an item is photographed in: a wall, a floor, and what is painted or laid on them."""

from math import floor
from typing import NamedTuple

from lookalike.studio.compiled import inner
from lookalike.studio.rendering.textures import noise, speck, step

Colour = tuple[float, float, float]
SEAMLESS, PLASTER, MOULDED, ARCH, BOARDED, TWO_TONE = range(6)
BARE, PLANKS, TILES, CARPET = range(4)
NO_RUG, LONG_RUG, ROUND_RUG = range(3)


class Room(NamedTuple):
    """Colours are linear light, lengths in item sizes, and the item is at 0 on the floor.

    By default there is no skirting, no rug and no picture.
    """

    back: float
    wall: int
    wall_colour: Colour
    wall_second: Colour
    floor: int
    floor_colour: Colour
    floor_second: Colour
    skirting: float = 0.0
    rug: int = NO_RUG
    rug_colour: Colour = (0.0, 0.0, 0.0)
    rug_second: Colour = (0.0, 0.0, 0.0)
    rug_width: float = 1.0
    rug_depth: float = 1.0
    picture_x: float = 0.0
    picture_y: float = 1.0
    picture_width: float = 0.0
    picture_height: float = 1.0
    seed: int = 0


@inner
def wall_at(room: Room, x: float, y: float, soft: float) -> Colour:
    """The wall's colour at x, height y; `soft` is the width of a pixel."""
    colour = room.wall_colour
    if room.wall == PLASTER:
        cloud = 0.94 + 0.12 * noise(x * 3.0, y * 3.0, room.seed) + 0.03 * noise(x * 30.0, y * 30.0, room.seed)
        colour = times(colour, cloud)
    elif room.wall == MOULDED:
        field_x, field_y = x / 0.8 - floor(x / 0.8) - 0.5, (y - 0.85) / 0.6
        edge = max(abs(field_x) * 0.8 - 0.33, abs(field_y) * 0.6 - 0.58)
        line = band(edge, 0.0, 0.012, soft)
        colour = mixed(colour, room.wall_second, line)
    elif room.wall == ARCH:
        colour = mixed(colour, room.wall_second, _arch(x - room.picture_x * 0.4, y, soft))
    elif room.wall == BOARDED:
        gap = abs(x / 0.16 - floor(x / 0.16) - 0.5)
        colour = mixed(colour, room.wall_second, 0.7 * step(0.5 - 0.04 - soft / 0.16, 0.5 - 0.02, gap))
    elif room.wall == TWO_TONE:
        colour = mixed(colour, room.wall_second, 1.0 - step(-soft, soft, y - 0.55))
    colour = _picture(room, colour, x, y, soft)
    if room.skirting > 0.0:
        colour = mixed(colour, (0.80, 0.79, 0.76), 1.0 - step(-soft, soft, y - room.skirting))
    return colour


@inner
def floor_at(room: Room, x: float, z: float, soft: float) -> Colour:
    """The floor's colour at (x, z), rug included."""
    colour = room.floor_colour
    if room.floor == PLANKS:
        row = floor(z / 0.13)
        shift = x + 0.7 * speck(int(row), 3, room.seed)
        plank = floor(shift / 0.9)
        tone = 0.82 + 0.3 * speck(int(row), int(plank), room.seed)
        tone *= 1.06 - 0.14 * noise(x * 4.0, z * 60.0, room.seed)
        gap = max(_gap(z / 0.13, soft / 0.13), 0.8 * _gap(shift / 0.9, soft / 0.9))
        tone *= 1.0 - 0.35 * gap
        colour = times(colour, tone)
    elif room.floor == TILES:
        column, row = floor(x / 0.34), floor(z / 0.34)
        checked = float((int(column) + int(row)) & 1)
        colour = mixed(colour, room.floor_second, checked)
        gap = max(_gap(x / 0.34, soft / 0.34), _gap(z / 0.34, 2.0 * soft / 0.34))
        colour = mixed(colour, (0.6, 0.58, 0.55), 0.5 * gap)
    elif room.floor == CARPET:
        tuft = 0.92 + 0.16 * noise(x * 45.0, z * 45.0, room.seed)
        colour = times(colour, tuft)
    return _rug(room, colour, x, z, soft)


@inner
def times(colour: Colour, share: float) -> Colour:
    """A colour, darker or brighter."""
    return colour[0] * share, colour[1] * share, colour[2] * share


@inner
def mixed(one: Colour, other: Colour, share: float) -> Colour:
    """A share of the other colour in the first."""
    rest = 1.0 - share
    return (
        one[0] * rest + other[0] * share,
        one[1] * rest + other[1] * share,
        one[2] * rest + other[2] * share,
    )


@inner
def band(x: float, middle: float, half: float, soft: float) -> float:
    """1 inside a stripe, 0 outside, with an edge one pixel wide."""
    return 1.0 - step(half - soft, half + soft, abs(x - middle))


@inner
def _gap(x: float, soft: float) -> float:
    """1 at whole numbers, 0 elsewhere: the line between boards or tiles."""
    return 1.0 - step(0.0, 0.012 + 1.5 * soft, 0.5 - abs(x - floor(x) - 0.5))


@inner
def _arch(x: float, y: float, soft: float) -> float:
    radius, tall = 0.72, 0.75
    if y < tall:
        return 1.0 - step(-soft, soft, abs(x) - radius)
    over = (x * x + (y - tall) * (y - tall)) / radius
    return 1.0 - step(-2.0 * soft, 2.0 * soft, over - radius)


@inner
def _picture(room: Room, colour: Colour, x: float, y: float, soft: float) -> Colour:
    if room.picture_width == 0.0:
        return colour
    x, y = x - room.picture_x, y - room.picture_y
    out = max(abs(x) - room.picture_width, abs(y) - room.picture_height)
    colour = mixed(colour, (0.03, 0.028, 0.025), 1.0 - step(-soft, soft, out))
    colour = mixed(colour, (0.85, 0.83, 0.78), 1.0 - step(-soft, soft, out + 0.018))
    inner = 1.0 - step(-soft, soft, out + 0.07)
    hill = step(-soft, soft, 0.1 * noise(x * 6.0 + 9.0, 0.5, room.seed) - y - 0.06)
    sun = 1.0 - step(
        0.8, 1.2, (x * x + (y - 0.04) * (y - 0.04)) / (0.0016 + 0.25 * room.picture_width * 0.04)
    )
    art = mixed(room.wall_second, room.rug_second, sun)
    return mixed(colour, mixed(art, room.rug_colour, hill), inner)


@inner
def _rug(room: Room, colour: Colour, x: float, z: float, soft: float) -> Colour:
    if room.rug == NO_RUG:
        return colour
    if room.rug == LONG_RUG:
        out = max(abs(x) - room.rug_width, abs(z) - room.rug_depth)
    else:
        out = ((x * x + z * z) / room.rug_width - room.rug_width) * 0.5
    pile = 0.92 + 0.16 * noise(x * 60.0, z * 60.0, room.seed + 5)
    woven = mixed(room.rug_colour, room.rug_second, band(out, -0.09, 0.025, soft))
    return mixed(colour, times(woven, pile), 1.0 - step(-soft, soft, out))
