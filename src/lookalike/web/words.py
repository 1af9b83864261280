"""Figures as people read them on a page: a dash and the reason where there is none, never a 0."""

from math import isfinite, isnan

from lookalike.annotate.figure import Figure

DASH = "–"


def percent(value: float) -> str:
    """A share.

    >>> percent(0.934), percent(float("nan"))
    ('93 %', '–')
    """
    return DASH if isnan(value) else f"{100 * value:.0f} %"


def coefficient(value: float) -> str:
    """A coefficient of agreement, as the field prints it: .73.

    >>> coefficient(0.734), coefficient(-0.1), coefficient(1.0)
    ('.73', '−.10', '1.00')
    """
    if isnan(value):
        return DASH
    return f"{value:.2f}".replace("-", "−").replace("0.", ".", 1) if abs(value) < 0.995 else f"{value:.2f}"


def between(figure: Figure, said: str) -> str:
    """The interval of a figure, "" where it has none; `said` is "percent" or "coefficient".

    >>> between(Figure(0.9, 0.8, 0.95, 40), "percent")
    '80 to 95 %'
    """
    if not figure.is_sure:
        return ""
    if said == "percent":
        return f"{100 * figure.low:.0f} to {100 * figure.high:.0f} %"
    return f"{coefficient(figure.low)} to {coefficient(figure.high)}"


def hours(value: float) -> str:
    """A time of work.

    >>> hours(0.25), hours(3.21), hours(1240.0)
    ('15 min', '3.2 h', '1,240 h')
    """
    if not isfinite(value):
        return DASH
    if value < 1:
        return f"{60 * value:.0f} min"
    return f"{value:.1f} h" if value < 100 else f"{value:,.0f} h"


def number(value: float) -> str:
    """A number of things, rounded.

    >>> number(1234.4), number(float("nan"))
    ('1,234', '–')
    """
    return f"{value:,.0f}" if isfinite(value) else DASH
