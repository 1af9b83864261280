"""Estimates of HR@K for an encoder from pool labels: ways to compensate for unjudged candidates.

Unique finds are less often similar than shared ones: what several encoders find is likely alike. A generator shows by
how much, because all pairs that it proposed were judged. `only(g)` is the positive rate of the labelled candidates in
g's top K that no other generator proposed, `shared(g)` that of the others. The estimates carry this over to the
unjudged candidates of another encoder, each in another way. `docs/research/bias.md` says how they did.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from types import MappingProxyType

import numpy as np
from jaxtyping import Bool, Float64, Int

from lookalike.audit.corrected import Correction, added, corrected_hit_rate
from lookalike.core.types import JudgedRanks, Score
from lookalike.evaluate.measures.fold import per_query, ratio
from lookalike.evaluate.measures.hit_rate import membership

NOTHING_ALONE = "no generator's top has both candidates that it found alone and candidates that others found"
NOTHING_JUDGED = "no labelled candidate in the encoder's top"
MORE = 100
"""Further labels of an encoder's unjudged candidates in the estimate that asks for some."""


@dataclass(frozen=True, eq=False)
class Rates:
    """What a pool's generators show: by generator, the positive rate of what it found alone and of what others
    found too, its HR@K, and its EHR@K and coverage@K without the labels of pairs that it alone proposed.
    NaN where undefined.
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
    some.
    """

    judged: JudgedRanks
    k: int
    found: Int[np.ndarray, " pairs"]
    others: int
    rates: Rates
    open_score: Float64[np.ndarray, " open"]
    open_query: Int[np.ndarray, " open"]
    open_label: Int[np.ndarray, " open"]
    seed: int

    @cached_property
    def correction(self) -> Correction:
        """The corrected hit rate with what its interval needs."""
        return corrected_hit_rate(
            self.judged, self.k, self.found / max(self.others, 1), self.open_query, self.open_score
        )


def generator_rates(
    ranks: Int[np.ndarray, "generators pairs"] | Float64[np.ndarray, "generators pairs"],
    surfaced: Bool[np.ndarray, "generators pairs"],
    label: Int[np.ndarray, " pairs"],
    query: Int[np.ndarray, " pairs"],
    k: int,
) -> Rates:
    """The rates of each generator's labelled candidates among its best k; query places are 0, 1, ..."""
    times = surfaced.sum(axis=0)
    rows = [
        _one_generator(found & (rank < k), times, label, query)
        for rank, found in zip(ranks, surfaced, strict=True)
    ]
    return Rates(*np.array(rows).T.reshape(5, len(rows)))


def alone_rate(seen: Seen) -> Score:
    """HR = mean over queries of (positives + only x unjudged) / K: unjudged candidates are similar as often as what
    a generator found alone, mean over generators. Undefined where no generator found anything alone.
    """
    return _filled(seen, _mean(seen.rates.only))


def alone_ratio(seen: Seen) -> Score:
    """The same with the encoder's own quality: unjudged ones are similar at EHR@K x mean of only(g) / shared(g)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        factor = _mean(seen.rates.only / seen.rates.shared)
    return _filled(seen, float(np.minimum(1.0, _own_rate(seen) * factor)))


def alone_odds(seen: Seen) -> Score:
    """The same with odds for rates, which cannot pass 1: odds(EHR@K) x exp(mean of log odds only - log odds shared).

    Rates of 0 and 1 are moved in by .01.
    """
    shift = _mean(_logit(seen.rates.only) - _logit(seen.rates.shared))
    odds = np.exp(_logit(np.array(_own_rate(seen))) + shift)
    return _filled(seen, float(odds / (1.0 + odds)))


def left_out_shift(seen: Seen) -> Score:
    """EHR@K - (1 - coverage@K) x mean over g of (EHR_g without what g alone found - HR_g) / (1 - coverage_g then).

    What EHR@K of a generator gains when it is treated as an encoder outside the pool, by the coverage that it loses.
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
    return ratio(
        seen.judged, np.where(covered, share - gone * shift, 0.0), covered.astype(np.float64), NOTHING_JUDGED
    )


def corrected(seen: Seen) -> Score:
    """`corrected.corrected_hit_rate`."""
    return seen.correction.score


def more_labels(seen: Seen) -> Score:
    """HR = (positives + sum over unjudged of P) / K with P the positive rate of `MORE` of them, drawn and labelled.

    Stratified sampling: the judged part is known, of the rest a sample is labelled. Without bias whatever the pool is.
    The drawn labels' departures from P stay with their queries, so that intervals know of the sample. Where annotators
    label none of them, the unjudged count as the judged do.
    """
    size = len(seen.open_query)
    if size == 0:
        return _filled(seen, 0.0)
    random = np.random.Generator(np.random.PCG64(seen.seed))
    drawn = random.choice(size, min(MORE, size), replace=False)
    drawn = drawn[seen.open_label[drawn] >= 0]
    if len(drawn) == 0:
        return _filled(seen, _own_rate(seen))
    rate = float(seen.open_label[drawn].mean())
    known = np.full(size, rate)
    known[drawn] += (seen.open_label[drawn] - rate) * size / len(drawn)
    return added(seen.judged, seen.k, seen.open_query, known)


ESTIMATES: Mapping[str, Callable[[Seen], Score]] = MappingProxyType(
    {
        "HR@K alone": alone_rate,
        "HR@K alone x own": alone_ratio,
        "HR@K alone x own odds": alone_odds,
        "EHR@K left-out shift": left_out_shift,
        "HR@K corrected": corrected,
        f"HR@K with {MORE} labels": more_labels,
    }
)


def named(k: int) -> dict[str, Callable[[Seen], Score]]:
    """The estimates by the name they print for one K.

    >>> list(named(5))[-1]
    'HR@5 with 100 labels'
    """
    return {name.replace("@K", f"@{k}"): one for name, one in ESTIMATES.items()}


def estimates(seen: Seen) -> dict[str, Score]:
    """Every estimate of one encoder on one pool, by name."""
    return {name: replace(one(seen), measure=name) for name, one in named(seen.k).items()}


def _one_generator(
    here: np.ndarray, times: np.ndarray, label: np.ndarray, query: np.ndarray
) -> tuple[float, ...]:
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


def _none(seen: Seen, reason: str) -> Score:
    nothing = np.zeros(len(seen.judged.query_codes[0]))
    return ratio(seen.judged, nothing, nothing, reason)


def _mean(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if known.size else np.nan


def _logit(rate: np.ndarray) -> np.ndarray:
    inside = np.clip(rate, 0.01, 0.99)
    return np.asarray(np.log(inside / (1.0 - inside)))
