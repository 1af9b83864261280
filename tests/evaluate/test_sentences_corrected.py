"""Sentences on the corrected hit rate: its interval has an error that its p-value has not, and both say so."""

from dataclasses import replace

from lookalike.evaluate.significance.compare import Comparison
from lookalike.evaluate.significance.intervals import CORRECTED, Interval
from lookalike.evaluate.significance.sentence import sentence

PLAIN = Comparison(
    "HR@5 corrected",
    ("a", "b"),
    (0.6, 0.5),
    0.1,
    Interval(-0.05, 0.25, 0.95, CORRECTED, 2000, 0),
    60,
    0,
    0.01,
    0.01,
    0.01,
    0.01,
    3,
    0.4,
    float("nan"),
)


def test_the_interval_and_the_p_value_say_which_errors_they_know():
    found = sentence(PLAIN)
    assert (
        found.index("-0.050 to 0.250 with the error")
        < found.index("p = 0.010")
        < found.index("the test ignores that error")
    )
    assert found.startswith("a may be better than b")  # the interval includes 0


def test_other_intervals_say_nothing_of_it():
    other = replace(PLAIN, measure="HR@5", interval=replace(PLAIN.interval, method="bca"))
    assert "error" not in sentence(other)
