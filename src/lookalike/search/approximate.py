"""Approximate search in this process: a graph of neighbours (HNSW) by USearch, with vectors in bfloat16.

Chosen by a benchmark (docs/internals/performance.md): at the same recall it answers as many queries as other libraries
or more, is built in less time, takes half of the memory of float32, and can remove vectors.
"""

import threading
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float32, Int64

from lookalike.core.checks import install, not_installed
from lookalike.core.cores import cores
from lookalike.core.errors import SearchError
from lookalike.core.progress import Progress
from lookalike.search.index import NearestKeys

if TYPE_CHECKING:
    from usearch.index import Index as Graph

CONNECTIVITY = 16
EXPANSION_ADD = 128
EXPANSIONS = (32, 64, 128, 256, 512, 1024)  # tried in this order until the recall is reached
CHUNK = 16_384
ALONE = 2_048  # until then a graph grows on one processor: many at once miss links in a small one
LOST = 2.0**-8  # the most of a vector of length 1 that is lost in bfloat16: 8 significant bits are kept
TRIAL = 4096
LINKS = 2.2 * CONNECTIVITY * 5 + 32  # bytes of the graph per vector
RESERVED = 1.75  # memory is reserved in steps that double: 1.2 to 1.8 times what is needed
CACHE = 3.0  # a trial fits into the processor's cache; graphs of 50,000 to 150,000 vectors took 2 to 8 times as long


class Approximate:
    """A graph of neighbours. One search runs at a time, on all processors.

    `lost` is the most that any vector of the graph lost when it was rounded.
    """

    name = "usearch"

    def __init__(self, graph: "Graph", expansion: int = EXPANSIONS[0], lost: float = 0.0) -> None:
        self._graph, self._lock, self.lost = graph, threading.Lock(), lost
        self.expand(expansion)

    @classmethod
    def empty(cls, dimension: int) -> "Approximate":
        """A graph without vectors."""
        return cls(_graph(dimension))

    @classmethod
    def load(cls, path: Path, dimension: int, expansion: int, lost: float = LOST) -> "Approximate":
        """A graph from a file."""
        graph = _graph(dimension)
        try:
            graph.load(str(path))
        except Exception as error:
            raise SearchError(
                f"The index {path} cannot be read: {error}.", fix="Build it again with `lookalike index`."
            ) from error
        return cls(graph, expansion, lost)

    def save(self, path: Path) -> None:
        """Write the graph to a file."""
        self._graph.save(str(path))

    def expand(self, expansion: int) -> None:
        """Set how many candidates a search keeps: more find more of the true neighbours, and take longer."""
        self.expansion = expansion
        self._graph.expansion_search = expansion

    @property
    def bytes(self) -> int:
        """Memory that the graph takes."""
        return int(self._graph.memory_usage)

    def nearest(self, queries: Float32[np.ndarray, "queries dimension"], count: int) -> NearestKeys:
        """The keys of the nearest vectors of each query, which has length 1."""
        from lookalike.search.kernels import most_lost

        error = rounding(queries.shape[1], most_lost(queries), self.lost)
        with self._lock:
            found = self._graph.search(queries, count, threads=cores())
        key = np.asarray(found.keys).reshape(len(queries), -1).view(np.int64)
        score = (1 - np.asarray(found.distances, np.float32)).reshape(key.shape)
        counts = getattr(found, "counts", None)  # one query has none
        if counts is not None and counts.min(initial=count) < key.shape[1]:
            score[np.arange(key.shape[1]) >= counts[:, None]] = np.nan
        return NearestKeys(key, score, error)

    def add(
        self,
        keys: Int64[np.ndarray, " n"],
        vectors: Float32[np.ndarray, "n dimension"],
        progress: Progress | None = None,
    ) -> None:
        """Add vectors of length 1."""
        from lookalike.search.kernels import most_lost

        first = 0
        while first < len(keys):
            alone = ALONE - len(self._graph)
            part = slice(first, min(first + (alone if alone > 0 else CHUNK), len(keys)))
            with self._lock:
                threads = 1 if alone > 0 else cores()
                self._graph.add(keys[part].astype(np.uint64), vectors[part], threads=threads)
            self.lost = max(self.lost, most_lost(vectors[part]))
            first = part.stop
            if progress:
                progress(first, len(keys))

    def remove(self, keys: Int64[np.ndarray, " n"]) -> None:
        """Remove vectors."""
        if len(keys):
            with self._lock:
                self._graph.remove(keys.astype(np.uint64))


def rounding(dimension: int, query: float = LOST, image: float = LOST) -> float:
    """The most that the product of two vectors q, g in bfloat16 differs from their cosine, computed in float32.

        |q'.g' - q.g| <= (1 + query) (1 + image) (1 + 4 d v) - 1,   v = 2^-24, |q| = |g| = 1

    `query` is |q' - q| and `image` is |g' - g|, or more: at most 2^-8 each, because a number with 8 significant bits is
    off by 2^-8 of itself at most; measured in the vectors of four networks, 0.0017. By Cauchy-Schwarz, |q'.g' - q.g| =
    |(q' - q).g' + q.(g' - g)| <= query (1 + image) + image. 4 d v is for the rounding of both sums and of both lengths,
    in any order (Higham 2002, 3.1).

    >>> round(rounding(512), 4), round(rounding(512, 0.0016, 0.0017), 4)
    (0.008, 0.0034)
    """
    return (1 + query) * (1 + image) * (1 + 4 * dimension * 2.0**-24) - 1


def estimated_bytes(rows: int, dimension: int) -> int:
    """Memory of a graph: two bytes per number of a vector, and its links."""
    return int(RESERVED * rows * (2 * dimension + LINKS))


def growth(rows: int, trial: int) -> float:
    """How many times as long as a trial the whole graph takes: rows, the logarithm of rows for each, and the cache.

    >>> round(growth(1_000_000, 4096)), growth(4096, 4096)
    (1217, 1.0)
    """
    return rows / trial * float(np.log(rows) / np.log(trial)) * (CACHE if rows > trial else 1.0)


def _graph(dimension: int) -> "Graph":
    if missing := not_installed(["usearch"]):
        raise SearchError(
            f"Approximate search needs {missing[0]}, which is not installed.", fix=install("search")
        )
    from usearch.index import Index as Graph

    return Graph(
        ndim=dimension,
        metric="ip",
        dtype="bf16",
        connectivity=CONNECTIVITY,
        expansion_add=EXPANSION_ADD,
        expansion_search=EXPANSIONS[0],
    )
