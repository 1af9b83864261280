"""What the studio claims about its ground truth and its experts, measured by sampling on a studio of any size.

Sampled are queries (items). For each query are looked at: all its positives, found in its family; every other item of
its kind, for positives that `truth.positives` would miss; and the pairs of a demanding pool, its positives and the 15
other items of its kind that are most alike, which the experts judge.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from lookalike.studio.experts import experts, vote
from lookalike.studio.items import Studio
from lookalike.studio.seeded import uniform
from lookalike.studio.truth import THRESHOLD, positives, similarity

FEWEST, MOST = 6, 15
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
EXPERTS = 4
"""As many as labelled VSD-Furniture (VSD B.1)."""
TIMES = 3
"""How often an expert is asked the same (VSD B.1)."""
_COUNTED = 2_000
_LOOKED_AT = 2_000_000
_SCANNED = (50, 200)
_STRANGERS = 200_000
_NEAR, _FAR = 8, 8


@dataclass(frozen=True)
class TruthClaims:
    """Properties of a studio's ground truth, counted on samples.

    `positives` holds the `QUANTILES` of the number of positives of an item, `within` the share of items that have
    `FEWEST` to `MOST`. `cross_family` is the share of the positives found that are of another family than their query,
    `closest_families` the highest similarity of two items of different families.
    """

    queries: int
    positives_mean: float
    positives: tuple[float, ...]
    within: float
    positive_share: float
    pairs_of_a_kind: int
    cross_family: float
    closest_families: float
    pairs_across_kinds: int
    cross_kind: float


@dataclass(frozen=True)
class ExpertClaims:
    """How the simulated experts agree, over the pairs of a demanding pool.

    `agreement` and `kappa` are means over the pairs of experts, `self_consistency` the mean over experts of the share
    of answers that are the same at two of three times, `wrong` that of votes that contradict the truth;
    `resolved_wrong` is the share of wrong labels among those on which two experts agree.
    """

    experts: int
    pairs: int
    positive_share: float
    agreement: float
    kappa: float
    self_consistency: float
    wrong: float
    resolved_wrong: float


def truth_claims(studio: Studio) -> TruthClaims:
    """Positives of up to 2,000 queries; all items of their kind of up to 200; 200,000 pairs of two kinds.

    >>> from lookalike.studio import studio
    >>> claims = truth_claims(studio(200))
    >>> claims.within, claims.cross_family, claims.cross_kind
    (1.0, 0.0, 0.0)
    """
    counted = _sample(studio.items, _COUNTED, 0, "counted")
    count = np.array([len(positives(studio, item)) for item in counted.tolist()])
    looked = found = strangers = 0
    closest = 0.0
    family = studio.of.family
    for query in _scanned(studio, 0).tolist():
        others, alike = _of_its_kind(studio, query)
        same = family[others] == family[query]
        looked += len(others)
        found += int(np.sum(alike >= THRESHOLD))
        strangers += int(np.sum((alike >= THRESHOLD) & ~same))
        closest = max(closest, float(np.max(alike[~same], initial=0.0)))
    a, b = (np.floor(uniform(0, "stranger", side, np.arange(_STRANGERS)) * studio.items) for side in (0, 1))
    a, b = a.astype(np.int64), b.astype(np.int64)
    apart = studio.of.kind[a] != studio.of.kind[b]
    across = similarity(studio, a[apart], b[apart]) >= THRESHOLD
    return TruthClaims(
        queries=len(counted),
        positives_mean=float(count.mean()),
        positives=tuple(np.quantile(count, QUANTILES).tolist()),
        within=float(np.mean((count >= FEWEST) & (count <= MOST))),
        positive_share=float(count.mean()) / max(studio.items - 1, 1),
        pairs_of_a_kind=looked,
        cross_family=strangers / max(found, 1),
        closest_families=closest,
        pairs_across_kinds=len(across),
        cross_kind=float(np.mean(across)) if len(across) else 0.0,
    )


def expert_claims(studio: Studio) -> ExpertClaims:
    """Agreement of four experts over the pairs of a demanding pool for up to 200 queries.

    >>> from lookalike.studio import studio
    >>> claims = expert_claims(studio(200))
    >>> claims.self_consistency > claims.agreement > 0.8
    True
    """
    a, b, truth = demanding_pool(studio)
    people = experts(EXPERTS, studio.seed)
    votes = [[vote(studio, one, a, b, time=time) for time in range(TIMES)] for one in people]
    first = [times[0] for times in votes]
    twos = list(combinations(first, 2))
    resolved = [(one, one == other) for one, other in twos]
    return ExpertClaims(
        experts=len(people),
        pairs=len(a),
        positive_share=float(truth.mean()),
        agreement=_mean(np.mean(one == other) for one, other in twos),
        kappa=_mean(kappa(one, other) for one, other in twos),
        self_consistency=_mean(
            np.mean(one == other) for times in votes for one, other in combinations(times, 2)
        ),
        wrong=_mean(np.mean(one != truth) for one in first),
        resolved_wrong=_mean(np.mean(one[kept] != truth[kept]) for one, kept in resolved),
    )


def demanding_pool(studio: Studio, *, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Query items, candidate items and true labels: all positives of up to 200 queries, and 15 near misses of each."""
    query, candidate, label = [], [], []
    for item in _scanned(studio, seed).tolist():
        others, alike = _of_its_kind(studio, item)
        similar = alike >= THRESHOLD
        misses = np.argsort(np.where(similar, 1.0, -alike), kind="stable")[: len(others) - int(similar.sum())]
        far = misses[_NEAR:]
        far = far[_sample(len(far), _FAR, seed, f"far from {item}")]
        chosen = np.concatenate([np.flatnonzero(similar), misses[:_NEAR], far])
        query.append(np.full(len(chosen), item))
        candidate.append(others[chosen])
        label.append(similar[chosen])
    return np.concatenate(query), np.concatenate(candidate), np.concatenate(label).astype(np.int8)


def kappa(one: np.ndarray, other: np.ndarray) -> float:
    """Cohen's kappa of two people's 0/1 votes on the same pairs: (p - c) / (1 - c), c the agreement by chance.

    Cohen 1960, Equation 1. NaN where chance alone would agree always.

    >>> kappa(np.array([1, 1, 0, 0]), np.array([1, 0, 0, 0]))
    0.5
    """
    chance = float(one.mean() * other.mean() + (1 - one.mean()) * (1 - other.mean()))
    return float((np.mean(one == other) - chance) / (1.0 - chance)) if chance < 1.0 else float("nan")


def _of_its_kind(studio: Studio, query: int) -> tuple[np.ndarray, np.ndarray]:
    """All other items of the query's kind, and how alike they are."""
    others = np.flatnonzero(studio.of.kind == studio.of.kind[query])
    others = others[others != query]
    return others, similarity(studio, np.full(len(others), query), others)


def _scanned(studio: Studio, seed: int) -> np.ndarray:
    each = max(1, studio.items // 8)
    return _sample(studio.items, min(max(_LOOKED_AT // each, _SCANNED[0]), _SCANNED[1]), seed, "scanned")


def _sample(items: int, count: int, seed: int, purpose: str) -> np.ndarray:
    """Different items, drawn evenly: all where there are no more."""
    if items <= count:
        return np.arange(items)
    return np.sort(np.argsort(uniform(seed, purpose, np.arange(items)), kind="stable")[:count])


def _mean(values: Iterable[float | np.floating]) -> float:
    return float(np.mean(list(values)))
