"""The map in Chromium: time from opening the page to the first drawing, then of colours and of a selection.

    python benchmarks/map.py --images 100000

The catalog has clustered vectors and no photos. Its coordinates are stored before the clock starts, and the server has
opened the catalog once, as after the first visitor. Each time is the median of the runs.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np

from lookalike.core.checks import strings
from lookalike.core.clock import now_ms
from lookalike.core.types import Catalog, Origin
from lookalike.store.settings import WorkspaceSettings
from lookalike.store.workspace import Workspace
from lookalike.workflows.explore.map import make_map, open_map
from lookalike.workflows.label.people import add_person

sys.path[:0] = [str(Path(__file__).parents[1] / "tests"), str(Path(__file__).parents[1] / "tests/web")]
CATEGORIES = 11
USABLE = "() => performance.getEntriesByName('map').map(one => one.startTime)[0]"


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--dimension", type=int, default=512)
    parser.add_argument("--runs", type=int, default=5)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        measure(folder, given.images, given.dimension, given.runs)
    finally:
        shutil.rmtree(folder)


def measure(folder: Path, images: int, dimension: int, runs: int) -> None:
    """Print the times."""
    from browsers import chromium
    from labelling_app import LEA, PASSWORD, log_in, serving_shop

    workspace = make_catalog(folder, images, dimension)
    add_person(workspace, LEA, "lead", PASSWORD, now_ms())
    print(f"{images:,} images, {dimension} dimensions, median of {runs}")
    for words, call in (("coordinates by PCA", make_map), ("open stored coordinates", open_map)):
        begun = perf_counter()
        call(workspace, "made")
        print(f"  {words:<36}{perf_counter() - begun:6.2f} s")
    with serving_shop(workspace) as shop, chromium() as browser:
        page = log_in(browser.new_context(viewport={"width": 1360, "height": 900}), shop, LEA, there="/team")
        times: dict[str, list[float]] = {"opened by a server that just began": []}
        for _ in range(runs + 1):
            page.goto(f"{shop.address}/map?encoder=made&by=category")
            page.locator("#map[data-ready]").wait_for()
            first = times["opened by a server that just began"]
            usable = times.setdefault("page usable", []) if first else first
            usable.append(page.evaluate(USABLE) / 1000)
        for _ in range(runs):
            begun = perf_counter()
            page.locator("#legend button").first.click()
            page.locator("#found > li").first.wait_for()
            times.setdefault("a colour selected and its photos listed", []).append(perf_counter() - begun)
            page.get_by_role("button", name="Clear selection").click()
    for words, found in times.items():
        print(f"  {words:<36}{median(found):6.2f} s")


def make_catalog(folder: Path, images: int, dimension: int) -> Workspace:
    """A workspace of images without photos, two of each item, with clustered vectors."""
    draw = np.random.default_rng(0)
    group = draw.integers(0, CATEGORIES, images)
    names = strings(f"shelf {row % 97}/photo {row:07d}.jpg" for row in range(images))
    catalog = Catalog(
        image=names,
        path=names,
        item=strings(f"item {row // 2:07d}" for row in range(images)),
        category=strings(f"category {one}" for one in group),
        role=strings(["both"] * images),
        split=strings(("train", "train", "test")[row // 2 % 3] for row in range(images)),
        position=np.arange(images),
        digest=strings([""] * images),
        width=np.zeros(images, np.int64),
        height=np.zeros(images, np.int64),
    )
    workspace = Workspace.create(folder / "shop", catalog, WorkspaceSettings(source="made", photos=""))
    centres = draw.normal(size=(CATEGORIES, dimension)).astype(np.float32)
    shards = workspace.shards("made", Origin("precomputed:made", "none"))
    for first in range(0, images, 4096):
        some = group[first : first + 4096]
        shards.put(first, centres[some] + draw.normal(size=(len(some), dimension)).astype(np.float32))
    shards.finish()
    return workspace


if __name__ == "__main__":
    main()
