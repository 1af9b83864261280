"""The page's part on trust: its tables and figures say what the audits found."""

import math
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from report_audits import sample_audits
from report_sample import GENERATORS, NASTY, OTHERS

from lookalike.report.figures.audit import ScoreLine, coverage_figure, score_figure
from lookalike.report.figures.credit import credit_curves
from lookalike.report.page import render
from lookalike.report.parts.audit import shown_audit

GONE = math.nan


def texts(figure: str) -> list[str]:
    return ["".join(element.itertext()) for element in ElementTree.fromstring(figure).iter("text")]


def test_tables_hold_every_measure_generator_and_encoder(report):
    shown = shown_audit(report.audit)
    found = report.audit.leave_one_out
    assert [row.name for row in shown.order] == list(found.measures)
    assert all(len(row.cells) == len(GENERATORS) + 1 for row in shown.order)
    assert [row.name for row in shown.spread] == list(GENERATORS + OTHERS)
    value = found.agreement("DCS(alpha=10)", "argus").correlations.spearman
    cell = shown.order[0].cells[0]
    assert cell.text == f"{value.value:.2f}"
    assert cell.interval == f"[{value.low:.2f}, {value.high:.2f}]"
    assert f"p = {value.p:.3f} (exact)" in cell.hover


def test_an_undefined_figure_says_why(report):
    spread = next(row for row in shown_audit(report.audit).spread if row.name == "argus")
    full = report.audit.leave_one_out.spread("EHR@5", "argus")
    assert full.n == 3
    assert spread.cells[1].count == "3 of 4 label sets"
    assert full.reasons[0] in spread.cells[1].hover


def test_the_page_shows_the_cautions_and_escapes_names(report):
    audit = sample_audits((NASTY, "b", "c"), (NASTY, "b", "c", "d"))
    page = render(replace(report, audit=audit))
    assert "are weak evidence." in page
    assert "<script>alert(1)" not in page.split("</style>")[1]


def test_scores_by_omitted_generator_are_in_figure_and_text():
    lines = [ScoreLine("one", (0.5, 0.4, GONE), rings=(1,)), ScoreLine("two", (0.7, 0.6, 0.65), dashed=True)]
    figure = score_figure(lines, ("all labels", "no one", "no three"), "DCS")
    root = ElementTree.fromstring(figure)
    assert len(list(root.iter("circle"))) == 5
    assert figure.count('class="own"') == 1
    assert figure.count("join-generator") == 1  # nothing joins what is undefined
    assert {"one", "two", "no one"} <= set(texts(figure))
    assert "one: all labels 0.500, no one 0.400, no three undefined" in root.findtext("desc")
    assert "nan" not in figure


def test_names_at_the_lines_ends_do_not_lie_on_each_other():
    lines = [ScoreLine(f"encoder {i}", (0.5, 0.5 + i / 1000)) for i in range(9)]
    root = ElementTree.fromstring(score_figure(lines, ("all labels", "no x"), "DCS"))
    heights = sorted(float(e.get("y")) for e in root.iter("text") if "encoder" in "".join(e.itertext()))
    assert min(b - a for a, b in pairwise(heights)) >= 13.9


def test_the_band_is_where_it_is_defined():
    line = ScoreLine("EHR@5", (GONE, 0.5, 1.0), low=(GONE, 0.4, 0.9), high=(GONE, 0.7, 1.0))
    figure = coverage_figure(line, ("0.0", "0.5", "1.0"), "EHR@5")
    band = next(e for e in ElementTree.fromstring(figure).iter("polygon")).get("points").split()
    assert len(band) == 4
    assert "<polygon" not in coverage_figure(ScoreLine("x", (0.1, 0.2)), ("0", "1"), "x")


@pytest.mark.parametrize("label", [0, 1])
def test_the_curves_of_dcs(label):
    figure = credit_curves((1.0, 5.0, 10.0, 50.0), [("", label)], "Credit")
    curves = [e.get("points").split() for e in ElementTree.fromstring(figure).iter("polyline")]
    assert len(curves) == 4
    for curve in curves:
        first, last = (float(point.split(",")[1]) for point in (curve[0], curve[-1]))
        assert (first > last) == (label == 1)  # y grows downwards


def test_figures_of_nothing_and_of_any_name_are_well_formed():
    ElementTree.fromstring(score_figure([], (), "x"))
    ElementTree.fromstring(score_figure([ScoreLine(NASTY, (GONE,))], (NASTY,), NASTY))
    ElementTree.fromstring(score_figure([ScoreLine("a" * 90, (0.5,), rings=(0,))], ("b" * 90,), "x"))
