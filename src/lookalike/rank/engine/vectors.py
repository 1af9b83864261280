"""Vectors shaped for a product, so that higher is better: held in memory, or gathered a slab at a time.

- cosine: unit rows, so the product is q.g / (|q| |g|).
- dot: the rows themselves.
- euclidean: rows minus the center, which changes no distance and keeps the product exact where all vectors
  lie far from zero; and one more column, -|g|^2 / 2 against the query's 1, so the product is
  q.g - |g|^2 / 2, which falls as the distance |q - g| grows.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Float32, Int

from lookalike.core.cores import cores
from lookalike.core.errors import EmbeddingsError
from lookalike.rank.engine.source import Source

TIE = 1e-6
SLICE = 2**21  # bytes a thread shapes at a time while it measures
CENTER_ROWS = 1024


@dataclass(frozen=True, eq=False)
class Shaped:
    """Float32 rows whose product is the ranking score. Row i is made of the image `images[i]`.

    `norm` is each row's length before shaping (for Euclidean distance: from the center). `rows` holds
    all rows, or is None where they would take too much: then `take` shapes them anew each time.
    """

    source: Source
    images: Int[np.ndarray, " n"]
    similarity: str
    center: Float32[np.ndarray, " dimension"]
    query: bool
    norm: Float32[np.ndarray, " n"]
    rows: Float32[np.ndarray, "n width"] | None = None

    def __len__(self) -> int:
        return len(self.images)

    @property
    def width(self) -> int:
        """Numbers per shaped row."""
        return self.source.dimension + (self.similarity == "euclidean")

    @cached_property
    def by_place(self) -> Int[np.ndarray, " n"] | None:
        """Rows in the order their vectors lie in; None where that is their own order."""
        places = self.source.places(self.images)
        return None if np.all(places[1:] > places[:-1]) else np.argsort(places, kind="stable")

    def slab(self, first: int, last: int) -> slice | Int[np.ndarray, " m"]:
        """The rows whose vectors lie first to last among all of them."""
        return slice(first, last) if self.by_place is None else self.by_place[first:last]

    def take(self, which: slice | Int[np.ndarray, " m"]) -> Float32[np.ndarray, "m width"]:
        """Some of the rows; not to be written to."""
        if self.rows is not None:
            return self.rows[which]
        taken = np.empty((len(self.images[which]), self.width), np.float32)
        self.shape(which, taken, np.empty(len(taken), np.float32), np.arange(len(taken)))
        return taken

    def shape(self, which: slice | np.ndarray, taken: np.ndarray, norm: np.ndarray, to: np.ndarray) -> None:
        """Put some rows into taken[to] and their lengths into norm[to]."""
        from lookalike.rank.engine.kernels import take_rows

        places = self.source.places(self.images[which])
        held, at = np.asarray(self.source.held), places
        if held.dtype != np.float32:
            held, at = held[places].astype(np.float32), np.arange(len(places))
        take_rows(held, at, self.center, self.similarity == "cosine", taken, norm, to)
        if self.similarity == "euclidean":
            taken[to, -1] = 1.0 if self.query else -(norm[to] ** 2) / 2
        self.source.release(places)


def as_queries(
    source: Source,
    images: Int[np.ndarray, " n"],
    similarity: str,
    center: Float32[np.ndarray, " center"],
    held: int,
) -> Shaped:
    """Rows for the left side of the product; held in memory if they take at most `held` bytes."""
    _require_dimension(source.dimension, len(center))
    return _measured(source, images, similarity, center, True, held)


def unit_rows(
    queries: Float[np.ndarray, "queries dimension"], dimension: int
) -> Float32[np.ndarray, "queries dimension"]:
    """A few queries at length 1: the same numbers as `as_queries` for cosine, at once."""
    from lookalike.rank.engine.kernels import take_rows

    _require_dimension(queries.shape[1], dimension)
    rows, norm = np.empty(queries.shape, np.float32), np.empty(len(queries), np.float32)
    given, every = np.ascontiguousarray(queries, np.float32), np.arange(len(queries))
    take_rows(given, every, np.zeros(dimension, np.float32), True, rows, norm, every)
    if not norm.min(initial=np.inf) > 0 or not norm.max(initial=0) < np.inf:
        _require_lengths(norm, every, True)
    return rows


def as_gallery(
    source: Source,
    images: Int[np.ndarray, " n"],
    similarity: str,
    center: Float32[np.ndarray, " dimension"],
    held: int,
) -> Shaped:
    """Rows for the right side of the product; held in memory if they take at most `held` bytes."""
    return _measured(source, images, similarity, center, False, held)


def center_of(
    source: Source, images: Int[np.ndarray, " n"], similarity: str
) -> Float32[np.ndarray, " dimension"]:
    """What is subtracted from every vector: nothing, or for Euclidean distance where the vectors lie.

    The median of each coordinate over at most 1,024 evenly spaced rows, which a few far vectors do not move.
    """
    if similarity != "euclidean" or len(images) == 0:
        return np.zeros(source.dimension, np.float32)
    spaced = source.copied(images[:: -(-len(images) // CENTER_ROWS)])
    return np.median(spaced.astype(np.float32), axis=0).astype(np.float32)


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


def _measured(
    source: Source, images: np.ndarray, similarity: str, center: np.ndarray, query: bool, held: int
) -> Shaped:
    """Go through the vectors once, in the order they lie in, for their lengths, and keep the rows if they may be."""
    shaped = Shaped(source, images, similarity, center, query, np.empty(len(images), np.float32))
    fits = 4 * len(images) * shaped.width <= held
    rows = np.empty((len(images), shaped.width), np.float32) if fits else None
    everything, wide = np.arange(len(images)), max(SLICE // (4 * shaped.width), 1)

    def measure(first: int) -> None:
        which = shaped.slab(first, first + wide)
        if rows is not None:
            shaped.shape(which, rows, shaped.norm, everything[which])
        else:
            count = len(images[which])
            norm = np.empty(count, np.float32)
            shaped.shape(which, np.empty((count, shaped.width), np.float32), norm, everything[:count])
            shaped.norm[which] = norm

    with ThreadPoolExecutor(cores()) as pool:
        list(pool.map(measure, range(0, len(images), wide)))
    _require_lengths(shaped.norm, images, similarity == "cosine")
    return replace(shaped, rows=rows)


def _require_dimension(query: int, gallery: int) -> None:
    if query != gallery:
        raise EmbeddingsError(
            f"The query's vector has {query:,} numbers, those of the gallery {gallery:,}.",
            fix="Encode the query with the encoder that made the gallery's vectors.",
        )


def _require_lengths(norm: np.ndarray, images: np.ndarray, unit: bool) -> None:
    wrong = ~np.isfinite(norm) | ((norm == 0) & unit)
    if wrong.any():
        row, length = int(images[wrong][0]), float(norm[wrong][0])
        ways = ", or rank with similarity='dot' or 'euclidean'" if length == 0 else ""
        raise EmbeddingsError(
            f"The vector in row {row} has length {length}; nothing can be ranked by it.",
            fix=f"Embed that image again, or leave it out of the catalog{ways}.",
        )
