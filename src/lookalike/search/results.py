"""Items found, as people read them: photo, item, score and label."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float32, Int64

from lookalike.core.types import Catalog
from lookalike.rank.pairs import JudgedPairs


@dataclass(frozen=True)
class Result:
    """One item found: the photo it was found by, its score, and its label for this query (None: unjudged)."""

    image: str
    item: str
    score: float
    label: int | None


def results(
    catalog: Catalog,
    row: Int64[np.ndarray, " k"],
    score: Float32[np.ndarray, " k"],
    query: str | None,
    judged: Mapping[tuple[str, str], int],
) -> tuple[Result, ...]:
    """One result list. `query` is the catalog image searched for, None for a new photo."""
    found = [(int(at), float(value)) for at, value in zip(row, score, strict=True) if at >= 0]
    return tuple(
        Result(
            catalog.image[at],
            catalog.item[at],
            value,
            judged.get((query, catalog.item[at])) if query is not None else None,
        )
        for at, value in found
    )


def judged_items(pairs: JudgedPairs) -> dict[tuple[str, str], int]:
    """(query image, candidate item) -> label, from matched labels at item level."""
    ends = zip(pairs.query, pairs.candidate, pairs.label.tolist(), strict=True)
    return {(query, item): label for query, item, label in ends}
