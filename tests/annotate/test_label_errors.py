"""What a vote more buys: formulas against enumeration, against simulation, and against the studio's truth."""

import math
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.annotate.agreement.figure import Figure, share
from lookalike.annotate.agreement.label_errors import (
    consensus_error,
    error_of_one,
    error_of_slips,
    expected_errors,
    majority_error,
    wrong_together,
)
from lookalike.core.errors import ArgumentError
from lookalike.studio import experts, studio, vote
from lookalike.studio.claims import demanding_pool

ERROR = st.floats(0, 0.49)


def known(right):
    """A share that is known exactly."""
    return Figure(right, right, right, 1000)


def enumerated(error, votes, similar, label_of):
    """(share with a label, wrong among them) over all combinations of right and wrong votes, for both true labels."""
    settled = wrong = 0.0
    for truth, chance_of_truth in ((1, similar), (0, 1 - similar)):
        for errs in product((False, True), repeat=votes):
            chance = chance_of_truth * math.prod(error if err else 1 - error for err in errs)
            label = label_of([truth ^ err for err in errs])
            settled += chance * (label is not None)
            wrong += chance * (label is not None and label != truth)
    return settled, wrong / settled


@given(ERROR, st.integers(1, 6), st.floats(0, 1))
def test_consensus_equals_enumeration(error, votes, similar):
    found = consensus_error(error, votes)
    wanted = enumerated(error, votes, similar, lambda answers: answers[0] if len(set(answers)) == 1 else None)
    assert (found.settled, found.wrong) == pytest.approx(wanted, abs=1e-12)


@given(ERROR, st.integers(1, 6), st.floats(0, 1))
def test_majority_with_negative_ties_equals_enumeration(error, votes, similar):
    found = majority_error(error, votes, similar)
    wanted = enumerated(error, votes, similar, lambda answers: int(2 * sum(answers) > len(answers)))
    assert (found.settled, found.wrong) == pytest.approx(wanted, abs=1e-12)


@given(ERROR)
def test_the_error_of_one_vote_comes_back_from_the_agreement_it_makes(error):
    agreed = (1 - error) ** 2 + error**2
    assert error_of_one(agreed) == pytest.approx(error, abs=1e-7)
    assert error_of_slips(2 * error * (1 - error)) == pytest.approx(error, abs=1e-7)


@given(ERROR)
def test_where_errors_are_independent_both_ways_to_foresee_are_one(error):
    agreed = (1 - error) ** 2 + error**2
    found = wrong_together(known(1 - error), agreed)
    assert found.value == pytest.approx(consensus_error(error, 2).wrong, abs=1e-9)


def test_what_cannot_be_is_undefined():
    assert math.isnan(error_of_one(0.4))
    assert math.isnan(error_of_one(math.nan))
    easier = wrong_together(share(990, 1000), 0.9)  # they differ on 10 %, so a vote errs on 5 % at least
    assert math.isnan(easier.value)
    assert "easier" in easier.reason
    assert "gold" in wrong_together(share(0, 0, of="gold pairs"), 0.9).reason
    assert "two votes" in wrong_together(share(9, 9), math.nan).reason
    assert all(math.isnan(one.wrong) for one in expected_errors(math.nan, "consensus", 0.5))
    assert all(math.isnan(one.wrong) for one in expected_errors(0.1, "majority", math.nan))
    for error in (-0.1, 1.1):
        with pytest.raises(ArgumentError, match=f"error is {error}; .*from 0 to 1"):
            consensus_error(error, 2)


def test_votes_simulated_from_the_model_match_its_forecast():
    random, error, pairs = np.random.default_rng(3), 0.08, 400_000
    errs = random.random((5, pairs)) < error
    agreed = np.mean(errs[0] == errs[1])
    one = error_of_one(float(agreed))
    assert one == pytest.approx(error, abs=2e-3)
    for found in expected_errors(one, "consensus", 0.5, (1, 2, 3)):
        same = (errs[: found.votes] == errs[0]).all(axis=0)
        assert np.mean(same) == pytest.approx(found.settled, abs=5e-3)
        assert np.mean(errs[0][same]) == pytest.approx(found.wrong, rel=0.1)
    for found in expected_errors(one, "majority", 0.5, (3, 5)):
        assert np.mean(2 * errs[: found.votes].sum(axis=0) > found.votes) == pytest.approx(
            found.wrong, rel=0.1
        )


@pytest.fixture(scope="module")
def voted():
    """Four experts' votes on a demanding pool, and the truth."""
    generated = studio(1000)
    a, b, truth = demanding_pool(generated)
    return [vote(generated, expert, a, b) for expert in experts(4, generated.seed)], truth


def test_on_the_studio_independence_is_a_lower_bound(voted):
    """Pairs near the threshold are hard for everybody, so consensus labels are wrong more often than foreseen."""
    votes, truth = voted
    for one, other in combinations(votes, 2):
        foreseen = consensus_error(error_of_one(float(np.mean(one == other))), 2).wrong
        wrong = np.mean(one[one == other] != truth[one == other])
        assert foreseen < wrong


def test_on_the_studio_gold_pairs_foresee_the_errors_that_two_make_together(voted):
    """With every pair a gold pair the two sides are equal; with 500 the interval holds it nine times in ten."""
    votes, truth = voted
    one, other = votes[0], votes[1]
    agreed = float(np.mean(one == other))
    wrong = float(np.mean(one[one == other] != truth[one == other]))
    error = float(np.mean(np.concatenate([one != truth, other != truth])))
    assert wrong_together(known(1 - error), agreed).value == pytest.approx(wrong)
    random, hits = np.random.default_rng(0), 0
    for _ in range(200):
        some = random.choice(len(truth), 500, replace=False)
        right = int((one == truth)[some].sum() + (other == truth)[some].sum())
        found = wrong_together(share(right, 1000), agreed)
        hits += found.low <= wrong <= found.high
    assert hits >= 180
