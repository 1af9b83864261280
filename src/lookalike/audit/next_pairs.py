"""Which pairs to label next to separate two encoders, how many, what precision they give, and when to stop.

Labels of pairs that encoders retrieved favour those encoders, and no formula corrects that completely. A random sample
of *queries*, with every result that distinguishes the encoders judged, favours no encoder: the mean of the per-query
differences in HR@K is unbiased, and an ordinary interval is valid. So queries have one seeded random order, annotators
label them in that order, and the queries judged so far are the sample.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, pairwise

import numpy as np
from jaxtyping import Bool, Float64, Int, Int8, Int64, Shaped
from scipy.special import stdtrit

from lookalike.core.checks import at_least
from lookalike.core.errors import ArgumentError

LEVEL, INTERIM_LOOKS, MARGIN, BATCH = 0.95, 5, 0.02, 25
UNJUDGED, LEFT_OPEN = -1, 0.1


@dataclass(frozen=True, eq=False)
class TopLabels:
    """Several encoders' top K lists on queries in the order they are to be judged, and what is known of them.

    `item[e, q, i]` is a code of the item at place i, -1 where the list ends before; `label` is 1, 0, or -1 for
    unjudged.
    """

    encoders: tuple[str, ...]
    query: Shaped[np.ndarray, " queries"]
    item: Int64[np.ndarray, "encoders queries k"]
    label: Int8[np.ndarray, "encoders queries k"]

    @property
    def k(self) -> int:
        """K of HR@K."""
        return int(self.item.shape[2])

    @cached_property
    def distinguishing(self) -> Bool[np.ndarray, "encoders queries k"]:
        """Places whose item is missing from some other list of the query: all others cancel in every difference."""
        found = np.stack([self.shared(e) for e in range(len(self.encoders))])
        return np.asarray(~found & (self.item >= 0))

    def shared(self, e: int) -> Bool[np.ndarray, "queries k"]:
        """Places of one encoder's lists whose item every other encoder's list has too."""
        others = [lists for o, lists in enumerate(self.item) if o != e]
        return np.all([_within(self.item[e], lists) for lists in others], axis=0)

    @cached_property
    def open(self) -> Bool[np.ndarray, "encoders queries k"]:
        """Distinguishing places that are unjudged."""
        return self.distinguishing & (self.label == UNJUDGED)

    def pairs(self, which: Bool[np.ndarray, "encoders queries k"]) -> Int64[np.ndarray, " queries"]:
        """How many pairs of each query a mask selects: an item that several lists share is one pair."""
        count = np.zeros(len(self.query), np.int64)
        for e in range(len(self.encoders)):
            earlier = [_within(self.item[e], self.item[o]) for o in range(e)]
            count += (which[e] & ~np.any(earlier, axis=0) if earlier else which[e]).sum(axis=1)
        return count

    @property
    def judged(self) -> int:
        """How many queries, from the first on, are judged: at most a tenth of a batch's distinguishing pairs is open.

        Counted in whole batches of 25 (the last may be smaller), because where a longer run would end is chosen by
        labels. Some pairs stay open forever (annotators who do not agree) and must not block the rest.
        """
        ends = _batches(len(self.query))
        unjudged, distinguishing = self.pairs(self.open), self.pairs(self.distinguishing)
        done = 0
        for first, last in pairwise([0, *ends]):
            if unjudged[first:last].sum() > LEFT_OPEN * distinguishing[first:last].sum():
                break
            done = last
        return done


@dataclass(frozen=True)
class Standing:
    """Two encoders on the queries judged so far: the mean difference in HR@K, its interval and the decision.

    `left_open` distinguishing pairs of these queries have no label; `difference` is in the middle of what they allow.
    `decision` is "better", "worse" (the first encoder than the second), "alike" (the whole interval is within the
    margin) or "open". `least` and `most` bound the difference over *all* queries, whatever the unjudged pairs turn out
    to be.
    """

    first: str
    second: str
    queries: int
    left_open: int
    difference: float
    low: float
    high: float
    decision: str
    least: float
    most: float


@dataclass(frozen=True)
class PrecisionStep:
    """What judging the first `queries` queries to the end takes, in labels still to be made, and buys."""

    queries: int
    labels: int
    half_width: float


@dataclass(frozen=True)
class PrecisionPlan:
    """Steps to choose from, and the first with the requested width (None: even all queries do not reach it)."""

    steps: tuple[PrecisionStep, ...]
    wanted: PrecisionStep | None


def standings(
    lists: TopLabels, *, level: float = LEVEL, interim_looks: int = INTERIM_LOOKS, margin: float = MARGIN
) -> tuple[Standing, ...]:
    """Every two encoders on what is judged to the end.

    d_q = (positives of the first's top K - positives of the second's) / K, where items in both lists cancel. The
    interval is mean(d) +- t sd(d) / sqrt(n), its lower end with the pairs left open counted against the first encoder
    and its upper end with them counted for it: open pairs may not be open by chance. Checking
    after every batch and stopping early inflates the error rate, so each of `interim_looks` checks and each pair of
    encoders gets an equal part of 1 - level (Bonferroni). Below 25 queries nothing is decided; below 2 there is no
    interval (NaN).
    """
    at_least(interim_looks, 1, "interim_looks")
    if not 0 <= margin < 1:
        raise ArgumentError(
            f"margin is {margin}; it must be 0 or more and below 1, a difference in HR@K.",
            fix="Use 0.02, for example.",
        )
    pairs = list(combinations(range(len(lists.encoders)), 2))
    share = _share(level, interim_looks * len(pairs))
    return tuple(_standing(lists, a, b, share, margin) for a, b in pairs)


def plan(
    lists: TopLabels, width: float, *, level: float = LEVEL, interim_looks: int = INTERIM_LOOKS
) -> PrecisionPlan:
    """The half-width to expect at growing numbers of queries, and the number that `width` needs.

    The variance of d_q is estimated from all queries: unjudged distinguishing places count with the share p of
    positives among the judged ones of their encoder (one of each kind added), and add p (1 - p) / K^2 each.
    `width` is high minus low. The least precise pair of encoders decides.
    """
    if not 0 < width < 2:
        raise ArgumentError(
            f"width is {width}; it must be above 0 and below 2, a difference in HR@K.",
            fix="Use 0.1, for example.",
        )
    pairs = list(combinations(range(len(lists.encoders)), 2))
    share = _share(level, interim_looks * len(pairs))
    spread = max(_expected_sd(lists, a, b) for a, b in pairs)
    labels = np.append(0, np.cumsum(lists.pairs(lists.open)))

    def step(queries: int) -> PrecisionStep:
        return PrecisionStep(queries, int(labels[queries]), _half_width(spread, queries, share))

    size = len(lists.query)
    enough = (step(n) for n in _batches(size) if 2 * _half_width(spread, n, share) <= width)
    return PrecisionPlan(
        tuple(step(n) for n in _batches(size) if _doubled(n) or n == size), next(enough, None)
    )


def next_pairs(lists: TopLabels, queries: int) -> list[tuple[int, int]]:
    """The (place of query, item code) pairs to judge so that the first `queries` are judged to the end."""
    found: list[tuple[int, int]] = []
    for q in range(min(queries, len(lists.query))):
        found += [(q, int(code)) for code in dict.fromkeys(lists.item[:, q][lists.open[:, q]].tolist())]
    return found


def order(queries: Sequence[str], seed: int) -> list[int]:
    """The seeded random order of labelling; it depends on the queries' names, not on their order."""
    at_least(seed, 0, "seed")
    by_name = sorted(range(len(queries)), key=lambda q: queries[q])
    return [by_name[i] for i in np.random.Generator(np.random.PCG64(seed)).permutation(len(queries))]


def _standing(lists: TopLabels, a: int, b: int, share: float, margin: float) -> Standing:
    worst, best = _differences(lists, a, b, (0.0, 1.0)), _differences(lists, a, b, (1.0, 0.0))
    n = lists.judged
    low, high = (_bound(d[:n], share, sign) for d, sign in ((worst, -1), (best, 1)))
    return Standing(
        first=lists.encoders[a],
        second=lists.encoders[b],
        queries=n,
        left_open=int(lists.pairs(lists.open)[:n].sum()),
        difference=_mean((worst + best)[:n] / 2),
        low=low,
        high=high,
        decision=_decision(n, low, high, margin),
        least=_mean(worst),
        most=_mean(best),
    )


def _bound(differences: Float64[np.ndarray, " queries"], share: float, sign: int) -> float:
    if len(differences) < 2:
        return float("nan")
    half = _half_width(float(differences.std(ddof=1)), len(differences), share)
    return float(differences.mean()) + sign * half


def _mean(values: Float64[np.ndarray, " queries"]) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _decision(queries: int, low: float, high: float, margin: float) -> str:
    if queries < BATCH:
        return "open"
    if low > 0:
        return "better"
    if high < 0:
        return "worse"
    return "alike" if -margin <= low and high <= margin else "open"


def _differences(
    lists: TopLabels, a: int, b: int, unjudged: tuple[float, float]
) -> Float64[np.ndarray, " queries"]:
    """d_q with unjudged places of a and of b counted as given; places that both lists have cancel."""
    total = np.zeros(len(lists.query))
    for e, other, sign, value in ((a, b, 1.0, unjudged[0]), (b, a, -1.0, unjudged[1])):
        alone = ~_within(lists.item[e], lists.item[other]) & (lists.item[e] >= 0)
        gain = np.where(lists.label[e] == UNJUDGED, value, lists.label[e])
        total += sign * (gain * alone).sum(axis=1)
    return total / lists.k


def _expected_sd(lists: TopLabels, a: int, b: int) -> float:
    rates = _rate(lists, a), _rate(lists, b)
    expected = _differences(lists, a, b, rates)
    own = np.zeros(len(lists.query))
    for e, other, p in ((a, b, rates[0]), (b, a, rates[1])):
        alone = ~_within(lists.item[e], lists.item[other])
        own += (alone & lists.open[e]).sum(axis=1) * p * (1 - p)
    variance = expected.var(ddof=1) + own.mean() / lists.k**2 if len(expected) > 1 else float("nan")
    return float(np.sqrt(variance))


def _rate(lists: TopLabels, e: int) -> float:
    judged = lists.label[e][lists.distinguishing[e] & (lists.label[e] != UNJUDGED)]
    return float((judged.sum() + 1) / (len(judged) + 2))


def _half_width(sd: float, queries: int, share: float) -> float:
    if queries < 2:
        return float("nan")
    return float(stdtrit(queries - 1, 1 - share / 2)) * sd / float(np.sqrt(queries))


def _share(level: float, decisions: int) -> float:
    if not 0 < level < 1:
        raise ArgumentError(f"level is {level}; it must be between 0 and 1.", fix="Use 0.95, for example.")
    return (1 - level) / max(decisions, 1)


def _batches(size: int) -> list[int]:
    """Numbers of queries to stop at: whole batches, and all of them."""
    return [*range(BATCH, size, BATCH), size] if size > 1 else []


def _doubled(queries: int) -> bool:
    """25, 50, 100, 200 and so on."""
    batches = queries // BATCH
    return queries % BATCH == 0 and batches & (batches - 1) == 0


def _within(items: Int[np.ndarray, "queries k"], others: Int[np.ndarray, "queries k"]) -> np.ndarray:
    """Which items of each query are in the other list of that query."""
    return np.asarray((items[:, :, None] == others[:, None, :]).any(axis=2))
