"""A workspace opened from Python holds what commands made, for the functions of the package."""

from pathlib import Path

import numpy as np
import pytest

import lookalike as package
from lookalike.core.errors import EmbeddingsError, WorkspaceError


def test_what_commands_made_is_there(lookalike, labelled):
    shop = package.open_workspace(labelled)
    assert len(shop.catalog) == 36
    assert len(shop.labels) == len((labelled / "labels.csv").read_text().splitlines()) - 1
    assert len(shop.pool) == lookalike("discover", "--json").json["pairs"]
    assert (sorted(shop.embeddings), len(shop.embeddings)) == (["color", "hog"], 2)
    assert "hog" in shop.embeddings
    assert "lbp" not in shop.embeddings
    hog = shop.embeddings["hog"]
    assert hog.image.tolist() == shop.catalog.image.tolist()
    with pytest.raises(EmbeddingsError):
        shop.embeddings["lbp"]
    scores = {one.encoder: one for one in package.score(shop.catalog, shop.embeddings.values(), shop.labels)}
    printed = lookalike("evaluate", "--replicates", 0, "--json").json
    assert scores["hog"].scores["AUC_mac"].value == pytest.approx(
        printed["scores"]["hog"]["AUC_mac"]["value"]
    )


def test_splits_part_the_images(lookalike, workspace):
    shop = package.open_workspace(str(workspace))
    assert list(shop.splits) == ["train", "validation", "test"]
    assert sorted(np.concatenate(list(shop.splits.values()))) == sorted(shop.catalog.image)
    for split, images in shop.splits.items():
        assert {shop.catalog.split[shop.catalog.row[image]] for image in images} == {split}


def test_labels_and_pool_are_read_as_they_are_now(lookalike, workspace):
    shop = package.open_workspace(workspace)
    assert len(shop.labels) == 0
    Path("one.csv").write_text("query,candidate,label\nbowl/000/1.png,bowl/001/1.png,1\n")
    assert lookalike("labels", "import", "one.csv").status == 0
    assert len(shop.labels) == 1
    assert lookalike("discover", "--top", 1, "--queries", 2, "--overwrite").status == 0
    assert len(set(shop.pool.queries)) == 2


def test_a_workspace_without_a_pool_and_a_folder_that_is_none(lookalike, photos, tmp_path):
    assert lookalike("init", photos).status == 0
    assert package.open_workspace(tmp_path).pool is None
    with pytest.raises(WorkspaceError):
        package.open_workspace(tmp_path / "nowhere")


def test_a_catalog_as_a_frame_and_back(lookalike, photos, tmp_path):
    names = [path.relative_to(photos).as_posix() for path in sorted(photos.rglob("*.png"))]
    rows = [f"{name},{name[:7]},{at} cm,{at % 3}" for at, name in enumerate(names)]
    Path("catalog.csv").write_text("\n".join(["image,item,width,price", *rows]))
    assert lookalike("init", "catalog.csv", "--images", photos).status == 0
    catalog = package.open_workspace(tmp_path).catalog
    frame = package.to_frame(catalog)
    assert frame["image"].to_list() == names
    assert frame["width"].to_list() == [96] * 36
    assert frame["width (table)"].to_list() == [f"{at} cm" for at in range(36)]
    assert frame["price"].to_list() == [str(at % 3) for at in range(36)]
    assert frame["split"].to_list() == catalog.split.tolist()
    assert package.read_catalog(frame).fingerprint == catalog.fingerprint
