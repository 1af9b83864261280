"""Map, Results and Catalog in a browser: drawing, selecting by pointer and by keys, both themes, a phone, axe."""

import io

import numpy as np
import pytest
from axe_playwright_python.sync_playwright import Axe
from by_keyboard import walk
from explored_shop import with_labels, with_vectors
from labelling_app import LEA, log_in, make_workspace, serving_shop, when
from PIL import Image
from playwright.sync_api import expect

from lookalike.workflows.explore.map import make_map

pytestmark = pytest.mark.browser
READY = "#map[data-ready]"
PAGES = (
    "/map?encoder=color", "/map/list?by=category", "/results", "/results/queries?order=differ", "/catalog",
    "/catalog/duplicates",
)  # fmt: skip
NO_WEBGL = "HTMLCanvasElement.prototype.getContext = () => null"


@pytest.fixture(scope="module")
def shop(tmp_path_factory, team):
    made = with_labels(with_vectors(make_workspace(tmp_path_factory.mktemp("pages") / "shop", team)))
    make_map(made, "color")
    with serving_shop(made) as running:
        client = running.client(LEA)
        when(lambda: "Computing the results" not in client.get("/results").text)
        yield running


@pytest.fixture
def page(browser, shop):
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    yield log_in(context, shop, LEA, there="/team")
    context.close()


def opened(page, shop, by="category"):
    page.goto(f"{shop.address}/map?encoder=color&by={by}")
    page.locator(READY).wait_for()
    return page


def listed(page) -> list[int]:
    return [int(one.get_attribute("data-row")) for one in page.locator("#found > li").all()]


def test_the_map_draws_points_in_the_colours_of_their_groups(page, shop):
    opened(page, shop)
    shown = Image.open(io.BytesIO(page.locator("#plane").screenshot())).convert("RGB")
    pixels = np.asarray(shown, float).reshape(-1, 3)
    dots = page.evaluate("""() => [...document.querySelectorAll("#legend .dot")].map(
        dot => getComputedStyle(dot).backgroundColor.match(/\\d+/g).slice(0, 3).map(Number))""")
    assert len(dots) == len(set(shop.workspace.catalog.category))
    for dot in dots:
        drawn = 0.8 * np.array(dot) + 0.2 * 255  # a point on the white ground
        assert (np.abs(pixels - drawn).max(1) < 12).sum() > 20, dot


def test_a_colour_selects_its_photos_and_the_list_goes_on(page, shop):
    opened(page, shop, by="split")
    button = page.get_by_role("button", name="train")
    button.click()
    page.locator("#found > li").nth(47).wait_for()
    train = [row for row, split in enumerate(shop.workspace.catalog.split) if split == "train"]
    assert listed(page) == train[:48]
    assert page.locator("#count").inner_text() == f"{len(train)} photos"
    page.get_by_role("button", name="Show more photos").click()
    page.locator("#found > li").nth(60).wait_for()
    assert listed(page) == train[:96]
    assert page.locator("#found a").first.get_attribute("href").startswith("/search?image=")
    button.click()
    expect(page.locator("#found > li")).to_have_count(0)


@pytest.mark.parametrize("tool", ["Rectangle", "Lasso"])
def test_drawing_around_points_selects_them(page, shop, tool):
    opened(page, shop)
    page.get_by_role("button", name=tool).click()
    box = page.locator("#plane").bounding_box()
    left, top, wide, high = box["x"], box["y"], box["width"], box["height"]
    corners = [(0.2, 0.1), (0.99, 0.1), (0.99, 0.99), (0.01, 0.99), (0.01, 0.1)]
    if tool == "Rectangle":
        corners = [(0.01, 0.1), (0.99, 0.99)]
    page.mouse.move(left + wide * corners[0][0], top + high * corners[0][1])
    page.mouse.down()
    for x, y in corners[1:]:
        page.mouse.move(left + wide * x, top + high * y, steps=4)
    page.mouse.up()
    page.locator("#found > li").first.wait_for()
    assert int(page.locator("#count").inner_text().split()[0]) > 150
    page.get_by_role("button", name="Clear selection").click()
    assert listed(page) == []


def test_keys_zoom_and_list_what_is_in_view(page, shop):
    opened(page, shop)
    page.locator("#plane").focus()
    page.keyboard.press("v")
    page.locator("#found > li").first.wait_for()
    assert page.locator("#count").inner_text() == f"{len(shop.workspace.catalog)} photos"
    for _ in range(5):
        page.keyboard.press("+")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("v")
    few = int(page.locator("#count").inner_text().partition(" ")[0].replace("None.", "0"))
    assert few < len(shop.workspace.catalog) / 2


def test_a_browser_without_webgl_has_the_lists(page, shop):
    page.add_init_script(NO_WEBGL)
    page.goto(f"{shop.address}/map?encoder=color&by=category")
    page.locator("#legend button").first.click()
    page.locator("#found > li").first.wait_for()
    assert page.locator("#plane").is_hidden()
    assert "WebGL" in page.locator("#about").inner_text()


def test_another_colour_keeps_the_page(page, shop):
    opened(page, shop)
    page.get_by_label("Colour by").select_option("shown")
    page.get_by_role("button", name="never shown").wait_for(timeout=60_000)
    assert page.url.endswith("by=shown")


def test_from_a_number_to_its_pictures_in_one_click(page, shop):
    page.goto(f"{shop.address}/results")
    row = page.locator("section:has(#measures) tbody tr").first
    row.locator("td a").first.click()
    expect(page.locator("article.asked").first.locator(".hits li")).to_have_count(5)


def test_the_navigation_of_a_phone_shows_the_current_page(browser, shop):
    page = log_in(browser.new_context(viewport={"width": 390, "height": 844}), shop, LEA, there="/team")
    for path in ("/search", "/plan"):
        page.goto(shop.address + path)
        page.wait_for_load_state("networkidle")
        here = page.locator(".places [aria-current]").bounding_box()
        assert here["x"] >= 0, path
        assert here["x"] + here["width"] <= 390, path
    page.context.close()


def test_without_a_script_the_list_replaces_the_map(browser, shop):
    context = browser.new_context(java_script_enabled=False)
    page = log_in(context, shop, LEA, there="/team")
    page.goto(f"{shop.address}/map?encoder=color&by=category")
    assert page.locator("#plane").is_hidden()
    page.get_by_role("link", name="List the photos by category").click()
    page.locator(".thumbs > li").first.wait_for()
    context.close()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_axe_finds_nothing(browser, shop, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = log_in(context, shop, LEA, there="/team")
    found = {}
    for path in PAGES:
        page.goto(shop.address + path)
        page.wait_for_load_state("networkidle")
        if path.startswith("/map?"):
            page.locator("#legend button").first.click()
            page.locator("#found > li").first.wait_for()
        found[path] = [
            (one["id"], [node["html"][:160] for node in one["nodes"]])
            for one in Axe().run(page).response["violations"]
        ]
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        assert len(walk(page)) > 6, path
    context.close()
    assert {path: faults for path, faults in found.items() if faults} == {}
