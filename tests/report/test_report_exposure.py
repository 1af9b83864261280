"""The part on shown items and the two galleries: what they say, and that they are short."""

import re
from dataclasses import replace

import pytest
from report_exposure import exposure_of

from lookalike.report.page import render
from lookalike.report.parts.exposure import shown_exposure


def part_of(page: str, name: str) -> str:
    return page.split(f'aria-labelledby="{name}-title"')[1].split("</section>", maxsplit=1)[0]


def text(page: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", page)).replace("\N{NO-BREAK SPACE}", " ")


def test_a_row_per_encoder_and_the_ends_of_the_column_that_differs_most(report):
    shown = shown_exposure(report.exposure)
    assert [row.name for row in shown.rows] == [one.encoder for one in report.exposure.found[:5]]
    assert [cell.text for cell in shown.rows[1].cells] == ["2.5%", "<0.1%", "50.0", "1,234", "0.35"]
    assert shown.column == "style"
    assert [row.name for row in shown.groups] == ["group 0", "group 1", "group 10", "group 11"]
    assert [cell.text for cell in shown.groups[-1].cells] == ["31", "1.0", "11.0%"]
    assert shown.left == "2 encoders and 8 groups"
    assert "a random sample of 5,000 of 12,345 query images" in shown.lists


def test_a_column_of_few_groups_is_shown_whole_and_no_column_is_no_table(report):
    one = exposure_of("e", 0.1)
    few = replace(report.exposure, found=(replace(one, columns=one.columns[1:], queries=12_345),))
    shown = shown_exposure(few)
    assert [(row.name, row.cells[1].text, row.cells[2].text) for row in shown.groups] == [
        ("plain", "6.2", "4.0%"),
        ("room", "1.1", "38.0%"),
    ]
    assert (shown.left, "all 12,345 query images" in shown.lists) == ("", True)
    none = replace(few, found=(replace(one, columns=()),))
    assert "by style" not in text(part_of(render(replace(report, exposure=none)), "shown"))


def test_the_page_shows_the_pictures_and_how_often(report, page):
    part = part_of(page, "shown")
    assert part.count("<title>") == 16
    for photo in report.exposure.never:
        assert photo.item in part
    for _, times in report.exposure.most:
        assert f"{times:,} times" in part
    nothing = render(replace(report, exposure=replace(report.exposure, never=())))
    assert "Every item is in at least one list." in part_of(nothing, "shown")


def test_the_galleries_are_among_the_results_with_their_cosine_and_label(report, page):
    part = part_of(page, "results")
    for group in report.pairs:
        shown = part.split(f"<h3>{group.title}</h3>")[1].split("</details>")[0]
        assert shown.count('<figure class="pair">') == len(group.pairs)
        for pair in group.pairs:
            assert f"{pair.score:.3f}" in shown
            assert pair.first.image in shown
            assert pair.second.image in shown
        assert ('class="mark similar"' in shown) == (group.pairs[0].label == 1)
        assert ("same item" in shown) == (group.pairs[0].label is None)


@pytest.mark.browser
@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 900)])
def test_a_part_is_at_most_two_screens_high(browser, page, tmp_path, width, height):
    (tmp_path / "report.html").write_text(page, encoding="utf-8")
    tab = browser.new_page(viewport={"width": width, "height": height})
    tab.goto((tmp_path / "report.html").as_uri())
    tab.locator("summary", has_text="Which items are shown?").click()
    part = tab.locator("section[aria-labelledby=shown-title]")
    assert part.bounding_box()["height"] <= 2 * height
    tab.locator("summary", has_text="What the encoders find").click()
    for name in ("Same item, unlike", "Different items, alike"):
        tab.locator("summary", has_text=name).click()
    part = tab.locator("section[aria-labelledby=results-title]")
    assert part.bounding_box()["height"] <= 2 * height
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    tab.close()
