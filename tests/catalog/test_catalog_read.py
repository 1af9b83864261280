import csv
import doctest
import importlib
import os
import pkgutil
import re
from collections import Counter
from pathlib import Path

import numpy as np
import polars
import pytest
from sample_photos import huge_png, photo, truncated

import lookalike.catalog as catalog_package
from lookalike.catalog.read import catalog_from
from lookalike.core.errors import ArgumentError, CatalogError

CLOTHING = Path(__file__).parents[3] / "shared" / "data" / "clothing"
MODULES = [module.name for module in pkgutil.walk_packages(catalog_package.__path__, "lookalike.catalog.")]


def photos(folder, count=5):
    for i in range(count):
        photo(folder / f"{i}.jpg", 20 + i, 20, seed=i)
    return folder


def test_a_folder_with_bad_photos(tmp_path):
    photos(tmp_path)
    truncated(tmp_path / "1b.jpg")
    huge_png(tmp_path / "3b.png")
    reading = catalog_from(tmp_path)
    catalog = reading.catalog
    assert catalog.image.tolist() == [f"{i}.jpg" for i in range(5)]
    assert catalog.position.tolist() == [0, 1, 3, 4, 6]
    assert catalog.width.tolist() == [20, 21, 22, 23, 24]
    assert [(one.image, one.position) for one in catalog.left_out] == [("1b.jpg", 2), ("3b.png", 5)]
    assert all(len(digest) == 64 for digest in catalog.digest)
    assert all(part in reading.notes[1] for part in ("2 of 7 photos", "1 truncated", "1 too large"))
    assert reading.root == tmp_path
    assert reading.source == str(tmp_path)


def test_a_table_with_bad_photos(tmp_path):
    photos(tmp_path / "photos")
    lines = ["image,path,item,split,price", "a,0.jpg,007,test,1", "b,none.jpg,007,,2", "c,./1.jpg,8,,3"]
    path = tmp_path / "catalog.csv"
    path.write_text("\n".join([*lines, f"d,{tmp_path}/photos/2.jpg,8,,4", "e,../x.jpg,9,,5"]))
    catalog = catalog_from(path, images=tmp_path / "photos").catalog
    assert catalog.image.tolist() == ["a", "c", "d"]
    assert catalog.path.tolist() == ["0.jpg", "1.jpg", "2.jpg"]
    assert catalog.item.tolist() == ["007", "8", "8"]
    assert catalog.columns["price"].tolist() == ["1", "3", "4"]
    assert catalog.position.tolist() == [0, 2, 3]
    assert catalog.split[0] == "test"
    assert catalog.split[1] == catalog.split[2]
    assert {one.image: one.reason.split(":")[0] for one in catalog.left_out} == {
        "b": "missing file",
        "e": "outside the photo folder",
    }


def test_a_bad_photo_moves_no_other_photos_split(tmp_path):
    whole = catalog_from(photos(tmp_path, 40)).catalog
    for i in (3, 17, 30):
        truncated(tmp_path / f"{i}.jpg")
    fewer = catalog_from(tmp_path).catalog
    assert len(fewer) == 37
    assert all(
        whole.split[whole.row[image]] == split for image, split in zip(fewer.image, fewer.split, strict=True)
    )


def test_splits_are_reported(tmp_path):
    photos(tmp_path, 20)
    reading = catalog_from(tmp_path, seed=5)
    assert Counter(reading.catalog.split) == {"train": 12, "validation": 3, "test": 5}
    (note,) = [note for note in reading.notes if "20 drawn" in note]
    assert all(part in note for part in ("seed 5", "train 12", "validation 3", "test 5"))
    frame = {"image": list("abcd"), "split": ["test", "test", "", ""], "item": list("xxyy")}
    assert any("as given, 2 drawn with seed 0" in note for note in catalog_from(frame).notes)
    crossing = catalog_from({"image": ["a", "b"], "item": ["x", "x"], "split": ["train", "test"]})
    assert any(note.startswith("Items ") and note.endswith("as given: 1.") for note in crossing.notes)


def test_one_image_is_a_catalog(tmp_path):
    reading = catalog_from(photos(tmp_path, 1))
    assert reading.catalog.split.tolist() == ["train"]
    assert "nothing to find" in reading.notes[-1]


def test_a_frame_without_photos():
    reading = catalog_from(polars.DataFrame({"image": [7, 8, 9], "item": ["a", "a", None]}))
    assert reading.root is None
    assert reading.catalog.item.tolist() == ["a", "a", "9"]
    assert reading.catalog.width.tolist() == [0, 0, 0]
    assert set(reading.catalog.digest) == {""}
    assert any("vectors only" in note for note in reading.notes)
    assert "3 rows" in reading.source


def test_a_frame_with_photos(tmp_path):
    reading = catalog_from({"image": ["0.jpg", "1.jpg"]}, images=photos(tmp_path))
    assert reading.catalog.width.tolist() == [20, 21]
    assert reading.root == tmp_path


def test_without_the_check(tmp_path):
    (tmp_path / "catalog.csv").write_text("image\n./none.jpg\n../x.jpg\n")
    reading = catalog_from(tmp_path / "catalog.csv", check=False)
    assert reading.catalog.image.tolist() == ["./none.jpg", "../x.jpg"]
    assert reading.catalog.path.tolist() == ["none.jpg", "../x.jpg"]
    assert any("not looked at" in note for note in reading.notes)


@pytest.mark.parametrize("name", ["my photos", "it's [1] *", "café\nb"])
def test_strange_folders(tmp_path, name, monkeypatch):
    photos(tmp_path / name / "sofas", 2)
    (tmp_path / name / "list.csv").write_text("image\nsofas/0.jpg\n")
    monkeypatch.chdir(tmp_path)
    assert len(catalog_from(name).catalog) == 2
    assert len(catalog_from(Path(name) / "list.csv").catalog) == 1


def test_every_bad_photo_is_an_error(tmp_path):
    truncated(tmp_path / "a.jpg")
    (tmp_path / "b.jpg").write_bytes(b"")
    with pytest.raises(CatalogError, match=r"2 photos .* 1 truncated, 1 empty file") as error:
        catalog_from(tmp_path)
    assert re.search(r"'a\.jpg'.*: truncated:", error.value.problem)


def test_photos_that_are_elsewhere(tmp_path):
    (tmp_path / "catalog.csv").write_text("image\na.jpg\nb.jpg\n")
    with pytest.raises(CatalogError, match="2 missing file") as error:
        catalog_from(tmp_path / "catalog.csv")
    assert "--images" in error.value.fix
    assert str(tmp_path) in error.value.fix


def test_only_names_that_are_not_utf8(tmp_path):
    with open(os.fsencode(tmp_path) + b"/a\xff.jpg", "wb") as file:
        file.write(b"x")
    with pytest.raises(CatalogError, match=r"1 photo .* name not UTF-8"):
        catalog_from(tmp_path)


def test_sources_that_are_none(tmp_path):
    with pytest.raises(CatalogError, match="does not exist"):
        catalog_from(tmp_path / "none")
    with pytest.raises(CatalogError, match="does not exist"):
        catalog_from("image\na.jpg\n" * 99)
    with pytest.raises(CatalogError, match="holds no photos"):
        catalog_from(tmp_path)
    with pytest.raises(CatalogError, match="one photo"):
        catalog_from(photo(tmp_path / "a.jpg"))
    with pytest.raises(CatalogError, match=r"\bint\b"):
        catalog_from(7)


def test_arguments_that_do_not_apply(tmp_path):
    photos(tmp_path)
    with pytest.raises(ArgumentError, match="--images and --column"):
        catalog_from(tmp_path, images=tmp_path, columns={})
    with pytest.raises(ArgumentError, match="layout"):
        catalog_from({"image": ["a"]}, layout="photo")


@pytest.mark.parametrize("module", MODULES)
def test_examples_run(module):
    assert doctest.testmod(importlib.import_module(module)).failed == 0


@pytest.mark.real
def test_clothing():
    if not CLOTHING.is_dir():
        pytest.skip(f"the data pack is not at {CLOTHING}")
    steps = []
    listed = catalog_from(CLOTHING / "catalog.csv", progress=lambda *step: steps.append(step))
    walked = catalog_from(CLOTHING).catalog
    catalog = listed.catalog
    assert steps[-1] == (3781, 3781)
    assert len(catalog) == len(walked) == 3781
    assert not catalog.left_out
    assert Counter(catalog.split) == {"train": 3068, "validation": 341, "test": 372}
    assert len(set(catalog.category)) == 10
    place = np.array([walked.row[image] for image in catalog.image])
    for column in ("split", "category", "digest", "width", "height", "path", "item"):
        assert (getattr(walked, column)[place] == getattr(catalog, column)).all(), column
    with (CLOTHING / "catalog.csv").open(newline="") as file:
        assert catalog.image.tolist() == [row["image"] for row in csv.DictReader(file)]
    for part in ("split/category/photo", "10 categories, 3,781 items, 3,781 photos"):
        assert part in catalog_from(CLOTHING, check=False).notes[0], part
