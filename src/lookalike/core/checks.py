"""Small checks shared by every floor: text columns, codes, fingerprints, installed libraries."""

import hashlib
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from itertools import chain, islice
from shlex import quote
from typing import Any

import numpy as np

from lookalike.core.errors import ArgumentError

BLOCK = 4_096  # values


def strings(values: Iterable[Any]) -> np.ndarray:
    """Ids as an object array of text; `7` and `007` stay as they are written.

    >>> strings(["007", "b"]).tolist()
    ['007', 'b']
    """
    listed = [value if type(value) is str else str(value) for value in values]
    column = np.empty(len(listed), dtype=object)
    column[:] = listed
    return column


def codes(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Distinct values in order of first appearance, and the place of each row's value among them.

    >>> distinct, code = codes(strings(["b", "a", "b"]))
    >>> distinct.tolist(), code.tolist()
    (['b', 'a'], [0, 1, 0])
    """
    place: dict[str, int] = {}
    new = np.ones(len(values), dtype=bool)
    new[1:] = values[1:] != values[:-1]  # tables mostly have runs of one value, which is looked up once
    runs = np.flatnonzero(new)
    code = np.fromiter((place.setdefault(values[at], len(place)) for at in runs), np.int64, len(runs))
    return strings(place), np.repeat(code, np.diff(np.append(runs, len(values))))


def not_installed(libraries: Iterable[str]) -> list[str]:
    """Those of some libraries that are not installed. None is loaded: some take seconds.

    >>> not_installed(["numpy", "a_library_nobody_has"])
    ['a_library_nobody_has']
    """
    return [name for name in libraries if find_spec(name) is None]


def fingerprint(*columns: Iterable[Any]) -> str:
    """A short hash of columns of text or numbers, equal exactly when the columns are.

    >>> fingerprint(["a", "bc"]) == fingerprint(["ab", "c"])
    False
    """
    digest = hashlib.sha256()
    for column in columns:
        values = iter(column)
        while block := list(islice(values, BLOCK)):  # one call per block is faster than one per value
            parts = [str(value).encode("utf-8", "surrogatepass") for value in block]
            digest.update(
                b"".join(chain.from_iterable((len(part).to_bytes(8, "little"), part) for part in parts))
            )
        digest.update(b"\xff" * 8)
    return digest.hexdigest()[:16]


def one_of(value: str, allowed: Sequence[str], argument: str) -> str:
    """The value itself if it is among the allowed ones, else an error that lists them."""
    if value not in allowed:
        raise ArgumentError(
            f"{argument} is {value!r}, which is not known.", fix=f"Use one of: {', '.join(allowed)}."
        )
    return value


def install(extra: str) -> str:
    """What to do about a library of an optional part that is missing.

    >>> install("models").endswith(" -m pip install '.[models]'")
    True
    """
    return f"Install it in the folder of Lookalike: {pip_install(f'.[{extra}]')}"


def pip_install(package: str) -> str:
    """The command that installs a package for the Python that runs now, which need not be the `python3` of a shell."""
    return f"{quote(sys.executable or 'python3')} -m pip install {quote(package)}"


def at_least(value: int, least: int, argument: str) -> int:
    """The value itself if it is large enough."""
    if value < least:
        raise ArgumentError(
            f"{argument} is {value}; it must be {least} or more.", fix=f"Give {argument} >= {least}."
        )
    return value
