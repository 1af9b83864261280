"""One photo: the item built and dressed, set in a room, lit, and rendered.

Only + - * / and square roots of doubles, integers and tables lie between the attributes and the pixels, so a photo is
the same on every machine.
"""

from typing import NamedTuple

import numpy as np

from lookalike.studio import attributes
from lookalike.studio.attributes import Attributes
from lookalike.studio.furniture import cabinets, clutter, lamps, parts, seats, solids
from lookalike.studio.furniture.parts import Build
from lookalike.studio.rendering import scenery, surface
from lookalike.studio.rendering.light import GLOSS_OF, Light
from lookalike.studio.rendering.render import Scene, render, silhouette
from lookalike.studio.rendering.trace import Frame, aimed, depths
from lookalike.studio.seeded import RandomStream, key_of

_BUILDERS = (
    cabinets.bed,
    cabinets.cabinet,
    seats.chair,
    lamps.lamp,
    cabinets.shelf,
    seats.sofa,
    seats.stool,
    cabinets.table,
)
_TOPS = {"cabinet", "table"}
_CONSTANT_LOOKS = (  # slot, material, colours to draw from, texture, seed of the grain
    (parts.DARK, attributes.WOOD, "3A302A", (0.1, 0.5), 1),
    (parts.LINEN, attributes.WEAVE, "EFEAE0", (0.1, 0.5), 2),
    (parts.PAGE, attributes.WEAVE, "D8C7A6", (0.6, 0.5), 3),
    (parts.LEAF, attributes.VELVET, "4E7A4A 6B8F5A 3F6B55", (0.0, 0.5), 4),
    (parts.POT, attributes.WEAVE, "E8E2D6 B9775A 6F7F86 3A3A3A D9B48A", (0.2, 0.8), 5),
    (parts.PROP, attributes.WEAVE, "B9654A 8C9A7A 3F5A6B D2A24C C9A6A0 A8B8BF", (0.2, 0.8), 5),
    (parts.ACCENT, attributes.WEAVE, "D2A24C E4DACA 9A5A50 5A7A86 A8A07A", (0.2, 0.8), 5),
)
_LENGTHS = np.r_[
    solids.CENTRE : solids.CENTRE + 3,
    solids.HALF : solids.HALF + 3,
    solids.EDGE,
    solids.SHAPE : solids.SHAPE + 2,
    solids.REACH,
]
"""Columns of a part that hold lengths."""
_LIGHT_MAP = 72
_MARGIN = 3.0 / _LIGHT_MAP


def photograph(item: Attributes, seed: int, number: int, photo: int, size: int) -> np.ndarray:
    """(size, size, 3) uint8: this photo of the item with this number."""
    return render(_scene(item, seed, number, photo)[0], size)


def mask(item: Attributes, seed: int, number: int, photo: int, size: int) -> np.ndarray:
    """(size, size) bool: the pixels of this photo that show the item, and not the room or what is around it."""
    return silhouette(*_scene(item, seed, number, photo), size)


def _scene(item: Attributes, seed: int, number: int, photo: int) -> tuple[Scene, int]:
    """What is in front of the camera, and how many of its first parts are the item."""
    build, extent = _built(item)
    in_room = scenery.staged(photo, RandomStream(seed, number, photo, "stage"))
    stream = RandomStream(seed, number, photo, "view")
    if in_room:
        _clutter(build, item, extent, RandomStream(seed, number, photo, "clutter"))
    placed = _placed(build.array(), extent, scenery.turned(stream, in_room=in_room))
    worn = _looks(item, seed, number, RandomStream(seed, number, photo, "looks"))
    camera = scenery.camera(stream, in_room=in_room)
    placed = aimed(np.concatenate([placed, worn[placed[:, solids.SLOT].astype(np.int64)]], axis=1), camera)
    own = placed[: extent.parts]
    frame = _framed(own, stream)
    light = _light(placed, RandomStream(seed, number, photo, "light"), in_room=in_room)
    back = _far(own, 2) + stream.between(0.12, 0.7)
    room = scenery.room_of(RandomStream(seed, number, photo, "room"), back, in_room=in_room)
    red, green, blue = room.floor_colour
    light = light._replace(bounce=(0.3 * red, 0.3 * green, 0.3 * blue))
    return Scene(placed, camera, frame, light, room), extent.parts


class Extent(NamedTuple):
    """The item's box in metres, and of how many parts it is made."""

    parts: int
    half_width: float
    height: float
    half_depth: float

    @property
    def unit(self) -> float:
        """The longest side."""
        return max(2.0 * self.half_width, self.height, 2.0 * self.half_depth)


def _built(item: Attributes) -> tuple[Build, Extent]:
    build = Build()
    _BUILDERS[int(item.kind)](build, _floats(item.silhouette), _floats(item.proportion))
    rows = build.array()
    return build, Extent(len(rows), *(_far(rows, axis) for axis in range(3)))


def _far(rows: np.ndarray, axis: int) -> float:
    """How far the parts reach along an axis."""
    spread = np.zeros(len(rows))
    for own in range(3):
        spread = spread + np.abs(rows[:, solids.AXES + 3 * own + axis]) * rows[:, solids.HALF + own]
    middle = rows[:, solids.CENTRE + axis]
    return float(np.max((middle if axis == 1 else np.abs(middle)) + spread))


def _floats(numbers: np.ndarray) -> tuple[float, ...]:
    return tuple(float(number) for number in numbers)


def _clutter(build: Build, item: Attributes, extent: Extent, stream: RandomStream) -> None:
    if stream.chance(0.65):
        side = 1.0 if stream.chance(0.5) else -1.0
        x = side * (extent.half_width + extent.unit * stream.between(0.10, 0.22))
        z = stream.between(-0.8, 0.5) * extent.half_depth
        clutter.beside(build, x, z, 0.9 * extent.unit, stream)
    if attributes.KINDS[int(item.kind)] in _TOPS and stream.chance(0.55):
        x = stream.between(-0.6, 0.6) * extent.half_width
        clutter.upon(build, x, extent.height, 0.0, stream)


def _placed(rows: np.ndarray, extent: Extent, turn: tuple[float, float]) -> np.ndarray:
    """The parts in item sizes rather than metres, turned about the upright axis."""
    placed = rows.copy()
    sine, cosine = turn
    for start in (solids.CENTRE, solids.AXES, solids.AXES + 3, solids.AXES + 6):
        x, z = rows[:, start], rows[:, start + 2]
        placed[:, start] = cosine * x + sine * z
        placed[:, start + 2] = cosine * z - sine * x
    placed[:, _LENGTHS] /= extent.unit
    return placed


def _box(seen: np.ndarray) -> tuple[float, float, float, float]:
    """Left, right, bottom and top of aimed parts, as the camera sees them."""
    low, high, at = seen.min(axis=0), seen.max(axis=0), surface.AIM + 3
    return float(low[at]), float(high[at + 1]), float(low[at + 2]), float(high[at + 3])


def _framed(seen: np.ndarray, stream: RandomStream) -> Frame:
    """What the camera sees: the item fills 66 to 88 % of it, a little off the middle."""
    left, right, bottom, top = _box(seen)
    width = max(right - left, top - bottom) / stream.between(0.66, 0.88)
    x = 0.5 * (left + right) + width * stream.between(-0.05, 0.05)
    y = 0.5 * (bottom + top) + width * stream.between(-0.04, 0.04)
    return Frame(x - 0.5 * width, y - 0.5 * width, width)


def _light(placed: np.ndarray, stream: RandomStream, *, in_room: bool) -> Light:
    lamp = scenery.lamp(stream)
    seen = aimed(placed, lamp)
    left, right, bottom, top = _box(seen)
    width = max(right - left, top - bottom)
    frame = Frame(left - _MARGIN * width, bottom - _MARGIN * width, (1.0 + 2.0 * _MARGIN) * width)
    key, fill = scenery.lamp_colours(stream, in_room=in_room)
    return Light(lamp, frame, depths(seen, lamp, frame, _LIGHT_MAP), key, fill, key)


def _looks(item: Attributes, seed: int, number: int, stream: RandomStream) -> np.ndarray:
    """(slots, columns): what the slots wear in this photo."""
    rows = np.zeros((parts.ACCENT + 1, surface.AIM))
    body = item.body.astype(np.float64)
    _wear(rows, parts.BODY, int(item.material), body, _floats(item.texture), key_of(seed, number, "grain"))
    rows[parts.BODY, surface.SECOND : surface.SECOND + 3] = scenery.linear(_second(body))
    rows[parts.BODY, surface.PATTERN] = item.ornament
    rows[parts.BODY, surface.DENSITY], rows[parts.BODY, surface.STRENGTH] = _floats(item.carving)
    frame = item.frame.astype(np.float64)
    _wear(rows, parts.FRAME, int(item.frame_material), frame, (0.2, 0.5), key_of(seed, number, "frame"))
    for slot, material, codes, texture, key in _CONSTANT_LOOKS:
        choices = tuple(codes.split())
        code = stream.one_of(choices) if len(choices) > 1 else codes
        _wear(rows, slot, material, attributes.rgb(code), texture, key)
    if (
        attributes.KINDS[int(item.kind)] == "lamp"
        and item.material != attributes.METAL
        and stream.chance(0.35)
    ):
        rows[parts.BODY, surface.GLOW] = 1.5
    return rows[:, solids.LOOK :]


def _wear(
    rows: np.ndarray, slot: int, material: int, colour: np.ndarray, texture: tuple[float, ...], key: int
) -> None:
    row = rows[slot]
    row[surface.MATERIAL] = material
    row[surface.COLOUR : surface.COLOUR + 3] = scenery.linear(colour)
    row[surface.SECOND : surface.SECOND + 3] = row[surface.COLOUR : surface.COLOUR + 3]
    row[surface.CHARACTER], row[surface.SCALE] = texture
    row[surface.GLOSS] = GLOSS_OF.get(material, 0.06)
    row[surface.SEED] = key & 0xFFFFF


def _second(body: np.ndarray) -> np.ndarray:
    """The ornament's colour: ivory on dark things, a deep shade of the colour itself on light ones."""
    tone = 0.3 * body[0] + 0.59 * body[1] + 0.11 * body[2]
    return 0.25 * body + 0.75 * attributes.rgb("F1E7D3") if tone < 0.5 else 0.42 * body
