"""Catalogs of odd sizes: one photo, and many of the same."""

import shutil

from lookalike.store.workspace import Workspace


def test_a_catalog_of_one_image_goes_all_the_way(lookalike, photos, tmp_path):
    (tmp_path / "one").mkdir()
    shutil.copy(photos / "bowl/000/1.png", tmp_path / "one/a.png")
    result = lookalike("init", "one")
    assert result.status == 0
    assert "nothing to find" in result.out
    assert lookalike("embed", "descriptor:color", "descriptor:hog").status == 0
    assert lookalike("search", "a.png", "--encoder", "color", "--json").json["results"] == []
    found = lookalike("search", photos / "rod/000/1.png", "--encoder", "color", "--json").json
    assert [one["image"] for one in found["results"]] == ["a.png"]
    done = lookalike("discover", "--top", 5, "--json").json
    assert (done["pairs"], done["queries"]) == (0, 1)
    assert lookalike("status").status == 0
    assert lookalike("doctor").status == 0
    for command in (("discover", "--random", 10), ("evaluate",), ("report",)):
        result = lookalike(*command)
        assert "Traceback" not in result.err
        assert result.status == 0 or result.err.startswith("Error: ")
    (tmp_path / "labels.csv").write_text("query,candidate,label\na.png,a.png,1\n")
    result = lookalike("labels", "import", "labels.csv")
    assert "Traceback" not in result.err
    result = lookalike("evaluate", "--json")
    assert "Traceback" not in result.err


def test_many_photos_that_are_one(lookalike, photos, tmp_path):
    (tmp_path / "same").mkdir()
    for n in range(300):
        shutil.copy(photos / "bowl/000/1.png", tmp_path / f"same/{n:03d}.png")
    shutil.copy(photos / "rod/000/1.png", tmp_path / "same/other.png")
    assert lookalike("init", "same").status == 0
    assert lookalike("embed", "descriptor:color").status == 0
    found = lookalike("search", "000.png", "--encoder", "color", "-k", 5, "--json").json["results"]
    assert len(found) == 2  # one of the three hundred, and the other
    assert (Workspace(tmp_path).catalog.duplicate >= 0).sum() == 300
