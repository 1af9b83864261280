"""How much of what people see changes when one encoder replaces another."""

import numpy as np
from jaxtyping import Float64, Int64


def churn(
    one: Int64[np.ndarray, "queries k"], other: Int64[np.ndarray, "queries k"]
) -> Float64[np.ndarray, " queries"]:
    """The churn@K of each query: the share of its K results that the other list does not show.

        churn@K = 1 - |A n B| / max(|A|, |B|)

    for the items A and B of two lists of one query, the order left aside. -1 is an empty place. NaN where both lists
    are empty. It is 1 minus the overlap@K of Webber, Moffat and Zobel 2010.

    >>> churn(np.array([[1, 2, 3, 4], [5, 6, -1, -1]]), np.array([[4, 3, 9, 8], [5, -1, -1, -1]])).tolist()
    [0.5, 0.5]
    """
    same = ((one[:, :, None] == other[:, None, :]) & (one[:, :, None] >= 0)).sum(axis=(1, 2))
    longest = np.maximum((one >= 0).sum(axis=1), (other >= 0).sum(axis=1))
    return np.where(longest > 0, 1.0 - same / np.maximum(longest, 1), np.nan)
