"""What simulated pools say of each measure: how often it orders encoders as the truth does, and how biased it is."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from lookalike.audit.correlation import coefficients, defined_points
from lookalike.audit.trust import BANDS, KINDS
from lookalike.research.bias.encoder_pairs import all_pairs, band_name, bands, place_of
from lookalike.research.bias.simulate import SimulatedPools

REPLICATES = 1000
SEPARABLE = "separated by complete labels"
RATES = ((0.0, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01))
"""Bands of a pool's positive rate."""


class PooledMean(NamedTuple):
    """A mean over pairs of encoders or over encoders, its 95% interval (bootstrap over pools), and over how many."""

    value: float
    low: float
    high: float
    n: int
    pools: int


@dataclass(frozen=True)
class BiasFigure:
    """One figure of one measure with its 95% interval, over `n` encoders or pairs on `pools` pools.

    `where` says for which pools, encoders or pairs.
    """

    measure: str
    figure: str
    where: str
    value: float
    low: float
    high: float
    n: int
    pools: int


def pooled_mean(values: np.ndarray, pool: np.ndarray, pools: int, seed: int = 0) -> PooledMean:
    """A mean with an interval from drawing whole pools again: pairs of one pool are not independent."""
    total, count = np.bincount(pool, weights=values, minlength=pools), np.bincount(pool, minlength=pools)
    used = count > 0
    total, count = total[used], count[used].astype(float)
    if not used.any():
        return PooledMean(float("nan"), float("nan"), float("nan"), 0, 0)
    random = np.random.Generator(np.random.PCG64(seed))
    times = random.multinomial(len(total), np.full(len(total), 1.0 / len(total)), REPLICATES).astype(float)
    low, high = np.quantile(times @ total / (times @ count), (0.025, 0.975))
    return PooledMean(float(total.sum() / count.sum()), float(low), float(high), int(count.sum()), len(total))


def summary(outcomes: Sequence[SimulatedPools]) -> tuple[BiasFigure, ...]:
    """All figures of all measures, over the pools of all ground truths."""
    cells: list[BiasFigure] = []
    for measure in outcomes[0].measures:
        cells += _ordering(outcomes, measure)
        cells += _of_pools(outcomes, measure)
        cells += _bias(outcomes, measure)
        cells += _shift(outcomes, measure)
    return (*cells, *_intervals(outcomes))


def on_its_scale(measure: str) -> bool:
    """Whether a measure estimates HR@5 itself, so that its distance from it is a bias.

    >>> on_its_scale("EHR@5"), on_its_scale("AUC_mac"), on_its_scale("alone")
    (True, False, True)
    """
    other = ("DCS", "AUC", "PR-AUC", "BPREF", "MRR", "ENDCG", "EMRR")
    return not measure.startswith(other)


def _ordering(outcomes: Sequence[SimulatedPools], measure: str) -> list[BiasFigure]:
    """How often a measure orders and separates encoders, by kind of pair and by coverage."""
    found, size = all_pairs(outcomes, measure), sum(map(len, outcomes))
    cells = []

    def add(figure: str, where: str, values: np.ndarray, which: np.ndarray) -> None:
        cells.append(BiasFigure(measure, figure, where, *pooled_mean(values[which], found.pool[which], size)))

    every = np.ones(len(found.pool), bool)
    for name, which in [("all pairs", every), *((kind, found.kind == k) for k, kind in enumerate(KINDS))]:
        add("ordered right", name, found.right, which)
        add("ordered right", f"{name}, {SEPARABLE}", found.right, which & found.separable)
        add("ordered right where its test separates", name, found.right, which & found.separated)
        add("separated", name, found.separated.astype(float), which)
    for place in range(len(BANDS) - 1):
        some = (found.band == place) & found.separable
        add("ordered right", f"{band_name(place)}, {SEPARABLE}", found.right, some)
    return cells


def _of_pools(outcomes: Sequence[SimulatedPools], measure: str) -> list[BiasFigure]:
    """Of every pool: Spearman's correlation with the true HR@5 over its encoders, and the spread of their scores.

    The spread is the standard deviation where all scores are defined. By the pool's positive rate, and by whether it
    has random pairs.
    """
    value = [one.value[:, place_of(one, measure)] for one in outcomes]
    order = np.concatenate(
        [[spearman(v, one.true_all) for v in part] for part, one in zip(value, outcomes, strict=True)]
    )
    spread = np.concatenate([part.std(axis=1) for part in value])
    rate = np.concatenate([one.positive_rate for one in outcomes])
    drawn = np.concatenate([one.random_pairs for one in outcomes]) > 0
    wanted = [("Spearman", order, "all encoders", np.ones(len(order), bool))]
    wanted += [("Spearman", order, where, which) for where, which in _rates(rate)]
    for where, which in (("random pairs too", drawn), ("no random pairs", ~drawn)):
        wanted += [("spread", spread, where, which), ("Spearman", order, where, which)]
    cells = []
    for figure, values, where, which in wanted:
        good = which & np.isfinite(values)
        found = pooled_mean(values[good], np.flatnonzero(good), len(values))
        cells.append(BiasFigure(measure, figure, where, *found))
    return cells


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's correlation over the entries where both are known; NaN for fewer than three or a constant."""
    both = defined_points(a, b)
    return float(coefficients(a[None, both], b[None, both])[0, 0])


def _bias(outcomes: Sequence[SimulatedPools], measure: str) -> list[BiasFigure]:
    """Score minus the true HR@5 of the pool's queries, for many groups of encoders; its root mean square too."""
    if not on_its_scale(measure):
        return []
    found = _by_encoder(outcomes, partial(_distance, measure, 1))
    squares = _by_encoder(outcomes, partial(_distance, measure, 2))
    return [BiasFigure(measure, "bias", where, *one) for where, one in found] + [
        BiasFigure(measure, "RMSE", where, *_root(one)) for where, one in squares
    ]


def _intervals(outcomes: Sequence[SimulatedPools]) -> list[BiasFigure]:
    """How often the corrected HR@5's intervals hold the true HR@5 of all queries, and how wide the whole one is."""

    def holds(which: int, one: SimulatedPools) -> np.ndarray:
        low, high = one.ends[:, which].transpose(1, 0, 2)
        inside = (low <= one.true_all) & (one.true_all <= high)
        return np.where(np.isnan(low), np.nan, inside)

    def width(one: SimulatedPools) -> np.ndarray:
        return np.asarray(one.ends[:, 1, 1] - one.ends[:, 1, 0])

    wanted: dict[str, Callable[[SimulatedPools], np.ndarray]] = {
        "interval of the draw of queries holds the truth": partial(holds, 0),
        "interval holds the truth": partial(holds, 1),
        "width of the interval": width,
    }
    cells = [
        BiasFigure("HR@5 corrected", figure, where, *one)
        for figure, values in wanted.items()
        for where, one in _by_encoder(outcomes, values)
    ]
    held, kind, pool = _differences(outcomes)
    for number, where in enumerate(KINDS):
        some = (kind == number) & np.isfinite(held)
        one = pooled_mean(held[some], pool[some], sum(map(len, outcomes)))
        cells.append(BiasFigure("HR@5 corrected", "interval of a difference holds the truth", where, *one))
    return cells


def _differences(outcomes: Sequence[SimulatedPools]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of every pair of encoders: whether the interval of its difference holds the truth, its kind, its pool."""
    held, kind, pool, before = [], [], [], 0
    for one in outcomes:
        i, j = np.triu_indices(len(one.encoders), 1)
        held.append(one.held[:, i, j].ravel())
        kind.append((2 - one.generator[:, i].astype(int) - one.generator[:, j]).ravel())
        pool.append(np.repeat(before + np.arange(len(one)), len(i)))
        before += len(one)
    return np.concatenate(held), np.concatenate(kind), np.concatenate(pool)


def _root(one: PooledMean) -> PooledMean:
    value, low, high = np.sqrt([one.value, one.low, one.high]).tolist()
    return PooledMean(value, low, high, one.n, one.pools)


def _distance(measure: str, power: int, one: SimulatedPools) -> np.ndarray:
    return np.asarray((one.value[:, place_of(one, measure)] - one.true_same) ** power)


def _shift(outcomes: Sequence[SimulatedPools], measure: str) -> list[BiasFigure]:
    """Places gained: the true rank minus the measure's among the pool's encoders, as a share of the places."""

    def gained(one: SimulatedPools) -> np.ndarray:
        from scipy.stats import rankdata

        value = one.value[:, place_of(one, measure)]
        known = np.isfinite(value).all(axis=1, keepdims=True)
        by_measure = rankdata(np.where(known, value, 0.0), axis=1)
        return np.where(known, (by_measure - rankdata(one.true_all)) / (len(one.encoders) - 1), np.nan)

    return [
        BiasFigure(measure, "places gained", where, *found) for where, found in _by_encoder(outcomes, gained)
    ]


def _by_encoder(
    outcomes: Sequence[SimulatedPools], values: Callable[[SimulatedPools], np.ndarray]
) -> Iterable[tuple[str, PooledMean]]:
    """Means of a (pools, encoders) value over generators and over encoders outside the pool, these also by pool."""
    value = np.concatenate([values(one).ravel() for one in outcomes])
    fed = np.concatenate([one.generator.ravel() for one in outcomes])
    coverage = bands(np.concatenate([one.coverage.ravel() for one in outcomes]))
    of_pool = {
        "positive rate": np.concatenate([one.positive_rate for one in outcomes]),
        "random": np.concatenate([one.random_pairs for one in outcomes]) > 0,
        "answers": np.concatenate([np.array(one.answers) for one in outcomes]),
    }
    sizes = np.concatenate([np.full(len(one), len(one.encoders)) for one in outcomes])
    pool = np.repeat(np.arange(len(sizes)), sizes)
    rate = np.repeat(of_pool["positive rate"], sizes)
    wheres = [("generators", fed), ("outside", ~fed)]
    wheres += [
        (f"outside, {band_name(place)}", ~fed & (coverage == place)) for place in range(len(BANDS) - 1)
    ]
    for name, within in _rates(rate):
        wheres.append((f"outside, {name}", ~fed & within))
    for kind in dict.fromkeys(of_pool["answers"].tolist()):
        wheres.append((f"outside, labels of {kind}", ~fed & np.repeat(of_pool["answers"] == kind, sizes)))
    drawn = np.repeat(of_pool["random"], sizes)
    wheres += [("outside, random pairs too", ~fed & drawn), ("outside, no random pairs", ~fed & ~drawn)]
    good = np.isfinite(value)
    for where, which in wheres:
        yield where, pooled_mean(value[which & good], pool[which & good], len(sizes))


def _rates(rate: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """The bands of the positive rate in words, and the pools in each."""
    return [
        (f"{low:.0%} to {min(high, 1):.0%} of the pool similar", (rate >= low) & (rate < high))
        for low, high in RATES
    ]
