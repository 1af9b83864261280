"""What every figure is drawn of: a frame that is told in words too, and safe text."""

import math
from collections.abc import Sequence
from html import escape

from lookalike.report.formats import printable

STEPS = (0.05, 0.1, 0.2, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0)


def svg(name: str, width: float, height: float, words: tuple[str, str], parts: Sequence[str]) -> str:
    """A whole figure: its parts, with a title and the same told in words."""
    size = f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}"'
    title, told = (escape(printable(part)) for part in words)
    head = f"<title>{title}</title><desc>{told}</desc>"
    return f'<svg class="{name}" {size} role="img">{head}{"".join(parts)}</svg>'


def text(x: float, y: float, words: str, name: str, anchor: str = "start", *, whole: str = "") -> str:
    """Safe text at a place; a shortened name keeps the whole one as its title."""
    shown = escape(printable(words))
    if whole and whole != words:
        shown = f"<title>{escape(printable(whole))}</title>{shown}"
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{name}" text-anchor="{anchor}">{shown}</text>'


def short(name: str, most: int) -> str:
    """A name cut in its middle: encoder names often begin alike."""
    return name if len(name) <= most else f"{name[: most // 2]}…{name[len(name) - (most - 1) // 2 :]}"


def axis(values: Sequence[float]) -> tuple[float, float, float]:
    """Ends and step of an axis around some scores: four steps or fewer where these suffice.

    >>> axis([0.31, 0.44]), axis([0.1, 1.0])
    ((0.3, 0.45, 0.05), (0.0, 1.0, 0.25))
    """
    if not values:
        return 0.0, 1.0, 0.25
    for step in STEPS:
        low, high = math.floor(min(values) / step + 1e-9), max(math.ceil(max(values) / step - 1e-9), 1)
        if high - low <= 4:
            break
    return round(low * step, 9), round(max(high, low + 1) * step, 9), step
