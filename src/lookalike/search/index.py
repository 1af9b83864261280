"""Vectors under keys, and the engine over them: an index that knows nothing of the catalog, and what changed since."""

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32, Int64

from lookalike.search.engine import Nearest
from lookalike.search.exact import Exact

SPARE = 8


@dataclass(frozen=True, eq=False)
class NearestKeys:
    """Keys of the nearest vectors per query, best first, with their cosines; NaN where there is none.

    `error` is the most that a score differs from the cosine; infinite if unknown.
    """

    key: Int64[np.ndarray, "queries count"]
    score: Float32[np.ndarray, "queries count"]
    error: float


@runtime_checkable
class Index(Protocol):
    """Vectors under keys in another library or on a server."""

    @property
    def name(self) -> str:
        """The name that commands and pages show."""

    def nearest(self, queries: Float32[np.ndarray, "queries dimension"], count: int) -> NearestKeys:
        """The keys of the nearest vectors of each query, which has length 1."""

    def add(self, keys: Int64[np.ndarray, " n"], vectors: Float32[np.ndarray, "n dimension"]) -> None:
        """Add vectors of length 1."""

    def remove(self, keys: Int64[np.ndarray, " n"]) -> None:
        """Remove vectors."""


@dataclass(frozen=True, eq=False)
class KeyTable:
    """The catalog row of each key. Keys are hashes, so their first bits say where they are in a table half empty."""

    places: Int64[np.ndarray, "places 2"]
    shift: int
    count: int

    @classmethod
    def of(cls, keys: Int64[np.ndarray, " keys"], rows: Int64[np.ndarray, " keys"]) -> "KeyTable":
        """The table of keys, which are not negative, and their rows."""
        order, in_turn = np.argsort(keys, kind="stable"), np.arange(len(keys))
        most = int(keys.max(initial=0)).bit_length()
        shift = max(most - (2 * len(keys)).bit_length(), 0)
        at = np.maximum.accumulate((keys[order] >> shift) - in_turn) + in_turn
        places = np.full((int(at.max(initial=0)) + 2, 2), -1, np.int64)
        places[at] = np.stack([keys[order], rows[order]], axis=1)
        return cls(places, shift, len(keys))

    def rows(
        self, keys: Int64[np.ndarray, "queries count"], scores: Float32[np.ndarray, "queries count"]
    ) -> Int64[np.ndarray, "queries count"]:
        """The rows of keys; -1 for those that the table lacks, whose scores become NaN, or whose score is NaN."""
        from lookalike.search.kernels import rows_of_keys

        found = np.empty(keys.shape, np.int64)
        rows_of_keys(keys, scores, self.places, self.shift, found)
        return found


@dataclass(frozen=True, eq=False)
class Indexed:
    """An index as an engine over the catalog as it is now.

    Images that the index lacks are compared one by one (`buffer`); what it has of images that are gone is hidden.
    `found` has the keys of the catalog's images that can be found.
    """

    index: Index
    found: KeyTable
    buffer: Exact
    missing: Int64[np.ndarray, " missing"]
    gone: Int64[np.ndarray, " gone"]
    indexed: int
    exact: bool = False

    @classmethod
    def of(
        cls,
        index: Index,
        held: Int64[np.ndarray, " indexed"],
        keys: Int64[np.ndarray, " images"],
        exact: Exact,
    ) -> "Indexed":
        """The engine for an index that has the keys `held`; `keys` are those of the catalog's images."""
        rows = exact.shaped.images
        new = np.zeros(len(keys), dtype=bool)
        new[rows] = ~np.isin(keys[rows], held)
        gone = np.setdiff1d(held, keys[rows])
        return cls(
            index,
            KeyTable.of(keys[rows], rows),
            exact.among(new),
            np.flatnonzero(new),
            gone,
            len(held),
        )

    @property
    def name(self) -> str:
        """The name of the index."""
        return self.index.name

    def __len__(self) -> int:
        return self.found.count

    def nearest(self, queries: Float32[np.ndarray, "queries dimension"], count: int) -> Nearest:
        """The nearest images that the index and the buffer find."""
        live = max(self.indexed - len(self.gone), 0)
        asked = min(-(-count * self.indexed // max(live, 1)) + (SPARE if len(self.gone) else 0), self.indexed)
        row, error = np.empty((len(queries), 0), np.int64), 0.0
        score = np.empty((len(queries), 0), np.float32)
        if live and len(self):
            found = self.index.nearest(queries, asked)
            row, score, error = self.found.rows(found.key, found.score), found.score, found.error
        if len(self.buffer):
            new = self.buffer.nearest(queries, count)
            row = np.concatenate([row, new.row], axis=1)
            score = np.concatenate([score, new.score], axis=1)
        elif not len(self.gone) and row.shape[1] == count:
            return Nearest(row, score, error)
        order = np.argsort(-score, axis=1, kind="stable")[:, :count]
        row, score = np.take_along_axis(row, order, axis=1), np.take_along_axis(score, order, axis=1)
        short = min(count, len(self)) - row.shape[1]
        if short > 0:
            row = np.pad(row, ((0, 0), (0, short)), constant_values=-1)
            score = np.pad(score, ((0, 0), (0, short)), constant_values=np.nan)
        return Nearest(row, score, error)
