"""The part on samples: a row per value, the better encoder by name, and no part without a sample."""

from dataclasses import replace

import pytest

from lookalike.audit.sampling.values import SampledValue
from lookalike.report.content import LearningPart, Lesson
from lookalike.report.page import render
from lookalike.report.parts.drawn import shown_drawn


def test_a_row_has_the_value_its_interval_and_what_it_decides(report):
    one, other = shown_drawn(report.drawn)
    assert (one.name, one.note, [cell.text for cell in one.cells]) == (
        "dinov2",
        "HR@5",
        ["0.612", "200 labels", ""],
    )
    assert one.cells[0].interval == "[0.551, 0.668]"
    assert other.name == "dinov2 minus descriptor:hog"
    assert other.cells[-1].text == "dinov2 is better"


def test_complete_labels_are_not_shown_as_no_labels():
    (row,) = shown_drawn([SampledValue("HR@5", "a", "b", -0.1, -0.1, -0.1, "exact", 0, 0, "worse", 20)])
    assert row.cells[1].text == "all that matter"


@pytest.mark.parametrize(("decision", "words"), [("worse", "b is better"), ("alike", "no"), ("open", "not")])
def test_a_decision_in_words(decision, words):
    (row,) = shown_drawn([SampledValue("HR@5", "a", "b", -0.1, -0.2, -0.01, "MOVER", 80, 0, decision)])
    assert row.cells[-1].text.startswith(words)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("won", "b won"),
        ("lost", "b lost"),
        ("not worse", "b is not worse"),
        ("cannot be told", "not decided yet"),
        ("", "no relevant difference"),
    ],
)
def test_between_an_encoder_and_its_base_the_verdict_on_the_training_is_the_result(word, said):
    sampled = SampledValue("HR@5", "a", "b", -0.008, -0.008, -0.008, "exact", 80, 0, "alike")
    learning = LearningPart(10, 5, (Lesson("b", "a", word=word),))
    other = replace(sampled, second="c")
    assert [row.cells[-1].text for row in shown_drawn([sampled, other], learning)] == [
        said,
        "no relevant difference",
    ]


def test_a_report_without_a_sample_has_no_such_part(report):
    assert 'id="drawn-title"' in render(report)
    assert 'id="drawn-title"' not in render(replace(report, drawn=()))
