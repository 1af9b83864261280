"""The part "Before and after training": what it shows, what it leaves open, and when it is not there."""

from dataclasses import replace

import pytest
from report_lessons import learning_part
from report_sample import _strips
from test_report_page import Reader, text

from lookalike.evaluate.significance.sentence import full
from lookalike.report.content import LearningPart, Report
from lookalike.report.page import photos, render
from lookalike.report.parts.learning import learned_in_short, shown_learning


@pytest.fixture(scope="module")
def part() -> LearningPart:
    return learning_part(_strips)


@pytest.fixture(scope="module")
def section(page) -> str:
    return page.split('<div id="learned"')[1].split("</section>")[0]


def rows_of(table: str) -> dict[str, list[str]]:
    """Cells of a table, by the row's head."""
    body = table.split("<tbody>")[1].split("</tbody>", maxsplit=1)[0]
    found = {}
    for row in body.split("<tr>")[1:]:
        head, *cells = row.split("<td")
        found[text(head).strip()] = [text("<td" + cell).strip() for cell in cells]
    return found


def test_before_and_after_are_side_by_side_with_intervals_and_difference(section):
    rows = rows_of(section.split('aria-label="dinov2-finetuned by the labels"')[1])
    assert rows["DCS(alpha=10)"] == ["0.676[0.610, 0.736]", "0.731[0.665, 0.791]", "+0.055[0.005, 0.105]"]
    assert rows["EHR@5"][2].startswith("-0.059")
    assert rows["HR@5"][1:] == ["undefined", "undefined"]
    assert "1,204 labelled pairs" in text(section)
    assert "58 queries" in text(section)
    assert "95% confidence interval" in text(section)


def test_the_better_one_is_bold_and_more_coverage_is_not_better(section):
    assert "<strong>0.731</strong>" in section
    assert "<strong>0.851</strong>" in section
    assert "<strong>0.640</strong>" not in section
    assert "<strong>0.545</strong>" not in section


def test_a_difference_on_fewer_queries_is_explained(part):
    lesson = part.lessons[0]
    assert shown_learning(part)[0].labels.fewer == ""
    assert "(EHR@5)" not in _page_of(part)
    changed = replace(lesson.changes[1], difference=0.01)
    other = replace(part, lessons=(replace(lesson, changes=(lesson.changes[0], changed)),))
    assert shown_learning(other)[0].labels.fewer == "EHR@5"
    assert "(EHR@5)" in _page_of(other)


def _page_of(part: LearningPart) -> str:
    return text(render(Report("Nothing else", "", "", learning=part)))


def test_words_say_what_each_measure_proves(section, part):
    shown = text(section)
    lesson = part.lessons[0]
    for one in (*lesson.changes, *lesson.truth):
        assert not one.words or full(one.words) in shown
    for sentence in lesson.how:
        assert sentence in shown


def test_the_truth_has_a_table_of_its_own_only_where_it_is_known(report, section):
    rows = rows_of(section.split('aria-label="dinov2-finetuned by the ground truth"')[1])
    assert list(rows) == ["HR@5"]
    lessons = tuple(replace(one, truth=()) for one in report.learning.lessons)
    page = render(replace(report, learning=replace(report.learning, lessons=lessons)))
    assert "by the ground truth" not in page.split('<div id="learned"')[1]


def test_strips_show_both_encoders_for_each_query_the_better_and_the_worse(section, part):
    shown = text(section)
    assert shown.index("Most improved") < shown.index("Most worsened") < shown.index("Random test queries")
    queries = section.split('<article class="query"')[1:]
    assert len(queries) == 2
    for query in queries:
        assert [name.partition("<")[0] for name in query.split('<p class="encoder"><strong>')[1:]] == [
            "dinov2",
            "dinov2-finetuned",
        ]
    assert part.lessons[0].counted in shown


def test_every_picture_of_it_is_on_the_page(report, part):
    alone = replace(report, samples=(), strips=(), learning=part)
    wanted = {hit.photo.image for one in part.lessons for g in one.strips for s in g.rows for hit in s.hits}
    assert wanted <= {photo.image for photo in photos(alone)}
    assert "no picture" not in render(alone).split('<div id="learned"')[1].split("</section>")[0]


def test_without_the_first_encoder_it_says_so(section):
    assert "old-run" in section
    assert "lookalike embed ENCODER" in text(section)


def test_without_a_trained_encoder_there_is_no_such_part(report):
    page = render(replace(report, learning=None))
    assert "Before and after training" not in page
    assert Reader(page).open == []


def test_it_has_a_summary(page, part):
    short = text(page.split('<section id="short"')[1].split("</section>")[0])
    assert learned_in_short(part) in short
    assert part.lessons[0].changes[0].words in learned_in_short(part)
    assert "from 0.748 to 0.803" in learned_in_short(part)
    assert learned_in_short(replace(part, lessons=part.lessons[1:])) == ""
    assert [one.labels is None for one in shown_learning(part)] == [False, True]
