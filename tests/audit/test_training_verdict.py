"""The word for a trained encoder, against all differences that its bounds allow."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.audit.sampling.design import Units, draw
from lookalike.audit.sampling.estimate import estimate
from lookalike.audit.training_verdict import BOTH_BOUNDS, training_word

ENDS = st.integers(-20, 20)


def by_hand(low: int, high: int, margin: int) -> str:
    """Whole numbers of thousandths: every difference that is left is looked at."""
    left = range(low, high + 1)
    if all(one < 0 for one in left):
        return "lost"
    if all(one > 0 for one in left):
        return "won"
    return "not worse" if all(one > -margin for one in left) else "cannot be told"


@given(ENDS, st.integers(0, 20), st.integers(1, 10))
def test_the_word_holds_of_every_difference_left(low, width, margin):
    found = training_word(low / 1000, (low + width) / 1000, margin / 1000)
    assert found == by_hand(low, low + width, margin)


def test_undefined_bounds_tell_nothing():
    assert training_word(math.nan, math.nan) == "cannot be told"


def test_each_wrong_word_is_rare():
    """2,000 samples of 100 labels: at a true difference of 0, "won" and "lost" in at most 5 % each, give or take."""
    random = np.random.default_rng(0)
    weight = np.repeat([0.001, -0.001], 400)
    units = Units(weight, (weight > 0).astype(np.int64))
    answers = np.concatenate([random.permutation(np.repeat([1.0, 0.0], 200)) for _ in range(2)])
    words = []
    for seed in range(2000):
        drawn = draw(units, 100, seed)
        found = estimate(units, drawn, answers[drawn], level=BOTH_BOUNDS)
        words.append(training_word(found.low, found.high, margin=0.05))
    assert weight @ answers == pytest.approx(0.0)
    for wrong in ("won", "lost"):
        assert 0.01 < words.count(wrong) / len(words) < 0.065
