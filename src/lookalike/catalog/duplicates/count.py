"""How many photos of a catalog are duplicates of others."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from lookalike.core.types import Catalog


@dataclass(frozen=True)
class DuplicateCount:
    """What duplicates a catalog holds.

    `photos` are duplicates of others: of a group of m photos, m - 1. `exact` of them have the bytes of another one
    in their group, `near` have not. `groups` is how many groups there are, `across_items` how many of them show
    more than one item (these hurt results and measures), `across_splits` how many lie in more than one split.
    """

    photos: int
    exact: int
    near: int
    groups: int
    across_items: int
    across_splits: int


def count_duplicates(catalog: Catalog) -> DuplicateCount:
    """The figures of `Catalog.duplicate`.

    >>> from lookalike.core.checks import strings
    >>> text, number = strings(["a", "a", "b", "c"]), np.zeros(4, np.int64)
    >>> catalog = Catalog(
    ...     *[text] * 6, number, text, number, number, duplicate=np.array([0, 0, 0, -1])
    ... )
    >>> count_duplicates(catalog)
    DuplicateCount(photos=2, exact=1, near=1, groups=1, across_items=1, across_splits=1)
    """
    rows = np.flatnonzero(catalog.duplicate >= 0)
    return count_copies(
        catalog.duplicate[rows], catalog.content[rows], catalog.item[rows], catalog.split[rows]
    )


def count_copies(
    group: np.ndarray, content: np.ndarray, item: np.ndarray, split: np.ndarray
) -> DuplicateCount:
    """The figures of photos that are all in groups, from their columns."""

    def distinct(column: np.ndarray) -> Counter[int]:
        return Counter(number for number, _ in set(zip(group.tolist(), column, strict=True)))

    groups, contents = len(set(group.tolist())), distinct(content)
    return DuplicateCount(
        photos=len(group) - groups,
        exact=len(group) - contents.total(),
        near=contents.total() - groups,
        groups=groups,
        across_items=sum(items > 1 for items in distinct(item).values()),
        across_splits=sum(splits > 1 for splits in distinct(split).values()),
    )
