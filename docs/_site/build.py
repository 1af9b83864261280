"""Build the documentation site: `python docs/_site/build.py build/site`."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

import commands
import pages
import reference
from sphinx.cmd.build import build_main

ROOT = Path(__file__).parents[2]


def sources(root: Path) -> Iterator[tuple[PurePosixPath, str | Path]]:
    """Every file that Sphinx reads, by its place: its text, or the file to copy."""
    files = [
        PurePosixPath(file.relative_to(root)) for file in sorted(root.glob("docs/*/**/*")) if file.is_file()
    ]
    files = [*map(PurePosixPath, pages.ABOVE), PurePosixPath("docs/glossary.md"), *files]
    linked: set[PurePosixPath] = set()
    for file in files:
        if file.suffix != ".md":
            linked.add(file)
        else:
            text = (root / file).read_text(encoding="utf-8")
            linked |= set(pages.links(file, text))
            more = "".join(pages.toctree(*one[::-1]) for one in pages.groups(root).items())
            yield (
                pages.place(file),
                pages.with_links(root, file, text) + (more if file.name == "README.md" else ""),
            )
    for file in linked - set(files) | {one for one in linked if one.suffix != ".md"}:
        if (root / file).is_dir():
            yield pages.place(file) / "index.md", pages.folder_page(root, file)
        else:
            yield pages.place(file), root / file
    names = commands.listed()
    yield (
        PurePosixPath("reference/commands.md"),
        commands.index() + pages.toctree([commands.page_name(name) for name in names]),
    )
    for name in names:
        yield PurePosixPath(f"{commands.page_name(name)}.md"), commands.page(name)
    yield PurePosixPath("reference/python.md"), reference.python()
    yield PurePosixPath("reference/measure-names.md"), reference.measure_names()


def build(site: Path, *options: str) -> int:
    """Write the sources beside the site and build it; any warning makes the status 1."""
    staged = site.parent / "pages"
    shutil.rmtree(staged, ignore_errors=True)
    for place, content in sources(ROOT):
        file = staged / place
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Path):
            shutil.copyfile(content, file)
        else:
            file.write_text(content, encoding="utf-8")
    strict = ["-W", "--keep-going", "-n", "-q", "-E", *options]
    return build_main(
        [*strict, "-c", str(ROOT / "docs"), "-d", str(site.parent / "doctrees"), str(staged), str(site)]
    )


if __name__ == "__main__":
    sys.exit(build(Path(sys.argv[1])))
