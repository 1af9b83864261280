"""Pairs of a left and a right image to learn from, all in one batch (ADAPT 3.3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Int64
from scipy.sparse import csr_matrix, identity
from torch import Tensor

from lookalike.core.types import Catalog, Labels
from lookalike.learn.examples import Cached
from lookalike.positive.graph import Graph
from lookalike.rank.pairs import MatchedLabels


@dataclass(frozen=True, eq=False)
class SimilarPairs:
    """Catalog rows of the left and the right image of each pair. `graph` has all that is known to be similar."""

    left: Int64[np.ndarray, " pairs"]
    right: Int64[np.ndarray, " pairs"]
    graph: Graph

    def __len__(self) -> int:
        return len(self.left)

    def take(self, which: np.ndarray) -> "SimilarPairs":
        """Some of the pairs."""
        return SimilarPairs(self.left[which], self.right[which], self.graph)

    def apart(self, copies: int = 1) -> Bool[np.ndarray, "n n"] | None:
        """Entries (i, j) of the matrix of left and right images that are no negatives, for `copies` of all pairs.

        Image i and image j are known to be similar, or show one item, and are not a pair here. None: there are none.

        >>> from lookalike.positive.graph import neighbours
        >>> none = neighbours(np.empty(0), np.empty(0), 4)
        >>> graph = Graph(np.arange(4), neighbours(np.array([0, 0]), np.array([1, 2]), 4), none, ())
        >>> SimilarPairs(np.array([0, 0]), np.array([1, 2]), graph).apart().tolist()
        [[False, True], [True, False]]
        """
        graph = self.graph
        left, right = (np.tile(graph.node[rows], copies) for rows in (self.left, self.right))
        shape = (graph.nodes, graph.nodes)
        positive = graph.positive
        known = csr_matrix((np.ones(len(positive.node), np.int32), positive.node, positive.start), shape)
        near = (known + identity(graph.nodes, np.int32, "csr"))[left][:, right].tocoo()
        other = (near.row != near.col) & (near.data != 0)
        if not other.any():
            return None
        apart = np.zeros((len(left), len(right)), bool)
        apart[near.row[other], near.col[other]] = True
        return apart


def similar_pairs(catalog: Catalog, labels: Labels, graph: Graph, split: str | None) -> SimilarPairs:
    """The pairs of a split (None: all) that are labelled similar: left the query, right the candidate.

    They are in the order of the labels. A pair that is labelled in both directions is there once. What the graph left
    out is left out here too.
    """
    kept = MatchedLabels(catalog, labels)
    inside = np.full(len(catalog), split is None) | (catalog.split == split)
    kept.drop(~(inside[kept.q] & inside[kept.c]) | (kept.label != 1), "")
    of = graph.positive
    nodes = np.repeat(np.arange(graph.nodes), of.degree) * graph.nodes + of.node
    kept.drop(~np.isin(graph.node[kept.q] * graph.nodes + graph.node[kept.c], nodes), "")
    code = np.minimum(kept.q, kept.c) * len(catalog) + np.maximum(kept.q, kept.c)
    _, first = np.unique(code, return_index=True)
    first.sort()
    return SimilarPairs(kept.q[first], kept.c[first], graph)


class PairBatch(NamedTuple):
    """All pairs: `inputs` (2n, ...) of the left images, then of the right ones; `apart` as the loss takes it."""

    rows: Int64[np.ndarray, " images"]
    inputs: Tensor
    apart: Bool[Tensor, "n n"] | None

    @property
    def relation(self) -> tuple[Tensor | None]:
        """What the loss is told beside the vectors."""
        return (self.apart,)

    @property
    def positives(self) -> Tensor:
        """How many pairs there are."""
        return torch.tensor(len(self.inputs) // 2)

    def __str__(self) -> str:
        return f"all {len(self.rows) // 2:,} pairs"


class PairExamples:
    """One batch an epoch, which holds every pair. With several views of an image, two of each are drawn."""

    def __init__(self, pairs: SimilarPairs, views: Cached, seed: int, device: torch.device) -> None:
        self.pairs, self.views, self.seed = pairs, views, seed
        apart = pairs.apart(views.of_each)
        self.apart = None if apart is None else torch.from_numpy(apart).to(device)
        self.only: PairBatch | None = None

    def epoch(self, epoch: int) -> tuple[int, Iterator[PairBatch]]:
        """The number of batches, 1, and the batch."""
        if self.only is None or self.views.of_each > 1:
            random = np.random.Generator(np.random.PCG64(np.random.SeedSequence((self.seed, epoch, 0, 1))))
            sides = (self.pairs.left, self.pairs.right)
            drawn = torch.cat([self.views.draw(rows, random) for rows in sides])
            self.only = PairBatch(np.concatenate(sides), drawn, self.apart)
        return 1, iter([self.only])
