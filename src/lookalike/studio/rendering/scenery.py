"""What differs from photo to photo of one item: view, light, room. All drawn from (seed, item, photo).

A shop takes most photos on a plain backdrop, from its usual side and in its usual light, and some in a furnished room,
from any side and in any light. So does the studio: see `staged`.
"""

import numpy as np

from lookalike.studio.attributes import rgb
from lookalike.studio.furniture.parts import cross, sine_cosine, unit
from lookalike.studio.rendering import room as rooms
from lookalike.studio.rendering.room import Colour, Room
from lookalike.studio.rendering.trace import Camera
from lookalike.studio.seeded import RandomStream

_WALLS = (
    "E8E4DC DCD6CB EDE6DA D5DAD6 C9D3CB E6D5CC DCC3B4 C7D2DB "
    "D9D3E0 E7DBB9 C2B8A8 A9B3A4 8FA3A8 B98A72 6F7C74 4C5560"
)
_FLOORS = "CFC4B4 B9AA95 D8D2C8 A58A6A 8C6A4A BFA98A 9A9692 D9C8A8 C9C3BC 7A6A5C"
_PLANKS = "C8A77C A97F54 D9C09A 8A6444 B59A7C"
_CLOTHS = "E4DACA B9654A 8C9A7A 3F5A6B D2A24C C9A6A0 6A5A4C A8B8BF 2F3F3A EFE8DC"
_BACKDROPS = "F6F4F0 F6F4F0 EFEDE9 EAEBEC F3EFE6 DFDEDC E9E3DA"
_STAGED_FIRST, _STAGED_LATER = 0.15, 0.50
_KEEP_LIGHT = 12  # of the walls: the others are dark or strong, and rarer


def linear(colour: np.ndarray) -> Colour:
    """Display values as linear light: the display's curve is taken as a square."""
    return float(colour[0] * colour[0]), float(colour[1] * colour[1]), float(colour[2] * colour[2])


def shade_of(codes: str, stream: RandomStream, count: int | None = None) -> Colour:
    """One of the first `count` colours (of all, unless given), in linear light."""
    colours = codes.split()
    return linear(rgb(colours[stream.below(count or len(colours))]))


def staged(photo: int, stream: RandomStream) -> bool:
    """Whether a photo is taken in a room: few of the items' first ones, half of the others."""
    return stream.chance(_STAGED_LATER if photo else _STAGED_FIRST)


def turned(stream: RandomStream, *, in_room: bool) -> tuple[float, float]:
    """Sine and cosine of the angle that the item is turned by.

    In a room mostly 10 to 40 degrees to either side; else 16 to 30 degrees, mostly to the right.
    """
    if not in_room:
        half = stream.between(0.14, 0.26)
    else:
        half = stream.between(0.08, 0.36) if stream.chance(0.85) else stream.between(0.0, 0.05)
    if stream.chance(0.5 if in_room else 0.15):
        half = -half
    return sine_cosine(half)


def camera(stream: RandomStream, *, in_room: bool) -> Camera:
    """A camera that looks down by 9 to 23 degrees, on a plain backdrop by 13 to 18."""
    sine, cosine = sine_cosine(stream.between(0.08, 0.20) if in_room else stream.between(0.11, 0.16))
    return Camera((1.0, 0.0, 0.0), (0.0, cosine, -sine), (0.0, -sine, -cosine))


def lamp(stream: RandomStream) -> Camera:
    """The key light as a camera: above and before the item, to the left or the right."""
    side = stream.between(0.25, 0.95) * (1.0 if stream.chance(0.5) else -1.0)
    forward = unit((-side, -stream.between(0.8, 1.5), -stream.between(0.45, 0.95)))
    right = unit((-forward[2], 0.0, forward[0]))
    return Camera(right, cross(right, forward), forward)


def lamp_colours(stream: RandomStream, *, in_room: bool) -> tuple[Colour, Colour]:
    """Key light and sky: warm or cool, bright or dim, hard or soft; on a plain backdrop less so, and softer."""
    warm = stream.between(-0.7, 1.0) if in_room else stream.between(-0.25, 0.35)
    bright = stream.between(0.88, 1.14) if in_room else stream.between(0.98, 1.10)
    hard = stream.between(0.55, 0.78) if in_room else stream.between(0.45, 0.58)
    key, fill = 1.35 * bright * hard, 1.25 * bright * (1.0 - hard) + 0.12
    return (
        (key * (1.0 + 0.12 * warm), key * (1.0 + 0.01 * warm), key * (1.0 - 0.15 * warm)),
        (fill * (1.0 + 0.02 * warm), fill, fill * (1.0 + 0.03 * warm)),
    )


def room_of(stream: RandomStream, back: float, *, in_room: bool) -> Room:
    """A room whose wall stands `back` behind the item, or a plain backdrop."""
    if not in_room:
        plain = shade_of(_BACKDROPS, stream)
        return Room(back, rooms.SEAMLESS, plain, plain, rooms.BARE, plain, plain, seed=stream.below(1 << 20))
    wall = stream.below(6)
    usual = _KEEP_LIGHT if stream.chance(0.8) else None
    colour, second = shade_of(_WALLS, stream, usual), shade_of(_WALLS, stream)
    if wall in (rooms.MOULDED, rooms.BOARDED):
        second = (0.66 * colour[0], 0.66 * colour[1], 0.66 * colour[2])
    floor, floor_colour, floor_second = _floor(wall, colour, stream)
    rug = stream.one_of((rooms.NO_RUG, rooms.NO_RUG, rooms.NO_RUG, rooms.LONG_RUG, rooms.ROUND_RUG))
    pictured = wall in (rooms.PLASTER, rooms.TWO_TONE) and stream.chance(0.45)
    return Room(
        back=back,
        wall=wall,
        wall_colour=colour,
        wall_second=second,
        floor=floor,
        floor_colour=floor_colour,
        floor_second=floor_second,
        skirting=0.07 if wall not in (rooms.SEAMLESS, rooms.ARCH) and stream.chance(0.6) else 0.0,
        rug=rooms.NO_RUG if wall == rooms.SEAMLESS else rug,
        rug_colour=shade_of(_CLOTHS, stream),
        rug_second=shade_of(_CLOTHS, stream),
        rug_width=stream.between(0.62, 0.85),
        rug_depth=stream.between(0.45, 0.6),
        picture_x=stream.between(-0.5, 0.5),
        picture_y=stream.between(0.85, 1.1),
        picture_width=stream.between(0.14, 0.24) if pictured else 0.0,
        picture_height=stream.between(0.17, 0.28),
        seed=stream.below(1 << 20),
    )


def _floor(wall: int, colour: Colour, stream: RandomStream) -> tuple[int, Colour, Colour]:
    if wall == rooms.SEAMLESS:
        return rooms.BARE, colour, colour
    floor = stream.below(4)
    if floor == rooms.PLANKS:
        return floor, shade_of(_PLANKS, stream), colour
    return floor, shade_of(_FLOORS, stream), shade_of(_FLOORS, stream)
