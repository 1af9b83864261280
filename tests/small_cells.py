"""Small cells in the search for near duplicates: with few photos there are many of them, also cut ones."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from lookalike.catalog.duplicates import neighbours, parts


@contextmanager
def small_cells() -> Iterator[None]:
    """While this is open."""
    with pytest.MonkeyPatch.context() as patch:
        for limit, value in {"ONE_CELL": 30, "IN_A_CELL": 8, "MOST_IN_A_CELL": 24, "PROBES": 4}.items():
            patch.setattr(neighbours, limit, value)
        patch.setattr(parts, "PART", 60)
        yield
