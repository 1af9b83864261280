"""Images selected by the values of catalog columns."""

from collections import Counter
from collections.abc import Sequence
from difflib import get_close_matches

import numpy as np
from jaxtyping import Bool

from lookalike.core.errors import ArgumentError
from lookalike.core.types import Catalog

WORDS = ("category", "split", "role", "item", "image", "path")
MOST_SHOWN = 5

Where = Sequence[tuple[str, str]]  # (column, value) pairs


def column_of(catalog: Catalog, name: str) -> np.ndarray:
    """The values of a catalog column, ours or one of the user's own table.

    Raises ArgumentError, naming the nearest columns, where there is none of that name.
    """
    if name in WORDS:
        return np.asarray(getattr(catalog, name))
    if name in catalog.columns:
        return np.asarray(catalog.columns[name])
    named = [*WORDS, *catalog.columns]
    plain = {column.casefold(): column for column in reversed(named)}
    near = [plain[word] for word in get_close_matches(name.strip().casefold(), list(plain), n=3, cutoff=0.6)]
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    raise ArgumentError(f"The catalog has no column {name!r}.", fix=f"{hint}It has: {', '.join(named[:30])}.")


def matching(catalog: Catalog, where: Where) -> Bool[np.ndarray, " images"]:
    """Which images have the values of all columns named. Values of one column are alternatives.

    Raises ArgumentError for an unknown column, and for a value that no image has.
    """
    found = np.ones(len(catalog), dtype=bool)
    for column in dict.fromkeys(column for column, _ in where):
        values = column_of(catalog, column)
        wanted = list(dict.fromkeys(value for named, value in where if named == column))
        has_it = np.zeros(len(catalog), dtype=bool)
        for value in wanted:
            these = np.asarray(values == value, dtype=bool)
            if not these.any():
                raise ArgumentError(
                    f"No image has {column}={value!r}.",
                    fix=f"The most frequent values are {frequent(values)}.",
                )
            has_it |= these
        found &= has_it
    return found


def frequent(values: np.ndarray) -> str:
    """The most frequent values with their counts, as text.

    >>> frequent(np.array(["a", "b", "a"], dtype=object))
    "'a' (2), 'b' (1)"
    """
    listed = Counter(values.tolist()).most_common(MOST_SHOWN)
    return ", ".join(f"{name!r} ({times:,})" for name, times in listed)
