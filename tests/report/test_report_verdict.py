"""The verdict on the page: words in their colours, advice, reasons, and where it stands."""

from dataclasses import replace

import pytest
from report_findings import section, verdict_part

from lookalike.core.errors import ArgumentError
from lookalike.report.content import Report
from lookalike.report.page import render
from lookalike.report.parts.verdict import COLOURS, shown_verdict


def test_the_verdict_stands_before_the_audit_with_words_advice_and_reasons(page):
    assert page.index(">Can these numbers be trusted?</h2>") < page.index(">The verdict</h3>")
    assert page.index(">The verdict</h3>") < page.index("Read this first") < page.index('id="results"')
    told = section(page, "The verdict", "The tests behind the verdict")
    for word in COLOURS:
        assert word in told
    assert "right 55 times of 100" in told
    assert "Label 240 more pairs of it before you decide." in told
    assert "HR@5: HR@5 counts unjudged results as misses." in told
    assert "all of its first 5 labelled" in told


def test_without_a_verdict_or_an_audit_the_other_still_stands(report):
    alone = render(replace(report, audit=None))
    assert "The verdict</h3>" in alone
    assert "The tests behind the verdict" not in alone
    bare = render(replace(report, verdict=None))
    assert "The verdict</h3>" not in bare
    assert "The tests behind the verdict" not in bare
    assert "Read this first" in bare


def test_every_word_has_a_colour_of_its_own_kind():
    css = render(Report("t", "", "")).split("</style>")[0]
    assert all(f".chip-{colour} " in css for colour in COLOURS.values())
    assert len({COLOURS[word] for word in ("trusted", "with care", "not to be trusted", "unknown")}) == 4


def test_equal_sentences_are_said_once_with_all_their_measures():
    shown = shown_verdict(verdict_part(("a",), ()))[0]
    assert shown.said[0][0] == "DCS(alpha=10), HR@5"


def test_a_verdict_that_does_not_fit_or_has_another_word_is_refused():
    part = verdict_part(("a",), ())
    with pytest.raises(ArgumentError, match="'a' has 4 words for 1 measures"):
        shown_verdict(replace(part, measures=("DCS",)))
    cell = replace(part.rows[0].cells[0], word="perhaps")
    row = replace(part.rows[0], cells=(cell, *part.rows[0].cells[1:]))
    with pytest.raises(ArgumentError, match="perhaps"):
        shown_verdict(replace(part, rows=(row,)))
