"""Whether vectors can be compared at all: finite, and with a direction."""

import numpy as np

from lookalike.core.errors import EmbeddingsError
from lookalike.core.text import quoted

SLICE = 65_536
FIX = "Compute those vectors again, or leave those images out of the catalog."


def check_vectors(images: np.ndarray, vectors: np.ndarray, source: str, fix: str = FIX) -> None:
    """Refuse NaN, infinity and zero vectors, naming the images."""
    for first in range(0, len(vectors), SLICE):
        part = vectors[first : first + SLICE]
        bad = ~np.isfinite(part).all(axis=1)
        zero = ~bad & ~part.any(axis=1)
        for where, what in (
            (bad, "NaN, infinite or too large values"),
            (zero, "only zeros, so no direction to compare"),
        ):
            if where.any():
                named = images[first : first + SLICE][where]
                raise EmbeddingsError(
                    f"{source}: {len(named):,} vectors hold {what}: {quoted(named)}.",
                    fix=fix,
                )
