"""Coordinates of images in a plane, for the map: principal components, UMAP, and neighbours for new images."""

import warnings

import numpy as np
from jaxtyping import Float, Float32, Float64
from scipy.linalg import eigh

from lookalike.core.checks import install, not_installed
from lookalike.core.errors import ArgumentError

METHODS = ("pca", "umap")
FITTED, BLOCK = 10_000, 4_096  # rows that components are fitted on, and rows that are projected at once
NEIGHBOURS = 5  # of an image that is placed later
SCORES = 1 << 24  # numbers that are compared at once
UMAP_NEIGHBOURS, UMAP_DISTANCE, UMAP_COMPONENTS = 15, 0.1, 50


def in_plane(vectors: Float[np.ndarray, "n d"], method: str, seed: int = 0) -> Float32[np.ndarray, "n 2"]:
    """Coordinates by "pca" or "umap", the latter of the first 50 principal components, by cosine.

    Source: McInnes, Healy, Melville, UMAP (2018). One seed gives one map with one version of the library.

    >>> in_plane(np.array([[3.0, 0], [0, 4], [-5, 0]]), "pca").astype(float).round(2).tolist()
    [[1.0, -0.33], [0.0, 0.67], [-1.0, -0.33]]
    """
    if method == "pca":
        return components(vectors, 2, seed)
    if method != "umap":
        raise ArgumentError(f"Unknown method: {method!r}.", fix=f"Use one of: {', '.join(METHODS)}.")
    if not has_umap():
        raise ArgumentError(
            "UMAP needs umap-learn, which is not installed.",
            fix=f'Use the method "pca", or install it. {install("map")}',
        )
    if len(vectors) <= UMAP_NEIGHBOURS:
        raise ArgumentError(f"UMAP needs more than {UMAP_NEIGHBOURS} images.", fix='Use the method "pca".')
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a seed allows one thread only
        from umap import UMAP

        fitted = UMAP(
            n_neighbors=UMAP_NEIGHBOURS, min_dist=UMAP_DISTANCE, metric="cosine", random_state=seed, n_jobs=1
        ).fit_transform(components(vectors, UMAP_COMPONENTS, seed))
    return np.asarray(fitted, np.float32)


def has_umap() -> bool:
    """Whether UMAP is installed."""
    return not not_installed(["umap", "pynndescent"])


def components(
    vectors: Float[np.ndarray, "n d"], count: int, seed: int = 0
) -> Float32[np.ndarray, "n components"]:
    """The first min(count, d) principal components of directions, by falling variance.

        y_i = (x_i - m) C,   x_i = v_i / |v_i|,   C = eigenvectors of sum_i (x_i - m)(x_i - m)^T

    Source: Jolliffe, Principal Component Analysis (2002), 1.1. Mean m and C are of at most 10,000 rows, drawn with the
    seed. The largest entry of each component is positive. A vector of length 0 is placed as the origin of x.
    """
    rows = np.arange(len(vectors))
    if len(rows) > FITTED:
        rows = np.sort(np.random.default_rng(seed).choice(rows, FITTED, replace=False))
    size, kept = vectors.shape[1], min(count, vectors.shape[1])
    products, total = np.zeros((size, size)), np.zeros(size)
    for first in range(0, len(rows), BLOCK):
        block = _directions(vectors[rows[first : first + BLOCK]])
        products += block.T @ block
        total += block.sum(0, dtype=np.float64)
    mean = total / max(len(rows), 1)
    products -= len(rows) * np.outer(mean, mean)
    found = eigh(products, subset_by_index=(size - kept, size - 1))[1][:, ::-1]
    ends = found[np.abs(found).argmax(0), np.arange(kept)]
    axes = (found * np.where(ends < 0, -1.0, 1.0)).astype(np.float32)
    placed = np.zeros((len(vectors), max(kept, 2)), np.float32)  # one number: the second coordinate is 0
    for first in range(0, len(vectors), BLOCK):
        part = slice(first, first + BLOCK)
        placed[part, :kept] = (_directions(vectors[part]) - mean.astype(np.float32)) @ axes
    return placed


def by_neighbours(
    new: Float[np.ndarray, "new d"],
    vectors: Float[np.ndarray, "n d"],
    places: Float32[np.ndarray, "n 2"],
    count: int = NEIGHBOURS,
) -> Float32[np.ndarray, "new 2"]:
    """Where new images belong on a map: the median of each coordinate over their nearest neighbours by cosine.

    >>> places = np.array([[0, 0], [1, 1], [9, 9]], np.float32)
    >>> by_neighbours(np.array([[1.0, 0.1]]), np.array([[1.0, 0], [1, 0.2], [0, 1]]), places, 2).tolist()
    [[0.5, 0.5]]
    """
    kept, known = min(count, len(vectors)), _directions(vectors)
    found = np.empty((len(new), 2), np.float32)
    step = max(1, SCORES // max(len(known), 1))
    for first in range(0, len(new), step):
        scores = _directions(new[first : first + step]) @ known.T
        row = np.argpartition(-scores, kept - 1, axis=1)[:, :kept]
        found[first : first + step] = np.median(places[row], axis=1)
    return found


def _directions(vectors: Float[np.ndarray, "n d"]) -> Float32[np.ndarray, "n d"]:
    given = np.asarray(vectors, np.float32)
    length: Float64[np.ndarray, "n 1"] = np.linalg.norm(given, axis=1, keepdims=True)
    return given / np.maximum(length, np.finfo(np.float32).tiny)
