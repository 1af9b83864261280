"""Sums over drawn units: within the strata of a draw, and over the units that raise or lower a value."""

import numpy as np
from jaxtyping import Float64, Int64

from lookalike.audit.sampling.design import Units


class Strata:
    """Sizes of the strata of a draw, and sums within them over the drawn units, which are in order of strata.

    `each` is 1 / pi of every drawn unit. The variance of a total is `spread` x the variance within each stratum.
    """

    def __init__(self, units: Units, unit: Int64[np.ndarray, " drawn"]) -> None:
        names, place = units.strata
        self.of = place[unit]
        self.there = np.bincount(place, minlength=len(names)).astype(np.float64)
        self.count = np.bincount(self.of, minlength=len(names)).astype(np.float64)
        self.start = (np.cumsum(self.count) - self.count).astype(np.int64)
        filled = np.maximum(self.count, 1.0)
        self.spread = self.there**2 * (1.0 - self.count / self.there) / filled
        self.each = (self.there / filled)[self.of]

    def total(self, x: Float64[np.ndarray, "*any drawn"]) -> Float64[np.ndarray, "*any strata"]:
        """The sum within each stratum."""
        return np.add.reduceat(x, self.start, axis=-1)

    def centred(self, x: Float64[np.ndarray, "*any drawn"]) -> Float64[np.ndarray, "*any drawn"]:
        """Less the mean of the stratum."""
        return x - (self.total(x) / self.count)[..., self.of]

    def variance(self, x: Float64[np.ndarray, "draws drawn"]) -> Float64[np.ndarray, "draws strata"]:
        """The sample variance within each stratum; 0 for one label."""
        return self.total(self.centred(x) ** 2) / np.maximum(self.count - 1.0, 1.0)

    def slope(
        self, z: Float64[np.ndarray, "draws drawn"], g: Float64[np.ndarray, "draws drawn"], freedom: float
    ) -> Float64[np.ndarray, " draws"]:
        """The coefficient with the least estimated variance, shrunk by its own noise; 0 where g does not vary."""
        heavy = (self.spread / np.maximum(self.count - 1.0, 1.0))[self.of]
        own, other = self.centred(g), self.centred(z)
        moving, along, square = (own * own) @ heavy, (own * other) @ heavy, (other * other) @ heavy
        some = along**2 > 1e-12 * moving * square
        noise = np.divide(moving * square - along**2, along**2 * freedom, out=np.ones(len(z)), where=some)
        raw = np.divide(along, moving, out=np.zeros(len(z)), where=some)
        return raw * np.clip(1.0 - noise, 0.0, 1.0)

    def with_two_more(
        self,
        e: Float64[np.ndarray, "draws drawn"],
        weight: Float64[np.ndarray, " strata"],
        rate: Float64[np.ndarray, " draws"],
    ) -> Float64[np.ndarray, "draws strata"]:
        """The variance within each stratum with a similar and a dissimilar label of this weight more."""
        similar, dissimilar = np.outer(1.0 - rate, weight), np.outer(-rate, weight)
        total, square = self.total(e) + similar + dissimilar, self.total(e * e) + similar**2 + dissimilar**2
        return (square - total**2 / (self.count + 2.0)) / (self.count + 1.0)


class Side:
    """The units whose answers raise the value (`sign` 1) or lower it (-1), of all strata.

    `each` is 1 / pi of the drawn units, or another weight in its place.
    """

    def __init__(
        self,
        units: Units,
        unit: Int64[np.ndarray, "*draws drawn"],
        each: Float64[np.ndarray, "*replicates drawn"],
        sign: float,
    ) -> None:
        v = units.weight[unit]
        self.units, self.unit, self.sign, self.here = units, unit, sign, sign * v > 0
        self.heavy = np.abs(v) * self.here * each
        size = self.heavy.sum(axis=-1)
        self.size = np.where(size > 0, size, np.nan)
        self.weight = np.maximum(sign * units.weight, 0.0)
        self.total = float(self.weight.sum())

    def mean(self, x: Float64[np.ndarray, "*draws drawn"]) -> Float64[np.ndarray, " draws"]:
        """The mean over the drawn by weight and 1 / pi."""
        return np.asarray((self.heavy * x).sum(axis=-1) / self.size)

    def rate(
        self, label: Float64[np.ndarray, "*draws drawn"], coefficient: float | Float64[np.ndarray, " draws"]
    ) -> Float64[np.ndarray, " draws"]:
        """lambda F + m of `estimates`."""
        f, found = self.units.covariate, self.mean(label)
        if f is not None:
            found = found + coefficient * (float(self.weight @ f) / self.total - self.mean(f[self.unit]))
        return found if self.units.whole else np.clip(found, 0.0, 1.0)

    def typical(self) -> Float64[np.ndarray, " strata"]:
        """The mean weight of the units of each stratum."""
        place = self.units.strata[1]
        return np.bincount(place, self.weight) / np.maximum(np.bincount(place, self.weight > 0), 1.0)

    def worth(
        self, rate: Float64[np.ndarray, " draws"], variance: Float64[np.ndarray, " draws"]
    ) -> Float64[np.ndarray, " draws"]:
        """How many labels of equal weight, drawn from endlessly many, would give this variance."""
        n = self.here.sum(axis=1)
        rate = (n * rate + 1.0) / (n + 2.0)
        return rate * (1.0 - rate) * self.total**2 / np.maximum(variance, 1e-300)


def sides_of(
    units: Units, unit: Int64[np.ndarray, "*draws drawn"], each: Float64[np.ndarray, "*replicates drawn"]
) -> list[Side]:
    """The one or two sides that a value has."""
    return [Side(units, unit, each, sign) for sign in (1.0, -1.0) if (sign * units.weight > 0).any()]
