"""The search for near duplicates in parts finds the pairs of the search in one piece."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from small_cells import small_cells

from lookalike.catalog.duplicates import neighbours
from lookalike.catalog.duplicates.groups import duplicate_pairs
from lookalike.catalog.duplicates.parts import cell_runs, joined_pairs, search
from lookalike.catalog.duplicates.signature import BYTES


def distinct_looks(seed: int, count: int) -> np.ndarray:
    """Signatures in clumps of very different sizes, some with more near ones than are looked at."""
    random = np.random.default_rng(seed)
    coarse = random.integers(40, 216, (count // 10, 24)).repeat(BYTES // 24, axis=1)
    clump = (len(coarse) * random.random(count) ** 3).astype(int)
    return np.unique((coarse[clump] + random.integers(-9, 10, (count, BYTES))).astype(np.uint8), axis=0)


@given(seed=st.integers(0, 10_000), count=st.sampled_from([20, 150, 400]))
def test_the_pairs_are_those_of_one_piece_in_any_order(seed: int, count: int):
    looks = distinct_looks(seed, count)
    with small_cells():
        whole, runs = duplicate_pairs(looks), list(cell_runs(looks))
    order = np.random.default_rng(seed).permutation(len(runs))
    assert np.array_equal(joined_pairs(count, [search(runs[at]) for at in order]), whole)


def test_the_signatures_of_these_tests_need_the_join():
    """Large cells are cut, and parts find pairs that are not among the nearest few of all."""
    looks = distinct_looks(0, 400)
    with small_cells():
        runs, whole = list(cell_runs(looks)), duplicate_pairs(looks)
        full = [cell for run in runs for cell in run.cells if len(cell.inside) == neighbours.MOST_IN_A_CELL]
    assert len(runs) > 3
    assert any(np.array_equal(cell.asking, cell.inside) for cell in full)
    assert len(np.unique(np.concatenate([search(run).pairs for run in runs]), axis=0)) > len(whole)


def test_nothing_and_one_signature():
    for count in (0, 1):
        (run,) = cell_runs(distinct_looks(0, 10)[:count])
        assert len(run.rows) == count
        assert len(joined_pairs(count, [search(run)])) == 0
