"""Cabinets, shelves, tables and beds. Silhouette and proportion numbers as in `attributes`; lengths in metres."""

from lookalike.studio.furniture.parts import BODY, DARK, FRAME, LINEN, PROP, Build, blend
from lookalike.studio.furniture.seats import Numbers, legs


def cabinet(build: Build, silhouette: Numbers, proportion: Numbers) -> None:
    """A cabinet: drawers or doors, plinth or legs, square or rounded ends, with or without a niche."""
    doors, raised, ends, niche = silhouette
    wide, tall, heft = proportion
    half, deep = blend(0.38, 0.80, wide), blend(0.15, 0.31, heft)
    foot = blend(0.03, 0.24, raised)
    top = foot + blend(0.42, 0.95, tall)
    corner = blend(0.004, deep, ends) if ends > 0.5 else 0.01 + 0.05 * ends
    middle, rise = (foot + top) / 2, (top - foot) / 2
    build.board(BODY, (0, middle, 0), (half, deep, rise), 0.006, corner)
    lid = (half + 0.012, deep + 0.012, blend(0.006, 0.026, heft))
    build.board(FRAME, (0, top + blend(0.004, 0.022, heft), 0), lid, 0.006, corner)
    flat = half - max(0.03, 0.85 * corner)
    left, right = -flat, flat
    if niche > 0.5:
        left = -flat + 2.0 * flat * (0.30 + 0.12 * niche)
        _niche(build, -flat, left - 0.012, foot + 0.04, top - 0.03, deep)
    _front(build, left, right, foot + 0.03, top - 0.02, deep, doors)
    if raised > 0.5:
        legs(build, half - 0.09, deep - 0.06, foot + 0.01, 0.75, blend(0.014, 0.024, heft))
    else:
        build.panel(FRAME, (0, foot / 2, -0.01), (half - 0.04, foot / 2, deep - 0.04), edge=0.003)


def _front(
    build: Build, left: float, right: float, low: float, high: float, deep: float, doors: float
) -> None:
    """Drawers one above the other, or doors side by side, each with its handle."""
    across = (2 if right - left < 0.9 else 3 if doors < 0.85 else 4) if doors > 0.5 else 1
    rows = 1 if doors > 0.5 else 3 + (high - low > 0.6) + (doors > 0.22)
    width, height = (right - left) / across, (high - low) / rows
    for column in range(across):
        for row in range(rows):
            x, y = left + (column + 0.5) * width, low + (row + 0.5) * height
            build.panel(
                BODY, (x, y, deep + 0.004), (width / 2 - 0.008, height / 2 - 0.008, 0.012), edge=0.005
            )
            if across > 1:
                side = 1.0 if column % 2 == 0 else -1.0
                x = x + side * (width / 2 - 0.045)
                build.bar(DARK, (x, y - 0.07, deep + 0.03), (x, y + 0.07, deep + 0.03), 0.008, 0.008)
            else:
                build.bar(DARK, (x - 0.08, y, deep + 0.03), (x + 0.08, y, deep + 0.03), 0.008, 0.008)


def _niche(build: Build, left: float, right: float, low: float, high: float, deep: float) -> None:
    x, half = (left + right) / 2, (right - left) / 2
    build.panel(DARK, (x, (low + high) / 2, deep - 0.002), (half, (high - low) / 2, 0.004), edge=0.002)
    for share in (0.34, 0.67):
        build.panel(BODY, (x, blend(low, high, share), deep + 0.004), (half, 0.010, 0.008), edge=0.003)
    for place in range(4):
        tall = 0.045 + 0.012 * ((place * 3) % 4)
        at = (x - 0.4 * half + 0.03 * place, blend(low, high, 0.34) + 0.01 + tall, deep + 0.003)
        build.panel(PROP if place % 2 else FRAME, at, (0.012, tall, 0.005), edge=0.002)


def shelf(build: Build, silhouette: Numbers, proportion: Numbers) -> None:
    """A shelf: closed sides or a ladder frame, flat or arched on top, few boards or many, open or closed behind."""
    ladder, arched, many, closed = silhouette
    wide, tall, heft = proportion
    half, deep, top = blend(0.30, 0.62, wide), 0.17, blend(0.95, 1.7, tall)
    board = blend(0.006, 0.036, heft)
    count = 3 + round(1.4 * many + 0.2) if many < 0.5 else 4 + round(3 * many)
    if closed > 0.5:
        build.panel(BODY, (0, top / 2 + 0.03, -deep), (half, top / 2 - 0.03, 0.006), edge=0.003)
    for place in range(count):
        y = 0.07 + (top - 0.07 - board) * place / (count - 1)
        depth = deep * (1.0 if ladder < 0.5 else 1.25 - 0.55 * place / (count - 1))
        build.board(BODY, (0, y, depth - deep), (half, depth, board), 0.004, 0.01)
    if ladder > 0.5:
        for side in (-half, half):
            build.bar(FRAME, (side, 0, 1.6 * deep), (side, top + 0.05, -0.4 * deep), 0.013, 0.013)
            build.bar(FRAME, (side, 0, -deep), (side, top + 0.05, -deep), 0.013, 0.013)
    else:
        for side in (-half, half):
            build.panel(
                BODY, (side, top / 2, 0), (deep, top / 2, max(board, 0.012)), facing="side", edge=0.004
            )
    if arched > 0.5:
        z = -deep if ladder > 0.5 else 0.0
        build.hoop(FRAME if ladder > 0.5 else BODY, (0, top, z), half, 0.014 + 0.01 * arched, opening=0.5)


def table(build: Build, silhouette: Numbers, proportion: Numbers) -> None:
    """A table: rectangular or round, on legs or a pedestal, slender or stout, with or without a lower shelf."""
    round_top, pedestal, stout, lower = silhouette
    wide, tall, heft = proportion
    deep = blend(0.30, 0.42, wide)
    half = deep * (blend(1.15, 1.0, round_top) if round_top > 0.5 else blend(1.45, 2.0, wide))
    top, thick = blend(0.36, 0.76, tall), blend(0.006, 0.054, heft)
    corner = blend(0.02, deep, round_top) if round_top > 0.5 else 0.12 * round_top
    build.board(BODY, (0, top - thick, 0), (half, deep, thick), 0.5 * thick, corner)
    post, under = blend(0.016, 0.06, stout), top - 2.0 * thick
    inset = 0.70 if round_top > 0.5 else 0.90
    if pedestal > 0.5:
        build.bar(FRAME, (0, 0.02, 0), (0, under, 0), 2.2 * post, 1.5 * post, edge=0.01)
        foot = deep * blend(0.5, 0.75, pedestal)
        build.bar(FRAME, (0, 0, 0), (0, 0.045, 0), foot, 0.86 * foot, edge=0.012)
        build.bar(FRAME, (0, under - 0.05, 0), (0, under, 0), 1.5 * post, 0.5 * deep, edge=0.004)
        reach = 0.55
    else:
        legs(build, inset * half - post, inset * deep - post, under, 0.3 + 1.2 * pedestal, post)
        apron = (inset * half - post, 0.03, inset * deep - post)
        build.panel(BODY, (0, under - 0.03, 0), apron, edge=0.004)
        reach = inset
    if lower > 0.5:
        under_shelf = (reach * half - 0.01, reach * deep - 0.01, 0.012)
        build.board(BODY, (0, 0.30 * top, 0), under_shelf, 0.006, corner * reach)


def bed(build: Build, silhouette: Numbers, proportion: Numbers) -> None:
    """A bed: straight or arched headboard, tall posts, footboard, on a plinth or on legs."""
    arched, posts, board, raised = silhouette
    wide, tall, heft = proportion
    half, long = blend(0.55, 0.95, wide), 0.98
    foot = blend(0.02, 0.22, raised)
    rail = blend(0.06, 0.18, heft)
    bedding = foot + 2.0 * rail
    build.board(BODY, (0, foot + rail, 0), (half, long, rail), 0.02, 0.04)
    _bedding(build, half, long, bedding)
    head = bedding + blend(0.35, 0.75, tall)
    build.panel(
        BODY,
        (0, (foot + head) / 2, -long - 0.02),
        (half + 0.03, (head - foot) / 2, 0.02 + 0.06 * heft),
        edge=0.025,
        above=blend(0.02, half, arched) if arched > 0.5 else 0.02 + 0.1 * arched,
    )
    if board > 0.5:
        high = bedding + 0.05 + 0.22 * board
        build.panel(
            BODY,
            (0, (foot + high) / 2, long + 0.02),
            (half + 0.03, (high - foot) / 2, 0.03),
            edge=0.02,
            above=blend(0.02, 0.3, arched),
        )
    if posts > 0.5:
        _posts(build, half, long, head + 0.25 * posts, bedding + 0.45 + 0.25 * posts)
    elif raised > 0.5:
        legs(build, half - 0.08, long - 0.1, foot + 0.02, 0.3, 0.035)
    if raised <= 0.5:
        build.panel(FRAME, (0, foot / 2, 0), (half - 0.05, foot / 2, long - 0.05), edge=0.003)


def _posts(build: Build, half: float, long: float, behind: float, before: float) -> None:
    for side in (-half - 0.03, half + 0.03):
        for z, top in ((-long - 0.02, behind), (long + 0.02, before)):
            build.bar(FRAME, (side, 0, z), (side, top, z), 0.034, 0.026)
            build.ball(FRAME, (side, top + 0.02, z), (0.042, 0.042, 0.042))


def _bedding(build: Build, half: float, long: float, low: float) -> None:
    build.board(LINEN, (0, low + 0.07, 0), (half - 0.02, long - 0.02, 0.09), 0.06, 0.08)
    build.board(PROP, (0, low + 0.09, 0.60 * long), (half + 0.004, 0.24 * long, 0.082), 0.05, 0.03)
    for side in (-0.48, 0.48):
        at = (side * half, low + 0.22, -long + 0.26)
        build.panel(LINEN, at, (0.42 * half, 0.17, 0.075), edge=0.072, above=0.07, below=0.07, recline=0.75)
