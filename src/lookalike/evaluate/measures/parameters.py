"""What the parameters of measures may be, read from a name or given from Python."""

import re
from collections.abc import Collection, Mapping
from types import MappingProxyType

import numpy as np

from lookalike.core.errors import MeasureError
from lookalike.core.types import DRAWN

Value = float | int | str
WORDS: Mapping[str, tuple[str, Collection[str], str]] = MappingProxyType(
    {  # parameter -> what has it in an error, its values, the way out
        "average": ("A measure", ("micro", "macro"), "Use average=micro or average=macro."),
        "of": ("A measure", ("k", "possible"), "Use of=possible, or leave it out to divide by K."),
        "negatives": (
            "An area",
            DRAWN,
            f"Use {' or '.join(f'negatives={how}' for how in DRAWN)}, or leave it out.",
        ),
    }
)
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


def check_half(half: float) -> float:
    """The rank itself, if credit can be halved there."""
    if not 0 < half < np.inf:
        raise MeasureError(
            f"DCS has half={half:g}; a rank of half credit is above 0.", fix="Write DCS(half=7)."
        )
    return half


def one_alpha(**given: object) -> None:
    """Refuse `half` beside an alpha; None is not given."""
    if given.get("half") is not None and (given.get("alpha"), given.get("alpha_negative")) != (None, None):
        raise MeasureError("DCS has both alpha and half.", fix="Write DCS(alpha=10) or DCS(half=7).")


def check_word(key: str, value: str) -> str:
    """The value itself, if the parameter takes it."""
    who, words, fix = WORDS[key]
    if value not in words:
        raise MeasureError(f"{who} has {key}={value}.", fix=fix)
    return value


def whole(text: str) -> int | None:
    """A whole number from 1 to 999,999,999; None where the text is something else."""
    return int(text) if _WHOLE.match(text) else None


def read_value(key: str, value: str, family: str) -> Value:
    """A parameter's value from its text."""
    if key in WORDS:
        return check_word(key, value)
    if key in ("depth", "n"):
        number = whole(value)
        if number is None:
            raise MeasureError(
                f"{family} has {key}={value}, which is no whole number from 1 to 999,999,999.",
                fix=f"Write {key}=100.",
            )
        return number
    try:
        return check_half(float(value)) if key == "half" else check_alpha(float(value))
    except ValueError:
        raise MeasureError(
            f"{family} has {key}={value}, which is no number.", fix=f"Write {family}({key}=10)."
        ) from None
