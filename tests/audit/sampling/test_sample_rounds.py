"""Rounds of one question: weights fixed in advance, uncorrelated estimates, the variance of all samples."""

from itertools import combinations

import numpy as np
import pytest

from lookalike.audit.sampling.design import Units
from lookalike.audit.sampling.estimate import Estimate, estimate
from lookalike.audit.sampling.rounds import combined, round_weights
from lookalike.core.errors import ArgumentError

LABEL = np.array([1.0, 0, 1, 0, 1, 1, 0])
WEIGHT = 0.1


def two_rounds():
    """All first samples of 3 of 7, and all second ones of 2 of the 4 that are left."""
    for first in combinations(range(7), 3):
        left = [u for u in range(7) if u not in first]
        units = Units(np.full(7, WEIGHT), np.zeros(7, int))
        one = estimate(units, np.array(first), LABEL[list(first)])
        rest = Units(np.full(4, WEIGHT), np.zeros(4, int), WEIGHT * LABEL[list(first)].sum())
        for second in combinations(range(4), 2):
            answers = LABEL[[left[u] for u in second]]
            yield one, estimate(rest, np.array(second), answers)


def test_rounds_have_no_bias_and_do_not_correlate():
    values = np.array([(one.value, two.value) for one, two in two_rounds()])
    assert values.mean(axis=0) == pytest.approx([WEIGHT * LABEL.sum()] * 2)
    assert np.cov(values.T, ddof=0)[0, 1] == pytest.approx(0.0, abs=1e-12)


def test_with_the_weights_of_the_plan_two_rounds_are_as_precise_as_one_draw_of_all_labels():
    weights = round_weights([7, 4], [3, 2])
    together = [combined(both, weights).value for both in two_rounds()]
    at_once = [WEIGHT * 7 * LABEL[list(five)].mean() for five in combinations(range(7), 5)]
    assert np.mean(together) == pytest.approx(WEIGHT * LABEL.sum())
    assert np.var(together) == pytest.approx(np.var(at_once))


def test_a_round_that_takes_all_that_is_left_is_the_value():
    assert round_weights([10, 6], [4, 6]) == (0.0, 1.0)


def test_labels_from_elsewhere_between_two_rounds_leave_the_last_one_exact():
    """40 pairs were labelled in other ways after the first round: the second took all 20 that were still open."""
    assert round_weights([100, 20], [40, 20]) == (0.0, 1.0)
    first, second = 40 / (100 * 60), 20 / (30 * 10)
    weights = first / (first + second), second / (first + second)
    assert round_weights([100, 30], [40, 20]) == pytest.approx(weights)


def test_bounds_of_drawn_pairs_without_an_answer_do_not_cancel():
    one = Estimate(0.5, 0.4, 0.6, "MOVER", 40, 10, 1.0, 0.05)
    two = Estimate(0.6, 0.5, 0.8, "MOVER", 50, 0, 0.5, 0.05)
    found = combined([one, two], [0.5, 0.5])
    assert (found.value, found.low, found.high) == pytest.approx((0.55, 0.45, 0.70))
    assert (found.labels, found.open, found.coefficient) == (90, 10, 0.75)


@pytest.mark.parametrize("labels", [[0, 1], [5, 6], [11, 1]])
def test_rounds_that_cannot_be_are_refused(labels):
    with pytest.raises(ArgumentError):
        round_weights([10, 5], labels)


def test_weights_that_do_not_add_up_are_refused():
    one = Estimate(0.5, 0.4, 0.6, "MOVER", 40, 0, 1.0, 0.05)
    with pytest.raises(ArgumentError):
        combined([one, one], [0.5, 0.4])
