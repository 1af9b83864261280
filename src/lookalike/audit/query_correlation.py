"""Correlations over queries, for any whole weights of the queries: one bootstrap replicate per row of weights."""

from math import nan

import numpy as np
from jaxtyping import Float, Float64

from lookalike.audit.correlation import DIGITS, FEWEST


class OverQueries:
    """Spearman, Kendall's tau-b and Pearson of two values per query; queries that lack one are left out.

    A query with weight w counts as w equal queries. Spearman is Pearson of mid-ranks; tau-b is (concordant -
    discordant) / sqrt((pairs - ties in x) (pairs - ties in y)). Undefined below three queries, and where a side
    is constant.
    """

    def __init__(self, x: Float[np.ndarray, " queries"], y: Float[np.ndarray, " queries"]) -> None:
        here = np.flatnonzero(np.isfinite(x) & np.isfinite(y))
        a, b = np.round(x[here], DIGITS), np.round(y[here], DIGITS)
        (xs, i), (ys, j) = (np.unique(side, return_inverse=True) for side in (a, b))
        points, cell = np.unique(
            i * len(ys) + j, return_inverse=True
        )  # equal queries are one point, in order of x
        self.place, self.cell, self.n = here, cell.astype(np.int64), len(here)
        if self.n:
            self.x_group, self.y_group = np.divmod(points, len(ys))
            self.x, self.y = xs[self.x_group], ys[self.y_group]

    def of(self, weights: Float64[np.ndarray, "replicates queries"]) -> Float64[np.ndarray, "replicates 3"]:
        """One row of coefficients per row of weights."""
        from lookalike.audit.query_kernels import (
            correlate_weighted,  # the compiler is loaded when it is needed
        )

        found = np.full((len(weights), 3), nan)
        if self.n:
            groups = self.x_group, self.y_group
            correlate_weighted(self.place, self.cell, self.x, self.y, *groups, weights, FEWEST, found)
        return np.clip(np.round(found, DIGITS), -1.0, 1.0)

    def plain(self, queries: int) -> Float64[np.ndarray, " 3"]:
        """The coefficients with every query counted once."""
        return self.of(np.ones((1, queries)))[0]
