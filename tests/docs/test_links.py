"""Every relative link, image and heading anchor of the documentation exists."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
LINK = re.compile(r"\]\((?!https?:)([^)\s]+)\)")


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_exist(page):
    for link in LINK.findall(page.read_text(encoding="utf-8")):
        target, _, anchor = link.partition("#")
        file = (page.parent / target).resolve() if target else page
        assert file.exists(), link
        if anchor:
            assert anchor in anchors(file), link


def test_every_page_and_image_is_linked():
    linked = {
        (page.parent / link.partition("#")[0]).resolve()
        for page in PAGES
        for link in LINK.findall(page.read_text(encoding="utf-8"))
    }
    files = {*ROOT.glob("docs/**/*.md"), *ROOT.glob("docs/images/*")}
    unlinked = {str(file.relative_to(ROOT)) for file in files - linked if "decisions" not in file.parts}
    assert not unlinked


def test_the_architecture_names_every_package_and_only_files_that_exist():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    package = ROOT / "src/lookalike"
    for path in re.findall(r"`([a-z_]+(?:/[a-z_]+)+(?:\.py)?)`", text):
        assert (package / path).exists(), path
    rooms = {folder.name for folder in package.glob("*/") if (folder / "__init__.py").exists()}
    listed = set(re.findall(r"^\| `([a-z]+)` \|", text, re.MULTILINE))
    assert listed == rooms
