"""Vectors made ready for a product: aligned with the catalog, checked, and shaped so that higher is better."""

from typing import NamedTuple

import numpy as np

from lookalike.core.checks import shortened
from lookalike.core.errors import EmbeddingsError
from lookalike.core.types import Catalog, Embeddings

TIE = 1e-6


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

    rows: np.ndarray
    norm: np.ndarray


def as_queries(vectors: np.ndarray, similarity: str) -> Ready:
    """Rows for the left side of the product (see `as_gallery`)."""
    rows, norm = _float(vectors)
    if similarity == "cosine":
        return Ready(_unit(rows, norm), norm)
    if similarity == "euclidean":
        return Ready(np.concatenate([rows, np.ones((len(rows), 1), np.float32)], axis=1), norm)
    return Ready(rows, norm)


def as_gallery(vectors: np.ndarray, similarity: str) -> Ready:
    """Rows for the right side of the product.

    - cosine: unit rows, so the product is q.g / (|q| |g|).
    - dot: the rows themselves.
    - euclidean: one more column, -|g|^2 / 2 against the query's 1, so the product is q.g - |g|^2 / 2,
      which falls as the distance |q - g| grows.
    """
    rows, norm = _float(vectors)
    if similarity == "cosine":
        return Ready(_unit(rows, norm), norm)
    if similarity == "euclidean":
        return Ready(np.concatenate([rows, (-(norm**2) / 2)[:, None]], axis=1, dtype=np.float32), norm)
    return Ready(rows, norm)


def tie_tolerance(query_norm: np.ndarray, longest: float, similarity: str) -> np.ndarray:
    """What counts as equal, per query: 1e-6 of cosine, and for the others 1e-6 of the largest score's size.

    - dot: 1e-6 |q| max|g|.
    - euclidean: 1e-6 (|q|^2 + max|g|^2) / 2 of half the squared distance, which for unit vectors is 1e-6 of cosine.
    """
    if similarity == "cosine":
        return np.full(len(query_norm), TIE, np.float32)
    if similarity == "dot":
        return (TIE * query_norm * longest).astype(np.float32)
    return (TIE * (query_norm.astype(np.float64) ** 2 + longest**2) / 2).astype(np.float32)


def shown_score(product: np.ndarray, query_norm: np.ndarray, similarity: str) -> np.ndarray:
    """The score people read: cosine, dot product, or minus the Euclidean distance."""
    if similarity != "euclidean":
        return product
    squared = np.maximum(query_norm.astype(np.float64) ** 2 - 2.0 * product, 0.0)
    return (-np.sqrt(squared)).astype(np.float32)


def _float(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows = np.ascontiguousarray(vectors, dtype=np.float32)
    return rows, np.sqrt(np.einsum("nd,nd->n", rows, rows, dtype=np.float64)).astype(np.float32)


def _unit(rows: np.ndarray, norm: np.ndarray) -> np.ndarray:
    if len(norm) and not norm.min() > 0:
        row = int(np.argmin(norm))
        raise EmbeddingsError(
            f"The vector in row {row} has length {norm[row]}; cosine is undefined for it.",
            fix="Remove the image, embed it again, or rank with similarity='dot' or 'euclidean'.",
        )
    return rows / norm[:, None]
