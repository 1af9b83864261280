"""`reproduce` as a person types it: without a workspace, with one, into files, and with what it cannot do."""

import csv
import json
from collections import Counter
from xml.etree import ElementTree

import numpy as np
import pytest

from lookalike.discover.statistics import overlap_percent
from lookalike.research.papers.published import keys, published
from lookalike.store.workspace import Workspace


def cells(shown, column: str) -> dict[str, dict]:
    return {next(iter(cell["row"].values())): cell for cell in shown["cells"] if cell["column"] == column}


def test_it_lists_the_tables_and_what_ours_need(lookalike):
    result = lookalike("reproduce")
    assert result.status == 0
    for key in keys():
        assert f"{key} " in result.out
    listed = {one["table"]: one for one in lookalike("reproduce", "--json").json["tables"]}
    assert listed["eds-table-2"]["ours_need"] == "a pool"
    assert listed["eds-table-2"]["data"] == ["VSD Fashion"]
    assert listed["vsd-figure-1"]["ours_need"] == "nothing"


@pytest.mark.parametrize("key", keys())
def test_without_a_workspace_it_prints_the_papers_figures_and_what_to_fetch(lookalike, key):
    result = lookalike("reproduce", key)
    assert result.status == 0, result.err
    assert result.err == ""
    table = published(key)
    assert table.title in result.out
    for row in table.rows:
        assert all(cell in result.out for cell in row.cells)
    for source in table.sources:
        done = " ".join(result.out.split())
        assert all(words in done for words in (*source.fetch, source.remark))
        assert all(command in result.out for command in source.then)
        prose = result.out.split("is not part of Lookalike")[1].splitlines()
        assert all(len(line) <= 100 for line in prose if line.strip() not in source.then)
    done = lookalike("reproduce", key, "--json").json
    assert len(done["cells"]) == (
        (len(table.rows) + len(table.means)) * len(table.columns) or 21 * len(table.alphas)
    )
    assert (done["missing"] is None) == (key == "vsd-figure-1")


def test_overlap_of_the_workspaces_generators(lookalike, workspace):
    pool = Workspace(workspace).pool()
    expected = overlap_percent(pool)[0, 1]
    result = lookalike("reproduce", "eds-table-2")
    assert result.status == 0, result.err
    assert "27.6" in result.out  # the paper's
    assert f"{expected:.1f}" in result.out.split("On this catalog:")[1]
    assert "36 queries" in result.out
    assert "top 3" in result.out
    done = lookalike("reproduce", "eds-table-2", "--json").json
    assert cells(done, "hog")["color"]["ours"]["value"] == expected
    assert cells(done, "hog")["color"]["paper"] is None
    assert cells(done, "DINO")["BEiT"] == {
        "row": {"Generator": "BEiT"}, "column": "DINO", "paper": "27.6", "ours": None
    }  # fmt: skip


def test_ground_truth_counts_the_labelled_pairs_of_the_pool(lookalike, labelled):
    result = lookalike("discover", "--json").json
    done = lookalike("reproduce", "eds-table-1", "--json").json
    assert cells(done, "# of queries")["Discovery"]["ours"]["value"] == result["queries"] == 36
    assert cells(done, "# of annotated pairs")["Discovery"]["ours"]["value"] == result["labelled"]
    assert cells(done, "# of annotated pairs")["Discovery"]["paper"] == "54,170"
    assert cells(done, "# of annotated pairs")["Wild"]["ours"] is None
    assert done["missing"] is None


def test_missing_figures_are_explained(lookalike, photos, workspace):
    result = lookalike("reproduce", "eds-table-1")
    assert "lookalike labels import labels.csv" in result.out
    assert "54,170" in result.out
    assert lookalike("init", photos, "--workspace", "fresh").status == 0
    assert "no pool" in lookalike("reproduce", "eds-table-2", "--workspace", "fresh").out


def test_a_table_is_written_as_text_cells_and_json(lookalike, workspace):
    for ending in ("txt", "csv", "json"):
        assert lookalike("reproduce", "eds-table-2", "--output", f"t.{ending}").status == 0
    assert (workspace / "t.txt").read_text() in lookalike("reproduce", "eds-table-2").out
    assert (
        json.loads((workspace / "t.json").read_text()) == lookalike("reproduce", "eds-table-2", "--json").json
    )
    with (workspace / "t.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert Counter(bool(row["ours"]) for row in rows) == {False: 36, True: 2}
    ours = next(row for row in rows if row["Generator"] == "color")
    assert float(ours["ours"]) == overlap_percent(Workspace(workspace).pool())[0, 1]
    assert ours["column"] == "hog"


def test_the_figure_shows_the_credit(lookalike, tmp_path):
    assert lookalike("reproduce", "vsd-figure-1", "--output", "curves.svg").status == 0
    root = ElementTree.fromstring((tmp_path / "curves.svg").read_text())
    lines = [one for one in root.iter() if one.tag.endswith("polyline")]
    assert len(lines) == 2 * 5
    p = np.linspace(0, 1, 401)
    expected = np.expm1(10 * p) / np.expm1(10)
    for line, (left, curve) in zip((lines[2], lines[7]), ((46, expected), (346, 1 - expected)), strict=True):
        done = np.array([point.split(",") for point in line.get("points").split()], float)
        assert np.abs((done[:, 0] - left) / 260 - p).max() < 0.001
        assert np.abs((300 - done[:, 1]) / 260 - curve).max() < 0.001
    result = lookalike("reproduce", "vsd-figure-1", "--json").json
    top = cells(result, "alpha = 10")
    assert top["1.00"]["ours"]["value"] == 1.0
    assert top["0.50"]["ours"]["value"] == pytest.approx(np.expm1(5) / np.expm1(10))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("vsd-table-99",), "no table 'vsd-table-99'"),
        (("eds-table-2", "--output", "t.svg"), ".txt, .csv, .json"),
        (("eds-table-2", "--output", "t"), "no ending"),
        (("eds-table-2", "--output", "nowhere/t.csv"), "nowhere/t.csv"),
    ],
)
def test_mistakes_end_in_words(lookalike, arguments, words):
    result = lookalike("reproduce", *arguments)
    assert result.status == 1
    assert words in result.err
    assert "Traceback" not in result.err
