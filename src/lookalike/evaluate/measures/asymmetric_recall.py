"""aR@k: pairs of a left and a right image, of which either finds the other (ADAPT 4.3)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Int64

from lookalike.evaluate.measures.parameters import check_k

TIE = 1e-6  # of cosine, as in the engine of ranks
ROWS = 64  # of a block that stays in the processor's cache


class PairPlaces(NamedTuple):
    """Where each pair's other image is in the list of its left image (row 0) and of its right image (row 1).

    `above` counts better candidates, `tied` equal ones, itself not counted. It is negative where the similarity of a
    pair is NaN.
    """

    above: Int64[np.ndarray, "2 pairs"]
    tied: Int64[np.ndarray, "2 pairs"]


def pair_places(cosine: Any) -> PairPlaces:  # noqa: ANN401 - an array of NumPy or a tensor on any device
    """Places in a table of similarities, rows left and columns right images; pair i is (i, i).

    Rows rank the right images for a left one, columns the left images for a right one. Better and equal candidates are
    counted, block by block, and nothing is sorted.

    >>> pair_places(np.array([[0.5, 0.9], [0.5, 0.3]])).above.tolist()
    [[1, 1], [0, 1]]
    """
    own = cosine.diagonal()
    high, low = own + TIE, own - TIE
    rows, columns = [], [0, 0]
    for first in range(0, len(cosine), ROWS):
        block, part = cosine[first : first + ROWS], slice(first, first + ROWS)
        rows.append([_host((block > high[part, None]).sum(1)), _host((block >= low[part, None]).sum(1))])
        columns = [columns[0] + (block > high).sum(0), columns[1] + (block >= low).sum(0)]
    if not rows:
        return PairPlaces(np.zeros((2, 0), np.int64), np.zeros((2, 0), np.int64))
    of_left = [np.concatenate(counts) for counts in zip(*rows, strict=True)]
    above, reached = (np.stack([of_left[at], _host(columns[at])]).astype(np.int64) for at in (0, 1))
    return PairPlaces(above, reached - above - 1)


def asymmetric_recall(places: PairPlaces, k: int) -> float:
    """aR@k = share of the pairs of which either image finds the other in its top k. Source: ADAPT 4.3.

        w = clip((k - above) / (tied + 1), 0, 1)
        aR@k = mean over pairs of 1 - (1 - w_left) (1 - w_right)

    Left images are ranked against right ones only and the reverse, within the pairs given. w is the share of tie
    orders that put the other image into the top k, as in HR@K, and the two lists are ordered apart. Without ties a pair
    counts 1 or 0. NaN where there is no pair or a similarity is NaN. Range 0 to 1.

    >>> table = np.array([[0.5, 0.9, 0.1], [0.6, 0.3, 0.2], [0.3, 0.3, 0.3]])
    >>> [round(asymmetric_recall(pair_places(table), k), 3) for k in (1, 2, 3)]
    [0.333, 1.0, 1.0]
    """
    above, tied = places
    if not above.size or (tied < 0).any():
        return float("nan")
    missed = 1.0 - np.clip((check_k(k) - above) / (tied + 1.0), 0.0, 1.0)
    return float(np.mean(1.0 - missed[0] * missed[1]))


def recall_curve(places: PairPlaces, ks: Sequence[int]) -> list[float]:
    """aR@k at several k.

    >>> recall_curve(pair_places(np.eye(3)), (1, 3))
    [1.0, 1.0]
    """
    return [asymmetric_recall(places, k) for k in ks]


def _host(counts: Any) -> np.ndarray:  # noqa: ANN401 - an array of NumPy or a tensor
    return np.asarray(counts.cpu() if hasattr(counts, "cpu") else counts)
