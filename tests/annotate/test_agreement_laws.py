"""What no table of votes may break."""

import math
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from vote_lists import table, units

from lookalike.annotate.agreement.by_group import ALL, EACH_TWO, agreement, by_annotator, by_category, by_two
from lookalike.annotate.agreement.patterns import BY_CODE, pattern, vote_table
from lookalike.core.errors import StorageError

SWAP = {"similar": "dissimilar", "dissimilar": "similar", "unsure": "unsure", None: None}


def values(found, names=ALL):
    return [found[name].value for name in names]


@given(units(), st.permutations(range(4)))
def test_the_order_of_annotators_does_not_matter(listed, order):
    mixed = [tuple(unit[place] for place in order) for unit in listed]
    one, other = agreement(table(listed).counts, replicates=0), agreement(table(mixed).counts, replicates=0)
    assert values(one) == pytest.approx(values(other), nan_ok=True)


@given(units())
def test_which_answer_is_which_does_not_matter(listed):
    turned = [tuple(SWAP[answer] for answer in unit) for unit in listed]
    one, other = agreement(table(listed).counts, replicates=0), agreement(table(turned).counts, replicates=0)
    assert values(one) == pytest.approx(values(other), nan_ok=True)


@given(units(2))
def test_the_order_of_two_does_not_matter(listed):
    one = by_two(table(listed), replicates=0)
    other = by_two(table([unit[::-1] for unit in listed]), replicates=0)
    assert one.keys() == other.keys()
    for key in one:
        assert values(one[key], EACH_TWO) == pytest.approx(values(other[key], EACH_TWO), nan_ok=True)


@given(units())
def test_coefficients_are_at_most_1_and_at_most_what_was_observed(listed):
    found = agreement(table(listed).counts, replicates=0)
    for name in ("fleiss", "gwet"):
        if not math.isnan(found[name].value):
            assert found[name].value <= found["percent"].value + 1e-12 <= 1 + 2e-12


@given(st.lists(st.sampled_from(["similar", "dissimilar"]), min_size=1, max_size=9))
def test_perfect_agreement_gives_1_wherever_it_is_defined(answers):
    found = agreement(table([(answer,) * 3 for answer in answers]).counts, replicates=0)
    assert found["percent"].value == found["gwet"].value == 1.0
    assert set(values(found, ("fleiss", "krippendorff"))) == {1.0} or len(set(answers)) == 1


@given(units(), st.integers(2, 5))
def test_the_same_votes_more_often_change_nothing_but_the_small_sample_term_of_alpha(listed, times):
    one, many = (
        agreement(table(listed).counts, replicates=0),
        agreement(table(listed * times).counts, replicates=0),
    )
    names = ("percent", "fleiss", "gwet")
    assert values(one, names) == pytest.approx(values(many, names), nan_ok=True)


@given(units(2))
def test_of_two_the_pooled_table_with_the_others_is_the_table_of_the_two(listed):
    votes = table(listed)
    assume(len(votes.annotators) == 2)
    both = by_two(votes, replicates=0)
    for found in by_annotator(votes, replicates=0).values():
        if both:
            wanted = values(both[1, 12], EACH_TWO)
            assert values(found, EACH_TWO) == pytest.approx(wanted, nan_ok=True)


def test_one_answer_only_is_0_over_0_with_a_reason():
    found = agreement(vote_table([("", "1+ 2+", 50)]).counts)
    assert math.isnan(found["fleiss"].value)
    assert math.isnan(found["krippendorff"].value)
    assert "one answer" in found["fleiss"].reason
    assert found["fleiss"].count == 50
    assert found["gwet"].value == 1.0


def test_no_pair_with_two_votes_is_undefined_with_a_reason():
    for rows in ([], [("", "1+", 50)], [("", "1+ 2?", 50)]):
        found = agreement(vote_table(rows).counts)
        assert all("two votes" in found[name].reason for name in ALL)
        assert all(math.isnan(value) for value in values(found))


def test_a_table_without_votes_has_no_parts():
    votes = vote_table([])
    assert (by_annotator(votes), by_two(votes), by_category(votes.counts)) == ({}, {}, {})
    assert "no votes" in agreement(votes.counts).unsure.reason


@given(st.dictionaries(st.integers(1, 999), st.sampled_from(["similar", "dissimilar", "unsure"]), max_size=5))
def test_a_pattern_reads_back_as_it_was_written(answers):
    table = vote_table([("", pattern(answers), 1)])
    assert {
        who: BY_CODE[code] for who, code in zip(table.annotators, table.answer[0], strict=True)
    } == answers


@pytest.mark.parametrize("wrong", ["3", "x+", "3* 4+", "+"])
def test_what_is_no_pattern_is_refused_in_words(wrong):
    with pytest.raises(StorageError, match=re.escape(repr(wrong))):
        vote_table([("", wrong, 1)])
