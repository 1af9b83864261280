"""Result lists without duplicate photos: only the best-ranked photo of each group of duplicates is shown."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float32, Int, Int64

Lists = tuple[Int64[np.ndarray, "queries k"], Float32[np.ndarray, "queries k"]]
Best = Callable[[Int64[np.ndarray, " some"], int], Lists]


def shown_once(best: Best, queries: int, k: int, duplicate: Int[np.ndarray, " images"]) -> Lists:
    """The K best candidates (catalog rows and scores, best first) of which no two show duplicates of one photo.

    `best(queries, k)` gives the K best candidates of some queries, by number, -1 and NaN where there
    are fewer; `duplicate` is each catalog row's group or -1. A candidate whose photo is a duplicate of one
    above it is skipped, and `best` is called for longer lists until K are found or there are no more. For a
    catalog without duplicates it is called once.

    >>> row = np.array([[2, 0, 1]])
    >>> def best(queries, k):
    ...     return row[queries, :k], np.ones((len(queries), min(k, 3)), np.float32)
    >>> shown_once(best, 1, 2, np.array([0, -1, 0]))[0].tolist()
    [[2, 1]]
    """
    wanted, asked = np.arange(queries), k
    rows, scores = best(wanted, asked)
    if not (duplicate >= 0).any():
        return rows, scores
    row, score = np.empty_like(rows), np.empty_like(scores)
    while True:
        again = _repeated(np.where(rows >= 0, duplicate[rows], -1))
        first = np.argsort(again, axis=1, kind="stable")[:, : row.shape[1]]
        left = ~np.take_along_axis(again, first, axis=1)
        row[wanted] = np.where(left, np.take_along_axis(rows, first, axis=1), -1)
        score[wanted] = np.where(left, np.take_along_axis(scores, first, axis=1), np.nan)
        more = ~left.all(axis=1) & (rows[:, -1:] >= 0).all(axis=1)  # a list that ends in -1 is all there is
        wanted = wanted[more]
        if not len(wanted) or rows.shape[1] < asked:
            return row, score
        asked *= 2
        rows, scores = best(wanted, asked)


def _repeated(group: Int[np.ndarray, "queries k"]) -> Bool[np.ndarray, "queries k"]:
    """Which places show a group that is shown further left already."""
    order = np.argsort(group, axis=1, kind="stable")
    sorted_group = np.take_along_axis(group, order, axis=1)
    again = np.zeros(group.shape, dtype=bool)
    again[:, 1:] = (sorted_group[:, 1:] == sorted_group[:, :-1]) & (sorted_group[:, 1:] >= 0)
    repeated = np.empty_like(again)
    np.put_along_axis(repeated, order, again, axis=1)
    return repeated
