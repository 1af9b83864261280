"""The documentation site is built without a warning, is complete, and needs no other machine."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest
from test_named_commands import commands, options

import lookalike

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "docs/_site/build.py"
LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
GROUPS = ["Start", "How to", "Reference", "Research", "Internals"]
pytestmark = pytest.mark.slow


class Addresses(HTMLParser):
    """What a page loads, what it links, and its text."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.linked: list[str] = []
        self.text = ""
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag in LOADED and given.get(LOADED[tag]):
            self.loaded.append(given[LOADED[tag]])
        if tag == "a" and given.get("href"):
            self.linked.append(given["href"])

    def handle_data(self, data):
        self.text += f"{data} "


@pytest.fixture(scope="session")
def site(made_once) -> Path:
    """The site, built once by the command of `make docs`."""

    def make(folder: Path) -> None:
        done = subprocess.run(
            [sys.executable, BUILD, folder / "site"], capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, "")

    return made_once("docs", make) / "site"


def reached(site: Path) -> set[Path]:
    """The files that links lead to from the index."""
    found, left = {site / "index.html"}, [site / "index.html"]
    while left:
        page = left.pop()
        for link in Addresses(page).linked:
            file = (page.parent / unquote(urldefrag(link)[0])).resolve()
            if ":" not in link and file.is_file() and file not in found:
                found.add(file)
                left += [file] if file.suffix == ".html" else []
    return found


def test_every_page_is_reached_from_the_index(site):
    site = site.resolve()
    own = {site / name for name in ("search.html", "genindex.html", "py-modindex.html")}
    assert set(site.rglob("*.html")) - own <= reached(site)


def test_every_page_of_the_repository_is_on_the_site(site):
    pages = [page.relative_to(ROOT / "docs") for page in ROOT.glob("docs/**/*.md")]
    assert pages
    assert not [str(page) for page in pages if not (site / page.with_suffix(".html")).is_file()]


def test_nothing_is_loaded_from_elsewhere(site):
    pages = {page: Addresses(page).loaded for page in site.rglob("*.html")}
    assert not [each for loaded in pages.values() for each in loaded if re.match(r"(\w+:)?//", each)]
    missing = [
        each
        for page, loaded in pages.items()
        for each in loaded
        if not each.startswith(("data:", "#"))
        and not (page.parent / unquote(re.split("[?#]", each)[0])).is_file()
    ]
    assert not missing
    for sheet in site.rglob("*.css"):
        assert not re.findall(r"(?:url\(|@import)\s*[\"']?(?:\w+:)?//", sheet.read_text(encoding="utf-8")), (
            sheet
        )


def test_the_groups_of_the_readme_are_the_navigation(site):
    page = (site / "index.html").read_text(encoding="utf-8")
    assert re.findall(r'<p class="caption"[^>]*><span class="caption-text">([^<]*)</span>', page) == GROUPS


@pytest.mark.parametrize("name", sorted(set(commands()) - {""}))
def test_the_page_of_a_command_has_its_help(site, name):
    page = Addresses(site / f"reference/commands/{name.replace(' ', '-')}.html").text
    command = commands()[name]
    words = set(re.findall(r"[\w-]+", page))
    assert set(options(command)) <= words
    assert "".join(command.help.split()).replace("`", "") in "".join(page.split())
    assert ("JSON schema" in page) == (getattr(command, "result", None) is not None)


def test_the_page_of_python_has_every_public_name(site):
    page = (site / "reference/python.html").read_text(encoding="utf-8")
    anchors = set(re.findall(r'id="lookalike\.(\w+)"', page))
    assert set(lookalike.__all__) - {"__version__"} <= anchors


@pytest.mark.browser
def test_search_works_from_a_file_in_both_themes(site, browser):
    for scheme, word, title in (("light", "leakage", "Glossary"), ("dark", "random_pairs", "Python")):
        with browser.new_context(color_scheme=scheme) as context:
            page = context.new_page()
            faults: list[str] = []
            page.on("pageerror", lambda error, faults=faults: faults.append(str(error)))
            page.on("requestfailed", lambda request, faults=faults: faults.append(request.url))
            page.goto((site / "index.html").as_uri())
            page.get_by_role("textbox", name="Search").first.fill(word)
            page.keyboard.press("Enter")
            page.locator("#search-results li a", has_text=title).first.click()
            assert page.locator("h1").first.inner_text().startswith(title)
            background = page.evaluate("getComputedStyle(document.body).backgroundColor")
            lightness = sum(map(int, re.findall(r"\d+", background)[:3])) / 3
            assert (lightness > 128) == (scheme == "light")
            assert not faults


@pytest.mark.browser
def test_no_page_is_wider_than_a_phone(site, browser):
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        page = context.new_page()
        for name in ("index", "reference/python", "reference/commands/evaluate", "research/learning"):
            page.goto((site / f"{name}.html").as_uri())
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
