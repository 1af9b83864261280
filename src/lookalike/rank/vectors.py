"""Vectors made ready for a product: aligned with the catalog, checked, and shaped so that higher is better."""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Float32, Int

from lookalike.core.checks import shortened
from lookalike.core.errors import EmbeddingsError
from lookalike.core.types import Catalog, Embeddings
from lookalike.rank.cores import cores

TIE = 1e-6
SLICE = 4096
CENTER_ROWS = 1024


def aligned(catalog: Catalog, embeddings: Embeddings) -> np.ndarray:
    """The catalog's vectors in catalog order; an image without a vector is an error."""
    if len(catalog) == len(embeddings) and np.array_equal(catalog.image, embeddings.image):
        return embeddings.vectors
    row = {image: i for i, image in enumerate(embeddings.image)}
    missing = [image for image in catalog.image if image not in row]
    if missing:
        raise EmbeddingsError(
            f"{embeddings.encoder} has no vector for {len(missing):,} of {len(catalog):,} images: "
            f"{shortened(missing)}.",
            fix=f"Embed the catalog again: lookalike embed {embeddings.spec or embeddings.encoder}",
        )
    return embeddings.vectors[[row[image] for image in catalog.image]]


class Ready(NamedTuple):
    """Float32 rows whose product is the ranking score, and each row's length before shaping."""

    rows: Float32[np.ndarray, "n dimension"]
    norm: Float32[np.ndarray, " n"]


def as_queries(
    vectors: Float[np.ndarray, "images dimension"],
    rows: Int[np.ndarray, " n"],
    similarity: str,
    center: Float32[np.ndarray, " center"],
) -> Ready:
    """Rows for the left side of the product (see `as_gallery`)."""
    if vectors.shape[1] != len(center):
        raise EmbeddingsError(
            f"The query's vector has {vectors.shape[1]:,} numbers, those of the gallery {len(center):,}.",
            fix="Encode the query with the encoder that made the gallery's vectors.",
        )
    ready = _chosen(vectors, rows, similarity, center)
    if similarity == "euclidean":
        ready.rows[:, -1] = 1.0
    return ready


def as_gallery(
    vectors: Float[np.ndarray, "images dimension"],
    rows: Int[np.ndarray, " n"],
    similarity: str,
    center: Float32[np.ndarray, " dimension"],
) -> Ready:
    """The chosen rows for the right side of the product.

    - cosine: unit rows, so the product is q.g / (|q| |g|).
    - dot: the rows themselves.
    - euclidean: rows minus the center, which changes no distance and keeps the product exact where all vectors
      lie far from zero; and one more column, -|g|^2 / 2 against the query's 1, so the product is
      q.g - |g|^2 / 2, which falls as the distance |q - g| grows.
    """
    ready = _chosen(vectors, rows, similarity, center)
    if similarity == "euclidean":
        ready.rows[:, -1] = -(ready.norm**2) / 2
    return ready


def center_of(
    vectors: Float[np.ndarray, "images dimension"], rows: Int[np.ndarray, " n"], similarity: str
) -> Float32[np.ndarray, " dimension"]:
    """What is subtracted from every vector: nothing, or for Euclidean distance where the vectors lie.

    The median of each coordinate over at most 1,024 evenly spaced rows, which a few far vectors do not move.
    """
    if similarity != "euclidean" or len(rows) == 0:
        return np.zeros(vectors.shape[1], np.float32)
    spaced = rows[:: -(-len(rows) // CENTER_ROWS)]
    return np.median(vectors[spaced].astype(np.float32), axis=0).astype(np.float32)


def tie_tolerance(
    query_norm: Float32[np.ndarray, " queries"], typical: float, similarity: str
) -> Float32[np.ndarray, " queries"]:
    """What counts as equal, per query: 1e-6 of cosine, and for the others 1e-6 of the size of a typical score.

    `typical` is the median length of the gallery's vectors (for Euclidean distance: from the center).

    - dot: 1e-6 |q| typical.
    - euclidean: 1e-6 (|q|^2 + typical^2) / 2, of half the squared distance.
    """
    if similarity == "cosine":
        return np.full(len(query_norm), TIE, np.float32)
    if similarity == "dot":
        return (TIE * query_norm * typical).astype(np.float32)
    return (TIE * (query_norm.astype(np.float64) ** 2 + typical**2) / 2).astype(np.float32)


def score_of(product: np.ndarray, query_norm: np.ndarray, similarity: str) -> np.ndarray:
    """The score ranks were counted on: cosine, dot product, or minus half the squared Euclidean distance."""
    if similarity != "euclidean":
        return product
    return np.minimum(product - query_norm.astype(np.float64) ** 2 / 2, 0.0).astype(np.float32)


def shown_score(score: np.ndarray, similarity: str) -> np.ndarray:
    """The score people read: cosine, dot product, or minus the Euclidean distance."""
    return -np.sqrt(-2.0 * score) if similarity == "euclidean" else score


def _chosen(vectors: np.ndarray, rows: np.ndarray, similarity: str, center: np.ndarray) -> Ready:
    """A float32 copy of the chosen rows with their lengths, a slice per thread at a time."""
    from lookalike.rank.kernels import take_rows

    unit, extra = similarity == "cosine", int(similarity == "euclidean")
    taken = np.empty((len(rows), vectors.shape[1] + extra), np.float32)
    norm = np.empty(len(rows), np.float32)

    def take(first: int) -> None:
        part = slice(first, first + SLICE)
        held, places = vectors, rows[part]
        if vectors.dtype != np.float32:
            held, places = vectors[rows[part]].astype(np.float32), np.arange(len(rows[part]))
        take_rows(held, places, center, unit, taken[part], norm[part])

    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(take, range(0, len(rows), SLICE)))
    _require_lengths(norm, rows, unit)
    return Ready(taken, norm)


def _require_lengths(norm: np.ndarray, rows: np.ndarray, unit: bool) -> None:
    wrong = ~np.isfinite(norm) | ((norm == 0) & unit)
    if wrong.any():
        row, length = int(rows[wrong][0]), float(norm[wrong][0])
        ways = ", or rank with similarity='dot' or 'euclidean'" if length == 0 else ""
        raise EmbeddingsError(
            f"The vector in row {row} has length {length}; nothing can be ranked by it.",
            fix=f"Embed that image again, or leave it out of the catalog{ways}.",
        )
