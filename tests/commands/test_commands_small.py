"""Small courtesies of commands: other names of a split, items to search for, grammar, and no question about copies."""

import csv
import re
import shutil
from pathlib import Path

import pytest

from lookalike.store.workspace import Workspace
from lookalike.workflows.label.queue import count_waiting, queue_pairs

NOUNS = "rows|images|photos|pairs|labels|items|queries|categories|vectors|groups|encoders|votes|people|votes|lines"


@pytest.mark.parametrize("split", [("--split", "val"), ("--split=valid",), ("--split", "Val")])
def test_other_names_of_the_validation_split(lookalike, labelled, split):
    for command in (("positiveness",), ("evaluate", "--measures", "AUC_mac", "--replicates", 0)):
        plain = lookalike(*command, "--split", "validation", "--json")
        short = lookalike(*command, *split, "--json")
        assert (short.status, short.out) == (plain.status, plain.out)
        assert short.out
    assert lookalike("positiveness", "--split", "vali").status == 2


def test_an_item_is_found_by_its_id(lookalike, workspace):
    by_item = lookalike("search", "bowl/000", "--encoder", "color", "--json").json
    by_image = lookalike("search", "bowl/000/1.png", "--encoder", "color", "--json").json
    assert by_item == by_image | {"query": "bowl/000"}
    assert "bowl/000" not in {one["item"] for one in by_item["results"]}
    refused = lookalike("search", "bowl/00", "--encoder", "color", "--json")
    assert "'bowl/00" in refused.json["error"]["fix"]


def test_one_thing_is_written_in_the_singular(lookalike, photos, tmp_path):
    shutil.copytree(photos / "bowl/000", tmp_path / "one/bowl/000")
    shutil.copytree(photos / "box/000", tmp_path / "one/box/000")
    (tmp_path / "one/bowl/000/2.png").unlink()
    (tmp_path / "one/box/000/2.png").unlink()
    (tmp_path / "labels.csv").write_text("query,candidate,label\nbowl/000/1.png,box/000/1.png,1\n")
    (tmp_path / "bad.csv").write_text("query,candidate,label\nbowl/000/1.png,box/000/1.png,2\n")
    for command in (
        ("init", "one"),
        ("status",),
        ("embed", "descriptor:color"),
        ("discover", "--top", 1, "--random", 1, "--queries", 1, "--pairs", "pairs.csv"),
        ("status",),
        ("labels", "import", "bad.csv"),
        ("labels", "import", "labels.csv"),
        ("labels", "stats"),
        ("discover", "--precision", 0.1),
        ("evaluate", "--replicates", 0),
        ("search", "bowl/000"),
        ("doctor",),
        ("labels", "export", "out.csv"),
        ("catalog", "remove", "box/000/1.png"),
        ("embed", "--stale"),
        ("status",),
    ):
        done = lookalike(*command)
        wrong = re.findall(rf"(?<![\d.,])1 (?:[a-z]+ )?(?:{NOUNS})\b", done.out + done.err)
        assert wrong == [], (command, done)


def test_copies_of_one_file_are_not_asked_about(lookalike, photos, tmp_path):
    shutil.copytree(photos, tmp_path / "photos")
    shutil.copy(tmp_path / "photos/bowl/000/1.png", tmp_path / "photos/bowl/001/1.png")
    assert lookalike("init", "photos").status == 0
    assert lookalike("embed", "descriptor:color").status == 0
    found = lookalike("discover", "--top", 3, "--pairs", "pairs.csv", "--json").json
    workspace = Workspace(tmp_path)
    digest = dict(zip(workspace.catalog.image, workspace.catalog.digest, strict=True))
    pool = workspace.pool()
    copies = sum(digest[q] == digest[c] for q, c in zip(pool.query, pool.candidate, strict=True))
    assert found["identical"] == copies > 0
    assert found["to_label"] == found["pairs"] - copies
    with Path("pairs.csv").open() as file:
        asked = [(row["query"], row["candidate"]) for row in csv.DictReader(file)]
    assert len(asked) == found["to_label"]
    assert all(digest[q] != digest[c] for q, c in asked)
    once = {frozenset(pair) for pair in asked}
    assert count_waiting(workspace) == queue_pairs(workspace).new == len(once)
    assert lookalike("labels", "export", "tasks.json", "--format", "label-studio", "--json").json[
        "tasks"
    ] == len(once)


def test_a_search_with_filters(lookalike, workspace):
    ask = ("search", "bowl/000", "--encoder", "color", "-k", 30, "--json")
    catalog = Workspace(workspace).catalog
    category = dict(zip(catalog.item, catalog.category, strict=True))
    whole = lookalike(*ask).json
    assert whole["exhausted"]
    assert len(whole["results"]) == len(set(category)) - 1
    boxes = lookalike(*ask, "--filter", "category=box").json["results"]
    assert boxes == [one for one in whole["results"] if category[one["item"]] == "box"] != []
    refused = lookalike(*ask, "--filter", "categories=box")
    assert refused.status != 0
    assert "Did you mean category" in refused.json["error"]["fix"]
    assert lookalike(*ask, "--filter", "category=boxes").status != 0
