"""Expert-hours: pairs x votes per pair / rate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.core.errors import ArgumentError
from lookalike.discover.statistics import PAIRS_PER_HOUR, expert_hours


@given(st.integers(0, 10**9), st.integers(1, 9))
def test_hours_are_votes_over_the_rate(pairs: int, votes: int):
    fewest, most = expert_hours(pairs, votes)
    slow, fast = PAIRS_PER_HOUR
    assert fewest * fast == pytest.approx(pairs * votes)
    assert most * slow == pytest.approx(pairs * votes)
    assert fewest <= most


def test_the_order_of_the_rates_does_not_matter():
    assert expert_hours(100, 1, (200.0, 100.0)) == expert_hours(100, 1, (100.0, 200.0)) == (0.5, 1.0)


@pytest.mark.parametrize(("pairs", "votes"), [(-1, 2), (10, 0)])
def test_impossible_numbers_are_refused(pairs: int, votes: int):
    with pytest.raises(ArgumentError):
        expert_hours(pairs, votes)
