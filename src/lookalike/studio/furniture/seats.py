"""Chairs, stools and sofas. Silhouette and proportion numbers as in `attributes`; lengths in metres."""

from math import sqrt

from lookalike.studio.furniture.parts import BODY, FRAME, Build, blend

Numbers = tuple[float, ...]


def chair(build: Build, silhouette: Numbers, proportion: Numbers) -> None:
    """A chair: round or square back, straight or splayed legs, arms, spindles."""
    round_back, splay, arms, spindles = silhouette
    wide, tall, heft = proportion
    half, deep, seat = blend(0.19, 0.30, wide), blend(0.20, 0.26, wide), 0.45
    thick = blend(0.010, 0.070, heft)
    corner = blend(0.02, 0.95 * deep, round_back)
    build.board(BODY, (0, seat - thick, 0), (half, deep, thick), 0.7 * thick, corner)
    height = blend(0.30, 0.66, tall)
    if spindles > 0.5:
        _spindle_back(build, half, deep, seat, height, round_back, spindles)
    else:
        _solid_back(build, half, deep, seat, height, round_back, thick, spindles)
    legs(build, 0.86 * half, 0.82 * deep, seat - 1.6 * thick, splay, blend(0.012, 0.034, heft))
    if arms > 0.5:
        _arms(build, half, deep, seat, arms, heft)


def legs(build: Build, x: float, z: float, top: float, splay: float, thick: float) -> None:
    """Four legs: straight square posts, or round ones that taper and spread."""
    for side in (-1.0, 1.0):
        for front in (-1.0, 1.0):
            if splay > 0.5:
                spread = 0.30 * splay * top
                foot = (side * (x + spread), 0.0, front * (z + 0.7 * spread))
                build.bar(FRAME, foot, (side * 0.9 * x, top, front * 0.9 * z), 0.6 * thick, 1.35 * thick)
            else:
                width = thick * (0.8 + splay)
                build.panel(FRAME, (side * x, top / 2, front * z), (width, top / 2, width), edge=0.004)


def _solid_back(
    build: Build,
    half: float,
    deep: float,
    seat: float,
    height: float,
    round_back: float,
    thick: float,
    gap: float,
) -> None:
    low = 0.02 + 0.35 * gap
    rise = (height - low * height) / 2
    lean = 0.17
    middle = seat + low * height + rise
    build.panel(
        BODY,
        (0, middle, -deep + 0.02 - lean * (middle - seat)),
        (0.96 * half, rise, 0.014 + 0.5 * thick),
        edge=0.012 + 0.4 * thick,
        above=blend(0.02, half, round_back),
        below=blend(0.02, 0.6 * half, round_back),
        recline=lean,
    )
    for side in (-0.6, 0.6):
        foot = (side * half, seat - 0.03, -deep + 0.03)
        head = (side * half, middle, -deep - lean * (middle - seat))
        build.bar(FRAME, foot, head, 0.014, 0.012)


def _spindle_back(
    build: Build, half: float, deep: float, seat: float, height: float, round_back: float, spindles: float
) -> None:
    count = 4 + round(4 * spindles)
    thick = 0.016
    if round_back > 0.5:
        radius = 0.93 * half
        shoulder = seat + max(0.06, height - radius)
        build.hoop(BODY, (0, shoulder, -deep + 0.03), radius, thick, opening=0.5)
        for side in (-radius, radius):
            build.bar(BODY, (side, seat - 0.02, -deep + 0.03), (side, shoulder, -deep + 0.03), thick, thick)
    else:
        radius, shoulder = 0.0, seat + height
        build.panel(
            BODY, (0, shoulder, -deep + 0.03), (half, 0.05, 0.014), edge=0.01, above=0.02 + 0.1 * round_back
        )
        for side in (-0.93 * half, 0.93 * half):
            build.bar(BODY, (side, seat - 0.02, -deep + 0.03), (side, shoulder, -deep + 0.03), thick, thick)
    for place in range(1, count):
        x = (2.0 * place / count - 1.0) * 0.93 * half
        top = shoulder + sqrt(max(radius * radius - x * x, 0.0))
        build.bar(FRAME, (x, seat - 0.02, -deep + 0.03), (x, top, -deep + 0.03), 0.008, 0.007)


def _arms(build: Build, half: float, deep: float, seat: float, arms: float, heft: float) -> None:
    rest = seat + 0.20
    width = blend(0.012, 0.032, heft)
    for side in (-1.0, 1.0):
        x, half_size = side * (half + 0.4 * width), (width, deep + 0.02, 0.012)
        corners = {"above": 0.4 * width, "below": width}
        build.panel(FRAME, (x, rest, -0.04), half_size, facing="up", edge=0.01, **corners)
        foot = (x, seat - 0.05, deep * blend(0.4, 0.8, arms))
        build.bar(FRAME, foot, (x, rest, foot[2] + 0.02), 0.013, 0.012)


def stool(build: Build, silhouette: Numbers, proportion: Numbers) -> None:
    """A stool: round or square seat on legs or a pedestal, with or without a foot ring."""
    round_seat, pedestal, ring, plump = silhouette
    wide, tall, heft = proportion
    half, top = blend(0.15, 0.25, wide), blend(0.40, 0.72, tall)
    thick = blend(0.02, 0.085, plump)
    corner = blend(0.015, half, min(1.0, round_seat * 1.05))
    edge = blend(0.5, 0.95, plump) * thick
    build.board(BODY, (0, top - thick, 0), (half, half, thick), edge, corner)
    under = top - 1.7 * thick
    post = blend(0.009, 0.034, heft)
    if pedestal > 0.5:
        build.bar(FRAME, (0, 0.02, 0), (0, under, 0), 1.5 * post, 1.1 * post)
        build.bar(FRAME, (0, 0, 0), (0, 0.03, 0), 0.8 * half, 0.74 * half, edge=0.01)
        build.bar(FRAME, (0, 0.025, 0), (0, 0.075, 0), 0.5 * half, 1.4 * post, edge=0.004)
        reach = 0.55 * half
    else:
        legs(build, 0.78 * half, 0.78 * half, under, 1.1 * pedestal + 0.2, post)
        reach = 0.86 * half
    if ring > 0.5:
        build.hoop(FRAME, (0, 0.34 * top, 0), reach, 0.011 + 0.004 * ring, opening=1.0, facing="up")
        for x, z in ((reach, 0.0), (0.0, reach)) if pedestal > 0.5 else ():
            build.bar(FRAME, (-x, 0.34 * top, -z), (x, 0.34 * top, z), 0.008, 0.008)


def sofa(build: Build, silhouette: Numbers, proportion: Numbers) -> None:
    """A sofa: straight or curved back, boxy or rolled arms, one cushion or several, plinth or legs."""
    curved, rolled, parted, raised = silhouette
    wide, tall, heft = proportion
    half, deep = blend(0.72, 1.15, wide), 0.42
    foot = blend(0.03, 0.19, raised)
    arm = blend(0.045, 0.135, heft)
    seat, back = foot + 0.30, foot + blend(0.55, 0.82, tall)
    build.panel(BODY, (0, (foot + seat - 0.1) / 2, 0), (half, (seat - 0.1 - foot) / 2, deep), edge=0.02)
    _sofa_back(build, half, deep, foot, back, curved)
    for side in (-1.0, 1.0):
        _sofa_arm(build, side * (half - arm), deep, foot, seat, arm, rolled)
    _cushions(build, half - 2.0 * arm, deep, seat, back, parted, heft)
    if raised > 0.5:
        legs(build, half - 0.12, deep - 0.08, foot + 0.02, 0.9, 0.018)
    else:
        build.panel(FRAME, (0, foot / 2, 0), (half - 0.06, foot / 2, deep - 0.06), edge=0.004)


def _sofa_back(build: Build, half: float, deep: float, foot: float, back: float, curved: float) -> None:
    top = back + 0.10 * curved if curved > 0.5 else back
    corner = blend(0.12, 0.40, curved) if curved > 0.5 else 0.03 + 0.1 * curved
    rise = (top - foot) / 2
    at = (0.0, foot + rise, -deep + 0.05 - 0.08 * rise)
    build.panel(BODY, at, (half, rise, 0.09), edge=0.04, above=corner, recline=0.08)


def _sofa_arm(
    build: Build, x: float, deep: float, foot: float, seat: float, arm: float, rolled: float
) -> None:
    top = seat + 0.18
    if rolled > 0.5:
        radius = arm * blend(1.0, 1.45, rolled)
        half = (deep, (top - radius - foot) / 2, 0.8 * arm)
        build.panel(BODY, (x, (foot + top - radius) / 2, 0), half, facing="side", edge=0.02)
        build.bar(BODY, (x, top - radius, -deep), (x, top - radius, deep + 0.015), radius, radius, edge=0.03)
    else:
        half, edge = (deep, (top - foot) / 2, arm), blend(0.012, 0.06, rolled)
        build.panel(BODY, (x, (foot + top) / 2, 0), half, facing="side", edge=edge)


def _cushions(
    build: Build, half: float, deep: float, seat: float, back: float, parted: float, heft: float
) -> None:
    count = 1 if parted < 0.5 else (2 if half < 0.78 else 3)
    each = half / count
    thick = blend(0.05, 0.10, heft)
    for place in range(count):
        x = -half + (2 * place + 1) * each
        build.board(BODY, (x, seat - 0.1 + thick, 0.06), (each - 0.004, deep - 0.05, thick), 0.055, 0.05)
        rise = (back - seat) / 2 - 0.01
        at = (x, seat + thick + rise - 0.06, -deep + 0.24)
        half_size = (each - 0.008, rise, 0.08)
        build.panel(BODY, at, half_size, edge=0.075, above=0.08, below=0.05, recline=0.2)
