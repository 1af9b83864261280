"""The page in a real Chromium: no request, no complaint, no sideways scrolling, pictures that are there."""

from dataclasses import replace
from io import BytesIO

import pytest
from PIL import Image
from report_sample import MEASURES, NASTY, photo

from lookalike.evaluate.significance.results import ScoreResult
from lookalike.report.content import MeasureTable, ReportPhoto
from lookalike.report.page import render

PURPLE = (150, 20, 160)
pytestmark = pytest.mark.browser


def plain_picture() -> bytes:
    out = BytesIO()
    Image.new("RGB", (120, 120), PURPLE).save(out, "JPEG", quality=95)
    return out.getvalue()


@pytest.fixture(scope="module")
def file(report, tmp_path_factory):
    """The sample with hard cases added: long names, many encoders, a picture of one colour shown twice."""
    known = ReportPhoto("purple.jpg", "p" * 90, "", plain_picture())
    row = {name: ScoreResult(0.5, 100 + i, name, "", None) for i, name in enumerate(MEASURES)}
    rows = {f"timm:vit_base_patch14_dinov2.lvd142m_{i}": row for i in range(4)}
    made = replace(
        report,
        title="T" * 90,
        samples=(known, photo("bed", 1), known),
        measures=MeasureTable(
            report.measures.values | rows, report.measures.generators, report.measures.truth
        ),
        conflicts=("w" * 300, NASTY),
    )
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(render(made), encoding="utf-8")
    return path


def open_parts(tab):
    """Open every part of the page."""
    tab.evaluate("document.querySelectorAll('details.part').forEach(part => { part.open = true; })")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_file_opens_by_itself(browser, file, width, scheme):
    tab = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    messages, requested = [], []
    tab.on("console", lambda message: messages.append(message.text))
    tab.on("pageerror", lambda error: messages.append(str(error)))
    tab.on("request", lambda request: requested.append(request.url))
    tab.goto(file.as_uri(), wait_until="load")
    assert messages == []
    assert [url for url in requested if not url.startswith("data:")] == [file.as_uri()]
    assert tab.evaluate("document.documentElement.scrollWidth") == width
    assert tab.evaluate("document.scripts.length") == 0
    assert not tab.locator("#measures").is_visible()
    open_parts(tab)
    assert tab.evaluate("document.documentElement.scrollWidth") == width

    for thumb in (tab.locator("#catalog .samples svg.thumb").nth(at) for at in (0, 2)):
        with Image.open(BytesIO(thumb.screenshot())) as shot:
            middle = shot.convert("RGB").getpixel((shot.width // 2, shot.height // 2))
        assert max(abs(a - b) for a, b in zip(middle, PURPLE, strict=True)) <= 6
    broken = """async () => {
        const hrefs = [...document.querySelectorAll('image')].map(image => image.getAttribute('href'));
        const sizes = await Promise.all(hrefs.map(href => new Promise(done => {
            const picture = new Image();
            picture.onload = () => done(picture.naturalWidth);
            picture.onerror = () => done(0);
            picture.src = href;
        })));
        return sizes.filter(size => size < 10).length;
    }"""
    assert tab.evaluate(broken) == 0
    assert tab.evaluate(
        "[...document.querySelectorAll('use')].every(u => u.getBoundingClientRect().width > 5)"
    )
    tab.close()


def test_parts_and_wide_tables_work_from_the_keyboard(browser, file):
    tab = browser.new_page(viewport={"width": 390, "height": 800})
    tab.goto(file.as_uri())
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.textContent") == "Skip to the content"
    tab.keyboard.press("Tab")
    assert tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    tab.locator("summary", has_text="Which encoder is better?").focus()
    tab.keyboard.press("Enter")
    assert tab.locator("#measures").is_visible()
    open_parts(tab)
    assert tab.get_by_role("img", name="purple.jpg").count() == 2
    region = tab.get_by_role("region", name="Measures", exact=True)
    region.focus()
    tab.keyboard.press("ArrowRight")
    tab.wait_for_function("e => e.scrollLeft > 0", arg=region.element_handle())
    tab.close()


def test_a_link_into_a_closed_part_opens_it(browser, file):
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(file.as_uri())
    tab.locator("summary", has_text="Which encoder is better?").click()
    card = tab.locator("#measure-2")
    assert not card.is_visible()
    tab.get_by_role("region", name="Measures", exact=True).locator('a[href="#measure-2"]').first.click()
    card.wait_for(state="visible")
    tab.wait_for_function("e => Math.abs(e.getBoundingClientRect().top) < 60", arg=card.element_handle())
    tab.close()


def test_it_prints_in_light_colours_with_every_part(browser, file):
    tab = browser.new_page(viewport={"width": 690, "height": 975}, color_scheme="dark")
    tab.goto(file.as_uri())
    tab.emulate_media(media="print")
    assert tab.evaluate("getComputedStyle(document.body).color") == "rgb(29, 33, 38)"
    closed = tab.locator("details.part:not([open])")
    assert closed.count() > 9
    heights = closed.evaluate_all("parts => parts.map(part => part.getBoundingClientRect().height)")
    titles = closed.locator("> summary").evaluate_all(
        "all => all.map(one => one.getBoundingClientRect().height)"
    )
    assert all(whole > title + 10 for whole, title in zip(heights, titles, strict=True))
    assert tab.pdf(format="A4").startswith(b"%PDF")
    tab.close()


@pytest.mark.parametrize("width", [390, 1280])
def test_before_and_after_learning_is_reached_and_read_at_any_width(browser, file, width):
    tab = browser.new_page(viewport={"width": width, "height": 900})
    tab.goto(file.as_uri())
    tab.locator("summary", has_text="Before and after training").click()
    part = tab.locator("#learned")
    assert part.is_visible()
    open_parts(tab)
    table = part.get_by_role("region", name="dinov2-finetuned by the labels")
    heads = table.locator("tbody th").all()
    assert [head.inner_text() for head in heads] == ["DCS(alpha=10)", "EHR@5", "HR@5", "coverage@5"]
    one_line = heads[1].bounding_box()["height"]
    assert all(
        head.bounding_box()["height"] <= 2.2 * one_line for head in heads
    )  # no word broken into pieces
    query = part.locator("article.query").first
    above, below = query.locator(".answer").all()
    assert above.locator(".encoder strong").inner_text() == "dinov2"
    assert below.locator(".encoder strong").inner_text() == "dinov2-finetuned"
    assert above.bounding_box()["y"] < below.bounding_box()["y"]
    assert below.get_by_role("img").first.is_visible()
    tab.close()
