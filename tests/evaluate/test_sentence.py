"""A comparison as a sentence: the encoders, the side and the figures."""

import math
from dataclasses import replace

import pytest

from lookalike.evaluate.significance.compare import Comparison
from lookalike.evaluate.significance.intervals import Interval
from lookalike.evaluate.significance.sentence import UNTESTED, full, sentence, verdict

NONE = math.nan
BETTER = Comparison(
    measure="EHR@5",
    encoders=("color", "hog"),
    values=(0.8121, 0.7411),
    difference=0.071,
    interval=Interval(0.034, 0.109, 0.95, "bca", 2000, 0),
    queries=151,
    left_out=0,
    p_t=0.001,
    p_permutation=0.0004,
    p_bootstrap=0.001,
    p_holm=0.0024,
    family=6,
    d_z=0.3,
    won=0.61,
)
OPEN = replace(
    BETTER,
    encoders=("color", "lbp"),
    values=(0.8121, 0.8021),
    difference=0.01,
    interval=Interval(-0.02, 0.04, 0.95, "bca", 2000, 0),
    p_permutation=0.03,
    p_holm=0.18,
    won=0.5,
)


def test_better_names_both_encoders_with_their_figures():
    text = sentence(BETTER)
    assert text.startswith("color is better than hog (EHR@5 0.812 against 0.741, difference 0.071")
    assert all(part in text for part in ("0.034 to 0.109", "p = 0.002 after Holm", "61% of queries"))
    assert sentence(BETTER.swapped) == text


def test_where_no_simulation_says_how_often_such_results_are_right_no_encoder_is_better():
    text = sentence(BETTER, is_tested=False)
    assert text.startswith("color has a higher EHR@5 than hog (EHR@5 0.812 against 0.741")
    assert text.endswith(UNTESTED)
    first, group = verdict("color", [BETTER, replace(BETTER, encoders=("color", "lbp"))], is_tested=False)
    assert (first, group) == (text, f"color has a higher EHR@5 than lbp (p = 0.002 after Holm); {UNTESTED}")
    assert sentence(OPEN, is_tested=False) == sentence(OPEN)  # it claims nothing


def test_an_open_comparison_has_both_p_where_the_adjustment_decides():
    text = sentence(OPEN)
    assert text.startswith("these labels cannot separate color from lbp")
    assert "p = 0.180 after Holm, p = 0.030 before" in text


def test_the_confidence_decides():
    wide = replace(OPEN, interval=replace(OPEN.interval, level=0.8))
    assert "is better than lbp" in sentence(wide)


def test_two_encoders_need_no_adjustment_and_small_p_has_no_digits():
    alone = replace(BETTER, family=1, p_holm=0.0004)
    assert "p < 0.001, " in sentence(alone)


def test_an_interval_without_0_beside_an_open_test_says_that_p_decides():
    borderline = replace(
        BETTER, family=1, interval=replace(BETTER.interval, low=0.006), p_permutation=0.052, p_holm=0.052
    )
    assert "interval 0.006 to 0.109, p = 0.052 (p decides, not the interval)" in sentence(borderline)
    assert "p = 0.180 after Holm (p decides, not the interval)" in sentence(
        replace(borderline, family=6, p_holm=0.18)
    )
    assert "decides" not in sentence(OPEN)


def test_queries_that_count_for_one_only_are_left_out():
    assert "on the 151 queries" in sentence(replace(BETTER, left_out=9))


def test_pooled_measures_win_on_no_query():
    pooled = replace(BETTER, measure="AUC_mic", p_permutation=NONE, p_t=NONE, won=NONE)
    assert sentence(pooled).endswith("p = 0.002 after Holm)")


def test_more_coverage_is_not_better():
    assert sentence(replace(BETTER, measure="coverage@5")).startswith(
        "color has a higher coverage@5 than hog"
    )


def test_without_a_test_it_says_why():
    few = Interval(NONE, NONE, 0.95, "bca", 2000, 0, "only 3 queries count, and an interval needs 10")
    text = sentence(replace(BETTER, interval=few, p_holm=NONE))
    assert "cannot separate" in text
    assert f"not tested: {few.reason}" in text


def test_without_a_query_in_common():
    text = sentence(replace(BETTER, difference=NONE, values=(NONE, NONE), queries=0))
    assert text.startswith("color and hog cannot be compared by EHR@5")


def test_a_verdict_is_full_against_the_next_and_short_for_the_rest():
    gist = replace(BETTER.swapped, encoders=("gist", "color"), difference=-0.2, p_holm=0.0004)
    text = verdict("color", [BETTER, OPEN, gist])
    assert text == [
        sentence(OPEN),
        "color is better than hog and gist (each p <= 0.002 after Holm)",
    ]
    other = replace(OPEN, encoders=("color", "sift"), difference=0.02, p_permutation=0.1, p_holm=0.3)
    assert verdict("color", [OPEN, other]) == [
        sentence(OPEN),
        "these labels also cannot separate color from sift (difference 0.020, p = 0.300 after Holm)",
    ]
    first, second = verdict("color", [BETTER, other])
    assert first == sentence(other)
    assert "hog (p = 0.002 after Holm)" in second


@pytest.mark.parametrize("best", ["lbp", "nobody"])
def test_a_verdict_uses_its_own_pairs_only(best: str):
    assert len(verdict(best, [BETTER, OPEN])) == (1 if best == "lbp" else 0)


def test_too_few_replicates_are_no_verdict_on_the_labels():
    """p is the least there can be, and only Holm keeps it above 0.05."""
    short = replace(BETTER, family=105, p_permutation=1 / 2001, least_p=1 / 2001, p_holm=105 / 2001)
    assert sentence(short).startswith(
        "105 comparisons need 2,100 replicates or more to separate color from hog"
    )
    other = replace(short, encoders=("color", "gist"), difference=0.2)
    again = verdict("color", [short, other])
    assert again[0] == sentence(short)
    assert again[1].endswith("color from gist")
    assert full(again[1]).startswith("More")
    first, second = verdict("color", [OPEN, other])
    assert first == sentence(OPEN)
    assert "2,100 replicates" in second
    assert second.endswith("color from gist")
    assert sentence(other).startswith(second)
