"""`reproduce adapt-table-1`, `adapt-figure-3` and `adapt-figure-4` on photos of left and right images."""

import csv
import math
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from lookalike.store.workspace import Workspace

pytest.importorskip("torch")

PAIRS = 16
FEW = ("--repeats", 2, "--resamples", 2, "--epochs", 3)


@pytest.fixture
def pairs(lookalike, tmp_path):
    """Photos of one colour whose pair is nearly of the same colour, and labels of the pairs."""
    random = np.random.default_rng(0)
    rows = [("image", "path", "role")]
    for at in range(PAIRS):
        colour = random.integers(0, 240, 3)
        for side, role in (("left", "query"), ("right", "gallery")):
            (tmp_path / side).mkdir(exist_ok=True)
            near = np.clip(colour + random.integers(-9, 10, (24, 24, 3)), 0, 255).astype(np.uint8)
            Image.fromarray(near).save(tmp_path / side / f"{at}.png")
            rows.append((f"{side}/{at}", f"{side}/{at}.png", role))
    labels = [("query", "candidate", "label"), *((f"left/{at}", f"right/{at}", 1) for at in range(PAIRS))]
    for name, content in (("table.csv", rows), ("labels.csv", labels)):
        with (tmp_path / name).open("w", newline="") as file:
            csv.writer(file).writerows(content)
    for words in (
        ("init", "table.csv"),
        ("embed", "descriptor:color", "--name", "color"),
        ("labels", "import", "labels.csv"),
    ):
        result = lookalike(*words)
        assert result.status == 0, result.err
    return tmp_path


def test_the_table_is_beside_the_papers_and_resumes(lookalike, pairs):
    result = lookalike("reproduce", "adapt-table-1", *FEW)
    assert result.status == 0, result.err
    words = " ".join(result.out.split())
    assert "16 pairs: 12 train, 4 test, 2 splits" in words
    assert "0.3939 ± 0.0071" in result.out
    assert len((pairs / "reproduce/adaptation.jsonl").read_text().splitlines()) == 2
    done = lookalike("reproduce", "adapt-table-1", *FEW, "--json").json
    ours = {
        (cell["row"]["Model"], cell["column"]): cell["ours"]["value"]
        for cell in done["cells"]
        if cell["ours"]
    }
    assert ours["color", "Concatenated size"] == Workspace(pairs).manifest("color").dimension
    assert all(0 <= ours[name, "sigma = 15"] <= 1 for name in ("color", "color, all epochs"))
    assert len((pairs / "reproduce/adaptation.jsonl").read_text().splitlines()) == 2


def test_the_curves_are_drawn_dashed_and_plain(lookalike, pairs):
    assert lookalike("reproduce", "adapt-figure-3", *FEW, "--output", "curves.svg").status == 0
    root = ElementTree.fromstring((pairs / "curves.svg").read_text())
    lines = [one for one in root.iter() if one.tag.endswith("polyline")]
    assert [("dash-1" in one.get("class")) for one in lines] == [True, False]
    done = lookalike("reproduce", "adapt-figure-3", *FEW, "--json").json
    before = [cell["ours"]["value"] for cell in done["cells"] if cell["row"]["Features"] == "before"]
    drawn = [float(point.split(",")[1]) for point in lines[0].get("points").split()]
    assert drawn == pytest.approx([344 - 300 * one for one in before], abs=0.06)
    across = [float(point.split(",")[0]) for point in lines[0].get("points").split()]
    assert (across[3] - across[0]) / (across[-1] - across[0]) == pytest.approx(
        math.log(10) / math.log(100), abs=0.01
    )


def test_the_strips_show_the_pair_and_the_first_candidates(lookalike, pairs):
    result = lookalike("reproduce", "adapt-figure-4", *FEW, "--output", "strips.html", "--json")
    assert result.status == 0, result.err
    page = (pairs / "strips.html").read_text()
    ranks = {(cell["row"]["Query"], cell["column"]): cell["ours"]["value"] for cell in result.json["cells"]}
    assert len(ranks) == 8
    queries = {query for query, _ in ranks}
    assert all(query.replace("left", "right") in page and query in page for query in queries)
    assert all(page.count(f"<strong>{when} adaptation</strong>") == 4 for when in ("before", "after"))
    shown = [
        [int(rank) for rank in re.findall(r'class="rank">(\d+)\.<', part)]
        for part in page.split('class="answer"')[1:]
    ]
    assert sorted(first for first, *_ in shown) == sorted(int(rank) for rank in ranks.values())
    assert all(rest == list(range(1, len(rest) + 1)) for _, *rest in shown)
    assert min(map(len, shown)) > 2
    assert "<script" not in page
    assert "data:image/jpeg;base64," in page


def test_without_pairs_it_says_what_is_needed(lookalike, workspace):
    result = lookalike("reproduce", "adapt-table-1")
    assert result.status == 0
    assert "0 similar pairs whose images are in no other pair" in " ".join(result.out.split())
    assert not (workspace / "reproduce").exists()
