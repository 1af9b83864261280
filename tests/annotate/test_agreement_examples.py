"""Worked examples that were published with their values."""

import numpy as np
import pytest
from oracles import agreeing

from lookalike.annotate.agreement import coefficients
from lookalike.annotate.agreement.by_group import agreement, by_two
from lookalike.annotate.agreement.patterns import vote_table

FLEISS_1971 = """
00060 03003 01401 00006 03030 20400 00402 20310 20040 00006 10050 11040 03300 10050 02031
00501 30012 51000 02040 10203 00006 01050 02013 20040 10041 05010 40002 02040 10500 00006
"""  # 30 patients: how many of 6 psychiatrists chose each of 5 diagnoses
# Krippendorff 2011: raters in rows, units in columns, "." not rated.
DATA_A = ("0100000010", "1110010000")
DATA_B = ("aabbdcccedda", "babbbccceddd")
DATA_C = ("123321412...", "1233224125.3", ".3332342251.", "12332441251.")


def counts_of(raters: tuple[str, ...]) -> np.ndarray:
    answers = sorted({answer for rater in raters for answer in rater} - {"."})
    return np.array([[float(unit.count(a)) for a in answers] for unit in zip(*raters, strict=True)])


def once(counts: np.ndarray) -> np.ndarray:
    return np.ones((1, len(counts)))


def test_fleiss_1971():
    counts = np.array([[float(digit) for digit in patient] for patient in FLEISS_1971.split()])
    assert counts.sum(axis=0).tolist() == [26, 26, 30, 55, 43]
    assert coefficients.percent_agreement(counts, once(counts))[0] == pytest.approx(0.556, abs=5e-4)
    assert coefficients.fleiss_kappa(counts, once(counts))[0] == pytest.approx(0.430, abs=5e-4)


@pytest.mark.parametrize(
    ("raters", "alpha"), [(DATA_A, 0.095), (DATA_B, 0.692), (DATA_C, 0.743)], ids=["A", "B", "C"]
)
def test_krippendorff_2011(raters, alpha):
    counts = counts_of(raters)
    assert coefficients.krippendorff_alpha(counts, once(counts))[0] == pytest.approx(alpha, abs=5e-4)


def test_gwet_on_votes_that_are_missing():
    """Krippendorff's data C, as Gwet (2014) works them out, with Fleiss' kappa extended to missing votes."""
    counts = counts_of(DATA_C)
    assert coefficients.percent_agreement(counts, once(counts))[0] == pytest.approx(0.8182, abs=5e-5)
    assert coefficients.gwet_ac1(counts, once(counts))[0] == pytest.approx(0.77544, abs=5e-6)
    assert coefficients.fleiss_kappa(counts, once(counts))[0] == pytest.approx(0.76117, abs=5e-6)


def test_gwet_where_kappa_is_a_paradox():
    """125 subjects, nearly all of one kind: 94 % agreement, and yet kappa is below 0."""
    rows = [("", "1+ 2+", 118), ("", "1+ 2-", 5), ("", "1- 2+", 2)]
    found = by_two(vote_table(rows), replicates=0)[1, 2]
    assert found["percent"].value == pytest.approx(0.944)
    assert found["cohen"].value == pytest.approx(-0.0234, abs=5e-5)
    assert found["gwet"].value == pytest.approx(0.9408, abs=5e-5)


@pytest.mark.parametrize(("cells", "kappa"), [((40, 9, 6, 45), 0.70), ((80, 10, 5, 5), 0.32)])
def test_cohen_as_feinstein_and_cicchetti_1990_work_it_out(cells, kappa):
    rows = list(zip([""] * 4, ["1+ 2+", "1+ 2-", "1- 2+", "1- 2-"], cells, strict=True))
    assert by_two(vote_table(rows), replicates=0)[1, 2]["cohen"].value == pytest.approx(kappa, abs=5e-3)


def test_the_oracles_give_the_printed_values_too():
    units = [[None if answer == "." else answer for answer in unit] for unit in zip(*DATA_C, strict=True)]
    assert float(agreeing.alpha(units)) == pytest.approx(0.743, abs=5e-4)
    assert float(agreeing.ac1(units, 5)) == pytest.approx(0.77544, abs=5e-6)


def test_unsure_is_a_missing_vote_and_counted_separately():
    rows = [("", "1+ 2+", 20), ("", "1- 2-", 20), ("", "1? 2+", 10), ("", "1? 2?", 10)]
    found = agreement(vote_table(rows).counts, replicates=0)
    assert (found.pairs, found.shared, found["percent"].value) == (60, 40, 1.0)
    assert found.unsure.value == pytest.approx(30 / 120)
