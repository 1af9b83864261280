"""Renew the pictures of the pages of exploring in docs/images: `python scripts/exploring_pictures.py WORK_FOLDER`.

Draws a studio catalog into the folder, with three encoders, a pool with labels of simulated experts, and a promotion.
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "web"))

from browsers import chromium
from labelling_app import LEA, draw_team, log_in, serving_shop
from labelling_pictures import TARGET, VIEWS, screen, sheet
from PIL import Image
from playwright.sync_api import Page

from lookalike.core.types import Labels
from lookalike.store.promotions import promote
from lookalike.store.workspace import Workspace
from lookalike.studio import studio
from lookalike.studio.experts import experts, vote
from lookalike.workflows.demo.truth import simulated_labels
from lookalike.workflows.explore.map import make_map
from lookalike.workflows.label.discover import discover
from lookalike.workflows.release.promote import compare_lists, write_page
from lookalike.workflows.search.searcher import Searcher
from lookalike.workflows.start.embed import embed

IMAGES, JUDGED, QUERIES = 1000, 5, 120
SERVED, NEW = "color+hog+layout", "hog"
QUALITY, MOST_BYTES = 85, 200_000
ENCODERS = {
    "color+hog+layout": "descriptor:color+hog+layout",
    "color": "descriptor:color",
    "hog": "descriptor:hog",
}
BOX = "90,40,400,440"


def prepare(folder: Path) -> tuple[Workspace, str]:
    """A workspace with vectors, an encoder that is served, and labels of the first results of each; and a query."""
    workspace = Workspace(draw_team(folder, IMAGES, size=480))
    drawn = studio(IMAGES, photos_per_item=2, seed=0)
    for name, spec in ENCODERS.items():
        embed(workspace, spec, name=name)
    catalog = workspace.catalog
    row = int(np.flatnonzero(catalog.category == "lamp")[4])
    query = str(catalog.image[row])
    found = [hit for name in ENCODERS for hit in Searcher.of(workspace, name).by_image(query, JUDGED).results]
    place = {drawn.image_name(at): at // drawn.photos_per_item for at in range(len(drawn))}
    items = np.array([place[hit.image] for hit in found])
    said = vote(drawn, experts(1, 0)[0], np.full(len(items), place[query]), items)
    workspace.add_labels(
        Labels.of([query] * len(found), [hit.image for hit in found], said), "an expert", replace=True
    )
    pool = discover(workspace, ["color", "hog"], top=5, queries=QUERIES, seed=0)
    labels, _ = simulated_labels(drawn, catalog, pool.questions, 0)
    workspace.add_labels(labels, "two experts", replace=True)
    with workspace.database.write() as connection:
        promote(connection, SERVED, workspace.manifest(SERVED).origin, gate={})
    make_map(workspace, SERVED)
    return workspace, query


def settled(page: Page) -> None:
    """Wait until everything on the page has come."""
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(500)


def keep(screens: list[Image.Image], name: str) -> None:
    """A small JPEG of the screens in the documentation."""
    whole = sheet(screens)
    for quality in range(QUALITY, 40, -5):
        whole.save(TARGET / f"exploring-{name}.jpg", quality=quality, optimize=True, progressive=True)
        if (TARGET / f"exploring-{name}.jpg").stat().st_size < MOST_BYTES:
            break


def main(folder: Path) -> None:
    """Make the workspace and look at the pages."""
    workspace, query = prepare(folder)
    promotion = Path(write_page(workspace, SERVED, NEW, compare_lists(workspace, SERVED, NEW, 10))).resolve()
    chosen = "".join(f"&encoder={name.replace('+', '%2B')}" for name in ENCODERS)
    with serving_shop(workspace) as shop, chromium() as browser:
        lead = shop.client(LEA)
        while "page updates itself" in lead.get("/results").text:
            time.sleep(1)
        pages = {
            "search": f"{shop.address}/search?image={query}{chosen}&box={BOX}",
            "gallery": f"{shop.address}/search",
            "map": f"{shop.address}/map",
            "results": f"{shop.address}/results",
            "catalog": f"{shop.address}/catalog",
            "promotion": promotion.as_uri(),
        }
        for name, there in pages.items():
            screens = []
            for options in VIEWS.values():
                for scheme in ("light", "dark"):
                    context = browser.new_context(color_scheme=scheme, **options)
                    page = log_in(context, shop, LEA, there="/account")
                    for _ in range(2):  # the second time with warm encoders
                        page.goto(there)
                        settled(page)
                    if name == "map":
                        page.get_by_role("button", name="lamp").click()
                        settled(page)
                    screens.append(screen(page))
                    context.close()
            keep(screens, name)
            screens[0].save(folder / f"{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
