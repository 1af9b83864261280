"""How many pairs there are, before they are listed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from positive.label_worlds import labelled_graphs, random_graph

from lookalike.positive.distances import all_hops, ordered
from lookalike.positive.extent import SAMPLE, extent


@given(made=labelled_graphs, limit=st.integers(1, 9))
def test_a_small_graph_is_counted(made, limit):
    graph = made.graph
    part = ordered(graph)
    found = extent(part, limit, np.ones(part.nodes, np.int64))
    assert found.is_counted
    assert (found.pairs, found.error) == (sum(len(block.a) for block in all_hops(graph, limit)), 0)


@given(made=labelled_graphs, limit=st.integers(1, 9), seed=st.integers(0, 2**32))
def test_photos_of_items_are_counted(made, limit, seed):
    graph = made.graph
    part = ordered(graph)
    photos = np.random.default_rng(seed).integers(1, 5, graph.nodes)
    counted = sum(int((photos[block.a] * photos[block.b]).sum()) for block in all_hops(graph, limit))
    assert extent(part, limit, photos[part.name]).pairs == counted


@pytest.mark.parametrize("shape", ["mixed", "clusters"])
def test_more_nodes_than_the_sample_are_counted_where_that_is_cheap(shape):
    graph = random_graph(1, 3 * SAMPLE, 4.0, shape)
    part = ordered(graph)
    found = extent(part, 5, np.ones(part.nodes, np.int64))
    assert found.is_counted
    assert found.pairs == sum(len(block.a) for block in all_hops(graph, 5))


@pytest.mark.parametrize("shape", ["mixed", "clusters"])
def test_an_estimate_has_its_standard_error(shape):
    """Over 60 samples the true value is within two standard errors about 57 times (fewer than 50: once in 10^4)."""
    part = ordered(random_graph(1, 4 * SAMPLE, 4.0, shape))
    one = np.ones(part.nodes, np.int64)
    truth = extent(part, 4, one).pairs
    found = [extent(part, 4, one, seed=seed, cheap=0) for seed in range(60)]
    assert not any(estimate.is_counted for estimate in found)
    assert sum(abs(estimate.pairs - truth) <= 2 * estimate.error for estimate in found) >= 50
    assert len({estimate.pairs for estimate in found}) > 30
    assert extent(part, 4, one, seed=7, cheap=0) == found[7]
