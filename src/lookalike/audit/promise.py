"""A threshold that keeps a promise: at most a share of the shown results are dissimilar, with a stated confidence.

Learn then test (Angelopoulos et al. 2021, arXiv 2110.01052): thresholds are fixed before any label, each is a null
hypothesis "it breaks the promise", and they are tested from the strictest on until one is not rejected.
"""

import math
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float64, Int, Int64
from scipy.special import bdtr

from lookalike.core.checks import at_least
from lookalike.core.errors import ArgumentError

UPPER, LOWER = 1, 0  # strata: places that a threshold can show, and the others
UPPER_LABELS = 0.8
"""Share of the labels for places that a threshold can show; the others only tell what a threshold costs."""
SHOWN_AT_MOST = 0.5
"""Share of all places that the loosest threshold shows, where there are enough queries."""
FIRST = 61
"""Labels that the strictest threshold is expected to show: it may have two dissimilar results at 10 % and 95 %."""
STEPS = 25


@dataclass(frozen=True)
class PromiseTerms:
    """At most `dissimilar` of the shown results are dissimilar, with `confidence`."""

    dissimilar: float = 0.1
    confidence: float = 0.95

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            if not 0 < value < 1:
                raise ArgumentError(
                    f"{name} is {value}; it must be above 0 and below 1.", fix="Use 0.1, or 0.95."
                )

    @property
    def fewest_labels(self) -> int:
        """The labels that one threshold needs if all are similar: (1 - dissimilar)^n <= 1 - confidence.

        >>> PromiseTerms().fewest_labels
        29
        """
        return math.ceil(math.log(1 - self.confidence) / math.log(1 - self.dissimilar) - 1e-12)


@dataclass(frozen=True, eq=False)
class DrawnPlaces:
    """Places of result lists drawn for a promise, one place of each drawn query, and the thresholds to test.

    `thresholds` fall from the strictest to the loosest; each shows the places with this score or a higher one. `shown`
    is the share of all places that each shows, `upper` the share of places above the loosest one.
    """

    query: Int64[np.ndarray, " drawn"]
    place: Int64[np.ndarray, " drawn"]
    score: Float64[np.ndarray, " drawn"]
    thresholds: Float64[np.ndarray, " thresholds"]
    shown: Float64[np.ndarray, " thresholds"]
    upper: float

    @property
    def stratum(self) -> Int64[np.ndarray, " drawn"]:
        """Whether a threshold can show a place."""
        return np.where(self.score >= self.thresholds[-1], UPPER, LOWER)


@dataclass(frozen=True)
class PromisedThreshold:
    """The loosest threshold that keeps a promise, NaN with a `reason` if there is none.

    Of the `labels` above it, `dissimilar` are dissimilar. `p` is its p-value. `kept` estimates the share of similar
    results that it shows, of all similar results of the lists; `shown` is the share of all results.
    """

    threshold: float
    labels: int
    dissimilar: int
    p: float
    kept: float
    shown: float
    reason: str = ""


def p_value(
    dissimilar: Int[np.ndarray, "*each"], labels: Int[np.ndarray, "*each"], most: float
) -> Float64[np.ndarray, "*each"]:
    """The exact binomial p-value of "more than `most` of the shown results are dissimilar".

        p = P(B <= x) = sum over i <= x of C(n, i) a^i (1 - a)^(n - i),    B ~ Binomial(n, a)

    for x dissimilar of n labels and a = `most` (Clopper and Pearson 1934; valid for learn then test, Angelopoulos et
    al. 2021). A place drawn at random of a query drawn at random is, given that it is shown, a result drawn at random
    of all shown results: its label is one independent trial. Without labels p is 1.

    >>> p_value(np.array([0, 0, 1]), np.array([28, 29, 46]), 0.1).round(4).tolist()
    [0.0523, 0.0471, 0.048]
    """
    return np.asarray(np.where(labels > 0, bdtr(dissimilar.astype(np.float64), labels, most), 1.0))


def draw_places(score: Float[np.ndarray, "queries k"], labels: int, seed: int) -> DrawnPlaces:
    """Draw about `labels` places: queries in random order, of each one place at random; at most one of each query.

    `score` is that of every place of the lists (NaN: empty). The thresholds are fixed by these scores alone, so labels
    cannot choose them. A place that is below all thresholds costs no label, apart from the few that tell what a
    threshold costs.

    >>> drawn = draw_places(np.linspace(1, 0, 4000).reshape(1000, 4), 100, seed=0)
    >>> len(drawn.query), len(np.unique(drawn.query)), int(drawn.stratum.sum()), round(float(drawn.shown[0]), 2)
    (100, 100, 80, 0.38)
    """
    at_least(labels, 1, "labels")
    queries, k = score.shape
    every = -np.sort(-score[np.isfinite(score)].astype(np.float64))
    if not len(every):
        raise ArgumentError("The lists are empty.", fix="Give the lists of queries that have candidates.")
    upper = float(np.clip(UPPER_LABELS * labels / queries, SHOWN_AT_MOST, 1.0))
    wanted = round(UPPER_LABELS * labels) if upper < 1 else labels
    share = np.linspace(min(FIRST / wanted, 1.0) * upper, upper, STEPS)
    thresholds = np.unique(every[np.ceil(share * len(every)).astype(np.int64) - 1])[::-1]
    shown = np.asarray(np.searchsorted(-every, -thresholds, side="right") / len(every))
    random = np.random.Generator(np.random.PCG64(seed))
    query, place = random.permutation(queries), np.asarray(random.integers(0, k, queries))
    found = score[query, place].astype(np.float64)
    high, low = found >= thresholds[-1], found < thresholds[-1]  # an empty place is neither
    kept = (high & (np.cumsum(high) <= wanted)) | (low & (np.cumsum(low) <= labels - wanted))
    return DrawnPlaces(query[kept], place[kept], found[kept], thresholds, shown, float(shown[-1]))


def promised_threshold(
    drawn: DrawnPlaces, label: Float64[np.ndarray, " drawn"], terms: PromiseTerms
) -> PromisedThreshold:
    """The loosest threshold reached by fixed-sequence testing: from the strictest on, while p <= 1 - confidence.

    A place without an answer (NaN) counts as dissimilar. The probability that the threshold breaks the promise is at
    most 1 - confidence: to do so, the first threshold of the sequence that breaks it has to be rejected.

    With r the rate of similar labels, `kept` is shown x r(above the threshold) / (upper x r(UPPER) + (1 - upper) x
    r(LOWER)); NaN where no label is similar.

    >>> places = DrawnPlaces(np.arange(60), np.zeros(60, int), np.linspace(1, 0, 60), np.array([0.5, 0.0]),
    ...     np.array([0.5, 1.0]), 1.0)
    >>> found = promised_threshold(places, np.array([1.0] * 30 + [0.0] * 30), PromiseTerms())
    >>> found.threshold, found.labels, found.dissimilar, round(found.p, 3), found.kept
    (0.5, 30, 0, 0.042, 1.0)
    """
    similar = np.nan_to_num(label)
    above = drawn.score >= drawn.thresholds[:, None]
    labels = above.sum(axis=1).astype(np.int64)
    dissimilar = (above * (1 - similar)).sum(axis=1).astype(np.int64)
    p = p_value(dissimilar, labels, terms.dissimilar)
    passed = int(np.argmin(np.append(p <= 1 - terms.confidence + 1e-12, False)))  # the first that fails
    if not passed:
        return PromisedThreshold(
            math.nan,
            int(labels[0]),
            int(dissimilar[0]),
            float(p[0]),
            0.0,
            0.0,
            _reason(labels, dissimilar, terms),
        )
    at = passed - 1
    rate = {h: _mean(similar[drawn.stratum == h]) for h in (UPPER, LOWER)}
    all_similar = drawn.upper * rate[UPPER] + (1 - drawn.upper) * rate[LOWER]
    kept = drawn.shown[at] * _mean(similar[above[at]]) / all_similar if all_similar > 0 else math.nan
    return PromisedThreshold(
        float(drawn.thresholds[at]),
        int(labels[at]),
        int(dissimilar[at]),
        float(p[at]),
        float(min(kept, 1.0)),
        float(drawn.shown[at]),
    )


def _reason(
    labels: Int64[np.ndarray, " thresholds"],
    dissimilar: Int64[np.ndarray, " thresholds"],
    terms: PromiseTerms,
) -> str:
    if labels[-1] < terms.fewest_labels:
        return f"{labels[-1]} labels are too few: even without a dissimilar result, {terms.fewest_labels} are needed"
    return f"{dissimilar[0]} of the {labels[0]} best results that have a label are dissimilar"


def _mean(x: Float64[np.ndarray, " some"]) -> float:
    return float(x.mean()) if len(x) else 0.0
