"""Catalogs written for Open-Metric-Learning, and read again."""

import csv
from pathlib import Path

import numpy as np
import polars
import pytest
from tiny_photos import photo

from lookalike.catalog.layouts.open_metric_learning import oml_table
from lookalike.core.types import CATALOG_TEXTS
from lookalike.store.workspace import Workspace

SHOP = """image,path,item,category,role,split,x0,y0,x1,y1,colour,is_query
a1,p/a1.png,007,bowl,both,train,1,2,30,20,red,
a2,p/a2.png,007,bowl,query,train,,,,,"dark, red",
b1,p/b1.png,b,bowl,gallery,train,,,,,,
c1,p/c.png,c,rod,both,validation,0,0,16,24,,
c2,p/c.png,c,rod,query,validation,16,0,32,24,,
c3,p/c3.png,c,rod,gallery,validation,,,,,blue,
d1,p/d1.png,d,rod,both,test,,,,,,
"""


def shop(folder, table=SHOP):
    for row in csv.DictReader(table.splitlines()):
        photo(folder / row["path"], seed=sum(map(ord, row["path"])))
    (folder / "shop.csv").write_text(table)


def accepted(frame):
    """What Open-Metric-Learning 3 asserts of a table (oml/utils/dataframe_format.py)."""
    training = frame["split"] == "train"
    other = frame.filter(~training)
    pairs = [(frame[a].drop_nulls(), frame[b].drop_nulls()) for a, b in (("x_1", "x_2"), ("y_1", "y_2"))]
    return (
        set(frame["split"]) == {"train", "validation"}
        and frame.filter(training)["is_query"].is_null().all()
        and frame.filter(training)["is_gallery"].is_null().all()
        and (other["is_query"] | other["is_gallery"]).all()
        and set(other.filter("is_query")["label"]) <= set(other.filter("is_gallery")["label"])
        and frame["label"].dtype.is_integer()
        and all((left < right).all() and (left >= 0).all() for left, right in pairs)
        and len({frame[name].null_count() for name in ("x_1", "x_2", "y_1", "y_2")}) == 1
    )


def test_a_table_for_open_metric_learning_is_accepted_there_and_read_again_equal(lookalike, tmp_path):
    shop(tmp_path / "data")
    assert lookalike("init", "data/shop.csv").status == 0
    said = lookalike("catalog", "export", "oml:df.csv", "--json").json
    assert (said["layout"], said["rows"], said["photos"]) == ("oml", 6, str(tmp_path / "data"))
    assert any("1 test image" in note for note in said["notes"])
    frame = polars.read_csv(tmp_path / "df.csv")
    assert accepted(frame)
    assert frame["label"].to_list() == [0, 0, 1, 2, 2, 2]
    assert frame["path"].to_list() == ["p/a1.png", "p/a2.png", "p/b1.png", "p/c.png", "p/c.png", "p/c3.png"]
    assert frame["is_query"].to_list() == [None, None, None, True, True, False]
    assert frame["is_gallery"].to_list() == [None, None, None, True, False, True]
    assert frame["x_2"].to_list() == [30, None, None, 16, 32, None]

    assert lookalike("init", "oml:df.csv", "--images", "data", "--workspace", "again").status == 0
    before, after = Workspace(tmp_path).catalog, Workspace(tmp_path / "again").catalog
    kept = before.take(np.flatnonzero(before.split != "test"))
    for name in CATALOG_TEXTS:
        assert getattr(after, name).tolist() == getattr(kept, name).tolist(), name
    assert after.columns["colour"].tolist() == ["red", "dark, red", "", "", "", "blue"]
    assert after.fingerprint == kept.fingerprint


def test_what_open_metric_learning_would_refuse_is_refused_here(lookalike, tmp_path):
    shop(tmp_path, SHOP.replace("c3,p/c3.png,c,rod,gallery", "c3,p/c3.png,e,rod,query"))
    assert lookalike("init", "shop.csv").status == 0
    said = lookalike("catalog", "export", "oml:df.csv")
    assert (said.status, Path("df.csv").exists()) == (1, False)
    assert "1 item of validation queries" in said.err
    assert "'e'" in said.err
    shop(tmp_path, SHOP.replace("validation", "test"))
    assert lookalike("init", "shop.csv", "--overwrite").status == 0
    assert "no images in validation" in lookalike("catalog", "export", "oml:df.csv").err


def test_items_of_one_photo_are_counted(lookalike, tmp_path):
    shop(tmp_path)
    assert lookalike("init", "shop.csv").status == 0
    _, notes = oml_table(Workspace(tmp_path).catalog)
    assert any(note.startswith("1 of 2 training items have one photo.") for note in notes)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("df.csv", "does not name a layout that can be written"),
        ("inshop:df.csv", "oml:FILE.csv or tll-objects:FILE.csv"),
        ("oml:df.txt", ".csv"),
        ("oml:", "does not name a layout"),
    ],
)
def test_targets_that_cannot_be_written(lookalike, tmp_path, target, said):
    shop(tmp_path)
    assert lookalike("init", "shop.csv").status == 0
    done = lookalike("catalog", "export", target)
    assert (done.status, said in done.err) == (1, True), done.err


def test_a_file_is_overwritten_only_with_force(lookalike, tmp_path):
    shop(tmp_path)
    assert lookalike("init", "shop.csv").status == 0
    Path("df.csv").write_text("mine")
    assert lookalike("catalog", "export", "oml:df.csv").status == 1
    assert Path("df.csv").read_text() == "mine"
    assert lookalike("catalog", "export", "oml:df.csv", "--force").status == 0
    assert Path("df.csv").read_text().startswith("label,path,split,is_query")
