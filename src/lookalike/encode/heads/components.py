"""Principal components of vectors in memory."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float32
from scipy.linalg import eigh

from lookalike.core.errors import EmbeddingsError
from lookalike.encode.heads.pca import PcaHead


class FittedPca(NamedTuple):
    """The head of the first principal components, and their share of the variance (1: all of it)."""

    head: PcaHead
    share: float


def fit_components(vectors: Float32[np.ndarray, "n features"], most: int) -> FittedPca:
    """The first min(most, features, n - 1) principal components of the rows.

        C = eigenvectors of X^T X / (n - 1), X = rows - mean, by falling eigenvalue

    Where there are fewer rows than numbers, those of X X^T are used, which has the same eigenvalues. Products are in
    float64. The largest entry of each component is positive. EmbeddingsError where all rows are the same.

    >>> fitted = fit_components(np.array([[0, 0], [3, 4], [6, 8]], np.float32), 1)
    >>> fitted.head.components.T, round(fitted.share, 6)
    (tensor([[0.6000, 0.8000]]), 1.0)
    """
    n, features = vectors.shape
    mean = vectors.mean(0, dtype=np.float64)
    centred = vectors - mean
    total = float(np.square(centred).sum())
    count = min(most, features, n - 1)
    if count < 1 or not total > 0:
        raise EmbeddingsError(
            f"{n:,} vectors of the training split have no principal components.",
            fix="Use at least two different images.",
        )
    table = centred.T @ centred if features <= n else centred @ centred.T
    values, found = eigh(table, subset_by_index=(len(table) - count, len(table) - 1), overwrite_a=True)
    values, found = values[::-1].clip(0), found[:, ::-1]
    if features > n:
        found = centred.T @ found
        found /= np.maximum(np.linalg.norm(found, axis=0), np.finfo(np.float64).tiny)
    ends = found[np.abs(found).argmax(0), np.arange(count)]
    head = PcaHead(features, count)
    head.mean.copy_(torch.from_numpy(mean))
    head.components.copy_(torch.from_numpy(found * np.where(ends < 0, -1.0, 1.0)))
    return FittedPca(head, float(values.sum() / total))
