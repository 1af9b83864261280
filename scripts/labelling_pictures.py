"""Renew the pictures of the labelling pages in docs/images: `python scripts/labelling_pictures.py WORK_FOLDER`.

Draws a studio catalog into the folder, lets two made-up people vote on some of its pairs, and looks at every page.
"""

import random
import sys
import time
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "web"))

from browsers import chromium
from labelling_app import (
    ANN,
    BOB,
    LEA,
    Shop,
    draw_team,
    log_in,
    make_workspace,
    ready,
    serving_shop,
)

from lookalike.core.clock import now_ms
from lookalike.store.labelling.queue import NewPair, add_pairs
from lookalike.store.workspace import Workspace

GAP = 16
TARGET = Path(__file__).parents[1] / "docs/images"
VIEWS = {
    "desktop": {"viewport": {"width": 1280, "height": 800}},
    "phone": {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
}
LEADS_PAGES = {
    "team": "/team",
    "review": "/team/review",
    "people": "/team/people",
    "audit": "/team/audit",
    "plan": "/plan",
    "account": "/account",
    "discuss": "/discuss",
    "guidelines": "/guidelines",
    "edit": "/guidelines/edit",
    "examples": "/guidelines/examples",
    "gold": "/guidelines/gold",
    "campaign": "/plan/campaign",
    "interface": "/api/docs",
}


def triangle(workspace: Workspace) -> list[str]:
    """Three photos of one kind whose three pairs are asked first: they will be said to be alike but for one pair."""
    catalog = workspace.catalog
    rows = [row for row in range(len(catalog)) if str(catalog.image[row]).startswith("chair/")][:6:2]
    pairs = [(rows[a], rows[b]) for a, b in ((0, 1), (1, 2), (0, 2))]
    asked = [
        NewPair(
            *map(str, (catalog.image[a], catalog.image[b], catalog.item[b], catalog.category[a])),
            "pool",
            n - 9,
        )
        for n, (a, b) in enumerate(pairs)
    ]
    with workspace.database.write() as connection:
        add_pairs(connection, asked, 2, now_ms())
    return [str(catalog.image[row]) for row in rows]


def prepare(shop: Shop, three: list[str]) -> int:
    """Votes, examples, a gold pair, a discussion with a comment; returns the pair that is discussed."""
    draw = random.Random(4)
    ann, bob, lea = (shop.client(name) for name in (ANN, BOB, LEA))
    campaign = lea.get("/api/campaign").json()
    lea.put("/api/campaign", json={**campaign, "undo_seconds": 0, "repeats": 0})
    for client in (ann, bob):
        left = {frozenset((three[a], three[b])) for a, b in ((0, 1), (1, 2), (0, 2))}
        for turn in range(60):
            given = client.get("/api/label/next").json()["given"]
            if not given or (turn >= 36 and not left):
                break
            ends = {given[0][side]["image"] for side in ("left", "right")}
            kinds = {image.split("/")[0] for image in ends}
            said = "similar" if len(kinds) == 1 and draw.random() < 0.85 else "dissimilar"
            left.discard(frozenset(ends))
            if ends <= set(three):
                said = "dissimilar" if ends == {three[0], three[2]} else "similar"
            client.post("/api/label/answer", json={"token": given[0]["token"], "answer": said, "took": 900})
    while not (found := lea.get("/api/discussions").json()["pairs"]):
        pass
    settled = lea.get("/api/discussions?state=settled").json()["pairs"]
    notes = {1: "Same build, legs and mood.", 0: "Another shape and another use."}
    for label in (1, 0):
        for pair in [one for one in settled if one["label"] == label][:2]:
            ends = {"query": pair["query"], "candidate": pair["candidate"]}
            kind = "similar" if label else "dissimilar"
            lea.post("/api/guidelines/examples", json={**ends, "label": kind, "note": notes[label]})
    ends = {"query": settled[-1]["query"], "candidate": settled[-1]["candidate"]}
    lea.post("/api/gold", json={**ends, "answer": "dissimilar", "note": "Clear to everybody."})
    which = int(found[0]["question"])
    ann.post(
        f"/api/discussions/{which}/comments",
        json={"text": "The proportions are the same; only the colour differs.", "token": "a"},
    )
    bob.post(
        f"/api/discussions/{which}/comments",
        json={"text": "True. The guidelines count colour as design, though.", "token": "b"},
    )
    bob.post(f"/api/discussions/{which}/proposals", json={"verdict": "similar"})
    return which


def look(browser: Browser, shop: Shop, which: int) -> None:
    """Every page on one sheet: wide and narrow, light and dark."""
    seen: dict[str, list[Image.Image]] = {}
    for options in VIEWS.values():
        for scheme in ("light", "dark"):
            for name in (ANN, LEA):
                context = browser.new_context(color_scheme=scheme, **options)
                page = log_in(context, shop, name)
                if name == ANN:
                    ready(page)
                    seen.setdefault("label", []).append(screen(page))
                    page.goto(f"{shop.address}/answers")
                    page.wait_for_load_state("networkidle")
                    seen.setdefault("answers", []).append(screen(page))
                else:
                    for part, path in {**LEADS_PAGES, "discussion": f"/discuss/{which}"}.items():
                        page.goto(shop.address + path)
                        page.wait_for_load_state("networkidle")
                        seen.setdefault(part, []).append(screen(page))
                context.close()
    for part, screens in seen.items():
        keep(sheet(screens), f"{part}-page")
    keep(seen["label"][0], "label")
    keep(seen["discussion"][0], "discussion")


def overlays(browser: Browser, shop: Shop) -> None:
    """The labelling page enlarged, with its keys, with the guidelines over it."""
    page = log_in(browser.new_context(**VIEWS["desktop"]), shop, ANN)
    ready(page)
    for key, name in (("x", "zoom"), ("?", "keys"), ("g", "overlay")):
        page.keyboard.press(key)
        page.wait_for_load_state("networkidle")
        keep(screen(page), name)
        page.keyboard.press(key)


def doors(browser: Browser, shop: Shop) -> None:
    """What is seen without an account: the login, and the form behind an invitation."""
    lead = shop.client(LEA)
    answer = lead.post("/team/people/invite", data={"role": "annotator"}).text
    invitation = answer.split("/invite/", 1)[1].split('"', 1)[0]
    for path, name in (("/login", "login"), (f"/invite/{invitation}", "invite")):
        screens = []
        for options in VIEWS.values():
            for scheme in ("light", "dark"):
                page = browser.new_page(color_scheme=scheme, **options)
                page.goto(shop.address + path)
                page.wait_for_load_state("networkidle")
                screens.append(screen(page))
                page.close()
        keep(sheet(screens), f"{name}-page")


def screen(page: Page) -> Image.Image:
    """What is on the screen."""
    return Image.open(BytesIO(page.screenshot())).convert("RGB")


def sheet(screens: list[Image.Image]) -> Image.Image:
    """Screens side by side, all as high as the lowest of them, made smaller."""
    high = min(one.height for one in screens) * 5 // 8
    small = [one.resize((one.width * high // one.height, high)) for one in screens]
    whole = Image.new("RGB", (sum(one.width for one in small) + GAP * (len(small) - 1), high), "white")
    left = 0
    for one in small:
        whole.paste(one, (left, 0))
        left += one.width + GAP
    return whole


def keep(picture: Image.Image, name: str) -> None:
    """A small JPEG in the documentation."""
    picture.save(TARGET / f"labelling-{name}.jpg", quality=85, optimize=True)


def main(folder: Path) -> None:
    """Make the workspace and look at it."""
    workspace = make_workspace(folder / "shop", draw_team(folder, size=480), pairs=60)
    with serving_shop(workspace) as shop, chromium() as browser:
        which = prepare(shop, triangle(workspace))
        lead = shop.client(LEA)
        while "Not known yet" in lead.get("/team").text:
            time.sleep(1)
        look(browser, shop, which)
        overlays(browser, shop)
        doors(browser, shop)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
