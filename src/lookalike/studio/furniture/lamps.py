"""Lamps. Silhouette and proportion numbers as in `attributes`; lengths in metres."""

from lookalike.studio.furniture.parts import BODY, FRAME, Build, blend
from lookalike.studio.furniture.seats import Numbers


def lamp(build: Build, silhouette: Numbers, proportion: Numbers) -> None:
    """A lamp: drum or cone shade, stick or gourd body, upright or arched neck, disc or tripod foot."""
    conical, gourd, arched, tripod = silhouette
    wide, tall, heft = proportion
    shade, rise = blend(0.13, 0.23, wide), blend(0.07, 0.17, heft)
    stem, top = blend(0.006, 0.024, heft), blend(0.34, 0.80, tall)
    x = 0.0
    if arched > 0.5:
        bow, top = shade * blend(0.45, 0.8, arched), top + 0.14
        build.hoop(FRAME, (0, top, 0), bow, stem, opening=0.5)
        x, hang = -bow, top - 2.0 * rise
        build.bar(FRAME, (bow, top - rise, 0), (bow, top, 0), stem, stem)
        shade_at = (bow, hang + 0.6 * rise, 0.0)
    else:
        shade_at = (0.0, top + rise * 0.7, 0.0)
    _shade(build, shade_at, shade, rise, conical, stem)
    _stand(build, x, top, stem, gourd, tripod, heft)


def _shade(
    build: Build, at: tuple[float, float, float], radius: float, rise: float, conical: float, stem: float
) -> None:
    x, y, z = at
    narrow = radius * (blend(0.62, 0.22, conical) if conical > 0.5 else blend(1.0, 0.8, conical))
    build.bar(BODY, (x, y - rise, z), (x, y + rise, z), radius, narrow, edge=0.004)
    build.bar(FRAME, (x, y + rise - 0.004, z), (x, y + rise + 0.02, z), 0.9 * stem, 0.6 * stem, edge=0.002)


def _stand(build: Build, x: float, top: float, stem: float, gourd: float, tripod: float, heft: float) -> None:
    hub = 0.36 * top if tripod > 0.5 else 0.03
    build.bar(FRAME, (x, 0.5 * hub, 0), (x, top, 0), 1.1 * stem, stem)
    if tripod > 0.5:
        reach = 0.10 + 0.14 * tripod
        for dx, dz in ((0.0, 1.0), (-0.866, -0.5), (0.866, -0.5)):
            build.bar(FRAME, (x + reach * dx, 0, reach * dz), (x, hub, 0), 0.8 * stem, 1.2 * stem)
    else:
        build.bar(FRAME, (x, 0, 0), (x, 0.024, 0), 0.095 + 0.02 * heft, 0.088 + 0.02 * heft, edge=0.008)
    if gourd > 0.5:
        swell = blend(0.06, 0.105, gourd)
        low = hub if tripod > 0.5 else 0.02
        build.ball(BODY, (x, low + 0.95 * swell, 0), (swell, swell, swell))
        build.ball(BODY, (x, low + 2.05 * swell, 0), (0.6 * swell, 0.62 * swell, 0.6 * swell))
