"""Distances over positives: of given pairs, and of all pairs as a stream of blocks. Nowhere an N x N matrix."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np
from jaxtyping import Int32, Int64, UInt8, UInt64

from lookalike.core.cores import cores
from lookalike.core.parallel import in_order
from lookalike.core.progress import Progress
from lookalike.positive.graph import Graph, Neighbours, neighbours

WORD = 64  # sources of one walk
TRIED, HEAVY = 4, 100_000  # the first walks, and the steps of one that takes about a millisecond
MOST = 2_000_000  # pairs of a block, unless one source has more


class Block(NamedTuple):
    """Some pairs of nodes, `a < b`, with their distance; all pairs of a node that is not done yet stand together."""

    a: Int32[np.ndarray, " pairs"]
    b: Int32[np.ndarray, " pairs"]
    hops: UInt8[np.ndarray, " pairs"]


class Ordered(NamedTuple):
    """A graph's nodes that have a positive, numbered anew so that neighbours are close; `name` is what they were.

    `negative` are the labelled negatives between them.
    """

    name: Int32[np.ndarray, " nodes"]
    positive: Neighbours
    negative: Neighbours

    @property
    def nodes(self) -> int:
        """How many nodes have a positive."""
        return len(self.name)


class Met(NamedTuple):
    """What up to 64 sources met, as entries of `word_kernels.spread`; only pairs that count are left in the bits."""

    sources: Int64[np.ndarray, " sources"]
    node: Int32[np.ndarray, " entries"]
    bits: UInt64[np.ndarray, " entries"]
    ends: Int64[np.ndarray, " hops"]
    steps: int


def hops_between(
    graph: Graph, a: Int64[np.ndarray, " pairs"], b: Int64[np.ndarray, " pairs"], limit: int
) -> UInt8[np.ndarray, " pairs"]:
    """Shortest paths over positives between the nodes of given pairs; 255 where there is none within `limit` hops.

    >>> chain = neighbours(np.array([0, 1]), np.array([1, 2]), 4)
    >>> graph = Graph(np.arange(4), chain, neighbours(np.empty(0), np.empty(0), 4), ())
    >>> hops_between(graph, np.array([0, 1, 0]), np.array([2, 1, 3]), 7).tolist()
    [2, 0, 255]
    """
    from lookalike.positive.kernels import between

    hops = np.empty(len(a), np.uint8)
    between(*graph.positive, a, b, limit, hops)
    return hops


def ordered(graph: Graph) -> Ordered:
    """The part of a graph in which there are distances, its nodes in breadth-first order."""
    from lookalike.positive.word_kernels import breadth_order

    name = breadth_order(*graph.positive)
    place = np.full(graph.nodes, -1, np.int64)
    place[name] = np.arange(len(name))
    return Ordered(
        name, _renumbered(graph.positive, place, len(name)), _renumbered(graph.negative, place, len(name))
    )


def _renumbered(pairs: Neighbours, place: np.ndarray, count: int) -> Neighbours:
    """The pairs whose two nodes have a new number."""
    one, other = np.repeat(place, pairs.degree), place[pairs.node]
    kept = (one >= 0) & (other > one)
    return neighbours(one[kept], other[kept], count)


class Walker:
    """The room one thread needs to walk: three words for every node."""

    def __init__(self, graph: Ordered) -> None:
        self.graph = graph
        self._word = np.zeros((graph.nodes, 2), np.uint64)
        self._hidden = np.zeros(graph.nodes, np.uint64)

    def walk(self, sources: Int64[np.ndarray, " sources"], limit: int) -> Met:
        """All nodes within `limit` hops of some sources but those labelled negative with them."""
        from lookalike.positive.word_kernels import hide, spread

        ends = np.empty(limit + 1, np.int64)
        start, node = self.graph.positive
        met, bits = spread(start, node, sources, limit, self._word, ends)
        steps = int((start[met + 1] - start[met]).sum()) + len(met)
        hide(*self.graph.negative, sources, met, bits, self._hidden)
        return Met(sources, met, bits, ends, steps)

    def walk_on(self, first: int, limit: int) -> Met:
        """From the 64 nodes after `first`: the nodes after each of them, so that every pair is met once."""
        from lookalike.positive.word_kernels import keep_later

        sources = np.arange(first, min(first + WORD, self.graph.nodes), dtype=np.int64)
        met = self.walk(sources, limit)
        keep_later(met.node, met.bits, first, len(sources))
        return met


def all_hops(
    graph: Graph | Ordered,
    limit: int,
    *,
    most: int = MOST,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Iterator[Block]:
    """Every pair of nodes within `limit` hops over positives, once, but labelled negatives; in an order that is always
    the same.

    64 sources walk at once, a bit each, and only what they reach costs. Memory: some words per node and thread, and
    blocks of about `most` pairs.

    >>> chain = neighbours(np.array([0, 1]), np.array([1, 2]), 4)
    >>> graph = Graph(np.arange(4), chain, neighbours(np.empty(0), np.empty(0), 4), ())
    >>> [(block.a.tolist(), block.b.tolist(), block.hops.tolist()) for block in all_hops(graph, 7)]
    [([0, 0, 1], [1, 2, 2], [1, 2, 1])]
    """
    part = ordered(graph) if isinstance(graph, Graph) else graph
    one = np.ones(part.nodes, np.int64)
    for done, met in enumerate(each_walk(part, limit, threads)):
        yield from _blocks(part, met, one, most)
        if progress is not None:
            progress(min((done + 1) * WORD, part.nodes), part.nodes)


def each_walk(graph: Ordered, limit: int, threads: int | None = None) -> Iterator[Met]:
    """The walks from all nodes, 64 at a time, in their order. Unless told, further threads join in where the first
    walks say that one is worth handing over."""
    walker, steps = Walker(graph), 0
    firsts = range(0, graph.nodes, WORD)
    for first in firsts[:TRIED]:
        met = walker.walk_on(first, limit)
        steps += met.steps
        yield met
    count = threads or (cores() if steps > TRIED * HEAVY else 1)
    if count > 1:
        yield from _ahead(graph, limit, firsts[TRIED:], count)
        return
    for first in firsts[TRIED:]:
        yield walker.walk_on(first, limit)


def _ahead(graph: Ordered, limit: int, firsts: range, threads: int) -> Iterator[Met]:
    """Walks by several threads; as many as there are threads are ahead of who takes them."""
    walkers: SimpleQueue[Walker] = SimpleQueue()
    for _ in range(threads):
        walkers.put(Walker(graph))

    def work(first: int) -> Met:
        walker = walkers.get()
        try:
            return walker.walk_on(first, limit)
        finally:
            walkers.put(walker)

    with ThreadPoolExecutor(threads) as pool:
        yield from in_order(pool, work, firsts, threads + 1)


def _blocks(graph: Ordered, met: Met, one: Int64[np.ndarray, " nodes"], most: int) -> Iterator[Block]:
    """The pairs of a walk, source after source, nearest first; as many sources a block as have `most` pairs.

    `one` is 1 for every node, made once: nothing here may take time or room for nodes that were not reached.
    """
    from lookalike.positive.word_kernels import gather, tally

    counts = np.zeros(WORD, np.int64)
    tally(met.node, met.bits, one, counts)
    last = 0
    while last < len(met.sources):
        first, total = last, 0
        while last < len(met.sources) and (last == first or total + counts[last] <= most):
            total += int(counts[last])
            last += 1
        if not total:
            continue
        free = np.zeros(WORD, np.int64)
        free[first + 1 : last] = np.cumsum(counts[first : last - 1])
        block = Block(np.empty(total, np.int32), np.empty(total, np.int32), np.empty(total, np.uint8))
        wanted = np.uint64(sum(1 << s for s in range(first, last)))
        gather(met.node, met.bits, met.ends, wanted, met.sources, graph.name, free, *block)
        yield block
