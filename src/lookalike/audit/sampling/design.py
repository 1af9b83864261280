"""Which questions are drawn: stratified simple random sampling without replacement, inclusion probabilities kept."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float64, Int, Int64

from lookalike.core.checks import at_least
from lookalike.core.errors import ArgumentError

SampleUnit = Literal["pair", "query"]
LEAST = 2
"""Labels of a stratum, if it has so many questions: one label shows no variance."""
ALL_FROM = 1.15
"""If the open questions are fewer than 1.15 times the labels wanted, all of them are labelled."""


@dataclass(frozen=True, eq=False)
class Units:
    """The open questions of one value, and what is known of it.

    A unit is a question that an annotator answers, (a, b) and (b, a) being one; `weight` is what a similar answer adds
    to the value, summed over all places that it fills. It is 0 only for units that were drawn for another value.
    `known` is the part of the labels that are there. `covariate` is a guess of every answer in 0 to 1, made before the
    draw (None: there is none). A unit can be a query with all its questions; its answer is their mean, and with
    `whole` that of a difference, from -1 to 1 (`ByQuery.units`).
    """

    weight: Float64[np.ndarray, " units"]
    stratum: Int[np.ndarray, " units"]
    known: float = 0.0
    covariate: Float64[np.ndarray, " units"] | None = None
    whole: bool = False

    def __post_init__(self) -> None:
        if not np.all(np.isfinite(self.weight)):
            raise ArgumentError("A unit has no weight.", fix="Leave out units that do not count.")

    def __len__(self) -> int:
        return len(self.weight)

    @cached_property
    def strata(self) -> tuple[Int64[np.ndarray, " strata"], Int64[np.ndarray, " units"]]:
        """The strata by number, and each unit's place among them."""
        least = int(self.stratum.min(initial=0))
        count = np.bincount(self.stratum - least)  # quicker than sorting them
        return np.flatnonzero(count) + least, (np.cumsum(count > 0) - 1)[self.stratum - least]


def sizes(units: Units, labels: int) -> Int64[np.ndarray, " strata"]:
    """How many units each stratum gives, for the least variance at equal spread of the answers (Neyman 1934).

    In proportion to N_h x root mean square of the stratum's weights, at least 2 and at most N_h. All units if they
    are fewer than 1.15 times the labels.

    >>> two = Units(np.array([0.1] * 60 + [-0.1] * 30), np.array([0] * 60 + [1] * 30))
    >>> sizes(two, 30).tolist(), sizes(two, 80).tolist()
    ([20, 10], [60, 30])
    """
    at_least(labels, 1, "labels")
    names, place = units.strata
    count = np.bincount(place, minlength=len(names))
    if len(units) < ALL_FROM * labels:
        return count.astype(np.int64)
    share = np.sqrt(count * np.bincount(place, weights=units.weight**2, minlength=len(names)))
    least = np.minimum(LEAST, count)
    given = least.astype(np.float64)
    free = np.ones(len(names), bool)
    while free.any():  # what a full stratum cannot take goes to the others
        rest = labels - given[~free].sum()
        wanted = np.where(free, rest * share / share[free].sum(), given)
        low, high = free & (wanted < least), free & (wanted > count)
        given = np.where(free, np.clip(wanted, least, count), given)
        if not (low | high).any():
            break
        free &= ~(high if high.any() else low)
    return _rounded(given, labels, count)


def draw(units: Units, labels: int, seed: int) -> Int64[np.ndarray, " drawn"]:
    """A stratified simple random sample without replacement of about `labels` units, in random order.

    Any first part of a stratum's units is a simple random sample of the stratum too.
    """
    if np.any(units.weight == 0):
        raise ArgumentError("A unit has a weight of 0.", fix="Leave out units that do not count.")
    random, (_, place) = np.random.Generator(np.random.PCG64(seed)), units.strata
    order = random.permutation(len(units))
    drawn = [order[place[order] == h][:n] for h, n in enumerate(sizes(units, labels))]
    return random.permutation(np.concatenate([np.empty(0, np.int64), *drawn]))


def probability(units: Units, unit: Int64[np.ndarray, " drawn"]) -> Float64[np.ndarray, " drawn"]:
    """The inclusion probability of each drawn unit: n_h / N_h of its stratum.

    >>> probability(Units(np.ones(6), np.array([0, 0, 0, 0, 1, 1])), np.array([5, 0])).tolist()
    [0.5, 0.25]
    """
    names, place = units.strata
    there, count = (np.bincount(x, minlength=len(names)) for x in (place, place[unit]))
    return np.asarray((count / np.maximum(there, 1))[place[unit]])


def shared(needed: Bool[np.ndarray, "values units"]) -> Units:
    """Units to draw once for several values: strata by how many values need the unit, m, and weights sqrt(m).

    So `sizes` takes n_h in proportion to N_h sqrt(m), an inclusion probability in proportion to sqrt(m): the choice
    that makes the sum of the values' variances least where answers spread alike (Neyman's argument; a unit adds its
    variance to m values). Units that no value needs have to be left out before.

    >>> one = shared(np.array([[True] * 8, [True] * 4 + [False] * 4]))
    >>> one.stratum.tolist(), one.weight.round(2).tolist()
    ([2, 2, 2, 2, 1, 1, 1, 1], [1.41, 1.41, 1.41, 1.41, 1.0, 1.0, 1.0, 1.0])
    """
    times = needed.sum(axis=0)
    return Units(np.sqrt(times), times.astype(np.int64))


def filled(
    guess: Float64[np.ndarray, " units"], stratum: Int[np.ndarray, " units"]
) -> Float64[np.ndarray, " units"]:
    """A covariate that is there for a part of the units (NaN elsewhere): the others get the mean of their stratum.

    The mean of all where the stratum has none, 0.5 where nobody has one. The difference estimator has no bias with any
    covariate that is fixed before the draw, however the part was chosen; what is lost is precision. Freeze the result.

    >>> filled(np.array([0.2, 0.4, np.nan, np.nan]), np.array([0, 0, 0, 1])).round(2).tolist()
    [0.2, 0.4, 0.3, 0.3]
    """
    there = np.isfinite(guess)
    everywhere = float(guess[there].mean()) if there.any() else 0.5
    found = guess.copy()
    for h in np.unique(stratum):
        mine = stratum == h
        found[mine & ~there] = guess[mine & there].mean() if (mine & there).any() else everywhere
    return found


def _rounded(
    wanted: Float64[np.ndarray, " strata"], labels: int, count: Int64[np.ndarray, " strata"]
) -> Int64[np.ndarray, " strata"]:
    """Whole numbers with the sum wanted, by largest remainders."""
    whole = np.floor(wanted + 1e-9).astype(np.int64)
    left = min(labels, int(count.sum())) - int(whole.sum())
    for h in np.argsort(-(wanted - whole), kind="stable")[: max(left, 0)]:
        whole[h] += whole[h] < count[h]
    return whole
