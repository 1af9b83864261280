"""The measure table: best, undefined and misleading values, and the measures in words."""

import math
import re
from dataclasses import replace

import pytest
from report_sample import MEASURES

from lookalike.evaluate.measures.credit import half_credit
from lookalike.evaluate.measures.table import parse
from lookalike.evaluate.significance.results import ScoreResult
from lookalike.report.content import MeasureTable, Report
from lookalike.report.page import render
from lookalike.report.parts.cards import cards
from lookalike.report.parts.cautions import caution, cautions
from lookalike.report.parts.explanations import explanation, sentence
from lookalike.report.parts.summary import lead_measure, summary
from lookalike.report.parts.table import shown_table

REASON = "None of the first 5 results of any query has a label."


def table(measures: tuple[str, ...], **rows: tuple[float, ...]) -> MeasureTable:
    """A small table; encoders whose name begins with g are generators."""
    values = {
        name: {one: score(one, value) for one, value in zip(measures, row, strict=True)}
        for name, row in rows.items()
    }
    return MeasureTable(values, tuple(name for name in rows if name.startswith("g")))


def score(measure: str, value: float, queries: int = 50) -> ScoreResult:
    """A value without an interval."""
    return ScoreResult(value, queries, measure, "", None)


def test_an_undefined_value_says_so_with_its_reason_in_tooltip_and_footnote(page):
    assert f'<td title="{REASON}"><span class="undefined">undefined</span>' in page
    assert re.search(rf'<li id="labels-note-1"><span class="undefined">undefined</span>: {REASON}', page)
    assert "nan" not in re.sub(r"base64,[^\"]*", "", page).lower().split("<main")[1]


def test_an_undefined_value_without_a_reason_still_has_a_footnote():
    shown = shown_table(table(("DCS(alpha=10)",), a=(math.nan,), b=(0.5,)), ())
    (footnote,) = shown.footnotes
    assert footnote
    assert shown.rows[0].cells[0].footnote == 1


def test_the_highest_value_of_each_column_is_bold_ties_as_printed():
    shown = shown_table(
        table(("AUC_mac", "coverage@5"), a=(0.70001, 1.0), b=(0.70004, 0.5), c=(0.6, 0.2)), ()
    )
    assert [[cell.best for cell in row.cells] for row in shown.rows] == [
        [True, False],
        [True, False],
        [False, False],
    ]


@pytest.mark.parametrize("values", [(0.5, 0.5), (math.nan, 0.5), (math.nan, math.nan)])
def test_nothing_is_bold_where_nothing_is_higher(values):
    shown = shown_table(table(("AUC_mac",), a=values[:1], b=values[1:]), ())
    assert not any(row.cells[0].best for row in shown.rows)


def test_the_number_of_queries_is_shown_with_the_measure_or_with_each_value():
    same = table(("AUC_mac",), a=(0.5,), b=(0.6,))
    assert shown_table(same, ()).columns[0].note == "50 queries"
    other = replace(same, values=same.values | {"b": {"AUC_mac": score("AUC_mac", 0.6, 1_234)}})
    shown = shown_table(other, ())
    assert shown.columns[0].note == ""
    assert [row.cells[0].count for row in shown.rows] == ["50 queries", "1,234 queries"]


def test_hr_of_an_encoder_outside_the_pool_is_called_a_lower_limit():
    made = table(("HR@5", "coverage@5"), g=(0.7, 1.0), other=(0.4, 0.55))
    assert caution(made, "g", "HR@5") == ""
    (one,) = cautions(made, "HR@5")
    assert "other" in one
    assert "0.400 to 0.850" in one
    assert any("lower bound" in one and "other" in one for one in summary(_report_with(made)))


def test_the_upper_limit_is_left_out_where_the_queries_differ():
    made = table(("HR@5", "coverage@5"), other=(0.4, 0.55))
    made.values["other"]["coverage@5"] = score("coverage@5", 0.55, 49)
    (one,) = cautions(made, "HR@5")
    assert " to " not in one


@pytest.mark.parametrize(("covered", "warned"), [(0.5, True), (0.95, False)])
def test_ehr_is_cautioned_at_low_coverage(covered, warned):
    made = table(("EHR@5", "coverage@5"), other=(0.8, covered))
    assert bool(cautions(made, "EHR@5")) is warned


def test_without_coverage_every_encoder_outside_the_pool_is_cautioned():
    made = table(("HR@5", "EHR@5", "AUC_mac"), g=(0.7, 0.7, 0.7), other=(0.4, 0.9, 0.6))
    assert [len(cautions(made, measure)) for measure in made.measures] == [1, 1, 0]


def test_full_coverage_needs_no_caution_even_outside_the_pool():
    made = table(("HR@5", "EHR@5", "coverage@5"), other=(0.4, 0.4, 1.0))
    assert not cautions(made, "HR@5")
    assert not cautions(made, "EHR@5")


def test_cautions_are_visible_in_table_and_card(page):
    rows = re.findall(r"<tr><th scope=\"row\">(.*?)</tr>", page, re.DOTALL)
    cautioned = [row.split("<span")[0] for row in rows if '<a class="tag"' in row]
    assert cautioned == ["dinov2", "openclip", "descriptor:<wbr>color<wbr>+hog"]
    assert page.count('<div class="caution" role="note">') == 2


def test_the_truth_has_its_own_table_without_cautions(report, page):
    truth = page.split("Compared with the ground truth</h3>")[1].split("What the measures mean")[0]
    assert "0.748" in truth
    assert 'class="tag"' not in truth
    untold = replace(report, measures=replace(report.measures, truth=None), learning=None)
    assert "Compared with the ground truth" not in render(untold)


def test_ehr_is_held_against_the_true_hr():
    made = replace(table(("EHR@5",), a=(0.8,)), truth=table(("HR@5",), a=(0.611,)))
    assert "truth 0.611" in cards(made)[0].figure


@pytest.mark.parametrize("measure", MEASURES)
def test_every_measure_is_explained_with_its_value(measure):
    name = parse(measure)
    words = explanation(name)
    assert words is not None
    assert words.asks.endswith("?")
    assert words.watch.endswith(".")
    text = sentence(name, 0.83).replace("\N{NO-BREAK SPACE}", " ")
    assert re.search(r"83\.0%|4\.2 of|4\.1 of", text)
    assert "@0" not in words.asks + words.watch + text
    assert sentence(name, math.nan) == ""


def test_the_options_of_a_measure_are_in_its_words():
    assert "first 100 results" in sentence(parse("BPREF(depth=100)"), 0.5)
    assert "nobody judged" in explanation(parse("AUC_mic(negatives=sampled)")).watch
    assert "6.9" in sentence(parse("DCS(alpha=10)"), 0.5)
    assert "first 7 results" in sentence(parse("DCS(half=7)"), 0.5)
    assert "first 20 results" in explanation(parse("HR@20")).asks


@pytest.mark.parametrize("alpha", [1e-6, 0.1, 1.0, 5.0, 10.0, 500.0])
def test_half_of_the_credit_is_at_the_rank_of_the_formula(alpha):
    percentile = 1 - half_credit(alpha)
    credit = math.expm1(alpha * percentile) / math.expm1(alpha)
    assert credit == pytest.approx(0.5, rel=1e-5)


@pytest.mark.parametrize("measure", ["NDCG@5", "MRR@9", "RR"])
def test_a_measure_without_words_still_has_a_card(measure):
    (card,) = cards(table((measure,), a=(0.5,)))
    assert card.measure == measure
    assert "<svg" in card.figure


def test_the_summary_names_the_leader_and_makes_no_claim_of_significance():
    text = " ".join(summary(_report_with(table(("HR@5", "DCS(alpha=10)"), ga=(0.9, 0.6), gb=(0.8, 0.7)))))
    assert "On DCS(alpha=10), gb has the highest value, 0.700; ga has 0.600." in text
    assert "significant" in text
    level = " ".join(summary(_report_with(table(("AUC_mac",), a=(0.6,), b=(0.6,), c=(0.6,)))))
    assert "a, b and c share" in level
    assert "0.600" in level


def test_the_lead_measure_is_one_that_missing_labels_hurt_least():
    assert lead_measure(table(("HR@5", "AUC_mac", "DCS(alpha=10)"), a=(0.5, 0.5, 0.5))) == "DCS(alpha=10)"
    assert lead_measure(table(("HR@5", "AUC_mic"), a=(0.5, 0.5))) == "AUC_mic"
    assert lead_measure(table(("HR@5",), a=(0.5,))) is None


def _report_with(made: MeasureTable):
    return Report("t", "", "", measures=made)
