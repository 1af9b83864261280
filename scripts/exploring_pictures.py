"""Renew the pictures of the search page in docs/images: `python scripts/exploring_pictures.py WORK_FOLDER`.

Draws a studio catalog into the folder, with three encoders and labels of a simulated expert for some results.
"""

import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "web"))

from browsers import chromium
from labelling_app import LEA, draw_team, log_in, serving_shop
from labelling_pictures import TARGET, VIEWS, screen, sheet

from lookalike.core.types import Labels
from lookalike.store.served import promote
from lookalike.store.workspace import Workspace
from lookalike.studio import studio
from lookalike.studio.experts import experts, vote
from lookalike.workflows.search.searcher import Searcher
from lookalike.workflows.start.embed import embed

IMAGES, JUDGED = 1000, 5
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
    with workspace.database.write() as connection:
        promote(connection, "color+hog+layout", workspace.manifest("color+hog+layout").origin, gate={})
    return workspace, query


def main(folder: Path) -> None:
    """Make the workspace and look at the page."""
    workspace, query = prepare(folder)
    with serving_shop(workspace) as shop, chromium() as browser:
        chosen = "".join(f"&encoder={name.replace('+', '%2B')}" for name in ENCODERS)
        path = f"/search?image={query}{chosen}&box={BOX}"
        for name, there in (("search", path), ("gallery", "/search")):
            screens = []
            for options in VIEWS.values():
                for scheme in ("light", "dark"):
                    context = browser.new_context(color_scheme=scheme, **options)
                    page = log_in(context, shop, LEA, there="/account")
                    page.goto(shop.address + there)
                    page.wait_for_load_state("networkidle")
                    page.goto(shop.address + there)  # with warm encoders
                    page.wait_for_load_state("networkidle")
                    screens.append(screen(page))
                    context.close()
            sheet(screens).save(TARGET / f"exploring-{name}.jpg", quality=85, optimize=True)
            screens[0].save(folder / f"{name}.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
