"""What the parameters of measures may be, read from a name or given from Python."""

import re
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from lookalike.core.errors import MeasureError
from lookalike.core.types import DRAWN

Value = float | int | str
_WHOLE = re.compile(r"^[1-9][0-9]{0,8}$")


def check_k(k: int) -> int:
    """K itself, if a list can have so many places."""
    if k < 1:
        raise MeasureError(
            f"K is {k}; a list has at least one place.", fix="Give K of 1 or more, as in HR@5."
        )
    return k


def check_alpha(alpha: float) -> float:
    """The alpha itself; any number will do, infinite ones too, but NaN is none."""
    if np.isnan(alpha):
        raise MeasureError("DCS has alpha = nan.", fix="Give a number: DCS(alpha=10).")
    return alpha


def check_average(average: str) -> str:
    """The way to average itself, if it is one."""
    if average not in ("micro", "macro"):
        raise MeasureError(f"DCS has average={average}.", fix="Use average=micro or average=macro.")
    return average


def check_of(of: str) -> str:
    """What hits are divided by itself: K, or what was possible."""
    if of not in ("k", "possible"):
        raise MeasureError(f"A measure has of={of}.", fix="Use of=possible, or leave it out to divide by K.")
    return of


def check_negatives(negatives: str) -> str:
    """The kind of drawn negatives itself, if it is one."""
    if negatives not in DRAWN:
        listed = " or ".join(f"negatives={how}" for how in DRAWN)
        raise MeasureError(f"An area has negatives={negatives}.", fix=f"Use {listed}, or leave it out.")
    return negatives


def whole(text: str) -> int | None:
    """A whole number from 1 to 999,999,999; None where the text is something else."""
    return int(text) if _WHOLE.match(text) else None


def read_value(key: str, value: str, family: str) -> Value:
    """A parameter's value from its text."""
    if key in _WORDS:
        return _WORDS[key](value)
    if key in ("depth", "n"):
        number = whole(value)
        if number is None:
            raise MeasureError(
                f"{family} has {key}={value}, which is no whole number from 1 to 999,999,999.",
                fix=f"Write {key}=100.",
            )
        return number
    try:
        return check_alpha(float(value))
    except ValueError:
        raise MeasureError(
            f"{family} has {key}={value}, which is no number.", fix=f"Write {family}({key}=10)."
        ) from None


_WORDS: Mapping[str, Callable[[str], str]] = MappingProxyType(
    {"average": check_average, "of": check_of, "negatives": check_negatives}
)
