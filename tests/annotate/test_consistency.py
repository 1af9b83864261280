"""Self-consistency and gold pairs against slow definitions on explicit lists."""

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.annotate.agreement.consistency import consistency, gold, together
from lookalike.studio import experts, studio, vote
from lookalike.studio.claims import demanding_pool

ANSWER = st.sampled_from(["similar", "dissimilar", "unsure"])
TIMES = st.one_of(st.tuples(ANSWER, ANSWER, ANSWER), st.tuples(ANSWER, ANSWER, st.just("")))


def counted(listed):
    return {answers: listed.count(answers) for answers in set(listed)}


@given(st.lists(TIMES, max_size=15))
def test_figures_equal_their_definitions(listed):
    found = consistency(counted(listed), replicates=0)
    done = [answers for answers in listed if all(answers)]
    given_ = [[answer for answer in answers if answer] for answers in listed]
    assert (found.asked, found.finished) == (len(listed), len(done))
    same = [len(set(answers)) == 1 for answers in done]
    assert found.same.value == pytest.approx(np.mean(same) if same else math.nan, nan_ok=True)
    own = [np.mean([a == b for a, b in combinations(answers, 2)]) for answers in given_]
    assert found.own.value == pytest.approx(np.mean(own) if own else math.nan, nan_ok=True)
    steps = [a != b for answers in given_ for a, b in pairwise(answers)]
    assert found.flips.value == pytest.approx(np.mean(steps) if steps else math.nan, nan_ok=True)


def test_unsure_is_an_answer_of_its_own_here():
    found = consistency({("similar", "unsure", "similar"): 12})
    assert (found.same.value, found.flips.value) == (0.0, 1.0)


def test_no_repeat_is_undefined_with_a_reason():
    for repeats in ({}, {("similar", "", ""): 4}):
        found = consistency(repeats)
        assert math.isnan(found.own.value)
        assert "twice" in found.own.reason
        assert math.isnan(found.same.value)


def test_the_studios_experts_repeat_their_answers_as_often_as_claimed():
    generated = studio(1000)
    a, b, _ = demanding_pool(generated)
    people = []
    for expert in experts(2, generated.seed):
        times = [vote(generated, expert, a, b, time=time) for time in range(3)]
        words = [
            tuple(("dissimilar", "similar")[vote] for vote in votes) for votes in zip(*times, strict=True)
        ]
        people.append(counted(words))
        found = consistency(people[-1])
        wanted = np.mean([np.mean(one == other) for one, other in combinations(times, 2)])
        assert found.own.value == pytest.approx(wanted)
        assert found.own.low < wanted < found.own.high
        assert 0.92 < found.own.value < 0.98
    assert consistency(together(people)).asked == 2 * len(a)


def test_gold_counts_correct_answers_among_definite_ones():
    rows = [("similar", "similar", 18), ("dissimilar", "dissimilar", 1), ("similar", "dissimilar", 1)]
    found = gold([*rows, ("dissimilar", "unsure", 5)])
    assert (found.answers, found.unsure, found.correct.value, found.correct.count) == (25, 5, 0.95, 20)
    assert (round(found.correct.low, 3), round(found.correct.high, 3)) == (0.764, 0.991)


def test_gold_without_a_definite_answer_is_undefined():
    found = gold([("similar", "unsure", 3)])
    assert math.isnan(found.correct.value)
    assert "definite" in found.correct.reason
