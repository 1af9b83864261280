"""Patterns in a plane: noise, the grain of materials, ornaments. Lengths are in item sizes (the item is 1 across)."""

from math import floor

from lookalike.studio.attributes import (
    BANDED,
    CANE,
    DOTTED,
    FLUTED,
    LEATHER,
    METAL,
    PANELLED,
    STONE,
    STRIPED,
    TUFTED,
    VELVET,
    WEAVE,
    WOOD,
)
from lookalike.studio.compiled import inner

Relief = tuple[float, float, float]


@inner
def clamp(x: float) -> float:
    """Cut to [0, 1]."""
    return min(max(x, 0.0), 1.0)


@inner
def step(low: float, high: float, x: float) -> float:
    """0 below `low`, 1 above `high`, a smooth rise between: 3t^2 - 2t^3."""
    t = clamp((x - low) / (high - low))
    return t * t * (3.0 - 2.0 * t)


@inner
def wave(x: float) -> float:
    """A smooth wave between 0 and 1 of period 1, without a sine: 0 at whole numbers, 1 half-way."""
    t = abs(2.0 * (x - floor(x)) - 1.0)
    t = 1.0 - t
    return t * t * (3.0 - 2.0 * t)


@inner
def slope(x: float) -> float:
    """The rise of `wave`, between -1 and 1."""
    t = 2.0 * (x - floor(x)) - 1.0
    side = -1.0 if t > 0.0 else 1.0
    t = abs(t)
    return side * 4.0 * t * (1.0 - t)


@inner
def speck(x: int, y: int, seed: int) -> float:
    """A number in [0, 1) for each place of a grid."""
    bits = (x * 374761393 + y * 668265263 + seed * 2246822519) & 0xFFFFFFFF
    bits = ((bits ^ (bits >> 13)) * 1274126177) & 0xFFFFFFFF
    bits = bits ^ (bits >> 16)
    return bits * (1.0 / 4294967296.0)


@inner
def noise(x: float, y: float, seed: int) -> float:
    """Smooth noise in [0, 1] with features about 1 long."""
    i, j = floor(x), floor(y)
    s, t = x - i, y - j
    s, t = s * s * (3.0 - 2.0 * s), t * t * (3.0 - 2.0 * t)
    low = speck(i, j, seed) * (1.0 - s) + speck(i + 1, j, seed) * s
    high = speck(i, j + 1, seed) * (1.0 - s) + speck(i + 1, j + 1, seed) * s
    return low * (1.0 - t) + high * t


@inner
def grain(material: int, u: float, v: float, character: float, scale: float, seed: int) -> Relief:  # noqa: PLR0911 - one a material
    """Of a material at (u, v), u along its grain: brightness about 1, and how the surface leans in u and in v."""
    coarse = 1.4 - 0.8 * scale
    if material == WOOD:
        return _wood(u * coarse, v * coarse, character, seed), 0.0, 0.0
    if material == WEAVE:
        return _weave(u, v, character, coarse, seed)
    if material == VELVET:
        rib = slope(v * 34.0 * coarse) * 0.5 * step(0.35, 0.95, character)
        return 0.92 + 0.16 * noise(u * 7.0, v * 7.0, seed), 0.0, rib
    if material == LEATHER:
        pebble = noise(u * 70.0 * coarse, v * 70.0 * coarse, seed) - 0.5
        patina = noise(u * 5.0, v * 5.0, seed + 1) - 0.5
        return 1.0 + 0.14 * pebble + (0.06 + 0.22 * character) * patina, 0.3 * pebble, 0.2 * pebble
    if material == METAL:
        brushed = noise(u * 4.0, v * 130.0 * coarse, seed) - 0.5
        return 1.0 + 0.24 * character * brushed, 0.0, 0.25 * character * brushed
    if material == CANE:
        return _cane(u * coarse, v * coarse, character)
    if material == STONE:
        return _stone(u * coarse, v * coarse, character, seed), 0.0, 0.0
    return 1.0, 0.0, 0.0


@inner
def _wood(u: float, v: float, character: float, seed: int) -> float:
    swirl = noise(u * 2.2, v * 5.0, seed) * (0.6 + 5.0 * character)
    ring = wave(v * 12.0 + swirl + 0.6 * noise(u * 5.0, v * 30.0, seed + 1))
    pore = noise(u * 12.0, v * 110.0, seed + 2)
    return 1.10 - (0.16 + 0.2 * character) * ring - 0.16 * pore


@inner
def _weave(u: float, v: float, character: float, coarse: float, seed: int) -> Relief:
    fine = 44.0 * coarse
    over = speck(floor(u * fine), floor(v * fine), seed) - 0.5
    thread = wave(u * fine) * wave(v * fine + 0.5 * (floor(u * fine) & 1))
    woven = 0.90 + 0.20 * thread + 0.14 * over
    loop_u = noise(u * 24.0 * coarse, v * 24.0 * coarse, seed + 3) - 0.5
    loop_v = noise(u * 24.0 * coarse + 40.0, v * 24.0 * coarse, seed + 4) - 0.5
    curly = step(0.35, 0.9, character)
    return woven * (1.0 - curly) + (1.0 + 0.34 * loop_u) * curly, 1.3 * curly * loop_u, 1.3 * curly * loop_v


@inner
def _cane(u: float, v: float, character: float) -> Relief:
    fine = 15.0 + 12.0 * character
    a, b = wave((u + v) * fine), wave((u - v) * fine)
    strand = max(a, b)
    cross = wave(v * fine * 2.0)
    lit = 0.38 + 0.66 * step(0.25, 0.75, max(strand, 0.8 * cross))
    return lit, 0.35 * slope((u + v) * fine), 0.0


@inner
def _stone(u: float, v: float, character: float, seed: int) -> float:
    bend = noise(u * 3.0, v * 3.0, seed) * 2.0
    vein = abs(noise(u * 2.6 + bend, v * 2.6 - bend, seed + 1) - 0.5)
    fine = abs(noise(u * 7.0 - bend, v * 7.0 + bend, seed + 2) - 0.5)
    veined = 1.04 - 0.42 * (1.0 - step(0.0, 0.05, vein)) - 0.16 * (1.0 - step(0.0, 0.05, fine))
    chip = speck(floor(u * 36.0 + bend), floor(v * 36.0 + bend), seed + 3)
    speckled = 0.86 + 0.34 * chip * chip
    blend = step(0.35, 0.65, character)
    return veined * (1.0 - blend) + speckled * blend


@inner
def ornament(  # noqa: PLR0911 - one return a pattern
    pattern: int, u: float, v: float, density: float, strength: float
) -> tuple[float, float, float, float]:
    """At (u, v): the share of accent colour, brightness, and how the surface leans in u and in v."""
    many = 5.0 + 9.0 * density
    strong = 0.55 + 0.45 * strength
    if pattern == STRIPED:
        return strong * step(0.42, 0.58, wave(u * many)), 1.0, 0.0, 0.0
    if pattern == BANDED:
        return strong * step(0.60, 0.72, wave(v * 0.55 * many)), 1.0, 0.0, 0.0
    if pattern == TUFTED:
        a, b = (u + v) * 0.7 * many, (u - v) * 0.7 * many
        crease = min(wave(a + 0.5), wave(b + 0.5))
        button = step(1.72, 1.86, 2.0 - wave(a) - wave(b))
        lean_a, lean_b = slope(a + 0.5), slope(b + 0.5)
        shade = 1.0 - strong * 0.35 * step(0.8, 1.0, 1.0 - crease)
        return (
            0.0,
            shade * (1.0 - 0.55 * strong * button),
            -0.5 * strong * (lean_a + lean_b),
            -0.5 * strong * (lean_a - lean_b),
        )
    if pattern == DOTTED:
        row = floor(v * many)
        x = u * many + 0.5 * (row & 1)
        dx, dy = x - floor(x) - 0.5, v * many - row - 0.5
        return strong * (1.0 - step(0.05, 0.09, dx * dx + dy * dy)), 1.0, 0.0, 0.0
    if pattern == FLUTED:
        groove = wave(u * 1.6 * many)
        return (
            0.0,
            1.0 - 0.4 * strong * (1.0 - step(0.0, 0.5, groove)),
            -0.9 * strong * slope(u * 1.6 * many),
            0.0,
        )
    if pattern == PANELLED:
        return _panelled(u * 0.45 * many, v * 0.3 * many, strong)
    return 0.0, 1.0, 0.0, 0.0


@inner
def _panelled(u: float, v: float, strong: float) -> tuple[float, float, float, float]:
    """Raised fields in a frame, with a dark groove round each."""
    x, y = u - floor(u) - 0.5, v - floor(v) - 0.5
    out = max(abs(x), abs(y))
    groove = step(0.29, 0.32, out) * (1.0 - step(0.37, 0.40, out))
    ramp = strong * (step(0.24, 0.27, out) - step(0.31, 0.34, out))
    lean_u = ramp * (1.0 if x > 0.0 else -1.0) if abs(x) > abs(y) else 0.0
    lean_v = 0.0 if abs(x) > abs(y) else ramp * (1.0 if y > 0.0 else -1.0)
    return 0.0, 1.0 - 0.5 * strong * groove, lean_u, lean_v
