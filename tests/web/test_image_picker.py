"""Choosing the two images of a gold pair or an example: by words, keys and clicks; ids with line breaks; no script."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from labelling_app import log_in, until
from PIL import Image
from serving import draw_shop, make_shop, serving
from sqlalchemy import select

from lookalike.store.labelling.images import find_images
from lookalike.store.sql.labelling_schema import example, gold, question

BROKEN = "rod/two\nlines/a\nb.png"
PLAIN = "bowl/000/1.png"


@pytest.fixture
def shop(tmp_path, database_place):
    photos = draw_shop(tmp_path / "photos")
    (photos / BROKEN).parent.mkdir(parents=True)
    Image.new("RGB", (300, 200), (9, 200, 9)).save(photos / BROKEN)
    with serving(make_shop(tmp_path / "work", photos, database_place)) as running:
        running.add("Lea", "lead")
        yield running


def pairs(shop, table):
    with shop.site.database.read() as connection:
        return [tuple(row) for row in connection.execute(select(table.c.query, table.c.candidate))]


def found(shop, words, limit=99):
    with shop.site.database.read() as connection:
        return [one.image for one in find_images(connection, words, limit)]


def test_words_find_images_and_without_words_recent_ones_come(shop):
    assert found(shop, "ROD 003") == ["rod/003/1.png", "rod/003/2.png"]
    assert found(shop, "lines") == [BROKEN]
    assert found(shop, "0_3") == found(shop, "%") == []
    assert found(shop, "", 2) == found(shop, "bowl", 2) == ["bowl/000/1.png", "bowl/000/2.png"]
    lea = shop.browser().log_in("Lea")
    lea.get("/guidelines/gold")
    assert (
        lea.post("/guidelines/gold", query=" rod/003/1.png ", candidate=PLAIN, answer="similar").status == 303
    )
    lea.post("/guidelines/examples", query=PLAIN, candidate="bowl/004/2.png", label="similar")
    assert found(shop, "") == ["rod/003/1.png", PLAIN, "bowl/004/2.png"]


@pytest.mark.browser
@pytest.mark.parametrize(
    ("path", "table"), [("/guidelines/gold", question), ("/guidelines/examples", example)]
)
def test_a_pair_is_chosen_by_keyboard(shop, browser, path, table):
    context = browser.new_context()
    page = log_in(context, shop, "Lea", there=path)
    for field, words in (("#query", "lines"), ("#candidate", "bowl")):
        page.locator(field).focus()
        page.keyboard.type(words)
        until(
            page,
            "(field) => !document.querySelector(field).closest('.pick').querySelector('ul').hidden",
            field,
        )
        page.keyboard.press("ArrowDown")
        assert [one["id"] for one in Axe().run(page).response["violations"]] == []
        page.keyboard.press("Enter")
    assert page.locator(".pick > img:visible").count() == 2
    page.locator("#note").press("Enter")
    page.wait_for_load_state()
    until(page, "() => document.querySelectorAll('.card img').length === 2")
    assert pairs(shop, table) == [(BROKEN, PLAIN)]
    context.close()


@pytest.mark.browser
def test_without_a_script_ids_are_typed_and_a_listed_pair_keeps_its_line_breaks(shop, browser):
    context = browser.new_context(java_script_enabled=False)
    page = log_in(context, shop, "Lea", there="/guidelines/gold")
    page.locator("#query").fill("rod/001/1.png")
    page.locator("#candidate").fill("none")
    page.get_by_role("button", name="Add gold pair").click()
    page.locator(".failure").wait_for()
    page.locator("#candidate").fill(PLAIN)
    page.get_by_role("button", name="Add gold pair").click()
    assert pairs(shop, question) == [("rod/001/1.png", PLAIN)]
    with shop.site.database.write() as connection:
        connection.execute(
            question.update().values(query=BROKEN, low=PLAIN, high=BROKEN, state="settled", label=1)
        )
        connection.execute(gold.delete())
        connection.execute(question.update().values(kind="pool"))
    for path, button, table in (
        ("/guidelines/examples", "Add pair", example),
        ("/guidelines/gold", "Make gold pair", question),
    ):
        page.goto(shop.address + path)
        page.get_by_role("button", name=button).first.click()
        assert page.locator(".failure").count() == 0
        assert pairs(shop, table) == [(BROKEN, PLAIN)]
    context.close()
