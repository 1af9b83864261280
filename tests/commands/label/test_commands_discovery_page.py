"""docs/how-to/pairs.md does what it says: its commands run as written, and its table of costs is the formula's."""

import re
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest

from lookalike.discover.prevalence import chebyshev_budget
from lookalike.discover.statistics import expert_hours
from lookalike.store.workspace import Workspace

PAGE = (Path(__file__).parents[3] / "docs/how-to/pairs.md").read_text(encoding="utf-8")


def commands(heading: str) -> list[str]:
    """The indented `lookalike` lines under a heading."""
    part = PAGE.split(f"## {heading}\n")[1].split("\n## ")[0]
    return [line.split("#")[0].strip() for line in part.splitlines() if line.startswith("    lookalike ")]


def fill_in(path: Path) -> None:
    """Call every second pair of the file similar."""
    head, *rows = path.read_text().splitlines()
    labelled = [row.replace(",,", f",{at % 2},", 1) for at, row in enumerate(rows)]
    path.write_text("\n".join([head, *labelled]) + "\n")


@pytest.mark.parametrize(
    ("heading", "count"),
    [
        ("Choose the queries", 4),
        ("Keep several pools", 3),
        ("Estimate how rare similar pairs are", 1),
        ("Add a generator later", 2),
    ],
)
def test_the_commands_on_a_catalog(lookalike, workspace, heading, count):
    (workspace / "queries.txt").write_text("bowl/000/1.png\nbox/000/1.png\n")
    np.save("vectors.npy", np.random.default_rng(0).standard_normal((36, 8)))
    written = commands(heading)
    assert len(written) == count
    for line in written:
        names = line.replace("chair", "bowl").replace("sofa", "box")
        result = lookalike(*shlex.split(names.replace("--queries 200", "--queries 20 --overwrite"))[1:])
        assert result.status == 0, (line, result.err)


def test_the_commands_for_wild_queries(lookalike, photos, tmp_path):
    part = PAGE.split("    image,item,category,role,domain\n")[1].split("\n\n")[0]
    rows = [line.strip() for line in part.splitlines()]
    assert len(rows) == 3
    for row, photo in zip(rows, sorted(photos.rglob("*.png"))[::9], strict=False):
        (tmp_path / row.split(",")[0]).parent.mkdir(exist_ok=True)
        shutil.copy(photo, tmp_path / row.split(",")[0])
    more = sorted(photos.rglob("2.png"))
    for number, photo in enumerate(more):
        shutil.copy(photo, tmp_path / f"shop/more-{number}.jpg")
        shutil.copy(photo, tmp_path / f"wild/more-{number}.jpg")
        rows.append(f"shop/more-{number}.jpg,more-{number},chair,gallery,shop")
        rows.append(f"wild/more-{number}.jpg,wild-{number},chair,query,wild")
    (tmp_path / "catalog.csv").write_text("image,item,category,role,domain\n" + "\n".join(rows) + "\n")
    written = commands("Use queries from another domain (wild)")
    assert len(written) == 6
    for line in written:
        if "labels import" in line:
            fill_in(tmp_path / "pairs.csv")
        result = lookalike(*shlex.split(line)[1:])
        assert result.status == 0, (line, result.err)
    pool = Workspace(tmp_path / "wild").pool()
    assert {query.split("/")[0] for query in pool.queries} == {"wild"}
    assert {candidate.split("/")[0] for candidate in pool.candidate} == {"shop"}


def test_the_table_of_costs():
    rows = re.findall(r"^\| 1 in ([\d,]+) \| ([\d,]+) \| ([\d,]+) \| (.*?) \| (.*?) \|$", PAGE, re.MULTILINE)
    assert len(rows) == 3
    for one_in, each, ten, hours, relative in rows:
        rate = 1 / int(one_in.replace(",", ""))
        assert int(each.replace(",", "")) == round(1 / rate)
        assert int(ten.replace(",", "")) == round(10 / rate)
        assert hours == "{:,.0f} to {:,.0f}".format(*expert_hours(round(10 / rate)))
        budget = chebyshev_budget(rate / 2, 0.05, rate)
        assert relative == "{:,} pairs, {:,.0f} to {:,.0f} hours".format(budget, *expert_hours(budget))
