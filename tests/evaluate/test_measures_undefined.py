"""Undefined is NaN with a reason and no query counted; never a wrong number."""

from fractions import Fraction
from math import inf, isnan, log, log2

import numpy as np
import pytest
from oracles import scoring
from oracles.scoring import Row
from oracles.worlds import Candidate, judged_of, rows_of

from lookalike.core.errors import MeasureError
from lookalike.core.types import Score
from lookalike.evaluate.measures.credit import phi
from lookalike.evaluate.measures.fold import NO_LABELS
from lookalike.evaluate.measures.table import DEFAULT, FAMILIES, Measure, evaluate, parse

EVERY = [f"{name}@5" if family.takes_k else name for name, family in FAMILIES.items()]
EVERY += ["DCS(alpha=10,average=macro)", "BPREF(depth=3)", "RR", "HR@5(of=possible)", "MRR@5(of=possible)"]


def score(measure: str, rows: list[Row]) -> Score:
    return parse(measure)(judged_of(rows))


def ranked(*labels: int | None) -> list[Row]:
    return rows_of([[Candidate(label, tied=False) for label in labels]])


def is_undefined(found: Score) -> None:
    assert isnan(found.value)
    assert found.reason
    assert found.queries == 0


@pytest.mark.parametrize("measure", EVERY)
def test_no_labels(measure: str):
    found = score(measure, [])
    is_undefined(found)
    assert found.reason == NO_LABELS


ONE_KIND = {  # what is undefined when all labels are positive, and when all are negative
    1: {"AUC_mic", "AUC_mac"},
    0: {"AUC_mic", "AUC_mac", "PR-AUC_mic", "PR-AUC_mac", "BPREF", "NDCG", "ENDCG", "Recall"},
}


def of_possible(measure: str) -> bool:
    return "possible" in measure


@pytest.mark.parametrize("measure", EVERY)
@pytest.mark.parametrize("label", [0, 1])
def test_labels_of_one_kind(measure: str, label: int):
    found = score(measure, ranked(label, None, label))
    if parse(measure).family in ONE_KIND[label] or (of_possible(measure) and label == 0):
        is_undefined(found)
    else:
        assert 0 <= found.value <= 1
        assert (found.reason, found.queries) == ("", 1)


@pytest.mark.parametrize(
    "measure", ["DCS", "DCS(average=macro)", "DCS(alpha=0)", "DCS(alpha=inf)", "DCS(half=7)"]
)
def test_a_candidate_alone_in_its_list_has_no_percentile(measure: str):
    is_undefined(score(measure, ranked(1)))


@pytest.mark.parametrize("measure", ["DCS", "DCS(average=macro)", "DCS(half=1)"])
def test_a_candidate_alone_in_its_list_leaves_the_others_alone(measure: str):
    alone = Row("alone", "c", 0, 0, 0, 0.5, 1)
    with_it, without = score(measure, [*ranked(1, None, 0), alone]), score(measure, ranked(1, None, 0))
    assert (with_it.value, with_it.queries) == (without.value, without.queries) == (1.0, 1)


@pytest.mark.parametrize(
    ("measure", "value"), [("HR@1", 1.0), ("EHR@1", 1.0), ("coverage@1", 1.0), ("BPREF", 1.0)]
)
def test_one_candidate_is_enough_for_the_others(measure: str, value: float):
    assert score(measure, ranked(1)).value == value


def test_ehr_where_no_query_is_covered():
    found = score("EHR@2", ranked(None, None, 1, 0))
    is_undefined(found)
    assert "top 2" in found.reason


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("HR@50", 2 / 50),
        ("HR@50(of=possible)", 1.0),
        ("EHR@50", 2 / 3),
        ("Recall@50", 1.0),
        ("coverage@50", 3 / 50),
        ("MRR@50", (1 + 1 / 4) / sum(1 / place for place in range(1, 51))),
        ("MRR@999999999", (1 + 1 / 4) / (log(999_999_999) + 0.5772156649)),
        ("MRR@50(of=possible)", (1 + 1 / 4) / (1 + 1 / 2)),
        ("EMRR@50", (1 + 1 / 3) / (1 + 1 / 2 + 1 / 3)),
        ("RR@50", 1.0),
        ("NDCG@50", (1 + 1 / log2(5)) / (1 + 1 / log2(3))),
        ("ENDCG@999999999", (1 + 1 / log2(4)) / (1 + 1 / log2(3))),
        ("BPREF(depth=50)", 1 / 2),
    ],
)
def test_k_larger_than_the_catalog(measure: str, value: float):
    assert score(measure, ranked(1, 0, None, 1)).value == pytest.approx(value)


@pytest.mark.parametrize("measure", EVERY)
def test_queries_counts_the_queries_of_the_mean(measure: str):
    """One query with both labels, one with positives only, one with negatives only, one without labels."""
    rows = rows_of(
        [
            [Candidate(label, tied=False) for label in labels]
            for labels in ((1, 0, None), (1, None, 1), (0, 0, None), (None, None, None))
        ]
    )
    counted = {"AUC_mac": 1, "PR-AUC_mac": 2, "BPREF": 2, "NDCG": 2, "ENDCG": 2, "Recall": 2}
    expected = 2 if of_possible(measure) else counted.get(parse(measure).family, 3)
    assert score(measure, rows).queries == expected


P = np.linspace(0, 1, 101)


@pytest.mark.parametrize("alpha", [0.0, 1e-300, 1e-12, 1e-6, 1e-3, 1.0, 10.0, 700.0, 1e6, 1e300, inf])
def test_phi_rises_from_zero_to_one_without_overflow_for_any_alpha(alpha: float):
    for sign in (1, -1):
        curve = phi(P, sign * alpha)
        assert (curve[0], curve[-1]) == (0.0, 1.0)
        assert np.all(np.diff(curve) >= 0)


@pytest.mark.parametrize("alpha", [0.0, 1e-300, 1e-7, 2e-6, 1e-3, 0.5, 1.0, 10.0, 300.0, 1e6, inf])
def test_phi_is_the_equation_to_twelve_digits(alpha: float):
    for sign in (1, -1):
        exact = [scoring.phi(Fraction(at, 100), sign * alpha) for at in range(101)]
        np.testing.assert_allclose(phi(P, sign * alpha), exact, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 10.0, 50.0])
def test_phi_of_minus_alpha_mirrors_phi(alpha: float):
    # 1 - P is rounded, which alpha makes larger, and exp is off by a few units of the last place
    most = (alpha + 8) * np.finfo(float).eps
    np.testing.assert_allclose(phi(P, -alpha), 1 - phi(1 - P, alpha), rtol=0, atol=most)


def test_phi_passes_from_linear_to_step_continuously():
    np.testing.assert_allclose(phi(P, 1e-9), P, atol=1e-9)
    np.testing.assert_allclose(phi(P, 0.99999e-6), phi(P, 1.00001e-6), atol=1e-11)
    assert phi(P, 1e6)[:-1].max() == 0.0


def test_phi_keeps_its_digits_for_small_p():
    """e^(alpha p) - 1 by subtraction would lose them."""
    assert phi(np.array([1e-12]), 10.0)[0] == pytest.approx(1e-11 / (np.e**10 - 1), rel=1e-9)


@pytest.mark.parametrize("parameters", ["alpha=nan", "alpha=10,alpha_negative=nan", "average=mean"])
def test_parameters_that_mean_nothing_are_refused_before_any_ranking(parameters: str):
    with pytest.raises(MeasureError):
        parse(f"DCS({parameters})")


@pytest.mark.parametrize("family", [name for name, family in FAMILIES.items() if family.takes_k])
@pytest.mark.parametrize("k", [0, -1])
def test_k_below_one_is_refused_from_python_too(family: str, k: int):
    with pytest.raises(MeasureError):
        Measure(family, k)(judged_of(ranked(1, 0)))


@pytest.mark.parametrize("how", ["sampled", "catalog"])
@pytest.mark.parametrize("family", [name for name, family in FAMILIES.items() if family.samples_negatives])
def test_negatives_that_were_not_sampled(family: str, how: str):
    found = score(f"{family}(negatives={how})", ranked(1, 0, None))
    is_undefined(found)
    assert how in found.reason


@pytest.mark.parametrize("measure", EVERY)
def test_one_query_whose_candidates_all_tie(measure: str):
    """A constant scorer: between nothing and all by the luck of no order, and half where halves are compared."""
    found = score(measure, rows_of([[Candidate(label, tied=True) for label in (1, 0, None, 1, 0, 0)]]))
    assert 0 < found.value < 1 or "coverage" in measure
    assert found.queries == 1
    if measure.startswith("AUC"):
        assert found.value == 0.5


def test_the_default_measures_are_of_the_table():
    assert {parse(name).family for name in DEFAULT} <= set(FAMILIES)
    assert list(evaluate(judged_of(ranked(1, 0))).scores) == [parse(name).name for name in DEFAULT]
