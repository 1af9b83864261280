"""Labelled negatives that the positives speak against: their two ends are few hops apart. Listed for review."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float32, Int64, Shaped, UInt8

from lookalike.core.types import Catalog, Labels
from lookalike.positive.distances import hops_between
from lookalike.positive.graph import Graph, Neighbours
from lookalike.positive.positiveness import BEYOND, Softness, decay


@dataclass(frozen=True, eq=False)
class Contradictions:
    """Labels of 0 as they were given, nearest first: a path of `distance` hops over positives joins the two images.

    `positiveness` is what the pair would have had without its label; it has 0.
    """

    query: Shaped[np.ndarray, " labels"]
    candidate: Shaped[np.ndarray, " labels"]
    distance: UInt8[np.ndarray, " labels"]
    positiveness: Float32[np.ndarray, " labels"]

    def __len__(self) -> int:
        return len(self.query)


def contradictions(catalog: Catalog, labels: Labels, graph: Graph, soft: Softness) -> Contradictions:
    """The labelled negatives of a graph whose ends lie within L hops over its positives; one label for each such pair.

    >>> from lookalike.core.checks import strings
    >>> from lookalike.positive.graph import label_graph
    >>> names, none = strings("abc"), strings(["", "", ""])
    >>> size = np.zeros(3, int)
    >>> catalog = Catalog(names, names, names, none, none, strings(["train"] * 3), np.arange(3), none, size, size)
    >>> labels = Labels.of("abc", "bca", [1, 1, 0])
    >>> found = contradictions(catalog, labels, label_graph(catalog, labels), Softness())
    >>> found.query.tolist(), found.candidate.tolist(), found.distance.tolist()
    (['c'], ['a'], [2])
    """
    a, b = ends(graph.negative)
    hops = hops_between(graph, a, b, soft.max_distance)
    close = np.flatnonzero(hops != BEYOND)
    close = close[np.argsort(hops[close], kind="stable")]
    first = _first_label(catalog, labels, graph)
    at = np.array([first[pair] for pair in zip(a[close].tolist(), b[close].tolist(), strict=True)], np.int64)
    return Contradictions(labels.query[at], labels.candidate[at], hops[close], decay(soft)[hops[close]])


def ends(pairs: Neighbours) -> tuple[Int64[np.ndarray, " pairs"], Int64[np.ndarray, " pairs"]]:
    """The pairs of compressed rows, each once, the smaller node first, in order."""
    one = np.repeat(np.arange(len(pairs.start) - 1), pairs.degree)
    once = one < pairs.node
    return one[once], pairs.node[once].astype(np.int64)


def are_among(
    pairs: Neighbours, a: Int64[np.ndarray, " asked"], b: Int64[np.ndarray, " asked"]
) -> Bool[np.ndarray, " asked"]:
    """Which of some pairs of nodes are neighbours."""
    count = len(pairs.start) - 1
    known = np.repeat(np.arange(count), pairs.degree) * count + pairs.node  # in order, as the rows are
    if not len(known):
        return np.zeros(len(a), bool)
    asked = a * count + b
    return np.asarray(known[np.minimum(np.searchsorted(known, asked), len(known) - 1)] == asked, bool)


def _first_label(catalog: Catalog, labels: Labels, graph: Graph) -> dict[tuple[int, int], int]:
    """Pair of nodes -> the first label of 0 on it."""
    found: dict[tuple[int, int], int] = {}
    for at in np.flatnonzero(np.asarray(labels.label) == 0).tolist():
        rows = catalog.row.get(labels.query[at], -1), catalog.row.get(labels.candidate[at], -1)
        if min(rows) >= 0:
            one, other = sorted(int(graph.node[row]) for row in rows)
            found.setdefault((one, other), at)
    return found
