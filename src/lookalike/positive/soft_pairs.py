"""The pairs of images that positives make positive, as a stream; distances by node become pairs of photos here."""

from collections.abc import Iterator

import numpy as np
from jaxtyping import Int32, Int64

from lookalike.core.progress import Progress
from lookalike.core.types import Catalog
from lookalike.positive.distances import MOST, Block, Ordered, all_hops
from lookalike.positive.graph import Graph, Neighbours, by_node


def photos(catalog: Catalog, graph: Graph, split: str | None) -> Neighbours:
    """The catalog rows of each node, in order, as compressed rows; those outside of the split left out."""
    inside = np.ones(len(catalog), bool) if split is None else np.asarray(catalog.split == split, bool)
    rows = np.flatnonzero(inside)
    return by_node(graph.node[rows], rows, graph.nodes)


def soft_pairs(
    graph: Graph,
    part: Ordered,
    photo: Neighbours,
    limit: int,
    *,
    progress: Progress | None = None,
) -> Iterator[Block]:
    """Every pair of catalog rows with positiveness above 0 and its distance, `a < b`, once, as a stream of blocks.

    Labelled positives have distance 1; labelled negatives are left out. `part` is `ordered(graph)`, `photo` is of
    `photos`. Where nodes are items, the photos of one come first, at distance 0, then every photo of
    an item with every photo of those within `limit` hops.
    """
    if graph.kind == "image":
        yield from all_hops(part, limit, progress=progress)
        return
    several = np.flatnonzero(photo.degree > 1).astype(np.int32)
    for first in range(0, len(several), MOST):
        own = several[first : first + MOST]
        yield _photo_pairs(photo, Block(own, own, np.zeros(len(own), np.uint8)))
    each = max(1.0, float((photo.degree[part.name] ** 2).mean())) if part.nodes else 1.0
    for block in all_hops(part, limit, most=int(MOST / each) + 1, progress=progress):
        yield _photo_pairs(photo, block)


def own_pairs(photo: Neighbours) -> int:
    """How many pairs of photos show one item."""
    return int((photo.degree * (photo.degree - 1) // 2).sum())


def _photo_pairs(photo: Neighbours, pairs: Block) -> Block:
    """Pairs of items as pairs of their photos."""
    from lookalike.positive.kernels import photo_pairs

    degree: Int64[np.ndarray, " nodes"] = photo.degree
    same = pairs.a == pairs.b
    each = np.where(same, degree[pairs.a] * (degree[pairs.a] - 1) // 2, degree[pairs.a] * degree[pairs.b])
    total = int(each.sum())
    one: Int32[np.ndarray, " pairs"] = np.empty(total, np.int32)
    found = Block(one, np.empty(total, np.int32), np.empty(total, np.uint8))
    photo_pairs(*photo, *pairs, *found)
    return found
