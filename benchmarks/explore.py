"""The search page in Chromium: the gallery, a photo of it as query, a dropped photo, and a box drawn on it.

    python benchmarks/explore.py --images 20000
    python benchmarks/explore.py --photos FOLDER
    python benchmarks/explore.py --made 100000

Photos are drawn by the studio unless a folder has them. `--made` has vectors and no photos, so nothing is dropped.
Each time is from the action until the results are in the page, the median of the runs, with warm encoders. Results of
dropped photos and boxes are compared with those of the searcher.
"""

import argparse
import io
import re
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter, sleep

import requests

from lookalike.catalog.photos.boxes import Box
from lookalike.core.clock import now_ms
from lookalike.store.workspace import Workspace
from lookalike.workflows.label.people import add_person
from lookalike.workflows.search.searcher import Searcher
from lookalike.workflows.start.embed import embed
from lookalike.workflows.start.init import init

sys.path[:0] = [
    str(Path(__file__).parents[1] / place) for place in ("tests", "tests/web", "tests/web/explore")
]
ENCODERS = ("color", "hog")
BOX = (0.2, 0.3, 0.8, 0.9)


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=20_000)
    parser.add_argument("--photos", type=Path)
    parser.add_argument("--made", type=int)
    parser.add_argument("--size", type=int, default=128)
    parser.add_argument("--runs", type=int, default=7)
    given = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        begun = perf_counter()
        workspace = prepare(folder, given.images, given.size, given.photos, given.made)
        print(f"{len(workspace.catalog):,} images, prepared in {perf_counter() - begun:.0f} s")
        measure(workspace, given.runs, dropped=given.made is None)
    finally:
        shutil.rmtree(folder)


def prepare(folder: Path, images: int, size: int, photos: Path | None, made: int | None) -> Workspace:
    """A workspace with vectors of two encoders; of one if there are no photos."""
    from labelling_app import LEA, PASSWORD, draw_team
    from map import make_catalog

    if made is not None:
        workspace = make_catalog(folder, made, 512)
    elif photos is not None:
        workspace = init(photos, folder / "shop")[0]
    else:
        workspace = Workspace(draw_team(folder, images, size))
    if made is not None or photos is not None:
        add_person(workspace, LEA, "lead", PASSWORD, now_ms())
    for name in ENCODERS if made is None else ():
        embed(workspace, f"descriptor:{name}")
    return workspace


def measure(workspace: Workspace, runs: int, *, dropped: bool) -> None:
    """Print the times."""
    from browsers import chromium
    from labelling_app import LEA, log_in, serving_shop
    from test_search_in_browser import give, items

    times: dict[str, list[float]] = {}
    with serving_shop(workspace) as shop, chromium() as browser:
        while not requests.get(f"{shop.address}/readyz", timeout=30).ok:
            sleep(0.1)
        page = log_in(browser.new_context(viewport={"width": 1360, "height": 900}), shop, LEA, there="/team")
        for run in range(runs + 1):
            begun = perf_counter()

            def took(words: str, begun: float, run: int = run) -> None:
                key = f"{words}, new server" if run == 0 else words
                times.setdefault(key, []).append(perf_counter() - begun)

            page.goto(f"{shop.address}/search")
            took("gallery", begun)
            begun = perf_counter()
            page.locator(".gallery a").nth(3 * run).click()
            page.locator(".hits li").first.wait_for()
            took("results for a photo of the gallery", begun)
            if not dropped:
                continue
            page.wait_for_load_state("load")  # then the page takes photos
            path = str(workspace.catalog.path[(run * 97) % len(workspace.catalog)])
            content = (workspace.photos / path).read_bytes()
            begun = perf_counter()
            give(page, content)
            page.locator(".hits li").first.wait_for()
            took("results for a dropped photo", begun)
            expected(workspace, page, items, content, None)
            page.wait_for_load_state("load")
            mark = page.locator("#mark").bounding_box()
            assert mark is not None
            left, top, right, bottom = (
                mark[at] + part * mark[side]
                for at, side, part in zip("xyxy", ("width", "height") * 2, BOX, strict=True)
            )
            page.mouse.move(left, top)
            page.mouse.down()
            page.mouse.move(right, bottom, steps=3)
            begun = perf_counter()
            page.mouse.up()
            page.wait_for_url("**/search?*box=*")
            page.locator(".hits li").first.wait_for()
            took("results for a drawn box", begun)
            expected(workspace, page, items, content, Box(*map(int, re.findall(r"box=(\d+)", page.url))))
    for words, found in times.items():
        print(f"  {words:<46}{median(found):6.2f} s")


def expected(workspace: Workspace, page: object, items: object, content: bytes, box: Box | None) -> None:
    """The page shows what the searchers find."""
    for at, name in enumerate(ENCODERS):
        answer = Searcher.of(workspace, name).by_photo(io.BytesIO(content), box=box)
        assert items(page, at) == [hit.item for hit in answer.results], name  # type: ignore[operator]


if __name__ == "__main__":
    main()
