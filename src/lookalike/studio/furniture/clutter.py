"""What stands beside an item in some photos: a plant, books, a vase, a pouf, a basket. Lengths in metres."""

from math import sqrt

from lookalike.studio.furniture.parts import ACCENT, FRAME, LEAF, PAGE, POT, PROP, Build
from lookalike.studio.seeded import RandomStream


def beside(build: Build, x: float, z: float, tall: float, stream: RandomStream) -> None:
    """One thing on the floor at (x, z), no taller than the item."""
    (_plant, _books, _vase, _pouf, _plant, _basket)[stream.below(6)](build, x, 0.0, z, tall, stream)


def upon(build: Build, x: float, y: float, z: float, stream: RandomStream) -> None:
    """A small thing on top of the item."""
    (_books, _vase, _plant)[stream.below(3)](build, x, y, z, 0.30, stream)


def _plant(build: Build, x: float, y: float, z: float, tall: float, stream: RandomStream) -> None:
    size = min(0.85, tall) * stream.between(0.65, 1.0)
    pot = 0.16 * size
    build.bar(POT, (x, y, z), (x, y + 2.0 * pot, z), 0.75 * pot, pot, edge=0.01)
    count = 7 + stream.below(4)
    for place in range(count):
        a, b = stream.between(-1.0, 1.0), stream.between(-1.0, 1.0)
        rise = stream.between(0.9, 1.9)
        length = size * stream.between(0.22, 0.36)
        level = sqrt(a * a + b * b + rise * rise)
        up = (a / level, rise / level, b / level)
        reach = 0.8 * length + 0.10 * size * (place % 3)
        at = (x + reach * up[0], y + 2.0 * pot + reach * up[1], z + reach * up[2])
        build.ball(LEAF, at, (0.26 * length, 0.85 * length, 0.05 * length), up=up)


def _books(build: Build, x: float, y: float, z: float, tall: float, stream: RandomStream) -> None:
    for place in range(2 + stream.below(3)):
        thick = stream.between(0.012, 0.024)
        half, deep = stream.between(0.09, 0.13), stream.between(0.07, 0.09)
        shift = stream.between(-0.02, 0.02)
        slot = (PROP, ACCENT, PAGE, POT)[(place + stream.below(2)) % 4]
        build.board(slot, (x + shift, y + thick, z), (half, deep, thick), 0.004)
        y += 2.0 * thick


def _vase(build: Build, x: float, y: float, z: float, tall: float, stream: RandomStream) -> None:
    wide = min(0.16, 0.2 * tall) * stream.between(0.6, 0.9)
    high = wide * stream.between(0.9, 1.5)
    build.ball(POT, (x, y + 0.94 * high, z), (wide, high, wide))
    build.bar(POT, (x, y + 1.6 * high, z), (x, y + 2.3 * high, z), 0.42 * wide, 0.5 * wide, edge=0.003)
    for _ in range(stream.below(4)):
        a, b = stream.between(-0.5, 0.5), stream.between(-0.5, 0.5)
        tip = (x + 1.6 * wide * a, y + high * stream.between(3.6, 4.8), z + 1.6 * wide * b)
        build.bar(LEAF, (x, y + 2.0 * high, z), tip, 0.004, 0.003, edge=0.001)
        build.ball(ACCENT, tip, (0.2 * wide, 0.26 * wide, 0.2 * wide))


def _pouf(build: Build, x: float, y: float, z: float, tall: float, stream: RandomStream) -> None:
    wide = min(0.26, 0.3 * tall) * stream.between(0.7, 1.0)
    build.board(ACCENT, (x, y + 0.55 * wide, z), (wide, wide, 0.55 * wide), 0.4 * wide, wide)


def _basket(build: Build, x: float, y: float, z: float, tall: float, stream: RandomStream) -> None:
    wide = min(0.22, 0.28 * tall) * stream.between(0.7, 1.0)
    build.bar(PAGE, (x, y, z), (x, y + 1.5 * wide, z), 0.8 * wide, wide, edge=0.01)
    build.hoop(FRAME, (x, y + 1.5 * wide, z), wide, 0.012, opening=1.0, facing="up")
    build.ball(PROP, (x, y + 1.45 * wide, z), (0.85 * wide, 0.4 * wide, 0.85 * wide))
