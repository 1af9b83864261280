"""Exact search: every candidate is compared, and K distinct items come back whenever K exist."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from lookalike.core.types import Catalog, Embeddings, Rule
from lookalike.rank.distinct import TopLists, top_for_vectors, top_lists
from lookalike.rank.pairs import JudgedPairs


@dataclass(frozen=True)
class Result:
    """One item found: the photo it was found by, its score, and its label for this query (None: unjudged)."""

    image: str
    item: str
    score: float
    label: int | None


def by_image(
    catalog: Catalog,
    embeddings: Embeddings,
    image: str,
    k: int,
    rule: Rule | None = None,
    judged: Mapping[tuple[str, str], int] | None = None,
) -> tuple[Result, ...]:
    """The K best distinct items for an image of the catalog; its own item is left out."""
    lists = top_lists(catalog, embeddings, np.array([catalog.row[image]]), k, rule)
    return results(catalog, lists, 0, image, judged or {})


def by_vector(
    catalog: Catalog, embeddings: Embeddings, vector: np.ndarray, k: int, rule: Rule | None = None
) -> tuple[Result, ...]:
    """The K best distinct items for a new photo's vector."""
    return results(catalog, top_for_vectors(catalog, embeddings, vector[None], k, rule), 0, None, {})


def results(
    catalog: Catalog, lists: TopLists, at: int, query: str | None, judged: Mapping[tuple[str, str], int]
) -> tuple[Result, ...]:
    """One top list as results."""
    found = [
        (int(row), float(score))
        for row, score in zip(lists.row[at], lists.score[at], strict=True)
        if row >= 0
    ]
    return tuple(
        Result(
            catalog.image[row],
            catalog.item[row],
            score,
            judged.get((query, catalog.item[row])) if query is not None else None,
        )
        for row, score in found
    )


def judged_items(pairs: JudgedPairs) -> dict[tuple[str, str], int]:
    """(query image, candidate item) -> label, from matched labels at item level."""
    ends = zip(pairs.query, pairs.candidate, pairs.label.tolist(), strict=True)
    return {(query, item): label for query, item, label in ends}
