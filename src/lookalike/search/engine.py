"""What a search engine is: a thin adapter that returns the nearest images and promises nothing else.

Items, duplicates, filters and the query's own item are handled by `search.distinct`, for every engine alike.
"""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32, Int64


@dataclass(frozen=True, eq=False)
class Nearest:
    """Catalog rows of the nearest images per query, best first, with their cosines; -1 and NaN where there is none.

    `error` is the most that a score differs from the cosine; infinite if unknown. The scores of an engine that is not
    exact may be changed by who asked for them.
    """

    row: Int64[np.ndarray, "queries count"]
    score: Float32[np.ndarray, "queries count"]
    error: float = 0.0


@runtime_checkable
class Engine(Protocol):
    """An index over the images of a catalog that can be found.

    `exact`: the scores and their order are those of the rank engine. The scores of other engines are computed again.
    """

    @property
    def name(self) -> str:
        """The name that commands and pages show."""

    @property
    def exact(self) -> bool:
        """Whether every image is compared."""

    def __len__(self) -> int: ...

    def nearest(self, queries: Float32[np.ndarray, "queries dimension"], count: int) -> Nearest:
        """The nearest images of each query: `count` of them, or all images where these are fewer.

        Queries of an engine that is not exact have length 1.
        """
