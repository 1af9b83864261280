"""The labels as a graph: nodes are images (or items), edges are labelled pairs (VSD 6.1)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Int32, Int64

from lookalike.core.checks import one_of
from lookalike.core.types import SPLITS, Catalog, Labels
from lookalike.rank.pairs import Unusable

NODES = ("image", "item")
SHOWN = 5  # examples of a reason


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
    kept = _Kept(catalog, labels)
    kept.drop((kept.a < 0) | (kept.b < 0), "the catalog lacks the image")
    kept.drop(kept.a == kept.b, "query and candidate are one image")
    kept.drop(catalog.item[kept.a] == catalog.item[kept.b], "both photos show one item")
    by_item = one_of(nodes, NODES, "nodes") == "item"
    node = catalog.item_codes[1] if by_item else np.arange(len(catalog))
    count = len(catalog.item_codes[0]) if by_item else len(catalog)
    if (
        split is not None
    ):  # before labels are compared: an item's label in another split must not reach this one
        inside = catalog.split == one_of(split, SPLITS, "split")
        kept.drop(~(inside[kept.a] & inside[kept.b]), f"not both images are in the split {split}")
    kept.drop(_both_ways(_pair(node, kept, count), kept.label), "labelled both similar and dissimilar")
    pair, first = np.unique(_pair(node, kept, count), return_index=True)
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
    start = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(one, minlength=count), out=start[1:])
    return Neighbours(start, (code % max(count, 1)).astype(np.int32))


class _Kept:
    """The labels that still stand, as catalog rows, and what was dropped so far."""

    def __init__(self, catalog: Catalog, labels: Labels) -> None:
        self.labels = labels
        self.standing = np.arange(len(labels))
        self.a, self.b = (
            np.fromiter((catalog.row.get(image, -1) for image in ends), np.int64, len(labels))
            for ends in (labels.query, labels.candidate)
        )
        self.label = np.asarray(labels.label)
        self.unusable: list[Unusable] = []

    def drop(self, where: Bool[np.ndarray, " labels"], reason: str) -> None:
        """Leave out the labels of a mask and keep the reason with the first few of them."""
        where = np.asarray(where, bool)
        if where.any():
            gone = self.standing[where][:SHOWN]
            examples = tuple(zip(self.labels.query[gone], self.labels.candidate[gone], strict=True))
            self.unusable.append(Unusable(reason, int(where.sum()), examples))
            self.standing, self.label = self.standing[~where], self.label[~where]
            self.a, self.b = self.a[~where], self.b[~where]


def _pair(node: np.ndarray, kept: _Kept, count: int) -> Int64[np.ndarray, " labels"]:
    """One number for each unordered pair of nodes."""
    a, b = node[kept.a], node[kept.b]
    return np.asarray(np.minimum(a, b) * count + np.maximum(a, b), np.int64)


def _both_ways(pair: np.ndarray, label: np.ndarray) -> Bool[np.ndarray, " labels"]:
    _, code = np.unique(pair, return_inverse=True)
    total, similar = np.bincount(code), np.bincount(code, weights=label)
    return np.asarray(((similar > 0) & (similar < total))[code], bool)
