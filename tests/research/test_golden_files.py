"""The golden files say what they hold, and the loader refuses one that contradicts itself."""

import math
import re
from importlib.resources import files
from pathlib import Path

import pytest

from lookalike.core.errors import ArgumentError
from lookalike.research.papers.published import DataSource, GoldenError, checked, keys, published
from lookalike.research.papers.reproduce import needs

OWNED = {
    "eds-table-1", "eds-table-2", "eds-table-3", "eds-table-4",
    "vsd-figure-1", "vsd-table-1", "vsd-table-5", "vsd-table-6",
}  # fmt: skip
TEXTS = {"Learning type", "Dataset"}  # columns of words
SHAPES = {  # rows and figures per row, counted in the papers
    "adapt-table-1": (37, 9), "adapt-figure-3": (0, 0), "adapt-figure-4": (0, 0),
    "eds-table-1": (2, 2), "eds-table-2": (6, 6), "eds-table-3": (6, 6), "eds-table-4": (6, 4),
    "eds-table-5": (14, 12), "eds-table-6": (14, 12),
    "vsd-figure-1": (0, 0), "vsd-table-1": (20, 14), "vsd-table-2": (34, 10),
    "vsd-table-3": (16, 10), "vsd-table-4": (30, 10), "vsd-table-5": (24, 3), "vsd-table-6": (24, 3),
}  # fmt: skip
GOOD = {
    "paper": "EDS", "number": "Table 0", "section": "0", "title": "t", "gist": "g", "data": [],
    "labels": ["Model"], "columns": ["HR", "MRR"], "rows": [["AS", "1.0", "nan"], ["DINO", "2", "78.97 ± 1.22"]],
}  # fmt: skip


def test_the_tables_of_the_papers_are_here():
    assert set(keys()) >= OWNED
    assert set(keys()) == set(SHAPES)


@pytest.mark.parametrize("key", keys())
def test_every_table_is_whole(key: str):
    table = published(key)
    assert (len(table.rows), len(table.columns)) == SHAPES[key]
    assert table.key.startswith(table.paper.lower())
    assert table.notes
    assert all(source.fetch and source.then for source in table.sources)


@pytest.mark.parametrize("key", sorted(set(keys()) - {"vsd-figure-1"}))
def test_every_figure_is_a_number_as_printed(key: str):
    """Digits with a standard deviation at most, `nan`, a dash on a diagonal, or one cell that cannot be read."""
    table = published(key)
    for row in table.rows:
        for column, cell in zip(table.columns, row.cells, strict=True):
            if cell not in ("nan", "-", "?") and column not in TEXTS:
                assert all(math.isfinite(float(part.replace(",", ""))) for part in cell.split("±")), cell


def test_what_cannot_be_read_is_one_cell_and_has_its_note():
    unread = [(key, row.names) for key in keys() for row in published(key).rows if "?" in row.cells]
    assert unread == [("vsd-table-6", ("0.0", "BPF"))]
    note = published("vsd-table-6").notes[0]
    assert "not legible" in note.text
    assert published("vsd-table-6").rows[note.cells[0][0]].cells[note.cells[0][1]] == "?"


def test_figures_stay_as_printed():
    table = published("vsd-table-1")
    assert table.cell("DCS", "DINO", column="Fashion / Score") == "78.97 ± 1.22"
    assert table.cell("DCS", "DINO", column="Fashion / Bias / SC") == "1.0"
    assert table.cell("BPF", "AS", column="Furniture / FC / r") == "0.04"
    assert published("vsd-table-5").cell("0.0", "EHR@5", column="r") == "nan"
    assert published("vsd-table-2").cell("OC", "TRPL_SPA", column="Furniture / AUC / mic") == "77.23"
    assert published("vsd-table-3").cell("BEiT", "SupCon_NSPA", column="Fashion / AUC / mic") == "83.08"
    assert published("vsd-table-4").cell("7", "0.70", column="Furniture / DCS") == "87.92"
    assert published("eds-table-3").cell("AS ID+C", column="Micro ROC-AUC / p-value") == "0.000"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rows": [["AS", "1.0"]]}, "no row of 1 \\+ 2"),
        ({"rows": [["AS", 1.0, "2"]]}, "printed cells"),
        ({"rows": [["AS", "", "2"]]}, "printed cells"),
        ({"rows": [["AS", "1", "2"], ["AS", "1", "2"]]}, "one name"),
        ({"columns": ["HR", "HR"]}, "one name"),
        ({"paper": "XYZ"}, "no paper"),
        ({"notes": [{"text": "n", "cells": [["CLIP", "HR"]]}]}, "no cell"),
        ({"notes": [{"text": "n", "cells": [["AS", "DCS"]]}]}, "no cell"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(change, words):
    assert checked("eds-table-0", GOOD, {}).rows[1].cells == ("2", "78.97 ± 1.22")
    with pytest.raises(GoldenError, match=words):
        checked("eds-table-0", GOOD | change, {})


def test_sources_are_those_the_table_names():
    one = DataSource("a", ("fetch it",), ("lookalike init a",), "")
    assert checked("eds-table-0", GOOD | {"data": ["a"]}, {"a": one}).sources == (one,)


def test_the_documentation_names_every_table_and_what_ours_need():
    page = (Path(__file__).parents[2] / "docs/research/papers.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith(("| `adapt-", "| `eds-", "| `vsd-"))]
    listed = {key: row.split("|")[3].strip() for row in rows for key in re.findall(r"`([a-z0-9-]+)`", row)}
    assert listed == {key: needs(key) or "only the paper's as yet" for key in keys()}


def test_an_unknown_table_is_named_with_those_that_are_here():
    with pytest.raises(ArgumentError) as refused:
        published("vsd-table-99")
    assert "eds-table-1" in refused.value.fix


def test_the_golden_files_are_package_data():
    folder = files("lookalike.research.papers").joinpath("golden")
    assert {f"{key}.toml" for key in keys()} <= {file.name for file in folder.iterdir()}
