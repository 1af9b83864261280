"""As-if encoders of the studio: they read the numbers an item is drawn from, and err.

A trained network sees more of what makes two things alike than a descriptor of colours or edges, and errs in its own
way. No network is at hand for every test, so an observer stands in for one. It reads a photo as a row of numbers

    x = [m_g a_g  for each respect g] + error x N(0, 1) + nuisance x c(photo)

where a_g are the item's attributes in respect g, each scaled so that a distance of 1 is glaring (`truth`), m_g is how
much the observer minds the respect (0: it does not see it), the error is its own, new for each photo, and c(photo) are
six numbers of the photo (its view, light and room, so to speak) that mislead every observer alike, each by its own
factor. The photo's vector is cos(W x + b), W and b drawn once for each observer, so that the cosine of two photos falls
with |x - x'| like a Gaussian of width 1 / `focus` (random Fourier features, Rahimi and Recht 2007). It is no model of a
network: it gives encoders of any quality whose mistakes are partly their own and partly shared.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Float32, Int

from lookalike.core.checks import at_least
from lookalike.studio.attributes import KINDS, MATERIALS, ORNAMENTS, SHOWS
from lookalike.studio.items import Studio

RESPECTS = ("kind", "silhouette", "proportion", "material", "palette", "ornament")
DIMENSION, MISLEADING = 256, 6
NONE, STILL = np.empty(0, np.int64), np.zeros(MISLEADING)
_STREAM = 7919


@dataclass(frozen=True)
class Observer:
    """One as-if encoder: how much it minds each of `RESPECTS`, its errors, how narrowly it looks."""

    name: str
    minds: tuple[float, ...]
    error: float
    nuisance: float
    focus: float
    seed: int


def observers(n: int, seed: int) -> tuple[Observer, ...]:
    """Some observers, each drawn from the ranges of `_observer`.

    >>> [one.name for one in observers(2, seed=0)]
    ['as-if-1', 'as-if-2']
    """
    return tuple(_observer(place, seed) for place in range(at_least(n, 1, "n")))


def observed(
    studio: Studio, observer: Observer, wild: Int[np.ndarray, " wild"] = NONE
) -> Float32[np.ndarray, "images dimension"]:
    """The observer's vector of every photo; equal arguments give equal vectors.

    `wild` are items with a photo of another style, after those of the catalog: the observer's own errors are 1.1 to 2.2
    times as large there, the shared ones 1.5 times, and they are all moved the same way.
    """
    item = np.arange(len(studio)) // studio.photos_per_item
    seen = [mind * part for mind, part in zip(observer.minds, _scaled(studio), strict=True)]
    of_item = np.concatenate(seen, axis=1)
    own, shared = _streams(studio, observer)
    x = _misread(of_item[item], observer, own, shared)
    turn = observer.focus * own.standard_normal((x.shape[1], DIMENSION))
    start = own.uniform(0.0, 2.0 * np.pi, DIMENSION)
    if len(wild):
        own, shared = _streams(studio, observer, 1)
        moved = shared.standard_normal(MISLEADING)
        times = own.uniform(1.1, 2.2)
        x = np.concatenate([x, _misread(of_item[wild], observer, own, shared, times, 1.5, moved)])
    return np.cos(x @ turn + start).astype(np.float32)


def _streams(
    studio: Studio, observer: Observer, *which: int
) -> tuple[np.random.Generator, np.random.Generator]:
    """The observer's own random numbers, and those that mislead every observer alike."""
    seeds = (_STREAM, studio.seed, observer.seed, *which), (_STREAM, studio.seed, *which)
    own, shared = (np.random.Generator(np.random.PCG64(seed)) for seed in seeds)
    return own, shared


def _misread(
    x: Float[np.ndarray, "images n"],
    observer: Observer,
    own: np.random.Generator,
    shared: np.random.Generator,
    own_times: float = 1.0,
    shared_times: float = 1.0,
    moved: Float[np.ndarray, " misleading"] = STILL,
) -> Float[np.ndarray, "images m"]:
    """What the observer reads of photos with these attributes."""
    x = x + own_times * observer.error * own.standard_normal(x.shape)
    misled = shared_times * shared.standard_normal((len(x), MISLEADING)) + moved
    return np.concatenate([x, observer.nuisance * misled], axis=1)


def _observer(place: int, seed: int) -> Observer:
    """Every third one misses one respect of the five; errors grow evenly over each seven."""
    random = np.random.Generator(np.random.PCG64((_STREAM, seed, place)))
    minds = random.uniform(0.65, 1.0, len(RESPECTS))
    if place % 3 == 2:
        minds[random.integers(1, len(RESPECTS))] = 0.0
    level = (place * 3 % 7 + random.uniform()) / 7
    return Observer(
        name=f"as-if-{place + 1}",
        minds=tuple(minds.tolist()),
        error=0.12 + 0.12 * level,
        nuisance=float(random.uniform(0.1, 0.38)),
        focus=float(random.uniform(0.6, 1.2)),
        seed=seed * 1000 + place,
    )


def _scaled(studio: Studio) -> tuple[Float[np.ndarray, "items n"], ...]:
    """The attributes in each of `RESPECTS`; a distance of 1 is glaring, two words are about 1 apart."""
    of = studio.of
    return (
        _words(of.kind, len(KINDS)),
        of.silhouette * SHOWS[of.kind] / 0.35,
        of.proportion / 0.36,
        np.concatenate([_words(of.material, len(MATERIALS)), of.texture / 1.4], axis=1),
        np.concatenate([of.body / 0.16, of.frame / 1.3], axis=1),
        np.concatenate([_words(of.ornament, len(ORNAMENTS)), of.carving / 1.2], axis=1),
    )


def _words(word: np.ndarray, count: int) -> np.ndarray:
    return np.eye(count)[word] / np.sqrt(2.0)
