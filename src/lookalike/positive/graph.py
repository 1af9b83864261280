"""The labels as a graph: nodes are images (or items), edges are labelled pairs (VSD 6.1)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Int32, Int64

from lookalike.core.checks import one_of
from lookalike.core.types import SPLITS, Catalog, Labels
from lookalike.rank.pairs import MatchedLabels, Unusable, both_ways

NODES = ("image", "item")


class Neighbours(NamedTuple):
    """Symmetric pairs in compressed rows: those of node a are `node[start[a]:start[a + 1]]`, in order, each once."""

    start: Int64[np.ndarray, " nodes_and_end"]
    node: Int32[np.ndarray, " ends"]

    @property
    def pairs(self) -> int:
        """How many unordered pairs there are."""
        return len(self.node) // 2

    @property
    def degree(self) -> Int64[np.ndarray, " nodes"]:
        """How many pairs each node has."""
        return np.diff(self.start)


@dataclass(frozen=True, eq=False)
class Graph:
    """Labelled pairs between nodes. Catalog row i is node `node[i]`; with items as nodes the photos of one are joined.

    `positive` and `negative` hold each unordered pair once, and none is in both. `unusable` are the labels left out, by
    reason. A label of (a, b) and one of (b, a) are one pair.
    """

    node: Int64[np.ndarray, " images"]
    positive: Neighbours
    negative: Neighbours
    unusable: tuple[Unusable, ...]
    kind: str = "image"

    @property
    def nodes(self) -> int:
        """How many nodes there are, those without any label included."""
        return len(self.positive.start) - 1


def label_graph(
    catalog: Catalog, labels: Labels, *, nodes: str = "image", split: str | None = "train"
) -> Graph:
    """The graph of the labels whose two images are in one split; `split` None: of all labels.

    Left out and reported, never guessed: an image the catalog lacks; a pair of one image or of one item; a pair with
    an image outside of the split; a pair of nodes labelled both ways within it, in one direction or in both.
    """
    kept = MatchedLabels(catalog, labels)
    by_item = one_of(nodes, NODES, "nodes") == "item"
    node = catalog.item_codes[1] if by_item else np.arange(len(catalog))
    count = len(catalog.item_codes[0]) if by_item else len(catalog)
    if (
        split is not None
    ):  # before labels are compared: an item's label in another split must not reach this one
        inside = catalog.split == one_of(split, SPLITS, "split")
        kept.drop(~(inside[kept.q] & inside[kept.c]), f"not both images are in the split {split}")

    def pairs() -> np.ndarray:
        """One number for each unordered pair of nodes."""
        a, b = node[kept.q], node[kept.c]
        return np.asarray(np.minimum(a, b) * count + np.maximum(a, b), np.int64)

    kept.drop(both_ways(pairs(), kept.label), "labelled both similar and dissimilar")
    pair, first = np.unique(pairs(), return_index=True)
    similar = kept.label[first] == 1
    return Graph(
        node=np.asarray(node, np.int64),
        positive=neighbours(pair[similar] // count, pair[similar] % count, count),
        negative=neighbours(pair[~similar] // count, pair[~similar] % count, count),
        unusable=tuple(kept.unusable),
        kind=nodes,
    )


def neighbours(a: np.ndarray, b: np.ndarray, count: int) -> Neighbours:
    """Compressed rows of distinct unordered pairs of different nodes below `count`.

    >>> found = neighbours(np.array([0, 2]), np.array([2, 1]), 4)
    >>> found.start.tolist(), found.node.tolist()
    ([0, 1, 2, 4, 4], [2, 2, 0, 1])
    """
    one, other = np.concatenate([a, b]).astype(np.int64), np.concatenate([b, a]).astype(np.int64)
    code = np.sort(one * count + other)
    return Neighbours(
        np.searchsorted(code, np.arange(count + 1) * count), (code % max(count, 1)).astype(np.int32)
    )


def by_node(node: np.ndarray, values: np.ndarray, count: int) -> Neighbours:
    """Values of nodes as compressed rows; those of one node keep their order.

    >>> by_node(np.array([2, 0, 2]), np.array([7, 8, 9]), 3).node.tolist()
    [8, 7, 9]
    """
    order = np.argsort(node, kind="stable")
    return Neighbours(np.searchsorted(node[order], np.arange(count + 1)), values[order].astype(np.int32))
