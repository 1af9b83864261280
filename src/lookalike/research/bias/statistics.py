"""What simulated pools say of each measure: how often it orders encoders as the truth does, and how biased it is."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from lookalike.audit.correlation import coefficients, defined_points
from lookalike.audit.trust import BANDS, KINDS
from lookalike.core.errors import MeasureError
from lookalike.research.bias.simulate import SimulatedPools

SEPARATED = 1.959963984540054
"""|z| from which two encoders differ at p < .05."""
DRAWS = 1000
RATES = ((0.0, 0.4), (0.4, 0.6), (0.6, 0.8), (0.8, 1.01))
"""Bands of a pool's positive rate."""


@dataclass(frozen=True)
class PooledMean:
    """A mean over pairs of encoders or over encoders, its 95 % interval (bootstrap over pools), and over how many."""

    value: float
    low: float
    high: float
    n: int
    pools: int


@dataclass(frozen=True)
class BiasFigure:
    """One figure of one measure: `where` says for which pools, encoders or pairs."""

    measure: str
    figure: str
    where: str
    estimate: PooledMean


@dataclass(frozen=True, eq=False)
class EncoderPairs:
    """Every pair of encoders on every pool by one measure, as flat columns.

    `right` is 1 where the measure orders the two as the true HR@5 of all queries does, 0 where not, .5 where it ties
    them. Pairs whose true values are equal, or whose score is undefined, are left out. `settled` says whether complete
    labels of the pool's queries would separate the two at p < .05, `separated` whether the measure does.
    """

    pool: np.ndarray
    kind: np.ndarray
    band: np.ndarray
    right: np.ndarray
    settled: np.ndarray
    separated: np.ndarray
    undefined: int


def pairs(outcome: SimulatedPools, measure: str) -> EncoderPairs:
    """The pairs of one outcome; `band` is that of the coverage@5 of the less covered encoder of the two."""
    m = _place(outcome, measure)
    i, j = np.triu_indices(len(outcome.encoders), 1)
    value, fed = outcome.value[:, m], outcome.generator.astype(int)
    difference = value[:, i] - value[:, j]
    truth = np.broadcast_to(outcome.true_all[i] - outcome.true_all[j], difference.shape)
    kind = 2 - fed[:, i] - fed[:, j]
    use = np.isfinite(difference) & (truth != 0)
    right = 0.5 * (1.0 + np.sign(difference) * np.sign(truth))
    pool = np.broadcast_to(np.arange(len(outcome))[:, None], difference.shape)
    return EncoderPairs(
        pool=pool[use],
        kind=kind[use],
        band=bands(np.minimum(outcome.coverage[:, i], outcome.coverage[:, j]))[use],
        right=right[use],
        settled=(np.abs(outcome.true_z[:, i, j]) > SEPARATED)[use],
        separated=(np.abs(outcome.z[:, m, i, j]) > SEPARATED)[use],
        undefined=int(np.count_nonzero(~np.isfinite(difference) & (truth != 0))),
    )


def bands(coverage: np.ndarray) -> np.ndarray:
    """The place of each coverage among the bands."""
    return np.clip(np.searchsorted(BANDS, np.asarray(coverage) + 1e-9, side="right") - 1, 0, len(BANDS) - 2)


def band_name(place: int) -> str:
    """A band in words.

    >>> band_name(0), band_name(4)
    ('coverage@5 0 to .2', 'coverage@5 .8 to 1')
    """
    low, high = (
        f"{edge:.1f}".lstrip("0").replace("1.0", "1").replace(".0", "0") for edge in BANDS[place : place + 2]
    )
    return f"coverage@5 {low} to {high}"


def pooled_mean(values: np.ndarray, pool: np.ndarray, pools: int, seed: int = 0) -> PooledMean:
    """A mean with an interval from drawing whole pools again: what one pool says of its pairs hangs together."""
    total, count = np.bincount(pool, weights=values, minlength=pools), np.bincount(pool, minlength=pools)
    used = count > 0
    total, count = total[used], count[used].astype(float)
    if not used.any():
        return PooledMean(float("nan"), float("nan"), float("nan"), 0, 0)
    random = np.random.Generator(np.random.PCG64(seed))
    times = random.multinomial(len(total), np.full(len(total), 1.0 / len(total)), DRAWS).astype(float)
    low, high = np.quantile(times @ total / (times @ count), (0.025, 0.975))
    return PooledMean(float(total.sum() / count.sum()), float(low), float(high), int(count.sum()), len(total))


def summary(outcomes: Sequence[SimulatedPools]) -> tuple[BiasFigure, ...]:
    """All figures of all measures, over the pools of all ground truths."""
    cells: list[BiasFigure] = []
    for measure in outcomes[0].measures:
        cells += _ordering(outcomes, measure)
        cells += _correlation(outcomes, measure)
        cells += _spread(outcomes, measure)
        cells += _bias(outcomes, measure)
        cells += _shift(outcomes, measure)
    return tuple(cells)


def on_its_scale(measure: str) -> bool:
    """Whether a measure estimates HR@5 itself, so that its distance from it is a bias.

    >>> on_its_scale("EHR@5"), on_its_scale("AUC_mac"), on_its_scale("alone")
    (True, False, True)
    """
    other = ("DCS", "AUC", "PR-AUC", "BPREF", "MRR", "ENDCG", "EMRR")
    return not measure.startswith(other)


def _ordering(outcomes: Sequence[SimulatedPools], measure: str) -> list[BiasFigure]:
    parts = [pairs(one, measure) for one in outcomes]
    joined = {
        name: np.concatenate([getattr(one, name) for one in parts])
        for name in ("kind", "band", "right", "settled", "separated")
    }
    pool = np.concatenate([one.pool + start for one, start in zip(parts, _starts(outcomes), strict=True)])
    size = sum(map(len, outcomes))
    every = np.ones(len(pool), bool)
    cells = []
    for name, which in [("all pairs", every), *((kind, joined["kind"] == k) for k, kind in enumerate(KINDS))]:
        for where, some in ((name, which), (f"{name}, truth settled", which & joined["settled"])):
            found = pooled_mean(joined["right"][some], pool[some], size)
            cells.append(BiasFigure(measure, "ordered right", where, found))
        wrong = which & joined["separated"]
        claims = pooled_mean(joined["right"][wrong], pool[wrong], size)
        cells.append(BiasFigure(measure, "ordered right where its test separates", name, claims))
        share = pooled_mean(joined["separated"][which].astype(float), pool[which], size)
        cells.append(BiasFigure(measure, "separated", name, share))
    for place in range(len(BANDS) - 1):
        some = (joined["band"] == place) & joined["settled"]
        cells.append(
            BiasFigure(
                measure,
                "ordered right",
                f"{band_name(place)}, truth settled",
                pooled_mean(joined["right"][some], pool[some], size),
            )
        )
    return cells


def _spread(outcomes: Sequence[SimulatedPools], measure: str) -> list[BiasFigure]:
    """Standard deviation of a measure over the encoders of a pool, and its order, with random pairs and without."""
    value = [one.value[:, _place(one, measure)] for one in outcomes]
    apart = np.concatenate([_deviation(one) for one in value])
    order = np.concatenate(
        [[spearman(v, one.true_all) for v in part] for part, one in zip(value, outcomes, strict=True)]
    )
    drawn = np.concatenate([one.random_pairs for one in outcomes]) > 0
    cells = []
    for where, which in (("random pairs too", drawn), ("no random pairs", ~drawn)):
        for figure, values in (("spread", apart), ("Spearman", order)):
            good = which & np.isfinite(values)
            found = pooled_mean(values[good], np.flatnonzero(good), len(values))
            cells.append(BiasFigure(measure, figure, where, found))
    return cells


def _deviation(value: np.ndarray) -> np.ndarray:
    """Over the encoders, of each pool where all are defined; NaN elsewhere."""
    return np.asarray(value.std(axis=1))


def _correlation(outcomes: Sequence[SimulatedPools], measure: str) -> list[BiasFigure]:
    """Spearman's correlation with the true HR@5 over the encoders of a pool, also by the pool's positive rate."""
    found = np.concatenate(
        [[spearman(v, one.true_all) for v in one.value[:, _place(one, measure)]] for one in outcomes]
    )
    rate = np.concatenate([one.positive_rate for one in outcomes])
    cells = []
    for where, which in [("all encoders", np.ones(len(found), bool)), *_rates(rate)]:
        good = which & np.isfinite(found)
        one = pooled_mean(found[good], np.flatnonzero(good), len(found))
        cells.append(BiasFigure(measure, "Spearman", where, one))
    return cells


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    """Spearman's correlation over the entries where both are known; NaN for fewer than three or a constant."""
    both = defined_points(a, b)
    return float(coefficients(a[None, both], b[None, both])[0, 0])


def _bias(outcomes: Sequence[SimulatedPools], measure: str) -> list[BiasFigure]:
    """Score minus the true HR@5 of the pool's queries, in many wheres; its root mean square too."""
    if not on_its_scale(measure):
        return []
    found = _by_encoder(outcomes, partial(_distance, measure, 1))
    squares = _by_encoder(outcomes, partial(_distance, measure, 2))
    return [BiasFigure(measure, "bias", where, one) for where, one in found] + [
        BiasFigure(measure, "RMSE", where, _root(one)) for where, one in squares
    ]


def _root(one: PooledMean) -> PooledMean:
    value, low, high = np.sqrt([one.value, one.low, one.high]).tolist()
    return PooledMean(value, low, high, one.n, one.pools)


def _distance(measure: str, power: int, one: SimulatedPools) -> np.ndarray:
    return np.asarray((one.value[:, _place(one, measure)] - one.true_same) ** power)


def _shift(outcomes: Sequence[SimulatedPools], measure: str) -> list[BiasFigure]:
    """Places gained: the true rank minus the measure's among the pool's encoders, as a share of the places."""

    def gained(one: SimulatedPools) -> np.ndarray:
        from scipy.stats import rankdata

        value = one.value[:, _place(one, measure)]
        known = np.isfinite(value).all(axis=1, keepdims=True)
        by_measure = rankdata(np.where(known, value, 0.0), axis=1)
        return np.where(known, (by_measure - rankdata(one.true_all)) / (len(one.encoders) - 1), np.nan)

    return [
        BiasFigure(measure, "places gained", where, found) for where, found in _by_encoder(outcomes, gained)
    ]


def _by_encoder(
    outcomes: Sequence[SimulatedPools], values: Callable[[SimulatedPools], np.ndarray]
) -> Iterable[tuple[str, PooledMean]]:
    """Means of a (pools, encoders) value over generators and newcomers, then over newcomers by what their pool was."""
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
    wheres = [("generators", fed), ("newcomers", ~fed)]
    wheres += [
        (f"newcomers, {band_name(place)}", ~fed & (coverage == place)) for place in range(len(BANDS) - 1)
    ]
    for name, within in _rates(rate):
        wheres.append((f"newcomers, {name}", ~fed & within))
    for kind in dict.fromkeys(of_pool["answers"].tolist()):
        wheres.append((f"newcomers, labels of {kind}", ~fed & np.repeat(of_pool["answers"] == kind, sizes)))
    drawn = np.repeat(of_pool["random"], sizes)
    wheres += [("newcomers, random pairs too", ~fed & drawn), ("newcomers, no random pairs", ~fed & ~drawn)]
    good = np.isfinite(value)
    for where, which in wheres:
        yield where, pooled_mean(value[which & good], pool[which & good], len(sizes))


def _rates(rate: np.ndarray) -> list[tuple[str, np.ndarray]]:
    """The bands of the positive rate in words, and where it lies in each."""
    return [
        (f"{low:.0%} to {min(high, 1):.0%} of the pool similar", (rate >= low) & (rate < high))
        for low, high in RATES
    ]


def _starts(outcomes: Sequence[SimulatedPools]) -> list[int]:
    return [0, *np.cumsum([len(one) for one in outcomes])[:-1].tolist()]


def _place(outcome: SimulatedPools, measure: str) -> int:
    if measure not in outcome.measures:
        raise MeasureError(
            f"The pools were not scored by {measure}.", fix=f"Name one of: {', '.join(outcome.measures)}."
        )
    return outcome.measures.index(measure)
