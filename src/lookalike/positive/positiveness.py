"""Positiveness of the pairs of a batch, from distances in the graph of positives (VSD 6.1)."""

from typing import Annotated, NamedTuple

import numpy as np
from jaxtyping import Bool, Float32, Int64, UInt8
from pydantic import Field

from lookalike.core.errors import ArgumentError
from lookalike.core.settings import CheckedSettings
from lookalike.positive.graph import Graph

BEYOND = 255
CROWDED = 4  # times the graph that the balls of a batch hold from where on whole walks are faster


Beta = Annotated[
    float,
    Field(
        ge=0, description="For soft positives: a chain of d pairs weighs exp(-beta d); 0 weighs all alike."
    ),
]
MaxDistance = Annotated[
    int,
    Field(ge=1, le=100, description="For soft and full positives: the longest chain that counts, in pairs."),
]


class Softness(CheckedSettings):
    """beta and L of VSD Eq. 3. `beta=0` is the ablation NSPA: every pair within L hops weighs 1."""

    beta: Beta = 0.7
    max_distance: MaxDistance = 7


class Relations(NamedTuple):
    """How the images of a batch stand to each other.

    `weight` is the positiveness P. `judged` marks the labelled pairs, and an image (or item, where nodes are items)
    with itself.
    """

    weight: Float32[np.ndarray, "batch batch"]
    judged: Bool[np.ndarray, "batch batch"]


def hops_among(
    graph: Graph, nodes: Int64[np.ndarray, " batch"], limit: int
) -> UInt8[np.ndarray, "batch batch"]:
    """Shortest paths over positives between all pairs of different nodes, 255 where there is none within `limit` hops.

    Memory is the batch's own matrix and a few numbers per node; no N x N matrix. Cost: one ball of half the hops around
    each node of the batch, from both sides. Where these balls hold the graph several times over (a small graph, or one
    with hubs), 64 nodes walk the whole of it at a time instead.
    """
    from lookalike.positive.kernels import held_by_balls, meet
    from lookalike.positive.word_kernels import meet_in_words

    hops = np.empty((len(nodes), len(nodes)), np.uint8)
    crowded = CROWDED * graph.nodes
    if held_by_balls(*graph.positive, nodes, limit // 2, crowded) > crowded:
        meet_in_words(*graph.positive, nodes, limit, hops)
    else:
        meet(*graph.positive, nodes, limit, hops)
    return hops


def relations(graph: Graph, rows: Int64[np.ndarray, " batch"], soft: Softness | None) -> Relations:
    """P of all pairs of some catalog rows; a row may stand among them more than once.

        P(a, b) = y_ab            if the pair is labelled
                  exp(-beta d)    if not, and d <= L; d is the shortest path over positives
                  1               if a = b
                  0               beyond L

    VSD 6.1, Eq. 3. A labelled negative stays 0 whatever the graph says. `soft` None: the labels alone.

    >>> from lookalike.positive.graph import Graph, neighbours
    >>> chain, none = neighbours(np.array([0, 1]), np.array([1, 2]), 3), neighbours(np.empty(0), np.empty(0), 3)
    >>> graph = Graph(np.arange(3), chain, none, ())
    >>> relations(graph, np.arange(3), Softness(beta=0.7)).weight.round(3).tolist()
    [[1.0, 1.0, 0.24699999392032623], [1.0, 1.0, 1.0], [0.24699999392032623, 1.0, 1.0]]
    """
    from lookalike.positive.kernels import mark_pairs

    node, place = np.unique(graph.node[rows], return_inverse=True)
    positive, negative = (np.zeros((len(node), len(node)), bool) for _ in range(2))
    mark_pairs(*graph.positive, node, graph.nodes, positive)
    mark_pairs(*graph.negative, node, graph.nodes, negative)
    if soft is None:
        weight = positive.astype(np.float32)
    else:
        weight = decay(soft)[hops_among(graph, node, soft.max_distance)]
        weight[positive] = 1.0
        weight[negative] = 0.0
    np.fill_diagonal(weight, 1.0)
    judged = positive | negative
    np.fill_diagonal(judged, True)
    return Relations(weight[np.ix_(place, place)], judged[np.ix_(place, place)])


def decay(soft: Softness) -> Float32[np.ndarray, " distances"]:
    """exp(-beta d) by distance d, 0 beyond L: a table for distances as uint8."""
    table = np.zeros(256, np.float32)
    distance = np.arange(soft.max_distance + 1)
    table[distance] = np.exp(-soft.beta * distance)
    return table


def weights(soft: Softness) -> Float32[np.ndarray, " distances"]:
    """P by distance, where a distance of 1 is a labelled positive: 1, 1, exp(-2 beta), ...; 0 beyond L.

    >>> weights(Softness(beta=0.7, max_distance=3))[:5].round(3).tolist()
    [1.0, 1.0, 0.24699999392032623, 0.12200000137090683, 0.0]
    """
    table = decay(soft)
    table[:2] = 1.0
    return table


def last_hop(soft: Softness, least: float = 0.0) -> int:
    """The largest distance whose positiveness is above 0 and at least `least`: nothing beyond it can count.

    >>> last_hop(Softness(beta=0.7, max_distance=7), least=0.1)
    3
    """
    if not 0 <= least <= 1:
        raise ArgumentError(
            f"min_positiveness is {least}; it must be 0 to 1.",
            fix="0.1 keeps pairs up to 3 hops at beta 0.7.",
        )
    table = weights(soft)
    return int(np.flatnonzero((table > 0) & (table >= np.float32(least))).max())
