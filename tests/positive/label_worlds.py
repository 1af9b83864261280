"""Random graphs of labels for hypothesis: dense and thin, chains and stars, in clusters and well mixed."""

from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from oracles.worlds import world

from lookalike.positive.graph import Graph, neighbours

worlds = st.builds(
    world,
    seed=st.integers(0, 2**32),
    items=st.integers(1, 14),
    most_photos=st.sampled_from([1, 1, 2, 4]),
    dimension=st.just(1),
    spread=st.just(1),
    votes=st.integers(0, 60),
)


def graph_of(positive: np.ndarray, negative: np.ndarray, count: int) -> Graph:
    """A graph of two sets of pairs, given as (2, pairs)."""
    return Graph(np.arange(count), neighbours(*positive, count), neighbours(*negative, count), ())


def random_graph(seed: int, count: int, degree: float, shape: str) -> Graph:
    """Distinct pairs, a tenth of them negative. `shape` is mixed, clusters, chain or star."""
    random = np.random.default_rng(seed)
    if shape == "chain":
        pair = np.array([np.arange(count - 1), np.arange(1, count)])
    elif shape == "star":
        pair = np.array([np.zeros(count - 1, np.int64), np.arange(1, count)])
    else:
        one = random.integers(0, count, int(count * degree / 2))
        other = random.integers(0, count, len(one)) if shape == "mixed" else one // 10 * 10 + one * 7 % 10
        pair = np.array([one, np.minimum(other, count - 1)])
    name = random.permutation(count)
    pair = np.sort(name[pair], axis=0)
    pair = np.unique(pair[:, pair[0] < pair[1]], axis=1).astype(np.int64)
    is_negative = random.random(pair.shape[1]) < 0.1
    return graph_of(pair[:, ~is_negative], pair[:, is_negative], count)


class Drawn(NamedTuple):
    """What `random_graph` takes: the graph is made within the test, as strategies may not touch what checks draw on."""

    seed: int
    count: int
    degree: float
    shape: str

    @property
    def graph(self) -> Graph:
        return random_graph(*self)


labelled_graphs = st.builds(
    Drawn,
    seed=st.integers(0, 2**32),
    count=st.integers(1, 300),
    degree=st.sampled_from([0.3, 1.0, 2.0, 7.5, 40.0]),
    shape=st.sampled_from(["mixed", "mixed", "clusters", "chain", "star"]),
)
