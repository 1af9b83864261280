"""Every coefficient, overall and of parts, equals its slow definition and what another library says."""

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import agreeing
from sklearn.metrics import cohen_kappa_score
from vote_lists import definite, table, tallied, units

from lookalike.annotate.agreement import coefficients
from lookalike.annotate.agreement.by_group import agreement, by_annotator, by_category, by_two
from lookalike.annotate.agreement.patterns import vote_table


def same(value: float, wanted: Fraction | None) -> bool:
    return math.isnan(value) if wanted is None else math.isclose(value, float(wanted), abs_tol=1e-12)


@given(units())
def test_overall_figures_equal_the_definitions(listed):
    found, votes = agreement(table(listed).counts, replicates=0), definite(listed)
    assert same(found["percent"].value, agreeing.percent(votes))
    assert same(found["fleiss"].value, agreeing.fleiss(votes))
    assert same(found["krippendorff"].value, agreeing.alpha(votes))
    assert same(found["gwet"].value, agreeing.ac1(votes, 2))
    assert found.shared == sum(len(agreeing.given(unit)) >= 2 for unit in votes)
    assert found.pairs == sum(any(answer is not None for answer in unit) for unit in listed)


@given(units())
def test_each_two_annotators_equal_the_definition_of_cohen(listed):
    found, votes = by_two(table(listed), replicates=0), definite(listed)
    for one in range(4):
        for other in range(one + 1, 4):
            both = [(unit[one], unit[other]) for unit in votes]
            key = 1 + 11 * one, 1 + 11 * other
            if key in found:
                made = found[key]
                assert same(made["cohen"].value, agreeing.cohen(*zip(*both, strict=True)))
                of_both = [pair for pair in both if None not in pair]
                assert same(made["percent"].value, agreeing.percent(of_both))
                assert same(made["gwet"].value, agreeing.ac1(of_both, 2))
            else:
                assert not any(None not in (unit[one], unit[other]) for unit in listed)


@given(units())
def test_an_annotator_with_the_others_equals_the_definition(listed):
    found, votes = by_annotator(table(listed), replicates=0), definite(listed)
    for place in range(4):
        made = found.get(1 + 11 * place)
        if made is not None:
            assert same(made["cohen"].value, agreeing.with_any_other(votes, place))
            answers = [unit[place] for unit in listed if unit[place] is not None]
            assert made.unsure.value == pytest.approx(answers.count("unsure") / len(answers))


@given(units(2))
def test_cohen_equals_scikit_learn(listed):
    both = [unit for unit in definite(listed) if None not in unit]
    found = by_two(table(listed), replicates=0)
    if not both:
        assert all(math.isnan(made["cohen"].value) for made in found.values())
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of 0/0
        wanted = cohen_kappa_score(*zip(*both, strict=True))
    assert found[1, 12]["cohen"].value == pytest.approx(wanted, nan_ok=True, abs=1e-12)


@given(units(most=8), units(most=8))
def test_a_category_is_agreement_on_its_pairs_alone(lamps, sofas):
    found = by_category(vote_table(tallied(lamps, "lamp") + tallied(sofas, "sofa")).counts, replicates=0)
    for name, listed in (("lamp", lamps), ("sofa", sofas)):
        if name in found:
            assert same(found[name]["krippendorff"].value, agreeing.alpha(definite(listed)))
        else:
            assert tallied(listed) == []


@given(st.lists(st.lists(st.sampled_from([0, 1, 2, 3, None]), min_size=3, max_size=3), max_size=12))
def test_coefficients_hold_for_more_than_two_answers(listed):
    counts = np.array([[float(unit.count(k)) for k in range(4)] for unit in listed]).reshape(-1, 4)
    weights = np.ones((1, len(listed)))
    assert same(coefficients.fleiss_kappa(counts, weights)[0], agreeing.fleiss(listed))
    assert same(coefficients.krippendorff_alpha(counts, weights)[0], agreeing.alpha(listed))
    assert same(coefficients.gwet_ac1(counts, weights)[0], agreeing.ac1(listed, 4))
