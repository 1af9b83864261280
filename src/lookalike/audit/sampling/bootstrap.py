"""A bootstrap interval of drawn samples, for information: it stands beside the interval that decides."""

import numpy as np
from jaxtyping import Float64, Int64

from lookalike.audit.sampling.design import Units
from lookalike.evaluate.significance.bootstrap import blocks
from lookalike.evaluate.significance.intervals import percentile

REPLICATES = 1000


def bootstrap_ends(
    units: Units,
    unit: Int64[np.ndarray, " drawn"],
    ends: Float64[np.ndarray, "2 drawn"],
    coefficient: Float64[np.ndarray, " 2"],
    level: float,
    *,
    replicates: int = REPLICATES,
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
    >>> low, high = bootstrap_ends(units, np.arange(20), answers, np.zeros(2), 0.95)
    >>> round(low, 2), round(high, 2)
    (0.43, 0.57)
    """
    names, place = units.strata
    of = place[unit]
    there, count = (np.bincount(x, minlength=len(names)) for x in (place, of))
    if (count == 0).any():
        return np.nan, np.nan
    size = count[of]
    apart, step = np.sqrt(1.0 - size / there[of]), size / np.maximum(size - 1, 1)
    stratum = np.repeat(np.arange(len(names)), count - 1)  # of each unit that a replicate draws
    sorted_units, first = np.argsort(of, kind="stable"), np.cumsum(count) - count
    f = np.zeros(len(units)) if units.covariate is None else units.covariate
    residual = ends - coefficient[:, None] * f[unit]
    random, value = np.random.Generator(np.random.PCG64(seed)), np.full((replicates, 2), units.known)
    for rows in blocks(replicates, len(unit)):
        drawn = (random.random((len(rows), len(stratum))) * count[stratum]).astype(np.int64) + first[stratum]
        at = sorted_units[drawn] + np.arange(len(rows))[:, None] * len(unit)
        times = np.bincount(at.ravel(), minlength=len(rows) * len(unit)).reshape(len(rows), -1)
        weight = there[of] / size * (1.0 + apart * np.where(size > 1, times * step - 1.0, 0.0))
        for sign in (1.0, -1.0):
            heavy, every = (
                weight * np.maximum(sign * units.weight[unit], 0.0),
                np.maximum(sign * units.weight, 0.0),
            )
            if every.any():
                rate = (
                    heavy @ residual.T / heavy.sum(axis=1, keepdims=True)
                    + coefficient * (every @ f) / every.sum()
                )
                rate = rate if units.whole else np.clip(rate, 0.0, 1.0)
                value[rows.start : rows.stop] += sign * every.sum() * rate
    return percentile(value[:, 0], level)[0], percentile(value[:, 1], level)[1]
