"""Scores that are rounded, by an adversary or by an index: the lists are those of all cosines, with fewer computed."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from search.engines import CPU, keys_of, shop

from lookalike.rank.engine.vectors import unit_rows
from lookalike.search.approximate import Approximate, rounding
from lookalike.search.distinct import Distinct
from lookalike.search.engine import Nearest
from lookalike.search.exact import Exact
from lookalike.search.index import Indexed
from lookalike.search.kernels import most_lost


@dataclass(frozen=True)
class Rounded:
    """An engine whose scores are off by up to `error`; `shift` moves the score of each image, and so the order."""

    inner: Exact
    shift: np.ndarray
    error: float
    name: str = "rounded"
    exact: bool = False

    def __len__(self) -> int:
        return len(self.inner)

    def nearest(self, queries: np.ndarray, count: int) -> Nearest:
        every = self.inner.nearest(queries, len(self))
        score = every.score + self.shift[every.row]
        order = np.argsort(-score, axis=1, kind="stable")[:, :count]
        row, score = np.take_along_axis(every.row, order, 1), np.take_along_axis(score, order, 1)
        return Nearest(row, score, self.error)


def same(one, other) -> None:
    assert one.row.tolist() == other.row.tolist()
    np.testing.assert_array_equal(one.score, other.score)
    assert one.exhausted.tolist() == other.exhausted.tolist()


@settings(deadline=None, max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    error=st.sampled_from([1e-6, 1e-3, 0.008, 0.1]),
    k=st.integers(1, 12),
    worst=st.booleans(),
    ties=st.booleans(),
)
def test_lists_are_those_of_all_cosines(seed, error, k, worst, ties):
    random = np.random.default_rng(seed)
    catalog, vectors = shop(240, 8, seed % 5)
    if ties:
        vectors = replace(vectors, vectors=np.sign(vectors.vectors))  # few cosines, so many are equal
    shift = random.uniform(-1, 1, len(catalog))
    shift = (0.99 * error * (np.sign(shift) if worst else shift)).astype(np.float32)
    inner = Exact.of(catalog, vectors, CPU)
    distinct, rows = Distinct(inner), np.arange(0, 240, 17)
    asked = vectors.vectors[rows]
    found = distinct.lists(Rounded(inner, shift, error), asked, rows, k)
    same(found, distinct.lists(Rounded(inner, shift, np.inf), asked, rows, k))


@dataclass(frozen=True)
class Unknown:
    """An engine whose scores are not trusted, so that all images are scored."""

    inner: Indexed
    name: str = "unknown"
    exact: bool = False

    def __len__(self) -> int:
        return len(self.inner)

    def nearest(self, queries: np.ndarray, count: int) -> Nearest:
        return replace(self.inner.nearest(queries, count), error=np.inf)


@pytest.mark.parametrize("kept", [1.0, 0.7])
@pytest.mark.parametrize("positive", [True, False])
def test_lists_of_a_graph_are_those_of_all_cosines(positive, kept):
    pytest.importorskip("usearch", reason="needs usearch: pip install '.[search]'")
    catalog, vectors = shop(1_200, 48, 3)
    if positive:  # as the last layer of most networks makes them
        vectors = replace(vectors, vectors=np.maximum(vectors.vectors, 0) + np.float32(0.01))
    exact = Exact.of(catalog, vectors, CPU)
    keys = keys_of(catalog)
    held = exact.shaped.images[: int(kept * len(exact))]  # the others are compared one by one
    index = Approximate.empty(48)
    index.add(keys[held], unit_rows(vectors.vectors[held], 48))
    index.remove(keys[held[:9]])
    engine = Indexed.of(index, keys[held], keys, exact)
    distinct, rows = Distinct(exact), np.arange(0, 1_200, 7)
    asked = vectors.vectors[rows]
    same(distinct.lists(engine, asked, rows, 10), distinct.lists(Unknown(engine), asked, rows, 10))


@pytest.mark.parametrize("above", [0.01, 0.49, 0.51, 0.99])
def test_scores_of_a_graph_are_within_the_bound(above):
    """Every number but one is this share of a step above a number that bfloat16 has."""
    pytest.importorskip("usearch", reason="needs usearch: pip install '.[search]'")
    vector = np.full(61, (1 + above * 2**-7) / 8)
    vector[-1] = np.sqrt(1 - (vector[:-1] ** 2).sum())
    index = Approximate.empty(61)
    index.add(np.array([5]), vector[None].astype(np.float32))
    found = index.nearest(vector[None].astype(np.float32), 1)
    assert found.key.tolist() == [[5]]
    assert abs(found.score[0, 0] - 1) <= found.error <= rounding(61)
    np.testing.assert_array_equal(
        index._graph.get(5, dtype="f32"), rounded(vector[None].astype(np.float32))[0]
    )


def rounded(vectors: np.ndarray) -> np.ndarray:
    """The nearest numbers with 8 significant bits, in float64."""
    fraction, exponent = np.frexp(vectors.astype(np.float64))
    return np.ldexp(np.round(fraction * 2**8), exponent - 8)


@pytest.mark.parametrize("size", [1e-3, 1.0, 30.0])
def test_what_vectors_lose_is_what_they_differ_from_the_nearest_numbers(size):
    vectors = (size * np.random.default_rng(4).standard_normal((40, 61))).astype(np.float32)
    vectors[3] = 0
    expected = np.linalg.norm(rounded(vectors) - vectors, axis=1)
    for n, one in enumerate(expected):
        assert most_lost(vectors[n : n + 1]) == pytest.approx(one, rel=1e-5)
    assert most_lost(vectors) == pytest.approx(expected.max(), rel=1e-5)
    assert most_lost(vectors[:0]) == 0


def test_an_index_remembers_what_its_vectors_lost(tmp_path):
    pytest.importorskip("usearch", reason="needs usearch: pip install '.[search]'")
    vectors = unit_rows(np.random.default_rng(5).standard_normal((30, 61)), 61)
    index = Approximate.empty(61)
    index.add(np.arange(30), vectors)
    index.save(tmp_path / "graph")
    assert index.lost == pytest.approx(np.linalg.norm(rounded(vectors) - vectors, axis=1).max(), rel=1e-5)
    again = Approximate.load(tmp_path / "graph", 61, 32, index.lost).nearest(vectors[:2], 1)
    assert again.error == index.nearest(vectors[:2], 1).error < rounding(61)
    assert Approximate.load(tmp_path / "graph", 61, 32).lost == 2**-8
