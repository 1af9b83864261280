"""A bootstrap interval of drawn samples. It is shown for information; another interval makes the decision."""

import numpy as np
from jaxtyping import Float64, Int64

from lookalike.audit.sampling.design import Units
from lookalike.audit.sampling.strata import Strata, sides_of
from lookalike.evaluate.significance.bootstrap import blocks
from lookalike.evaluate.significance.intervals import percentile


def bootstrap_ends(
    units: Units,
    unit: Int64[np.ndarray, " drawn"],
    ends: Float64[np.ndarray, "2 drawn"],
    coefficient: Float64[np.ndarray, " 2"],
    level: float,
    *,
    replicates: int,
    seed: int = 0,
) -> tuple[float, float]:
    """Quantiles of the estimate on resampled units: the low one with the answers `ends[0]`, the high with `ends[1]`.

    A replicate draws n_h - 1 of the n_h units of each stratum with replacement (Rao and Wu 1988). With r_i for how
    often it drew unit i, the unit has the weight (Rao, Wu and Yue 1992)

        (N_h / n_h) (1 + sqrt(1 - n_h / N_h) (r_i n_h / (n_h - 1) - 1))

    instead of N_h / n_h in the formula of `estimates`; lambda is kept. Totals vary over replicates by the variance of
    the draw without replacement. The only unit of a stratum keeps its weight. NaN where a stratum has no unit.

    >>> units = Units(np.full(40, 0.01), np.zeros(40, int), known=0.3)
    >>> answers = np.tile([1.0, 0.0], (2, 10))
    >>> low, high = bootstrap_ends(units, np.arange(20), answers, np.zeros(2), 0.95, replicates=1000)
    >>> round(low, 2), round(high, 2)
    (0.43, 0.57)
    """
    strata, value = Strata(units, unit), np.full((replicates, 2), units.known)
    if (strata.count == 0).any():
        return np.nan, np.nan
    size, count = strata.count[strata.of], strata.count.astype(np.int64)
    apart, step = np.sqrt(1.0 - 1.0 / strata.each), size / np.maximum(size - 1.0, 1.0)
    slot = np.repeat(np.arange(len(count)), count - 1)  # the stratum of each unit that a replicate draws
    random = np.random.Generator(np.random.PCG64(seed))
    for rows in blocks(replicates, len(unit)):
        drawn = (random.random((len(rows), len(slot))) * count[slot]).astype(np.int64) + strata.start[slot]
        drawn += np.arange(len(rows))[:, None] * len(unit)
        times = np.bincount(drawn.ravel(), minlength=len(rows) * len(unit)).reshape(len(rows), -1)
        weight = strata.each * (1.0 + apart * np.where(size > 1, times * step - 1.0, 0.0))
        for side in sides_of(units, unit, weight):
            rate = np.stack([side.rate(end, slope) for end, slope in zip(ends, coefficient, strict=True)])
            value[rows.start : rows.stop] += side.sign * side.total * rate.T
    return percentile(value[:, 0], level)[0], percentile(value[:, 1], level)[1]
