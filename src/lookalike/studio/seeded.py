"""Random numbers as a pure function of what they are for.

A draw is keyed by (seed, item, photo, purpose, ...), so image i of a studio can be drawn alone, in any
order and in any process. The hash is the finisher of splitmix64 (Steele, Lea and Flood, 2014), folded over
the parts of the key; integers only, so it is the same on every machine.
"""

from typing import Any, TypeVar

import numpy as np

Choice = TypeVar("Choice")
Key = int | str | np.ndarray

_MASK = (1 << 64) - 1
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_UNIT = 2.0**-53


def hashed(*key: Key) -> np.ndarray:
    """64 random bits for each row of a key of numbers, words and integer columns.

    >>> hashed(7, "silhouette", np.arange(2)).tolist() == [key_of(7, "silhouette", i) for i in (0, 1)]
    True
    """
    bits = np.zeros(1, dtype=np.uint64)  # one-dimensional: numpy warns when a scalar wraps around
    for part in key:
        bits = (
            _finish(bits ^ _words(part)) if not isinstance(part, str) else _finish(bits ^ _words(_word(part)))
        )
    return bits


def uniform(*key: Key) -> np.ndarray:
    """Numbers in [0, 1), one for each row of the key.

    >>> bool(abs(uniform(1, np.arange(10_000)).mean() - 0.5) < 0.01)
    True
    """
    return (hashed(*key) >> np.uint64(11)).astype(np.float64) * _UNIT


def key_of(*key: int | str) -> int:
    """The 64 bits of `hashed` for one key, as a Python integer."""
    bits = 0
    for part in key:
        bits = _finish_one(bits ^ (_word(part) if isinstance(part, str) else int(part) & _MASK))
    return bits


class RandomStream:
    """A stream of random numbers for one purpose.

    >>> RandomStream(0, 12, 1, "light").between(0.2, 0.4) == RandomStream(0, 12, 1, "light").between(0.2, 0.4)
    True
    """

    def __init__(self, *key: int | str) -> None:
        self._bits = key_of(*key)

    def unit(self) -> float:
        """The next number in [0, 1)."""
        self._bits = _finish_one(self._bits)
        return (self._bits >> 11) * _UNIT

    def between(self, low: float, high: float) -> float:
        """The next number in [low, high)."""
        return low + (high - low) * self.unit()

    def chance(self, share: float) -> bool:
        """True in this share of calls."""
        return self.unit() < share

    def below(self, count: int) -> int:
        """The next whole number in [0, count)."""
        return int(self.unit() * count)

    def one_of(self, choices: "tuple[Choice, ...]") -> Choice:
        """One of the choices, all equally likely."""
        return choices[self.below(len(choices))]


def _word(text: str) -> int:
    bits = 0xCBF29CE484222325  # FNV-1a
    for byte in text.encode():
        bits = ((bits ^ byte) * 0x100000001B3) & _MASK
    return bits


def _words(part: Any) -> np.ndarray:  # noqa: ANN401 - a number or a column of them
    if isinstance(part, int):
        return np.array([part & _MASK], dtype=np.uint64)
    return np.atleast_1d(part).astype(np.uint64)


def _finish(bits: np.ndarray) -> np.ndarray:
    bits = bits + np.uint64(_STEP)
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(_FIRST)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(_SECOND)
    return np.asarray(bits ^ (bits >> np.uint64(31)))


def _finish_one(bits: int) -> int:
    bits = (bits + _STEP) & _MASK
    bits = ((bits ^ (bits >> 30)) * _FIRST) & _MASK
    bits = ((bits ^ (bits >> 27)) * _SECOND) & _MASK
    return bits ^ (bits >> 31)
