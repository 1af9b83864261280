"""Simulated experts: each judges by `truth` with a bias and errors of their own.

Targets for their agreement. No paper prints how often two of its experts agreed; these figures can be derived:

| figure                      | people                                                                | here       |
|-----------------------------|-----------------------------------------------------------------------|------------|
| a pool's unresolved pairs   | at most 9.4 %: VSD 3 put at most 3,494 x 4 x 5 = 69,880 pairs forward | 5 to 14 %  |
|                             | and kept 63,298; duplicates, too, are among those left out            |            |
| votes for each pair         | two: about 35,000 votes of each of four experts (VSD B.1)             | 2          |
| Cohen's kappa of two        | "substantial" is .61 to .80 (Landis and Koch 1977)                    | .70 to .88 |
| same answer a second time   | VSD B.1 asked 200 pairs three times and prints no figure; more often  | 93 to 97 % |
|                             | than two people give the same answer                                  |            |

VSD's experts discussed where they disagreed; the simulated ones do not, so they leave a little more unresolved.
`claims` measures these figures and the tests check them.
"""

from dataclasses import dataclass

import numpy as np

from lookalike.core.checks import at_least
from lookalike.studio.items import Studio
from lookalike.studio.seeded import RandomStream, uniform
from lookalike.studio.truth import IMPORTANCE, THRESHOLD, weighed

EXCLUDED = -1


@dataclass(frozen=True)
class Expert:
    """One annotator.

    `bias` is added to the similarity that they see (above 0: lenient). `taste` multiplies the importance of
    each of the five respects. `whim` is the largest permanent deviation of their opinion of one pair.
    `doubt` is the half-width of the band around the threshold in which their answers vary from time to time.
    `lapse` is the share of answers in which they press the wrong key.
    """

    name: str
    bias: float
    taste: tuple[float, ...]
    whim: float
    doubt: float
    lapse: float


def experts(n: int, seed: int) -> tuple[Expert, ...]:
    """Some experts, each drawn from the ranges of `_expert`.

    >>> [expert.name for expert in experts(2, seed=0)]
    ['expert-1', 'expert-2']
    """
    return tuple(_expert(place, seed) for place in range(at_least(n, 1, "n")))


def vote(
    studio: Studio, expert: Expert, a_items: np.ndarray, b_items: np.ndarray, *, time: int = 0
) -> np.ndarray:
    """The expert's votes on item pairs, 1 similar or 0 dissimilar, as int8.

    The chance of "similar" rises linearly from 0 to 1 while the similarity that the expert sees goes from
    `doubt` below the threshold to `doubt` above it. A vote depends on the studio's seed, the expert, the
    unordered pair and the `time` that it is shown to them (0 the first) only.
    """
    low, high = np.minimum(a_items, b_items), np.maximum(a_items, b_items)
    pair = (studio.seed, expert.name, low, high)
    taste = np.minimum(1.0, IMPORTANCE * np.array(expert.taste))
    opinion = expert.whim * (2.0 * uniform("opinion", *pair) - 1.0)
    seen = weighed(studio, low, high, taste) + expert.bias + opinion
    chance = np.clip(0.5 + (seen - THRESHOLD) / (2.0 * expert.doubt), 0.0, 1.0)
    says = uniform("vote", time, *pair) < chance
    slips = uniform("lapse", time, *pair) < expert.lapse
    return (says ^ slips).astype(np.int8)


def consensus(votes_1: np.ndarray, votes_2: np.ndarray) -> np.ndarray:
    """The resolved labels of two experts: their label where they agree, -1 (discussion, excluded) where not, as int8.

    >>> consensus(np.array([1, 0, 1]), np.array([1, 0, 0])).tolist()
    [1, 0, -1]
    """
    return np.where(votes_1 == votes_2, votes_1, EXCLUDED).astype(np.int8)


def _expert(place: int, seed: int) -> Expert:
    stream = RandomStream(seed, "expert", place)
    return Expert(
        name=f"expert-{place + 1}",
        bias=stream.between(-0.05, 0.05),
        taste=tuple(stream.between(0.8, 1.2) for _ in IMPORTANCE),
        whim=stream.between(0.20, 0.32),
        doubt=stream.between(0.03, 0.07),
        lapse=stream.between(0.005, 0.02),
    )
