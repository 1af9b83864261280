"""How many pairs are made positive, before any of them is listed: counted where that is cheap, else estimated."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64

from lookalike.positive.distances import WORD, Met, Ordered, Walker, each_walk

SAMPLE = 512  # sources that are drawn
CHEAP = 1_000_000_000  # steps over edges and pairs met: some seconds on one core
ENOUGH = CHEAP // 10  # steps after which fewer sources have to do, 128 at least


@dataclass(frozen=True)
class GraphExtent:
    """How many pairs there are; `error` is the standard error of an estimate, 0 where they were counted.

    `sources` nodes of `nodes` with a positive were walked from.
    """

    pairs: int
    error: float
    sources: int
    nodes: int

    @property
    def is_counted(self) -> bool:
        """Whether this is no estimate."""
        return self.sources == self.nodes


def extent(
    graph: Ordered, limit: int, weight: Int64[np.ndarray, " nodes"], *, seed: int = 0, cheap: int = CHEAP
) -> GraphExtent:
    """How many pairs lie within `limit` hops over positives and are not labelled negative; one of nodes a and b
    counts `weight[a] * weight[b]` times (the photos of items).

    From a seeded sample of m of the n nodes with a positive: n / 2 times the mean of what a node meets, with the
    standard error n / 2 * s / sqrt(m) * sqrt(1 - m / n). Counted instead where the sample says that it is cheap.

    >>> from lookalike.positive.graph import Graph, neighbours
    >>> from lookalike.positive.distances import ordered
    >>> chain = neighbours(np.array([0, 1]), np.array([1, 2]), 4)
    >>> graph = ordered(Graph(np.arange(4), chain, neighbours(np.empty(0), np.empty(0), 4), ()))
    >>> extent(graph, 7, np.ones(3, np.int64))
    GraphExtent(pairs=3, error=0.0, sources=3, nodes=3)
    """
    nodes = graph.nodes
    drawn = np.random.default_rng(seed).choice(nodes, min(SAMPLE, nodes), replace=False).astype(np.int64)
    walker, met, steps, one = Walker(graph), np.empty(len(drawn)), 0, np.ones(nodes, np.int64)
    for first in range(0, len(drawn), WORD):
        sources = drawn[first : first + WORD]
        found = walker.walk(sources, limit)
        met[first : first + WORD] = weight[sources] * _met(found, weight)
        steps += found.steps + int(_met(found, one).sum())
        if steps > ENOUGH and WORD < first + WORD < len(drawn):
            drawn, met = drawn[: first + WORD], met[: first + WORD]
            break
    if len(drawn) == nodes:
        return GraphExtent(round(met.sum() / 2), 0.0, nodes, nodes)
    if steps * (nodes / len(drawn)) <= cheap:
        pairs = sum(int(weight[found.sources] @ _met(found, weight)) for found in each_walk(graph, limit))
        return GraphExtent(pairs, 0.0, nodes, nodes)
    spread = met.std(ddof=1) / np.sqrt(len(drawn)) * np.sqrt(1 - len(drawn) / nodes)
    return GraphExtent(round(nodes / 2 * met.mean()), float(nodes / 2 * spread), len(drawn), nodes)


def _met(found: Met, weight: np.ndarray) -> Int64[np.ndarray, " sources"]:
    """What each source of a walk met, weighed."""
    from lookalike.positive.word_kernels import tally

    counts = np.zeros(WORD, np.int64)
    tally(found.node, found.bits, weight, counts)
    return counts[: len(found.sources)]
