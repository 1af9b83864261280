"""Python of the documentation runs; other code blocks name only what exists, or are listed with a reason."""

import re
import shlex
import shutil
import tomllib
from pathlib import Path
from typing import NamedTuple

import pytest
from markdown_it import MarkdownIt

import lookalike
from lookalike.cli.app import run

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
TUTORIAL, FORMATS = "docs/tutorial/from-photos-to-a-decision.md", "docs/reference/formats.md"
RUN_ELSEWHERE = {
    (TUTORIAL, "import lookalike"): "tests/commands/test_commands_readme.py",
    ("docs/how-to/serving-search.md", "export LOOKALIKE=http"): "tests/web/api/test_client_examples.py",
    ("docs/how-to/serving-search.md", "# add an image"): "tests/web/api/test_client_examples.py",
}
DIAGRAM, FORMULA, OUTPUT = "a diagram", "a formula", "the output of a command"
NOT_RUN = {
    ("ARCHITECTURE.md", "photos -> Catalog"): DIAGRAM,
    ("docs/research/promise.md", "p = P(B <= x)"): FORMULA,
    ("docs/reference/measures.md", "w = clip("): FORMULA,
    ("docs/how-to/training.md", "P(a, b) ="): FORMULA,
    ("docs/research/real-data.md", "DCS(alpha=10)"): OUTPUT,
    ("docs/research/real-data.md", "generators:"): OUTPUT,
    ("docs/research/studio.md", "Ground truth of"): OUTPUT,
    ("docs/how-to/comparing.md", "color+hog+layout is better"): OUTPUT,
    ("docs/how-to/catalogs.md", "image,path,item"): "the lines of a table",
    ("docs/how-to/pairs.md", "image,item,category"): "the lines of a table",
    ("docs/how-to/catalogs.md", "for photo in *.heic"): "needs the program heif-convert",
    ("docs/how-to/serving.md", "server {"): "the configuration of nginx",
    ("docs/how-to/deploying.md", "useradd --system"): "it makes a user of the machine",
    ("docs/how-to/deploying.md", "export POSTGRES_PASSWORD"): "needs Docker",
    ("docs/how-to/several-machines.md", "sbatch --array"): "needs Slurm and Kubernetes",
    ("docs/how-to/serving-search.md", "scrape_configs:"): "the configuration of Prometheus",
}
PYTHON = {
    (TUTORIAL, "shop = lookalike"),
    (FORMATS, "import ir_measures"),
    (FORMATS, "import lookalike"),
    ("docs/how-to/pairs.md", "random = lookalike"),
    ("docs/how-to/training.md", "better = lookalike"),
}


class Block(NamedTuple):
    """A code block of a page, and whether it is marked as Python."""

    page: str
    code: str
    python: bool

    def of(self, listed) -> list[tuple[str, str]]:
        """The entries of a list that mean this block: its page, and how its first line begins."""
        return [(page, start) for page, start in listed if page == self.page and self.code.startswith(start)]


def blocks() -> list[Block]:
    """All code blocks of all pages."""
    return [
        Block(str(page.relative_to(ROOT)), token.content.lstrip(), token.info == "python")
        for page in PAGES
        for token in MarkdownIt().parse(page.read_text(encoding="utf-8"))
        if token.type in ("code_block", "fence")
    ]


def check_line(line: str) -> None:
    """Raise if a line of a shell names a script, an option of it, a target or an extra that does not exist."""
    words = shlex.split(line, comments=True)
    if not words or words[0] in ("lookalike", "torchrun"):  # test_named_commands.py
        return
    if words[:4] == ["python3", "-m", "pip", "install"]:
        extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
        assert set(re.findall(r"\w+", " ".join(words[4:]))) <= set(extras), line
    elif words[0] == "make":
        assert f"\n{words[1]}:" in (ROOT / "Makefile").read_text() or words[1] in ("test", "quick"), line
    elif words[:3] == ["python", "-m", "pytest"]:
        assert all((ROOT / path).is_dir() for path in words[3:]), line
    elif words[0] == "python":
        script = (ROOT / words[1]).read_text(encoding="utf-8")
        assert all(f'"{word}"' in script for word in words[2:] if word.startswith("--")), line
    else:  # what prepares a command: a folder, a variable, a database of PostgreSQL
        assert words[0] in ("mkdir", "export", "createdb"), line


@pytest.mark.parametrize("block", blocks(), ids=lambda block: f"{block.page}: {block.code.splitlines()[0]}")
def test_a_block_runs_or_is_listed(block):
    entries = [block.of(listed) for listed in (RUN_ELSEWHERE, NOT_RUN, PYTHON)]
    assert sum(map(len, entries)) <= 1
    if not any(entries):
        assert not block.python
        for line in block.code.splitlines():
            check_line(line)


def test_the_lists_name_blocks_that_exist():
    for listed in (RUN_ELSEWHERE, NOT_RUN, PYTHON):
        assert {one for block in blocks() for one in block.of(listed)} == set(listed)
    assert all((ROOT / test).is_file() for test in RUN_ELSEWHERE.values())


@pytest.mark.parametrize(
    "line",
    ["make nothing", "python studies/none.py", "python studies/promise.py --nothing", "rm -rf shop"],
)
def test_the_check_of_a_line_finds_faults(line):
    with pytest.raises((AssertionError, FileNotFoundError)):
        check_line(line)


class Names(dict):
    """The names that a page has introduced, and the labels of the pairs that its block asks for."""

    def __missing__(self, name):
        if name != "answers":
            raise KeyError(name)
        asked = self["better"].to_label
        similar = [a[:3] == b[:3] for a, b in zip(asked.query, asked.candidate, strict=True)]
        return lookalike.Labels.of(asked.query, asked.candidate, similar)


@pytest.fixture
def names(studio_demo, tmp_path, monkeypatch) -> Names:
    """A folder with the workspace `shop` and files of its judged ranks, and what pages call its parts."""
    shutil.copytree(studio_demo / "d", tmp_path / "shop")
    monkeypatch.chdir(tmp_path)
    written = ["--output-runs", "runs", "--output-judged", "judged.parquet"]
    assert run(["evaluate", "--workspace", "shop", "--replicates", "0", *written]) == 0
    shop = lookalike.open_workspace("shop")
    return Names(
        lookalike=lookalike,
        catalog=shop.catalog,
        labels=shop.labels,
        pool=shop.pool,
        color=shop.embeddings["color"],
    )


@pytest.mark.slow
@pytest.mark.parametrize(("page", "start"), sorted(PYTHON), ids=str)
def test_the_python_of_a_page_runs(names, page, start, capsys):
    (block,) = (one for one in blocks() if one.of([(page, start)]))
    capsys.readouterr()
    exec(compile(block.code, page, "exec"), {}, names)
    printed = capsys.readouterr().out
    if page == TUTORIAL:
        assert len(names["table"]) == len(names["shop"].catalog.image) == len(names["hog"].vectors)
        assert set(names["train"]) < set(names["shop"].catalog.image)
    elif start == "import ir_measures":
        found = dict(re.findall(r"(P@5|Judged@5): ([\d.]+)", printed))
        assert 0 < float(found["P@5"]) < float(found["Judged@5"]) <= 1
    elif start == "import lookalike":
        assert re.search(
            r"^color \{'DCS\(alpha=10\)': [\d.]+, 'HR@5': [\d.]+, 'AUC_mac': [\d.]+\}$", printed, re.M
        )
    elif "pairs.md" in page:
        assert len(names["random"].query) == 500
    else:
        assert names["better"].verdict.word == "cannot be told"
        assert 0 < len(names["better"].to_label.query) <= 100
        assert len(names["found"].image_a) > 0
