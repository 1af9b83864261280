"""Remarks appear only if an interval supports them."""

from lookalike.annotate.agreement.by_group import agreement, by_annotator
from lookalike.annotate.agreement.consistency import consistency, gold
from lookalike.annotate.agreement.pace import HOUR_MS, Worked, pace
from lookalike.annotate.agreement.patterns import vote_table
from lookalike.annotate.agreement.remarks import AnnotatorFigures, remarks

GOOD = [("", "1+ 2+", 90), ("", "1- 2-", 90), ("", "1+ 2-", 5), ("", "1- 2+", 5)]


def of(rows, annotator, **more):
    votes = vote_table(rows)
    known = AnnotatorFigures(
        "Kim",
        agreement=by_annotator(votes)[annotator],
        others=agreement(votes.counts_without(annotator)),
        unsure_of_all=agreement(votes.counts).unsure.value,
        **more,
    )
    return {one.kind: one.text for one in remarks({annotator: known})}


def test_good_figures_need_no_remark():
    rows = [
        *GOOD,
        ("", "1+ 3+", 90),
        ("", "1- 3-", 90),
        ("", "1+ 3-", 10),
        ("", "2+ 3+", 50),
        ("", "2- 3-", 50),
    ]
    steady = consistency({("similar",) * 3: 190, ("similar", "dissimilar", "similar"): 5})
    right = gold([("similar", "similar", 40), ("dissimilar", "similar", 1)])
    worked = pace([Worked(3, hour, 120 + hour % 3, HOUR_MS) for hour in range(30)])
    assert of(rows, 3, consistency=steady, gold=right, pace=worked) == {}


def test_an_annotator_who_votes_at_random_gets_a_remark():
    rows = [*GOOD, *(("", pattern, 40) for pattern in ("1+ 3+", "1+ 3-", "1- 3+", "1- 3-"))]
    found = of(rows, 3)
    assert set(found) == {"chance", "apart"}
    assert all(text.startswith("Kim ") for text in found.values())
    assert "kappa 0.00 (" in found["chance"]
    assert "on 50% (" in found["apart"]
    assert "on 95% (" in found["apart"]


def test_few_votes_carry_no_remark():
    assert of([*GOOD, ("", "1+ 3-", 5), ("", "1- 3+", 4)], 3) == {}


def test_of_two_annotators_neither_gets_a_remark():
    rows = [("", "1+ 2+", 40), ("", "1+ 2-", 40), ("", "1- 2+", 40), ("", "1- 2-", 40)]
    assert set(of(rows, 1)) == set(of(rows, 2)) == {"chance"}


def test_inconsistent_guessing_unsure_or_hasty_annotators_get_remarks_with_figures():
    rows = [*GOOD, ("", "1+ 3+", 60), ("", "1- 3-", 59), ("", "1- 3+", 1), ("", "1+ 3?", 40)]
    found = of(
        rows,
        3,
        consistency=consistency({("similar", "dissimilar", "similar"): 60, ("similar",) * 3: 60}),
        gold=gold([("similar", "similar", 12), ("dissimilar", "similar", 10)]),
        pace=pace([Worked(3, hour, 2_000, HOUR_MS) for hour in range(30)]),
    )
    assert set(found) == {"wavering", "gold", "unsure", "haste"}
    assert "67% (" in found["wavering"]
    assert "55% (" in found["gold"]
    assert "22 gold pairs" in found["gold"]
    assert "25% (" in found["unsure"]
    assert "1.8 s" in found["haste"]


def test_without_data_there_is_no_remark():
    assert remarks({1: AnnotatorFigures("Kim"), 2: AnnotatorFigures("Ann")}) == ()
