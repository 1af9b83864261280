"""Totally-Looks-Like, VSD-Furniture and Open-Metric-Learning as published."""

import json

import pytest
from tiny_photos import photo

from lookalike.catalog.read import catalog_from
from lookalike.core.errors import CatalogError
from lookalike.store.workspace import Workspace

OBJECTS = ("00001", "00002", "00004")


def totally(folder, pairs=20, objects=OBJECTS):
    for number in range(pairs):
        for side, seed in (("left", number), ("right", 1000 + number)):
            photo(folder / side / f"{number:05d}.jpg", seed=seed)
    if objects:
        rows = [f"{at},{name}.jpg" for at, name in enumerate(objects)]
        (folder / "TLL_obj.csv").write_text("\n".join([",TLL_obj", *rows]) + "\n")
    return folder


def test_totally_looks_like_with_its_pairs_as_labels(lookalike, tmp_path):
    totally(tmp_path / "tll")
    said = lookalike("init", "tll:tll", "--json").json
    assert (said["images"], said["items"], said["labels"]) == (40, 40, 20)
    assert said["splits"] == {"train": 24, "validation": 6, "test": 10}
    workspace = Workspace(tmp_path)
    catalog, labels = workspace.catalog, workspace.labels()
    split = dict(zip(catalog.image, catalog.split, strict=True))
    for number in range(20):
        assert split[f"left/{number:05d}.jpg"] == split[f"right/{number:05d}.jpg"]
    assert {image.split("/")[0] for image in catalog.image[catalog.role == "query"]} == {"left"}
    assert {image.split("/")[0] for image in catalog.image[catalog.role == "gallery"]} == {"right"}
    ends = zip(labels.query, labels.candidate, labels.label.tolist(), strict=True)
    assert all((one.removeprefix("left"), y) == (other.removeprefix("right"), 1) for one, other, y in ends)
    subset = catalog.columns["subset"]
    assert set(catalog.columns["pair"][subset == "objects"]) == set(OBJECTS)
    assert set(subset) == {"objects", "faces"}
    assert lookalike("catalog", "refresh", "--json").json["kept"] == 40
    assert Workspace(tmp_path).catalog.split.tolist() == catalog.split.tolist()


def test_only_the_pairs_without_faces(tmp_path):
    catalog = catalog_from(f"tll-objects:{totally(tmp_path)}").catalog
    assert set(catalog.columns["pair"]) == set(OBJECTS)
    assert len(catalog) == 6
    (tmp_path / "TLL_obj.csv").unlink()
    assert "subset" not in catalog_from(f"tll:{tmp_path}").catalog.columns


def test_left_and_right_of_different_length_are_refused(tmp_path):
    totally(tmp_path)
    (tmp_path / "right/00007.jpg").unlink()
    with pytest.raises(CatalogError, match=r"20 photos in left and 19 in right.*'left/00007\.jpg'"):
        catalog_from(f"tll:{tmp_path}")
    with pytest.raises(CatalogError, match="is not Totally-Looks-Like: it has no left") as absent:
        catalog_from(f"tll:{tmp_path / 'left'}")
    assert "sites.google.com/view/totally-looks-like-dataset" in absent.value.fix


def test_a_pair_of_a_photo_with_itself_is_warned_of(tmp_path):
    totally(tmp_path)
    (tmp_path / "right/00003.jpg").write_bytes((tmp_path / "left/00003.jpg").read_bytes())
    warnings = catalog_from(f"tll:{tmp_path}").warnings
    assert "1 pair has the same photo on both sides: '00003'. Remove both photos." in warnings
    assert not any("both sides" in one for one in catalog_from(f"tll-objects:{tmp_path}").warnings)


def test_a_list_of_pairs_without_photos_is_warned_of(tmp_path):
    warnings = catalog_from(f"tll:{totally(tmp_path, 5, ('00001', '09999'))}").warnings
    assert "TLL_obj.csv lists 1 pair without photos: '09999'." in warnings


def test_furniture_with_labels_as_tags_and_as_a_table(lookalike, tmp_path):
    for number in range(6):
        photo(tmp_path / f"data/furniture/{number}.jpg", seed=number)
    tags = [{"key": ["0.jpg", "1.jpg"], "value": 1}, {"key": ["0.jpg", "2.jpg"], "value": 0}]
    (tmp_path / "data/tags.json").write_text(json.dumps(tags))
    (tmp_path / "data/more.csv").write_text("query,candidate,label\n3.jpg,4.jpg,1\n")
    (tmp_path / "data/prices.csv").write_text("image,price\n3.jpg,4\n")
    said = lookalike("init", "furniture:data", "--json").json
    assert (said["images"], said["items"], said["labels"]) == (6, 6, 3)
    assert any(one.startswith("No labels were imported from prices.csv.") for one in said["warnings"])
    assert Workspace(tmp_path).catalog.item.tolist() == [f"{number}.jpg" for number in range(6)]
    assert lookalike("catalog", "refresh", "--json").json["kept"] == 6
    with pytest.raises(CatalogError, match="it holds no photos") as absent:
        catalog_from(f"furniture:{tmp_path / 'none'}")
    assert "CC0" in absent.value.fix


OML = """label,path,split,is_query,is_gallery,category,category_int,x_1,x_2,y_1,y_2
0,images/cats/1.jpg,train,,,cats,0,1,30,2,20
0,images/cats/2.jpg,train,,,cats,0,0,32,0,24
1,images/dogs/1.jpg,validation,True,True,dogs,1,4,20,5,22
1,images/dogs/1.jpg,validation,True,False,dogs,1,2,12,3,23
1,images/dogs/2.jpg,validation,False,True,dogs,1,4,20,5,22
"""


def open_metric_learning(folder, text=OML):
    for number, name in enumerate(("cats/1", "cats/2", "dogs/1", "dogs/2")):
        photo(folder / f"images/{name}.jpg", seed=number)
    (folder / "df.csv").write_text(text)
    return folder / "df.csv"


def test_open_metric_learning(lookalike, tmp_path):
    open_metric_learning(tmp_path / "data")
    assert lookalike("init", "oml:data/df.csv").status == 0
    catalog = Workspace(tmp_path).catalog
    assert catalog.image.tolist() == [
        "images/cats/1.jpg", "images/cats/2.jpg", "images/dogs/1.jpg#4,5,20,22", "images/dogs/1.jpg#2,3,12,23",
        "images/dogs/2.jpg",
    ]  # fmt: skip
    assert catalog.item.tolist() == ["0", "0", "1", "1", "1"]
    assert catalog.role.tolist() == ["both", "both", "both", "query", "gallery"]
    assert catalog.split.tolist() == ["train"] * 2 + ["validation"] * 3
    assert catalog.box.tolist() == ["1,2,30,20", "0,0,32,24", "4,5,20,22", "2,3,12,23", "4,5,20,22"]
    assert catalog.category.tolist() == ["cats"] * 2 + ["dogs"] * 3
    assert lookalike("catalog", "refresh", "--json").json["kept"] == 5


def test_open_metric_learning_that_does_not_fit(tmp_path):
    wrong = open_metric_learning(tmp_path, OML.replace("False,True", "False,False"))
    with pytest.raises(CatalogError, match="neither is_query nor is_gallery in line 6"):
        catalog_from(f"oml:{wrong}")
    with pytest.raises(CatalogError, match="has 'maybe' in is_query or is_gallery"):
        catalog_from(f"oml:{open_metric_learning(tmp_path, OML.replace('True,True', 'maybe,True'))}")
    with pytest.raises(CatalogError, match=r"df\.csv' has no box of four numbers in line 2"):
        catalog_from(f"oml:{open_metric_learning(tmp_path, OML.replace('1,30,2,20', '1,,2,20'))}")
    with pytest.raises(CatalogError, match="no column 'is_gallery'"):
        catalog_from(f"oml:{open_metric_learning(tmp_path, OML.replace('is_gallery', 'gallery'))}")
    plain = "\n".join(",".join(line.split(",")[:5]) for line in OML.splitlines()[:3])
    assert catalog_from(f"oml:{open_metric_learning(tmp_path, plain)}").catalog.box.tolist() == ["", ""]
