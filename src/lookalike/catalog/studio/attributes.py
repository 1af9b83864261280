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

import numpy as np

KINDS = ("bed", "cabinet", "chair", "lamp", "shelf", "sofa", "stool", "table")
MATERIALS = ("wood", "weave", "velvet", "leather", "metal", "lacquer", "cane", "stone")
ORNAMENTS = ("plain", "striped", "tufted", "panelled", "dotted", "fluted", "banded")
WOOD, WEAVE, VELVET, LEATHER, METAL, LACQUER, CANE, STONE = range(len(MATERIALS))
PLAIN, STRIPED, TUFTED, PANELLED, DOTTED, FLUTED, BANDED = range(len(ORNAMENTS))

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

_CLOTH = "EFE8DB B98B52 B5563A D79F1E 8DB07C 1F5840 8FB4D6 20336B E6ABAE 6F2A55 2B2B2D 8E877F"
_SWATCHES = (
    "E2CFAC C48F52 963F22 5F422C 211D1B 989590",  # wood: ash, oak, cherry, walnut, ebony, greyed
    _CLOTH,  # ivory, camel, terracotta, mustard, sage, forest, sky, navy, blush, plum, charcoal, stone
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


COLOURS = tuple(np.array([rgb(code) for code in codes.split()]) for codes in _SWATCHES)
"""By material, the colours that style families start from; a test holds them well apart."""

_FRAMES = ("E2CFAC", "C48F52", "5F422C", "211D1B", "C79F4E", "B4B8BC")
FRAMES = np.array([rgb(code) for code in _FRAMES])
"""Colours of legs and rails: four woods, then brass and steel."""
FRAME_MATERIAL = np.array([WOOD, WOOD, WOOD, WOOD, METAL, METAL], dtype=np.int8)
