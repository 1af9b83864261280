"""Simple furniture pictures for the report's tests, made with Pillow."""

import colorsys
from io import BytesIO
from random import Random

from PIL import Image, ImageDraw

KINDS = ("chair", "sofa", "table", "lamp", "shelf", "bed")
SIZE = 168


def thumbnail(kind: str, seed: int, size: int = SIZE) -> bytes:
    """One piece of furniture as a JPEG file."""
    draw_with = Random(f"{kind} {seed}")
    hue = draw_with.random()
    main = _colour(hue, draw_with.uniform(0.25, 0.6), draw_with.uniform(0.45, 0.8))
    dark = _colour(hue + 0.03, 0.5, 0.32)
    wall = _colour(draw_with.random(), 0.05, 0.95)
    image = Image.new("RGB", (400, 400), wall)
    pen = ImageDraw.Draw(image)
    pen.rectangle((0, 300, 400, 400), fill=_colour(0.09, 0.12, 0.84))
    DRAWN[kind](pen, draw_with, main, dark)
    out = BytesIO()
    image.resize((size, size), Image.Resampling.LANCZOS).save(out, "JPEG", quality=82)
    return out.getvalue()


def _colour(hue, saturation, brightness):
    return tuple(round(255 * part) for part in colorsys.hsv_to_rgb(hue % 1, saturation, brightness))


def _chair(pen, draw_with, main, dark):
    wide, back = draw_with.randint(60, 90), draw_with.randint(80, 150)
    for x in (200 - wide, 200 + wide - 12):
        pen.rectangle((x, 230, x + 12, 340), fill=dark)
    pen.rounded_rectangle((200 - wide, 230 - back, 200 + wide, 235), draw_with.randint(4, 50), fill=main)
    pen.rounded_rectangle((190 - wide, 222, 210 + wide, 250), 10, fill=dark)


def _sofa(pen, draw_with, main, dark):
    wide, back = draw_with.randint(120, 165), draw_with.randint(60, 100)
    pen.rounded_rectangle((200 - wide, 250 - back, 200 + wide, 320), draw_with.randint(8, 40), fill=main)
    pen.rounded_rectangle((220 - wide, 250, 196, 300), 12, fill=dark)
    pen.rounded_rectangle((204, 250, 180 + wide, 300), 12, fill=dark)


def _table(pen, draw_with, main, dark):
    wide, high = draw_with.randint(100, 160), draw_with.randint(80, 140)
    for x in (215 - wide, 173 + wide):
        pen.polygon([(x, 340 - high), (x + 12, 340 - high), (x + 8, 340), (x + 2, 340)], fill=dark)
    pen.rounded_rectangle((200 - wide, 322 - high, 200 + wide, 342 - high), 6, fill=main)


def _lamp(pen, draw_with, main, dark):
    wide, high = draw_with.randint(45, 90), draw_with.randint(60, 110)
    pen.rectangle((196, 120, 204, 335), fill=dark)
    pen.ellipse((150, 325, 250, 345), fill=dark)
    pen.polygon(
        [(200 - wide // 2, 70), (200 + wide // 2, 70), (200 + wide, 70 + high), (200 - wide, 70 + high)],
        fill=main,
    )


def _shelf(pen, draw_with, main, dark):
    wide, boards = draw_with.randint(60, 120), draw_with.randint(3, 5)
    pen.rectangle((200 - wide, 80, 200 + wide, 340), fill=dark)
    step = 252 // boards
    for board in range(boards):
        pen.rectangle((208 - wide, 88 + board * step, 192 + wide, 80 + (board + 1) * step), fill=main)


def _bed(pen, draw_with, main, dark):
    high = draw_with.randint(70, 140)
    pen.rounded_rectangle((50, 310 - high, 75, 340), 8, fill=dark)
    pen.rounded_rectangle((60, 260, 350, 320), draw_with.randint(6, 24), fill=main)
    pen.rounded_rectangle((85, 238, 150, 266), 12, fill=(250, 250, 248))


DRAWN = {"chair": _chair, "sofa": _sofa, "table": _table, "lamp": _lamp, "shelf": _shelf, "bed": _bed}
