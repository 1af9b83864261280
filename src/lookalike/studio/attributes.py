"""What an item of the studio is made of: the words, and what each number means.

| attribute    | values              | meaning                                                            |
|--------------|---------------------|--------------------------------------------------------------------|
| kind         | one of `KINDS`      | what the thing is                                                  |
| silhouette   | 4 numbers in [0, 1] | outline, by kind: `SILHOUETTE`                                     |
| proportion   | 3 numbers in [0, 1] | width, height, heft (thickness of seats, tops, boards, shades)     |
| material     | one of `MATERIALS`  | what the visible surfaces are made of                              |
| texture      | 2 numbers in [0, 1] | its character (wood: straight to wavy; cloth: woven to curly); scale |
| body, frame  | red, green, blue    | colours of the surfaces, and of legs and rails; display values, [0, 1] |
| ornament     | one of `ORNAMENTS`  | pattern or relief on the visible surfaces                          |
| carving      | 2 numbers in [0, 1] | how dense the ornament is, how strong                              |
"""

from typing import NamedTuple

import numpy as np

from lookalike.studio.seeded import RandomStream


class Attributes(NamedTuple):
    """Columns with one row per item, or the same values of one item."""

    kind: np.ndarray  # (items,) int8, place in KINDS
    family: np.ndarray  # (items,) int32
    silhouette: np.ndarray  # (items, 4)
    proportion: np.ndarray  # (items, 3)
    material: np.ndarray  # (items,) int8, place in MATERIALS
    texture: np.ndarray  # (items, 2)
    body: np.ndarray  # (items, 3)
    frame: np.ndarray  # (items, 3)
    frame_material: np.ndarray  # (items,) int8
    ornament: np.ndarray  # (items,) int8, place in ORNAMENTS
    carving: np.ndarray  # (items, 2)


KINDS = ("bed", "cabinet", "chair", "lamp", "shelf", "sofa", "stool", "table")
MATERIALS = ("wood", "weave", "velvet", "leather", "metal", "lacquer", "cane", "stone")
ORNAMENTS = ("plain", "striped", "tufted", "panelled", "dotted", "fluted", "banded")
WOOD, WEAVE, VELVET, LEATHER, METAL, LACQUER, CANE, STONE = range(len(MATERIALS))
PLAIN, STRIPED, TUFTED, PANELLED, DOTTED, FLUTED, BANDED = range(len(ORNAMENTS))

OBVIOUS = (METAL, CANE)
"""Materials told from any other at first sight, unless they are dark; the others show in their texture only."""
RELIEFS = (PLAIN, TUFTED, PANELLED, FLUTED)
PAINTED = (STRIPED, DOTTED, BANDED)
"""Ornaments of one colour, and of two."""
CONTRAST = {
    PLAIN: (STRIPED, DOTTED, BANDED),
    TUFTED: (STRIPED, BANDED),
    PANELLED: (STRIPED, DOTTED),
    FLUTED: (DOTTED, BANDED),
    STRIPED: (PLAIN, TUFTED, PANELLED),
    DOTTED: (PLAIN, PANELLED, FLUTED),
    BANDED: (PLAIN, TUFTED, FLUTED),
}
"""The ornaments that an ornament is not mistaken for even from afar."""

SILHOUETTE = {
    "bed": ("arched headboard", "tall corner posts", "footboard", "raised on legs"),
    "cabinet": ("doors rather than drawers", "tall legs", "rounded ends", "open niche"),
    "chair": ("round back", "splayed legs", "arms", "spindle back"),
    "lamp": ("conical shade", "gourd body", "arched neck", "tripod foot"),
    "shelf": ("ladder frame", "arched top", "many boards", "closed back"),
    "sofa": ("curved back", "rolled arms", "parted cushions", "tall legs"),
    "stool": ("round seat", "pedestal", "foot ring", "plump seat"),
    "table": ("round top", "pedestal", "stout legs", "lower shelf"),
}
"""What each of the four silhouette numbers turns from (0: not at all) into (1: fully)."""

_WHOLE, _PART = 1.0, 0.28
SHOWS = np.array(
    [
        (_PART, _WHOLE, _WHOLE, _PART),  # bed
        (_PART, _WHOLE, _PART, _WHOLE),  # cabinet
        (_PART, _PART, _WHOLE, _WHOLE),  # chair
        (_PART, _WHOLE, _WHOLE, _PART),  # lamp
        (_WHOLE, _PART, _PART, _WHOLE),  # shelf
        (_WHOLE, _PART, _PART, _WHOLE),  # sofa
        (_WHOLE, _WHOLE, _PART, _PART),  # stool
        (_WHOLE, _WHOLE, _PART, _PART),  # table
    ]
)
"""How much each silhouette number of a kind shows: two change the whole outline, two a part of it."""
STRONG = tuple(sum(1 << place for place in range(4) if shows[place] == _WHOLE) for shows in SHOWS)
"""By kind, the bits of the two that show most."""

MADE_OF = {
    "bed": (WOOD, WEAVE, VELVET, LEATHER, LACQUER, CANE),
    "cabinet": (WOOD, LACQUER, CANE, METAL),
    "chair": (WOOD, WEAVE, VELVET, LEATHER, LACQUER, CANE),
    "lamp": (WEAVE, VELVET, LACQUER, CANE, METAL),
    "shelf": (WOOD, LACQUER, METAL, CANE),
    "sofa": (WEAVE, VELVET, LEATHER),
    "stool": (WOOD, WEAVE, VELVET, LEATHER, METAL, LACQUER),
    "table": (WOOD, LACQUER, STONE, METAL, CANE),
}
"""The materials that a kind comes in."""

_CLOTH = (
    "EFE8DB B98B52 B5563A D79F1E 8DB07C 1F5840 8FB4D6 20336B E6ABAE 6F2A55 2B2B2D 8E877F "
    "2F7F86 B9A3D6 BFE3D0 2F55B8 F3E08A B02A2A 8A5FB0 D85A8A 9AC23A"
)
_SWATCHES = (
    "E2CFAC C48F52 963F22 5F422C 211D1B 989590",  # wood: ash, oak, cherry, walnut, ebony, greyed
    _CLOTH,  # ivory, camel, terracotta, mustard, sage, forest, sky, navy, blush, plum, charcoal, stone,
    # teal, lavender, mint, cobalt, butter, red, violet, pink, lime
    _CLOTH,
    "E9DEC9 C08346 8A4420 5A1428 222223 5C6A3A 5A6F88",  # leather: bone, tan, cognac, oxblood, black, moss, slate
    "C2C6CA CFA648 BC6446 28292C 69512F",  # metal: steel, brass, copper, black, bronze
    _CLOTH,
    "E6D0A2 C08A48 7A4A26 2A2624",  # cane: straw, honey, tobacco, ink
    "EDEAE5 87898B 2A2B2E 3E7060 C4857C D0B581",  # stone: white, grey, black, green, rose, sand
)


def rgb(code: str) -> np.ndarray:
    """Red, green and blue in [0, 1] of a colour written as six hexadecimal digits.

    >>> rgb("FF8000").round(2).tolist()
    [1.0, 0.5, 0.0]
    """
    return np.array([int(code[place : place + 2], 16) / 255 for place in (0, 2, 4)])


def colour_distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """How far apart two colours look: (..., 3) display values each -> (...).

    Euclidean over lightness, 1.3 x red-green and .8 x yellow-blue.

    >>> black, white = np.zeros((1, 3)), np.ones((1, 3))
    >>> colour_distance(black, white).round(6).tolist()
    [1.0]
    """
    return distance(_opponent(a), _opponent(b))


def distance(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Euclidean distance over the last axis: (..., n) each -> (...)."""
    apart = np.asarray(a, np.float64) - np.asarray(b, np.float64)
    total = np.zeros(apart.shape[:-1])
    for column in range(apart.shape[-1]):  # in a fixed order: a sum over an axis may go another way elsewhere
        total = total + apart[..., column] * apart[..., column]
    return np.asarray(np.sqrt(total))


def _opponent(colour: np.ndarray) -> np.ndarray:
    red, green, blue = (colour[..., channel].astype(np.float64) for channel in range(3))
    lightness = 0.30 * red + 0.59 * green + 0.11 * blue
    return np.stack([lightness, 1.3 * (red - green), 0.8 * (0.5 * (red + green) - blue)], axis=-1)


COLOURS = tuple(np.array([rgb(code) for code in codes.split()]) for codes in _SWATCHES)
"""By material, the colours that style families start from; a test holds them well apart."""

Look = tuple[int, int]
"""A material and one of its colours, by their places."""
_LIKE, _DARK = 0.20, 0.25


def looks_of(kind: int, stream: RandomStream) -> tuple[Look, ...]:
    """Looks of a kind of which no two can be taken for each other, drawn among all that it comes in."""
    left = [
        (material, colour) for material in MADE_OF[KINDS[kind]] for colour in range(len(COLOURS[material]))
    ]
    kept: list[Look] = []
    while left:
        look = left.pop(stream.below(len(left)))
        own = COLOURS[look[0]][look[1]]
        near = (one for one in kept if float(colour_distance(COLOURS[one[0]][one[1]], own)) < _LIKE)
        if all(obviously(look, one) for one in near):
            kept.append(look)
    return tuple(kept)


def obviously(one: Look, other: Look) -> bool:
    """Whether two looks are of materials that are told apart at first sight."""
    light = min(float(np.max(COLOURS[material][colour])) for material, colour in (one, other)) > _DARK
    return light and one[0] != other[0] and (one[0] in OBVIOUS or other[0] in OBVIOUS)


_FRAMES = ("E2CFAC", "C48F52", "5F422C", "211D1B", "C79F4E", "B4B8BC")
FRAMES = np.array([rgb(code) for code in _FRAMES])
"""Colours of legs and rails: four woods, then brass and steel."""
FRAME_MATERIAL = np.array([WOOD, WOOD, WOOD, WOOD, METAL, METAL], dtype=np.int8)
