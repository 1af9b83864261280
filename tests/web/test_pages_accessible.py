"""Every page that experts and leads work on, by axe's rules: light and dark, wide and narrow."""

import time

import pytest
from axe_playwright_python.sync_playwright import Axe
from by_keyboard import walk
from labelling_app import ANN, BOB, LEA, log_in, make_workspace, ready, serving_shop
from sqlalchemy import insert, update

from lookalike.core.types import Labels
from lookalike.store.labelling.due import apply_all_due
from lookalike.store.sql.labelling_schema import claim
from lookalike.store.sql.schema import left_out

pytestmark = pytest.mark.browser
PAGES = (
    "/label", "/discuss", "/discuss?state=settled", "/discuss/{pair}", "/guidelines", "/guidelines/edit",
    "/guidelines/versions", "/guidelines/versions/0", "/guidelines/examples", "/guidelines/gold", "/plan/campaign",
    "/catalog/left-out", "/api/docs", "/team", "/answers",
)  # fmt: skip
BOTH = 8  # pairs that two people answer; others are left, so that /label shows some


@pytest.fixture(scope="module")
def shop(tmp_path_factory, team):
    with serving_shop(make_workspace(tmp_path_factory.mktemp("axe") / "shop", team)) as running:
        yield running


@pytest.fixture(scope="module")
def pair(shop):
    """A pair in discussion, another resolved; examples and gold from it."""
    lea = shop.client(LEA)
    lea.put("/api/campaign", json={**lea.get("/api/campaign").json(), "undo_seconds": 0})
    for name in (ANN, BOB):
        client, done = shop.client(name), set()
        while len(done) < BOTH:
            given = client.get("/api/label/next").json()["given"][0]
            if (question := shop.question(given["token"])) <= BOTH:
                done.add(question)
                answer = "similar" if question % 2 or name == ANN else "dissimilar"
            else:
                answer = "skip"
            client.post("/api/label/answer", json={"token": given["token"], "answer": answer})
    for _ in range(100):  # the server applies what is due every second
        found = lea.get("/api/discussions").json()["pairs"]
        settled = lea.get("/api/discussions?state=settled").json()["pairs"]
        if found and settled:
            break
        time.sleep(0.1)
    ends = {"query": settled[0]["query"], "candidate": settled[0]["candidate"]}
    assert lea.post("/api/guidelines/examples", json={**ends, "label": "similar", "note": "alike"}).ok
    assert lea.post("/api/gold", json={**ends, "answer": "similar"}).ok
    with shop.workspace.database.write() as connection:
        connection.execute(
            insert(left_out), [{"position": 900, "image": "a", "path": "a", "reason": "damaged: a"}]
        )
        connection.execute(update(claim).where(claim.c.kind == "lease").values(until=1))
    apply_all_due(shop.workspace.database)  # what Ann and Bob have reserved is free for Lea
    for given in lea.get("/api/label/next").json()["given"][:2]:  # listed on the page of her own answers
        sent = {"token": given["token"], "answer": "unsure", "reason": "the legs"}
        assert lea.post("/api/label/answer", json=sent).ok
    return found[0]["question"]


@pytest.mark.parametrize(
    ("width", "scheme"), [(1280, "light"), (390, "dark")]
)  # no colour depends on the width
def test_axe_finds_nothing(browser, shop, pair, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page = log_in(context, shop, LEA)
    found = {}
    for path in PAGES:
        page.goto(shop.address + path.format(pair=pair))
        page.wait_for_load_state("networkidle")
        found[path] = [
            (one["id"], [node["html"][:120] for node in one["nodes"]])
            for one in Axe().run(page).response["violations"]
        ]
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
    page.goto(f"{shop.address}/label")
    ready(page)
    for key in ("g", "?", "u"):
        page.keyboard.press(key)
        found[key] = [one["id"] for one in Axe().run(page).response["violations"]]
        page.keyboard.press("Escape")
    context.close()
    assert {path: faults for path, faults in found.items() if faults} == {}


@pytest.mark.parametrize("width", [1280, 390])  # the second is also a window that is enlarged three times
def test_tab_reaches_all_controls_and_the_focus_is_seen(browser, shop, pair, width):
    context = browser.new_context(viewport={"width": width, "height": 844})
    page = log_in(context, shop, LEA)
    for path in (*PAGES, "/plan", "/team/people", "/team/audit", "/team/review", "/account", "/no-such-page"):
        page.goto(shop.address + path.format(pair=pair))
        assert len(walk(page)) > 6, path
    context.clear_cookies()
    page.goto(f"{shop.address}/login")
    assert {"name", "password"} <= {one["id"] for one in walk(page)}
    context.close()


def test_what_contradicts_a_label_is_beside_its_photos(browser, shop):
    first, second, third = shop.workspace.catalog.image[[0, 4, 8]]
    triangle = Labels.of([first, second, first], [second, third, third], [1, 1, 0])
    shop.workspace.add_labels(triangle, "a file")
    page = log_in(browser.new_context(), shop, LEA, there="/team/review")
    parts = page.locator(".suspects > li").all()
    assert parts
    for part in parts:
        photos, words = part.locator(".two").bounding_box(), part.locator(".why").bounding_box()
        assert words["x"] >= photos["x"] + photos["width"]
        assert words["y"] == photos["y"]
    page.context.close()


def test_the_buttons_for_a_reason_keep_the_same_margin_on_both_sides(browser, shop):
    page = log_in(browser.new_context(viewport={"width": 390, "height": 844}), shop, ANN)
    ready(page)
    page.keyboard.press("u")
    asked = page.locator("#why")
    asked.wait_for()
    box = asked.bounding_box()
    assert (box["x"], box["width"]) == (0, 390)
    page.context.close()
