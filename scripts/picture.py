"""Renew the README's picture from a demo's report: `python scripts/picture.py demo/reports/report.html`."""

import shutil
import sys
from io import BytesIO
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

VIEW = {"width": 940, "height": 1160}
SCALE = 0.8
TARGET = Path(__file__).parents[1] / "docs/images/report.png"


def main(report: Path) -> None:
    """Two views of the page side by side: its beginning, and what people would see."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
        )
        page = browser.new_page(viewport=VIEW, device_scale_factor=SCALE)
        page.goto(report.resolve().as_uri())
        views = [page.screenshot()]
        page.get_by_role("heading", name="What people would see").evaluate("title => title.scrollIntoView()")
        views.append(page.screenshot())
        browser.close()
    opened = [Image.open(BytesIO(view)).convert("RGB") for view in views]
    width, height = opened[0].size
    picture = Image.new("RGB", (2 * width, height))
    for at, view in enumerate(opened):
        picture.paste(view, (at * width, 0))
    picture.save(TARGET, optimize=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
