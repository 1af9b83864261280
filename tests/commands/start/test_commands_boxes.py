"""Boxes from the table to vectors, views and search: equal to a catalog of photos that were cut beforehand."""

import csv

import numpy as np
from PIL import Image

from lookalike.store.workspace import Workspace
from lookalike.workflows.learn.views import augmented_views


def boxed(folder, photos, boxes):
    """A table of the shop's photos with boxes, and a folder of the same photos cut to them."""
    rows = [("image", "path", "x0", "y0", "x1", "y1")]
    for number, path in enumerate(sorted(photos.rglob("*.png"))[:12]):
        box = boxes(number)
        rows.append((f"{number:02d}.png", path, *(box or [""] * 4)))
        (folder / "cut").mkdir(exist_ok=True)
        with Image.open(path) as photo:
            (photo.crop(box) if box else photo.copy()).save(folder / f"cut/{number:02d}.png")
    with (folder / "boxed.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def corner(number):
    return None if number == 5 else (number, 4, 60 + number, 50)


def vectors(folder, name="color"):
    workspace = Workspace(folder)
    return workspace.catalog, np.asarray(workspace.embeddings(name).vectors)


def start(lookalike, photos, tmp_path):
    boxed(tmp_path, photos, corner)
    made = ("init", "boxed.csv", "--images", photos, "--workspace", "ours", "--json")
    assert lookalike(*made).json["images"] == 12
    assert lookalike("init", "cut", "--workspace", "theirs").status == 0
    for place in ("ours", "theirs"):
        assert lookalike("embed", "descriptor:color", "descriptor:hog", "--workspace", place).status == 0


def test_vectors_and_views_are_those_of_cut_photos(lookalike, photos, tmp_path):
    start(lookalike, photos, tmp_path)
    for name in ("color", "hog"):
        (mine, ours), (other, theirs) = vectors(tmp_path / "ours", name), vectors(tmp_path / "theirs", name)
        assert mine.image.tolist() == other.image.tolist()
        np.testing.assert_array_equal(ours, theirs)
    views = [augmented_views(Workspace(tmp_path / place), "color", 2, 0) for place in ("ours", "theirs")]
    for ours, theirs in zip(*views, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_a_search_with_a_box_is_that_of_the_cut_photo(lookalike, photos, tmp_path):
    start(lookalike, photos, tmp_path)
    path = sorted(photos.rglob("*.png"))[20]
    with Image.open(path) as photo:
        photo.crop((3, 4, 63, 50)).save(tmp_path / "query.png")
    common = ("--encoder", "color", "--workspace", "ours", "--json")
    with_box = lookalike("search", path, "--box", "3,4,63,50", *common).json
    assert with_box["results"] == lookalike("search", "query.png", *common).json["results"]
    assert with_box["results"] != lookalike("search", path, *common).json["results"]
    refused = lookalike("search", "00.png", "--box", "3,4,63,50", *common)
    assert refused.status != 0
    assert "--box needs a photo" in refused.err


def test_a_changed_box_makes_one_vector_stale(lookalike, photos, tmp_path):
    start(lookalike, photos, tmp_path)
    before, old = vectors(tmp_path / "ours")
    boxed(tmp_path, photos, lambda number: (2, 2, 30, 30) if number == 3 else corner(number))
    done = lookalike("catalog", "refresh", "--workspace", "ours", "--json").json
    assert (done["replaced"], done["stale"]) == (["03.png"], ["color", "hog"])
    said = lookalike("embed", "--stale", "--workspace", "ours")
    assert said.status == 0
    after, new = vectors(tmp_path / "ours")
    changed = (old != new).any(axis=1)
    assert after.image[changed].tolist() == ["03.png"]
    assert before.content[3] != after.content[3]
    assert before.digest[3] == after.digest[3]


def test_a_release_and_a_backup_keep_boxes(lookalike, photos, tmp_path):
    start(lookalike, photos, tmp_path)
    (tmp_path / "labels.csv").write_text("query,candidate,label\n00.png,01.png,1\n")
    there = ("--workspace", "ours")
    assert lookalike("labels", "import", "labels.csv", *there).status == 0
    said = lookalike("labels", "export", "out", "--format", "package", "--license", "CC0-1.0", *there)
    assert said.status == 0, said.err
    assert lookalike("init", "out/catalog.csv", "--workspace", "again").status == 0
    kept = Workspace(tmp_path / "ours").catalog.box.tolist()
    assert Workspace(tmp_path / "again").catalog.box.tolist() == kept
    assert sum(map(bool, kept)) == 11
    assert lookalike("backup", "saved.db", *there).status == 0
    assert lookalike("restore", "saved.db", "--workspace", "theirs", "--overwrite").status == 0
    assert Workspace(tmp_path / "theirs").catalog.box.tolist() == kept
