"""Pages of the repository as pages of the site: their places, their links, and the groups of the README.

A page keeps its lines, so the line of a warning of Sphinx is the line of the source.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

ABOVE = {
    "README.md": "index.md",
    "ARCHITECTURE.md": "internals/architecture.md",
    "CONTRIBUTING.md": "internals/contributing.md",
    "CHANGELOG.md": "internals/changes.md",
    "SECURITY.md": "internals/security.md",
}
LINK = re.compile(r"\]\((?!\w+:|#)([^)#\s]+)(#[^)\s]*)?\)")
GENERATED = {"Reference": ("reference/measure-names", "reference/python", "reference/commands")}


def place(path: PurePosixPath) -> PurePosixPath:
    """Where a file of the repository is on the site.

    >>> place(PurePosixPath("README.md")), place(PurePosixPath("docs/how-to/pairs.md"))
    (PurePosixPath('index.md'), PurePosixPath('how-to/pairs.md'))
    """
    if path.name in ABOVE and len(path.parts) == 1:
        return PurePosixPath(ABOVE[path.name])
    return path.relative_to("docs") if path.is_relative_to("docs") else path


def target(page: PurePosixPath, link: str) -> PurePosixPath:
    """The file of the repository that a link of a page means."""
    return PurePosixPath(os.path.normpath(page.parent / link))


def links(page: PurePosixPath, text: str) -> Iterator[PurePosixPath]:
    """The files and folders of the repository that a page links."""
    return (target(page, link) for link, _ in LINK.findall(text))


def with_links(root: Path, page: PurePosixPath, text: str) -> str:
    """The text of a page with links between places of the site; a folder is its page `index.md`."""

    def moved(found: re.Match[str]) -> str:
        file = target(page, found[1])
        there = place(file) / "index.md" if (root / file).is_dir() else place(file)
        return f"]({os.path.relpath(there, place(page).parent)}{found[2] or ''})"

    return LINK.sub(moved, text)


def groups(root: Path) -> dict[str, list[str]]:
    """The groups of the README's list of pages, each with its pages as Sphinx names them, in order."""
    text = (root / "README.md").read_text(encoding="utf-8").partition("\n## Documentation\n")[2]
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        if heading := re.fullmatch(r"\*\*(.+)\*\*", line):
            found[heading[1]] = []
        elif line.startswith(("- ", "  ")):
            for file in links(PurePosixPath("README.md"), line):
                there = place(file) / "index" if (root / file).is_dir() else place(file).with_suffix("")
                found[list(found)[-1]].append(str(there))
    return {name: list(dict.fromkeys([*pages, *GENERATED.get(name, ())])) for name, pages in found.items()}


def toctree(pages: list[str], caption: str = "") -> str:
    """Pages in the navigation of the site."""
    named = f":caption: {caption}\n" if caption else ""
    return f"\n```{{toctree}}\n:hidden:\n{named}\n" + "".join(f"/{page}\n" for page in pages) + "```\n"


def folder_page(root: Path, folder: PurePosixPath) -> str:
    """A page that lists the files of a linked folder, with the titles of those that are pages.

    Pages link it, so it need not be in the navigation.
    """
    files = sorted((root / folder).iterdir())
    pages = [str(place(folder) / file.stem) for file in files if file.suffix == ".md"]
    named = [(_title(file) if file.suffix == ".md" else file.name, file.name) for file in files]
    listed = "".join(f"- [{title}]({name})\n" for title, name in named)
    return f"---\norphan: true\n---\n\n# {folder.name.capitalize()}\n\n{listed}" + (
        toctree(pages) if pages else ""
    )


def _title(page: Path) -> str:
    return page.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
