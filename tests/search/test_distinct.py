"""Lists of distinct items from the exact engine, against the rank engine's own lists."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles import ranking
from oracles.worlds import World, catalog_of, embeddings_of, worlds

from lookalike.core.types import Rule
from lookalike.rank.distinct import top_for_vectors, top_lists
from lookalike.rank.engine.machine import Machine
from lookalike.search.distinct import Distinct
from lookalike.search.exact import Exact

CPU = Machine(device="numpy")


def padded(row: np.ndarray, k: int) -> np.ndarray:
    return np.pad(row, ((0, 0), (0, k - row.shape[1])), constant_values=-1)


@given(worlds, st.integers(1, 9), st.integers(0, 2**32), st.booleans())
def test_lists_equal_those_of_the_rank_engine(w: World, k: int, seed: int, alone: bool):
    assume(any(ranking.may_be_found(photo, None) for photo in w.photos))
    plain = catalog_of(w.photos)
    catalog = replace(plain, duplicate=np.random.default_rng(seed).integers(-1, 4, len(plain)))
    vectors = embeddings_of(plain, w.vectors)
    queries = np.arange(len(plain))
    expected = padded(top_lists(catalog, vectors, queries, k, machine=CPU).row, k)
    engine = Exact.of(catalog, vectors, CPU)
    distinct = Distinct(engine)
    asked = np.asarray(w.vectors, np.float32)
    for some in [queries[i : i + 1] for i in queries] if alone else [queries]:
        found = distinct.lists(engine, asked[some], some, k)
        assert found.row.tolist() == expected[some].tolist()
        assert found.exhausted.tolist() == (expected[some] < 0).any(axis=1).tolist()
        fresh = distinct.lists(engine, asked[some], np.full(len(some), -1), k).row
        new = top_for_vectors(catalog, vectors, asked[some], k, machine=CPU).row
        assert fresh.tolist() == padded(new, k).tolist()


def features(rows: int, dimension: int, seed: int) -> np.ndarray:
    """Clustered vectors, with some that differ by rounding only."""
    random = np.random.default_rng(seed)
    centers = random.standard_normal((rows // 20 + 1, dimension))
    made = centers[random.integers(0, len(centers), rows)] + 0.3 * random.standard_normal((rows, dimension))
    made[1::50] = made[::50][: len(made[1::50])] * (1 + 1e-7)
    return made.astype(np.float32)


def shop(rows: int, dimension: int = 24, seed: int = 0) -> tuple:
    photos = [ranking.Photo(f"i{n:05}", f"p{n // 3}", "both", "train") for n in range(rows)]
    catalog = catalog_of(photos)
    return catalog, embeddings_of(catalog, features(rows, dimension, seed))


@pytest.mark.parametrize("together", [1, 2, 8, 9, 21])
@pytest.mark.parametrize("k", [1, 10, 300])
def test_few_queries_have_the_lists_of_the_rank_engine(k: int, together: int):
    catalog, vectors = shop(2_000)
    engine = Exact.of(catalog, vectors, CPU)
    distinct = Distinct(engine)
    rows = np.arange(0, 2_000, 97)
    expected = top_lists(catalog, vectors, rows, k, machine=CPU)
    for first in range(0, len(rows), together):
        some = slice(first, first + together)
        found = distinct.lists(engine, vectors.vectors[rows[some]], rows[some], k)
        assert found.row.tolist() == expected.row[some].tolist()
        np.testing.assert_allclose(found.score, expected.score[some], atol=1e-6)


@pytest.mark.parametrize("alone", [True, False])
@pytest.mark.parametrize("share", [0.5, 0.02, 0.0])
def test_filters_leave_the_list_that_a_smaller_catalog_has(share: float, alone: bool):
    catalog, vectors = shop(900)
    allowed = np.random.default_rng(3).random(900) < share
    engine = Exact.of(catalog, vectors, CPU)
    distinct = Distinct(engine)
    rows = np.array([5, 77, 640])
    whole = top_lists(catalog, vectors, rows, 900, Rule(level="image"), machine=CPU)
    for some in [rows[:1], rows[1:2], rows[2:]] if alone else [rows]:
        found = distinct.lists(engine, vectors.vectors[some], some, 6, allowed)
        for at, row in enumerate(some):
            ranked = [r for r in whole.row[rows.tolist().index(row)] if r >= 0 and allowed[r]]
            items = list(
                dict.fromkeys(catalog.item[r] for r in ranked if catalog.item[r] != catalog.item[row])
            )
            assert [catalog.item[r] for r in found.row[at] if r >= 0] == items[:6]
            assert found.exhausted[at] == (len(items) < 6)
