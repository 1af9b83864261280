"""Intervals, what the labels prove, and one measure by category on the page."""

import math
from dataclasses import replace
from html import escape
from xml.etree import ElementTree

import pytest
from report_findings import around, groups, judgement, section, text
from report_sample import GENERATORS, MEASURES, NASTY, OTHERS

from lookalike.evaluate.significance.intervals import Interval
from lookalike.evaluate.significance.results import GroupsResult, ScoreResult
from lookalike.evaluate.significance.sentence import full
from lookalike.evaluate.significance.summary import Settings
from lookalike.report.content import MeasureTable, Report
from lookalike.report.figures.measures import Mark, dot_plot
from lookalike.report.figures.plot import bounds
from lookalike.report.page import render
from lookalike.report.parts.explanations import NO_BIAS
from lookalike.report.parts.findings import shown_findings, shown_groups
from lookalike.report.parts.summary import summary
from lookalike.report.parts.table import shown_table

FEW = "only 7 queries count, and an interval needs 10"


def made(*cells: ScoreResult, **more) -> MeasureTable:
    values = {f"e{i}": {"AUC_mac": cell} for i, cell in enumerate(cells)}
    return MeasureTable(values, tuple(values), **({"settings": Settings()} | more))


def score(value: float, queries: int, reason: str = "", interval: Interval | None = None) -> ScoreResult:
    return ScoreResult(value, queries, "AUC_mac", reason, interval)


def page_of(table: MeasureTable) -> str:
    return render(Report("t", "", "", measures=table))


def none(reason: str = FEW) -> Interval:
    return Interval(math.nan, math.nan, 0.95, "bca", 2000, 0, reason)


# ---- intervals


def test_every_value_has_its_interval_in_table_and_card(page):
    assert '0.676<span class="sub">[0.642, 0.707]</span>' in page.replace("</strong>", "")
    card = page.split('id="measure-1"')[1].split("</article>")[0]
    assert "[0.642, 0.707]" in card
    assert card.count('class="span span-generator"') == len(GENERATORS)
    assert card.count('class="span span-outside"') == len(OTHERS) + 1  # the legend's
    assert "Below each value" in text(page)
    assert "its 95% confidence interval" in text(page)
    assert NO_BIAS in text(page)


def test_the_confidence_is_the_given_one():
    table = made(score(0.5, 50, interval=around(0.5, 0.1)), settings=Settings(level=0.9))
    assert "its 90% confidence interval" in text(page_of(table))


def test_without_replicates_the_page_mentions_no_intervals():
    table = made(score(0.5, 50), score(0.6, 50), settings=None)
    page = page_of(table)
    assert "interval" not in text(page.split("<main")[1].split('id="words"')[0])
    assert "span-generator" not in page.split("</style>")[1]


@pytest.mark.parametrize("count", [1, 2, 8])
def test_few_queries_give_values_without_intervals_and_the_reason_once(count):
    page = page_of(made(*(score(0.5 + i / 50, 7, interval=none()) for i in range(count))))
    assert text(page).count(FEW) == 1
    assert "for any value" in text(page)
    assert "Below each value" not in text(page)
    assert "nan" not in text(page.split("<main")[1]).lower()


def test_some_values_without_an_interval_are_listed_by_measure_and_undefined_ones_are_not():
    cells = (score(0.5, 50, interval=around(0.5, 0.1)), score(0.6, 7, interval=none()))
    undefined = score(math.nan, 0, "no query has both", none("the value is undefined"))
    shown = shown_table(made(*cells, undefined), ())
    (without,) = shown.without
    assert "some values of AUC_mac" in without
    assert FEW in without
    assert [row.cells[0].interval for row in shown.rows] == ["[0.390, 0.600]", "", ""]
    assert shown.level == "95%"


def test_one_query_and_one_encoder_make_a_page():
    page = page_of(made(score(1.0, 1, interval=none("only 1 query counts, and an interval needs 10"))))
    assert "only 1 query counts" in text(page)
    assert "What the labels show" not in page


def test_an_interval_is_shown_to_scale_and_in_words():
    marks = [Mark("a", True, 0.5, low=0.4, high=0.6), Mark("b", False, 0.45, 0.3)]
    root = ElementTree.fromstring(dot_plot(marks, "x"))
    bar = next(e for e in root.iter("rect") if e.get("class") == "span span-generator")
    dot = next(iter(root.iter("circle")))
    assert float(bar.get("x")) + float(bar.get("width")) / 2 == pytest.approx(float(dot.get("cx")), abs=0.11)
    lines = [e for e in root.iter("line") if e.get("class") == "grid"]
    ticks = [float("".join(e.itertext())) for e in root.iter("text") if e.get("text-anchor") == "middle"]
    places = {tick: float(line.get("x1")) for tick, line in zip(ticks, lines, strict=True)}
    assert float(bar.get("x")) == pytest.approx(places[0.4], abs=0.11)
    assert "a (generator): 0.500, interval [0.400, 0.600]" in root.findtext("desc")
    assert "b (not a generator): 0.450" in root.findtext("desc")
    assert "ground truth 0.300" in root.findtext("desc")


def test_an_undefined_value_shows_no_interval():
    svg = dot_plot([Mark("a", True, math.nan, low=0.4, high=0.6)], "x")
    assert "span" not in svg
    assert "nan" not in svg


@pytest.mark.parametrize(
    ("values", "ends"),
    [
        ([], (0.0, 1.0, 0.25)),
        ([0.5], (0.5, 0.55, 0.05)),
        ([0.0, 1.0], (0.0, 1.0, 0.25)),
        ([-3.2, 7.9], (-5.0, 10.0, 5.0)),
    ],
)
def test_an_axis_holds_its_values_in_four_steps_or_fewer(values, ends):
    assert bounds(values) == ends


# ---- findings


def test_findings_are_whole_sentences_with_their_measure_and_caution(page, report):
    texts = section(page, "What the labels show", "Compared with the ground truth")
    for sentences in report.measures.findings.values():
        for sentence in sentences:
            assert escape(full(sentence)) in texts
    shown = shown_findings(report.measures)
    assert [one.measure for one in shown] == ["DCS(alpha=10)", "EHR@5"]  # BPREF has nothing to say
    assert [bool(one.caution) for one in shown] == [False, True]
    assert shown[1].card == MEASURES.index("EHR@5") + 1


def test_the_summary_leads_with_what_is_proved(report):
    texts = " ".join(summary(report))
    assert full(report.measures.findings["DCS(alpha=10)"][0]) in texts
    assert "not test" not in texts


def test_a_finding_on_a_measure_outside_the_table_has_no_link():
    table = made(score(0.5, 50), findings={"EHR@5": ("a is better than <b> (p < 0.001)",)})
    page = page_of(table)
    assert "than &lt;b&gt; (p &lt; 0.001)." in page
    assert '<a href="#measure-0"' not in page


# ---- one measure by category


def test_groups_have_intervals_counts_and_what_is_missing(page):
    texts = section(page, "AUC_mac by category", "What the measures mean")
    assert "90 of 92 queries" in texts
    assert "(none)" in texts
    assert "undefined" in texts
    assert "13 values of 41" in texts
    assert "AUC_mac is undefined" in texts


def test_encoders_that_count_other_queries_say_so():
    scores = {"a": {"AUC_mac": score(0.5, 28)}, "b": {"AUC_mac": score(0.6, 29)}}
    group = replace(groups(("a", "b")).groups[0], queries=30, scores=scores)
    (shown,) = shown_groups(GroupsResult("category", [group])).rows
    assert shown.note == "30 queries"
    assert [cell.count for cell in shown.cells] == ["28 of 30", "29 of 30"]
    assert [cell.best for cell in shown.cells] == [False, True]


def test_without_groups_there_is_no_table_of_them(report):
    page = render(replace(report, measures=replace(report.measures, groups=None)))
    assert "by category" not in page


def test_names_and_words_from_outside_are_escaped(report):
    table = replace(
        report.measures,
        findings={"DCS(alpha=10)": (f"{NASTY} is better",)},
        groups=groups((NASTY, "b")),
    )
    part = judgement((NASTY,), ("b",))
    nasty = tuple(replace(one, measure=f"{NASTY} {one.measure}") for one in part.verdicts)
    page = render(replace(report, measures=table, verdict=replace(part, verdicts=nasty)))
    assert "<script>alert(1)" not in page.split("</style>")[1]
