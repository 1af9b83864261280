"""Principal components of vectors that may be larger than memory."""

from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float, Float64, Int
from scipy.linalg import eigh

from lookalike.core.errors import EmbeddingsError
from lookalike.core.progress import Progress
from lookalike.encode.heads.pca import PcaHead
from lookalike.rank.engine.source import Source

BLOCK = 1 << 24  # numbers that are read at a time: 64 MiB in float32
NOISE = 1e-12  # of the vectors' squared length: what float32 rounds away is no variance


class FittedPca(NamedTuple):
    """The head of the first principal components, and their share of the variance (1: all of it)."""

    head: PcaHead
    share: float


class _Table(NamedTuple):
    """Products of centred rows X: X^T X of every two numbers, or X X^T of every two rows with X itself."""

    mean: Float64[np.ndarray, " features"]
    products: Float64[np.ndarray, "size size"]
    centred: Float64[np.ndarray, "n features"] | None = None


def fit_components(
    vectors: Float[np.ndarray, "images features"],
    rows: Int[np.ndarray, " n"],
    most: int,
    progress: Progress | None = None,
) -> FittedPca:
    """The first min(most, features, n - 1) principal components of some rows.

        C = eigenvectors of X^T X / (n - 1), X = rows - mean, by falling eigenvalue;    share = their sum / the trace

    Source: Jolliffe, Principal Component Analysis (2002), 1.1; ADAPT 3.2 and its "PCA Variance Sum". Where there are
    fewer rows than numbers, the eigenvectors of X X^T are used, which has the same eigenvalues. Many rows are read in
    blocks: the products of a block in float32, their sum in float64, so memory grows with the square of the dimension
    and not with n. The largest entry of each component is positive. EmbeddingsError where all rows are the same.

    >>> fitted = fit_components(np.array([[0, 0], [3, 4], [6, 8]], np.float32), np.arange(3), 1)
    >>> fitted.head.components.T, round(fitted.share, 6)
    (tensor([[0.6000, 0.8000]]), 1.0)
    """
    n, features = len(rows), vectors.shape[1]
    count = min(most, features, n - 1)
    table = _of_rows(vectors, rows) if n < features else _of_numbers(vectors, rows, progress)
    total = float(np.trace(table.products))
    if count < 1 or not total > NOISE * n * float(table.mean @ table.mean):
        raise EmbeddingsError(
            f"{n:,} vectors of the training split have no principal components.",
            fix="Use at least two different images, and vectors without NaN.",
        )
    size = len(table.products)
    values, found = eigh(  # of the transpose, which is the same table as LAPACK stores it
        table.products.T, subset_by_index=(size - count, size - 1), overwrite_a=True, check_finite=False
    )
    found = found[:, ::-1] if table.centred is None else table.centred.T @ found[:, ::-1]
    found = found / np.maximum(np.linalg.norm(found, axis=0), np.finfo(np.float64).tiny)
    ends = found[np.abs(found).argmax(0), np.arange(count)]
    head = PcaHead(features, count)
    head.mean.copy_(torch.from_numpy(table.mean))
    head.components.copy_(torch.from_numpy(found * np.where(ends < 0, -1.0, 1.0)))
    return FittedPca(head, float(values.clip(0).sum() / total))


def _of_rows(vectors: np.ndarray, rows: np.ndarray) -> _Table:
    """The products of every two rows."""
    given = np.asarray(vectors[rows], np.float64)
    mean = given.sum(0) / max(len(rows), 1)
    given -= mean
    return _Table(mean, given @ given.T, given)


def _of_numbers(vectors: np.ndarray, rows: np.ndarray, progress: Progress | None) -> _Table:
    """The products of every two numbers, a block of rows at a time.

    They are taken around the mean s of the first block, so that nothing is lost where vectors are far from zero:
    sum (x - m)(x - m)^T = sum (x - s)(x - s)^T - n (m - s)(m - s)^T. A single block is multiplied in float64.
    """
    features, source = vectors.shape[1], Source(vectors)
    total, around, shift = np.zeros((features, features)), np.zeros(features), np.zeros(features)
    step = max(1, BLOCK // features)
    kind: type[np.floating] = np.float32 if len(rows) > step else np.float64
    for first in range(0, len(rows), step):
        some = rows[first : first + step]
        block: np.ndarray = np.asarray(vectors[some], kind)
        source.release(some)
        if not first:
            shift = block.mean(0, dtype=np.float64).astype(kind)
        block -= shift
        total += block.T @ block
        around += block.sum(0, dtype=np.float64)
        if progress:
            progress(first + len(some), len(rows))
    around /= len(rows)
    total -= len(rows) * np.outer(around, around)
    return _Table(shift + around, total)
