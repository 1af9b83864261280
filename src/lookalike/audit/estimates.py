"""Estimates of HR@K for an encoder from pool labels: ways to make up for the candidates that nobody judged.

Unique finds are less often similar than shared ones: what several encoders find is likely alike. A generator shows by
how much, for all it put forward was judged. `only(g)` is the positive rate of the labelled candidates in g's top K that
no other generator put forward, `shared(g)` that of the others. The estimates carry this over to the unjudged
candidates of another encoder, each in another way. `docs/bias.md` says how they did.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
from jaxtyping import Bool, Float64, Int

from lookalike.core.types import JudgedRanks, Score
from lookalike.evaluate.fold import per_query, ratio
from lookalike.evaluate.hits import membership

NOTHING_ALONE = "no generator's top has both candidates that it found alone and candidates that others found"
NOTHING_JUDGED = "no labelled candidate in the encoder's top"
STEPS, RIDGE = 12, 0.1
MORE = 100
"""Further labels of an encoder's unjudged candidates in the estimate that asks for some."""


@dataclass(frozen=True, eq=False)
class Rates:
    """What a pool's generators show: by generator, the positive rate of what it found alone and of what others
    found too, its HR@K, and its EHR@K and coverage@K without the labels that it alone put forward. NaN where undefined.
    """

    only: Float64[np.ndarray, " generators"]
    shared: Float64[np.ndarray, " generators"]
    known: Float64[np.ndarray, " generators"]
    without: Float64[np.ndarray, " generators"]
    coverage: Float64[np.ndarray, " generators"]


@dataclass(frozen=True, eq=False)
class Seen:
    """One encoder on one pool, with all that an estimate may look at.

    `found[i]` is how many of the `others` (the generators but the encoder itself) put row i forward. `open_score` are
    the encoder's scores of the unjudged candidates in its top K, `open_query` their queries (as places in
    `judged.query_codes`), `open_label` what annotators would say of them (-1: nothing), for the estimate that asks for
    some. `tops` are (rank, others that found it, others, label) of what the generators found.
    """

    judged: JudgedRanks
    k: int
    found: Int[np.ndarray, " pairs"]
    others: int
    rates: Rates
    tops: Float64[np.ndarray, "four finds"]
    open_score: Float64[np.ndarray, " open"]
    open_query: Int[np.ndarray, " open"]
    open_label: Int[np.ndarray, " open"]
    seed: int


def generator_rates(
    ranks: Int[np.ndarray, "generators pairs"] | Float64[np.ndarray, "generators pairs"],
    surfaced: Bool[np.ndarray, "generators pairs"],
    label: Int[np.ndarray, " pairs"],
    query: Int[np.ndarray, " pairs"],
    k: int,
) -> Rates:
    """The rates of each generator's labelled candidates among its best k; query places are 0, 1, ..."""
    times = surfaced.sum(axis=0)
    rows = [_one_generator(found & (rank < k), times, label, query) for rank, found in zip(ranks, surfaced, strict=True)]
    return Rates(*np.array(rows).T.reshape(5, len(rows)))


def generator_tops(
    ranks: Float64[np.ndarray, "generators pairs"],
    surfaced: Bool[np.ndarray, "generators pairs"],
    label: Int[np.ndarray, " pairs"],
    k: int,
) -> Float64[np.ndarray, "four finds"]:
    """What each generator found among its best k: rank, how many others found it, how many others there are, label."""
    times = surfaced.sum(axis=0)
    parts = []
    for rank, found in zip(ranks, surfaced, strict=True):
        here = found & (rank < k)
        others = np.full(int(here.sum()), len(surfaced) - 1.0)
        parts.append(np.stack([rank[here], times[here] - 1.0, others, label[here].astype(np.float64)]))
    return np.concatenate(parts, axis=1)


def alone_rate(seen: Seen) -> Score:
    """HR = mean over queries of (positives + only x unjudged) / K: unjudged candidates are similar as often as what
    a generator found alone, mean over generators. Undefined where no generator found anything alone.
    """
    return _filled(seen, _mean(seen.rates.only))


def alone_ratio(seen: Seen) -> Score:
    """The same with the encoder's own quality: unjudged ones are similar at EHR@K x mean of only(g) / shared(g)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = _mean(seen.rates.only / seen.rates.shared)
    return _filled(seen, min(1.0, _own_rate(seen) * factor))


def alone_odds(seen: Seen) -> Score:
    """The same with odds for rates, which cannot pass 1: odds(EHR@K) x exp(mean of log odds only - log odds shared).

    Rates of 0 and 1 are moved in by .01.
    """
    shift = _mean(_logit(seen.rates.only) - _logit(seen.rates.shared))
    odds = np.exp(_logit(np.array(_own_rate(seen))) + shift)
    return _filled(seen, float(odds / (1.0 + odds)))


def left_out_shift(seen: Seen) -> Score:
    """EHR@K - (1 - coverage@K) x mean over g of (EHR_g without what g alone found - HR_g) / (1 - coverage_g then).

    What EHR@K of a generator gains when it is treated as a newcomer, by the coverage that it loses.
    """
    r = seen.rates
    lost = np.where(r.coverage < 1.0 - 1e-9, 1.0 - r.coverage, np.nan)
    shift = _mean((r.without - r.known) / lost)
    positive, labelled = _counts(seen)
    covered = labelled > 0
    share = np.divide(positive, labelled, out=np.zeros_like(positive), where=covered)
    gone = 1.0 - float(np.minimum(labelled / seen.k, 1.0).mean()) if len(labelled) else 1.0
    if np.isnan(shift):
        return _none(seen, NOTHING_ALONE)
    return ratio(seen.judged, np.where(covered, share - gone * shift, 0.0), covered.astype(np.float64), NOTHING_JUDGED)


def own_curve(seen: Seen) -> Score:
    """Unjudged candidates count with P(similar | the encoder's score, nobody found it), by logistic regression.

    logit P = b0 + b1 x score + b2 x share of the generators that put the pair forward, fitted on the encoder's labelled
    pairs; unjudged ones have the share 0. Undefined unless its pairs have both labels.
    """
    label = seen.judged.label
    if len(label) == 0 or label.min() == label.max():
        return _none(seen, NOTHING_JUDGED)
    score = seen.judged.score.astype(np.float64)
    middle, spread = score.mean(), score.std() + 1e-12
    share = seen.found / max(seen.others, 1)
    fit = _logistic(np.stack([np.ones(len(label)), (score - middle) / spread, share]), label.astype(np.float64))
    x = np.stack([np.ones(len(seen.open_score)), (seen.open_score - middle) / spread, np.zeros(len(seen.open_score))])
    return _added(seen, _chance(x, fit))


def joint_curve(seen: Seen) -> Score:
    """Unjudged candidates count with the chance that a regression over all generators and the encoder gives them.

    logit P = b0 + b1 log(1 + rank) + b2 x share of the others that found it + b3 [nobody else did] + b4 [the
    encoder's], fitted on the generators' labelled candidates among their best K and on the encoder's.
    """
    here = seen.judged.rank < seen.k
    label = seen.judged.label[here]
    if not here.any():
        return _none(seen, NOTHING_JUDGED)
    rank, found, others, known = seen.tops
    own = np.stack([seen.judged.rank[here], seen.found[here], np.full(len(label), float(seen.others))])
    x = np.concatenate([_features(rank, found, others, 0.0), _features(*own, 1.0)], axis=1)
    fit = _logistic(x, np.concatenate([known, label.astype(np.float64)]))
    some = np.full(len(seen.open_score), (seen.k - 1) / 2)  # the middle of the top
    return _added(seen, _chance(_features(some, np.zeros(len(some)), np.full(len(some), float(seen.others)), 1.0), fit))


def more_labels(seen: Seen) -> Score:
    """HR = (positives + sum over unjudged of P) / K with P the positive rate of `MORE` of them, drawn and labelled.

    Stratified sampling: the judged part is known, of the rest a sample is asked. Without bias whatever the pool is.
    The drawn labels' departures from P stay with their queries, so that intervals know of the sample.
    """
    size = len(seen.open_query)
    if size == 0:
        return _filled(seen, 0.0)
    random = np.random.Generator(np.random.PCG64(seen.seed))
    drawn = random.choice(size, min(MORE, size), replace=False)
    drawn = drawn[seen.open_label[drawn] >= 0]
    if len(drawn) == 0:
        return _none(seen, "none of the drawn pairs was labelled")
    rate = float(seen.open_label[drawn].mean())
    known = np.full(size, rate)
    known[drawn] += (seen.open_label[drawn] - rate) * size / len(drawn)
    return _added(seen, known)


ESTIMATES: Mapping[str, Callable[[Seen], Score]] = MappingProxyType(
    {
        "alone": alone_rate,
        "alone x own": alone_ratio,
        "alone x own (odds)": alone_odds,
        "left-out shift": left_out_shift,
        "own curve": own_curve,
        "joint curve": joint_curve,
        f"{MORE} more labels": more_labels,
    }
)


def estimates(seen: Seen) -> dict[str, Score]:
    """Every estimate of one encoder on one pool, by name."""
    return {name: replace(one(seen), measure=name) for name, one in ESTIMATES.items()}


def _one_generator(here: np.ndarray, times: np.ndarray, label: np.ndarray, query: np.ndarray) -> tuple[float, ...]:
    alone = here & (times == 1)
    kept = here & (times > 1)
    size = int(query.max(initial=-1)) + 1
    of_kept = np.bincount(query[kept], minlength=size)
    of_all = np.bincount(query[here], minlength=size)
    similar = np.bincount(query[kept], weights=label[kept], minlength=size)
    covered = of_kept > 0
    return (
        float(label[alone].mean()) if alone.any() else np.nan,
        float(label[kept].mean()) if kept.any() else np.nan,
        float(label[here].mean()) if here.any() else np.nan,
        float((similar[covered] / of_kept[covered]).mean()) if covered.any() else np.nan,
        float(of_kept.sum() / of_all.sum()) if here.any() else np.nan,
    )


def _counts(seen: Seen) -> tuple[np.ndarray, np.ndarray]:
    w = membership(seen.judged, seen.k)
    return per_query(seen.judged, w * (seen.judged.label == 1)), per_query(seen.judged, w)


def _own_rate(seen: Seen) -> float:
    positive, labelled = _counts(seen)
    return float(positive.sum() / labelled.sum()) if labelled.sum() > 0 else np.nan


def _filled(seen: Seen, rate: float) -> Score:
    """Unjudged candidates at one rate."""
    if np.isnan(rate):
        return _none(seen, NOTHING_ALONE)
    positive, labelled = _counts(seen)
    share = np.minimum((positive + rate * np.maximum(seen.k - labelled, 0.0)) / seen.k, 1.0)
    return ratio(seen.judged, share, np.ones(len(share)), "")


def _added(seen: Seen, chance: np.ndarray) -> Score:
    """Unjudged candidates at a rate each."""
    positive, _ = _counts(seen)
    more = np.bincount(seen.open_query, weights=chance, minlength=len(positive))
    return ratio(seen.judged, (positive + more) / seen.k, np.ones(len(positive)), "")


def _none(seen: Seen, reason: str) -> Score:
    nothing = np.zeros(len(seen.judged.query_codes[0]))
    return ratio(seen.judged, nothing, nothing, reason)


def _mean(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else np.nan


def _logit(rate: np.ndarray) -> np.ndarray:
    inside = np.clip(rate, 0.01, 0.99)
    return np.asarray(np.log(inside / (1.0 - inside)))


def _features(rank: np.ndarray, found: np.ndarray, others: np.ndarray, own: float) -> np.ndarray:
    one = np.ones(len(rank))
    return np.stack([one, np.log1p(rank), found / np.maximum(others, 1.0), (found == 0) * one, own * one])


def _logistic(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Weights of a logistic regression with a little ridge, by Newton's steps; x is (features, rows)."""
    weights = np.zeros(len(x))
    for _ in range(STEPS):
        p = _chance(x, weights)
        slope = x @ (y - p) - RIDGE * weights
        curve = (x * np.maximum(p * (1 - p), 1e-9)) @ x.T + RIDGE * np.eye(len(x))
        weights = weights + np.clip(np.linalg.solve(curve, slope), -4, 4)
    return weights


def _chance(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(weights @ x, -30, 30))))
