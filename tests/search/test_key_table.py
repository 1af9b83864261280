"""The table of keys against a dictionary."""

import numpy as np
import pytest

from lookalike.search.index import KeyTable


@pytest.mark.parametrize("most", [0, 40, 2**62])
def test_rows_of_keys_are_those_of_a_slow_search(most):
    random = np.random.default_rng(most % 7)
    keys = np.unique(random.integers(0, most + 1, 500))
    rows = random.permutation(len(keys))
    asked = np.concatenate(
        [keys, random.integers(0, 2**63 - 1, 100), [-(2**63), -1, 0, 1, 2**63 - 1]]
    ).reshape(-1, 1)
    known = dict(zip(keys.tolist(), rows.tolist(), strict=True))
    expected = [[known.get(key, -1)] for key in asked[:, 0].tolist()]
    scores = np.ones(asked.shape, np.float32)
    scores[0] = np.nan
    expected[0] = [-1]
    np.testing.assert_array_equal(KeyTable.of(keys, rows).rows(asked, scores), expected)
    np.testing.assert_array_equal(np.isnan(scores), np.array(expected) < 0)
    empty = KeyTable.of(keys[:0], rows[:0])
    assert (empty.rows(asked, scores) == -1).all()
