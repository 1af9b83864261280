"""Simulated experts: they judge as `truth` does, each in their own way, and slip now and then."""

from dataclasses import dataclass

import numpy as np

from lookalike.catalog.studio.draws import Draws, uniform
from lookalike.catalog.studio.items import Studio
from lookalike.catalog.studio.truth import IMPORTANCE, THRESHOLD, weighed
from lookalike.core.checks import at_least

EXCLUDED = -1


@dataclass(frozen=True)
class Expert:
    """One annotator.

    `bias` is added to the similarity that they see (above 0: lenient), `taste` multiplies the importance of
    each of the five respects, `doubt` is the half-width of the band around the threshold in which they waver,
    `lapse` the share of pairs on which they press the wrong key.
    """

    name: str
    bias: float
    taste: tuple[float, ...]
    doubt: float
    lapse: float


def experts(n: int, seed: int) -> tuple[Expert, ...]:
    """Some experts, each with bias in [-.05, .05], taste in [.8, 1.2], doubt in [.06, .12], lapse in [.01, .04].

    >>> [expert.name for expert in experts(2, seed=0)]
    ['expert-1', 'expert-2']
    """
    return tuple(_expert(place, seed) for place in range(at_least(n, 1, "n")))


def vote(studio: Studio, expert: Expert, a_items: np.ndarray, b_items: np.ndarray) -> np.ndarray:
    """The expert's votes on item pairs, 1 similar or 0 dissimilar, as int8.

    The chance of "similar" rises linearly from 0 to 1 while the similarity that the expert sees goes from
    `doubt` below the threshold to `doubt` above it. A vote depends on the studio's seed, the expert and the
    unordered pair only.
    """
    low, high = np.minimum(a_items, b_items), np.maximum(a_items, b_items)
    taste = np.minimum(1.0, IMPORTANCE * np.array(expert.taste))
    seen = weighed(studio, low, high, taste) + expert.bias
    chance = np.clip(0.5 + (seen - THRESHOLD) / (2.0 * expert.doubt), 0.0, 1.0)
    says = uniform(studio.seed, "vote", expert.name, low, high) < chance
    slips = uniform(studio.seed, "lapse", expert.name, low, high) < expert.lapse
    return (says ^ slips).astype(np.int8)


def consensus(votes_1: np.ndarray, votes_2: np.ndarray) -> np.ndarray:
    """What two experts settle to: their label where they agree, -1 (discussion, excluded) where not, as int8.

    >>> consensus(np.array([1, 0, 1]), np.array([1, 0, 0])).tolist()
    [1, 0, -1]
    """
    return np.where(votes_1 == votes_2, votes_1, EXCLUDED).astype(np.int8)


def _expert(place: int, seed: int) -> Expert:
    draws = Draws(seed, "expert", place)
    return Expert(
        name=f"expert-{place + 1}",
        bias=draws.between(-0.05, 0.05),
        taste=tuple(draws.between(0.8, 1.2) for _ in IMPORTANCE),
        doubt=draws.between(0.06, 0.12),
        lapse=draws.between(0.01, 0.04),
    )
