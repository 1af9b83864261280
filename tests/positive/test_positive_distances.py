"""Distances over positives, by every way they are computed, against breadth-first search by hand and scipy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.softness import hops_from
from positive.label_worlds import graph_of, labelled_graphs, random_graph
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from lookalike.positive.contradictions import are_among, ends
from lookalike.positive.distances import MOST, all_hops, hops_between, ordered
from lookalike.positive.graph import Graph
from lookalike.positive.kernels import meet
from lookalike.positive.positiveness import BEYOND, hops_among
from lookalike.positive.word_kernels import meet_in_words

NOTHING = np.empty((2, 0), np.int64)


def by_hand(graph: Graph, limit: int) -> np.ndarray:
    """The N x N matrix of distances, from the oracle."""
    edges = [frozenset((str(a), str(b))) for a, b in zip(*ends(graph.positive), strict=True)]
    hops = np.full((graph.nodes, graph.nodes), BEYOND, np.uint8)
    for a in range(graph.nodes):
        for b, away in hops_from(edges, str(a)).items():
            if away <= limit:
                hops[a, int(b)] = away
    return hops


def by_scipy(graph: Graph, limit: int) -> np.ndarray:
    """The same from scipy."""
    start, node = graph.positive
    matrix = csr_matrix((np.ones(len(node)), node, start), shape=(graph.nodes, graph.nodes))
    found = dijkstra(matrix, unweighted=True)
    return np.where(found <= limit, found, BEYOND).astype(np.uint8)


def streamed(graph: Graph, limit: int, most: int = MOST, threads: int = 1) -> np.ndarray:
    """The pairs of the stream as a matrix, BEYOND elsewhere; every pair must come once and in order."""
    hops = np.full((graph.nodes, graph.nodes), BEYOND, np.uint8)
    for block in all_hops(graph, limit, most=most, threads=threads):
        assert len(block.a) > 0
        assert (block.a < block.b).all()
        assert (hops[block.a, block.b] == BEYOND).all()
        hops[block.a, block.b] = block.hops
    return hops


def as_streamed(graph: Graph, hops: np.ndarray) -> np.ndarray:
    """A matrix of distances with all that the stream leaves out taken away."""
    kept = np.where(np.triu(np.ones(hops.shape, bool), 1), hops, BEYOND).astype(np.uint8)
    kept[ends(graph.negative)] = BEYOND
    return kept


@given(made=labelled_graphs, limit=st.integers(1, 9), pick=st.integers(0, 2**32))
def test_all_ways_equal_the_search_by_hand(made, limit, pick):
    graph = made.graph
    truth = by_hand(graph, limit)
    assert (truth == by_scipy(graph, limit)).all()
    random = np.random.default_rng(pick)
    batch = np.sort(random.choice(graph.nodes, random.integers(1, graph.nodes + 1), replace=False))
    among = truth[np.ix_(batch, batch)]
    assert (hops_among(graph, batch, limit) == among).all()
    for kernel in (meet, meet_in_words):
        found = np.empty_like(among)
        kernel(*graph.positive, batch, limit, found)
        assert (found == among).all()
    a, b = random.integers(0, graph.nodes, (2, 200))
    assert (hops_between(graph, a, b, limit) == truth[a, b]).all()
    assert (streamed(graph, limit) == as_streamed(graph, truth)).all()


def test_a_hundred_hops_along_a_chain():
    chain = random_graph(0, 300, 2.0, "chain")
    assert (streamed(chain, 100) == as_streamed(chain, by_hand(chain, 100))).all()


@given(made=labelled_graphs, limit=st.integers(1, 9))
def test_more_labels_never_lengthen_a_distance(made, limit):
    graph = made.graph
    a, b = ends(graph.positive)
    fewer = graph_of(np.array([a[::2], b[::2]]), NOTHING, graph.nodes)
    every = np.arange(graph.nodes)
    assert (hops_among(graph, every, limit) <= hops_among(fewer, every, limit)).all()


@given(made=labelled_graphs, limit=st.integers(1, 9))
def test_distances_are_symmetric(made, limit):
    graph = made.graph
    every = np.arange(graph.nodes)
    hops = hops_among(graph, every, limit)
    assert (hops == hops.T).all()
    a, b = np.indices(hops.shape).reshape(2, -1)
    assert (hops_between(graph, a, b, limit) == hops_between(graph, b, a, limit)).all()


@pytest.mark.parametrize("shape", ["mixed", "clusters", "star"])
def test_small_blocks_and_threads_change_no_pair_and_no_order(shape):
    graph = random_graph(5, 1000, 5.0, shape)

    def columns(most: int, threads: int) -> list[np.ndarray]:
        return [
            np.concatenate(part) for part in zip(*all_hops(graph, 4, most=most, threads=threads), strict=True)
        ]

    whole = columns(MOST, 1)
    for most, threads in ((1, 1), (1000, 3), (MOST, 2)):
        assert all((one == other).all() for one, other in zip(whole, columns(most, threads), strict=True))


def test_blocks_hold_as_many_pairs_as_they_may():
    graph = random_graph(5, 1000, 5.0, "mixed")
    most = 5000
    sizes = [len(block.a) for block in all_hops(graph, 4, most=most)]
    assert len(sizes) > 10
    one_source = np.bincount(np.concatenate([block.a for block in all_hops(graph, 4)])).max() + 1000
    assert max(sizes) <= max(most, one_source)


def test_a_stream_that_is_left_ends_its_threads():
    blocks = all_hops(random_graph(5, 3000, 5.0, "mixed"), 4, threads=2)
    next(blocks)
    blocks.close()
    assert next(blocks, None) is None


def test_nodes_are_renumbered_without_losing_a_pair():
    graph = random_graph(3, 200, 2.0, "mixed")
    part = ordered(graph)
    one, other = (part.name[side] for side in ends(part.positive))
    assert {frozenset(pair) for pair in zip(one.tolist(), other.tolist(), strict=True)} == {
        frozenset(pair) for pair in zip(*(side.tolist() for side in ends(graph.positive)), strict=True)
    }
    assert sorted(part.name.tolist()) == np.flatnonzero(graph.positive.degree).tolist()


def test_a_graph_without_positives_has_no_distances():
    graph = graph_of(NOTHING, np.array([[0], [1]]), 3)
    assert list(all_hops(graph, 7)) == []
    assert hops_among(graph, np.arange(3), 7).tolist() == [[0, 255, 255], [255, 0, 255], [255, 255, 0]]


@given(made=labelled_graphs, pick=st.integers(0, 2**32))
def test_which_pairs_are_neighbours(made, pick):
    graph = made.graph
    a, b = np.random.default_rng(pick).integers(0, graph.nodes, (2, 200))
    known = {frozenset(pair) for pair in zip(*(side.tolist() for side in ends(graph.positive)), strict=True)}
    expected = [frozenset(pair) in known for pair in zip(a.tolist(), b.tolist(), strict=True)]
    assert are_among(graph.positive, a, b).tolist() == expected
