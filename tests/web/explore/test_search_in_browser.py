"""The search page in a browser: a photo is dropped, a box drawn, results read; without a script; by axe's rules."""

import base64
import io
import re

import pytest
from axe_playwright_python.sync_playwright import Axe
from by_keyboard import walk
from labelling_app import ANN, LEA, log_in
from playwright.sync_api import expect

from lookalike.catalog.photos.boxes import Box
from lookalike.workflows.search.searcher import Searcher

pytestmark = pytest.mark.browser
DROP = """([content, kind]) => {
    const bytes = Uint8Array.from(atob(content), (one) => one.charCodeAt(0)), held = new DataTransfer();
    held.items.add(new File([bytes], "a.jpg", { type: "image/jpeg" }));
    const event = kind === "drop" ? new DragEvent("drop", { dataTransfer: held, bubbles: true, cancelable: true })
        : new ClipboardEvent("paste", { clipboardData: held, bubbles: true });
    document.body.dispatchEvent(event);
}"""


def content_of(shop, row=0):
    return (shop.workspace.photos / shop.workspace.catalog.path[row]).read_bytes()


def give(page, content, kind="drop"):
    """Drop or paste a photo, and wait for its results."""
    page.evaluate(DROP, [base64.b64encode(content).decode(), kind])
    page.wait_for_url("**/search?*photo=*")


def items(page, at):
    page.wait_for_load_state()  # a click on a link waits for the first bytes of a page alone
    return [one.get_attribute("alt") for one in page.locator(".list").nth(at).locator(".hits img").all()]


def test_a_photo_is_dropped_a_box_is_drawn_and_results_are_read(browser, shop):
    page = log_in(browser.new_context(), shop, ANN, there="/search")
    content = content_of(shop)
    give(page, content)
    searchers = [Searcher.of(shop.workspace, name) for name in ("color", "hog")]
    for at, searcher in enumerate(searchers):
        answer = searcher.by_photo(io.BytesIO(content))
        assert items(page, at) == [hit.item for hit in answer.results]
    mark = page.locator("#mark").bounding_box()
    page.mouse.move(mark["x"] + 0.2 * mark["width"], mark["y"] + 0.3 * mark["height"])
    page.mouse.down()
    page.mouse.move(mark["x"] + 0.5 * mark["width"], mark["y"] + 0.5 * mark["height"], steps=3)
    page.mouse.move(mark["x"] + 0.8 * mark["width"], mark["y"] + 0.9 * mark["height"], steps=3)
    page.mouse.up()
    page.wait_for_url("**/search?*box=*")
    box = Box(*map(int, re.findall(r"box=(\d+)", page.url)))
    width, height = shop.workspace.catalog.width[0], shop.workspace.catalog.height[0]
    expected = (0.2 * width, 0.3 * height, 0.8 * width, 0.9 * height)
    assert all(abs(found - wanted) <= 2 for found, wanted in zip(box, expected, strict=True))
    for at, searcher in enumerate(searchers):
        answer = searcher.by_photo(io.BytesIO(content), box=box)
        assert items(page, at) == [hit.item for hit in answer.results]
    only = page.locator(".only")
    assert only.count() == 2 * len(set(items(page, 0)) - set(items(page, 1)))
    page.get_by_label("Show differences").uncheck()
    assert not only.first.is_visible()
    page.get_by_role("link", name="whole photo").click()
    page.wait_for_url(lambda address: "box=" not in address)
    page.context.close()


def test_a_corner_is_moved_a_small_box_is_none_and_a_photo_is_pasted(browser, shop):
    image = str(shop.workspace.catalog.image[0])
    page = log_in(browser.new_context(), shop, LEA, there="/search")
    page.goto(f"{shop.address}/search?image={image}&box=40,40,120,120")
    mark = page.locator("#mark").bounding_box()
    pixel = mark["width"] / shop.workspace.catalog.width[0]

    def drag(*points):
        for at, (x, y) in enumerate(points):
            page.mouse.move(mark["x"] + x * pixel, mark["y"] + y * pixel)
            if at == 0:
                page.mouse.down()
        page.mouse.up()

    drag((10, 10), (12, 12))
    assert page.locator("#mark rect").get_attribute("width") == "80"
    drag((120, 120), (100, 90))
    page.wait_for_url("**box=40&box=40&box=*")
    box = list(map(int, re.findall(r"box=(\d+)", page.url)))
    assert max(abs(found - wanted) for found, wanted in zip(box, (40, 40, 100, 90), strict=True)) <= 2
    give(page, content_of(shop, 8), "paste")
    assert len(items(page, 0)) == 10
    page.context.close()


def test_a_phone_draws_only_after_a_tap_so_that_the_page_still_scrolls(browser, shop):
    image = str(shop.workspace.catalog.image[0])
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = log_in(context, shop, ANN, there="/search")
    assert page.locator("input[capture=environment]").count() == 1
    page.goto(f"{shop.address}/search?image={image}")
    touch = "getComputedStyle(document.getElementById('mark')).touchAction"
    assert page.evaluate(touch) == "auto"
    page.evaluate("document.getElementById('draw').click()")
    assert page.evaluate(touch) == "none"
    context.close()


def test_without_a_script_links_and_forms_search_filter_box_and_upload(browser, shop, tmp_path):
    context = browser.new_context(java_script_enabled=False)
    page = log_in(context, shop, ANN, there="/search")
    page.locator(".gallery a").first.click()
    assert len(items(page, 0)) == 10
    page.locator(".menu-chip summary", has_text="Category").first.click()
    page.locator(".menu-chip[open] a", has_text="bed").click()
    assert "filter=category%3Dbed" in page.url
    page.locator(".pixels summary").click()
    for name, value in (("Left", 10), ("Top", 20), ("Right", 90), ("Bottom", 110)):
        page.get_by_label(name, exact=True).fill(str(value))
    page.get_by_role("button", name="Search with this box").click()
    assert page.locator("#mark rect").get_attribute("width") == "80"
    assert "filter=category%3Dbed" in page.url
    page.locator(".chip.on", has_text="hog").click()
    expect(page.locator(".list")).to_have_count(1)
    photo = tmp_path / "a.jpg"
    photo.write_bytes(content_of(shop, 4))
    page.get_by_label("Your photo").set_input_files(photo)
    page.get_by_role("button", name="Search with this photo").click()
    assert "photo=" in page.url
    assert len(items(page, 0)) == 10
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_axe_finds_nothing_and_tab_reaches_all(browser, shop, width, scheme):
    image = str(shop.workspace.catalog.image[0])
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = log_in(context, shop, LEA, there="/search")
    for path in (
        "/search?filter=split%3Dtest",
        f"/search?image={image}&box=20,20,120,120&filter=category%3Dbed",
        f"/search?image={image}&encoder=color&encoder=gone",
        "/search?photo=gone",
    ):
        page.goto(shop.address + path)
        page.wait_for_load_state("networkidle")
        if page.locator(".menu-chip").count():
            page.locator(".menu-chip summary").first.click()
        assert [(one["id"], one["nodes"][0]["html"]) for one in Axe().run(page).response["violations"]] == []
        page.keyboard.press("Escape")
        assert page.locator(".menu-chip[open]").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert len(walk(page)) > 12
    context.close()
