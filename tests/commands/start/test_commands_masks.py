"""Masks from the table to vectors and searches, and several regions of one photo as one item."""

import csv

import numpy as np
from PIL import Image

from lookalike.catalog.photos.masks import Region
from lookalike.store.workspace import Workspace
from lookalike.studio import studio

POOL = "descriptor:color?region=pool"


def shop(folder, photos, masked=True):
    """A table of the shop's first photos, each with a mask of its left half, and copies cut to that half."""
    rows = [("image", "path", "mask", "item")]
    for number, path in enumerate(sorted(photos.rglob("*.png"))[:8]):
        with Image.open(path) as photo:
            whole = photo.convert("RGB")
        left = whole.width // 2
        for name in ("photos", "masks", "cut"):
            (folder / name).mkdir(exist_ok=True)
        whole.save(folder / f"photos/{number}.png")
        whole.crop((0, 0, left, whole.height)).save(folder / f"cut/{number}.png")
        mask = Image.new("L", whole.size)
        mask.paste(255, (0, 0, left, whole.height))
        mask.save(folder / f"photos/mask{number}.png")
        rows.append((f"{number}.png", f"{number}.png", f"mask{number}.png" if masked else "", f"i{number}"))
    with (folder / "shop.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)


def vectors(folder, name):
    workspace = Workspace(folder)
    return np.asarray(workspace.embeddings(name).vectors).copy()


def start(lookalike, photos, tmp_path):
    shop(tmp_path, photos)
    assert lookalike("init", "shop.csv", "--images", "photos", "--workspace", "ours").status == 0
    for spec, name in ((POOL, "pool"), ("descriptor:color", "whole")):
        assert lookalike("embed", spec, "--name", name, "--workspace", "ours").status == 0


def test_masks_are_for_encoders_that_pool_and_hidden_from_others(lookalike, photos, tmp_path):
    start(lookalike, photos, tmp_path)
    for folder, name, same in (("photos", "plain", "whole"), ("cut", "cut", "pool")):
        assert lookalike("init", folder, "--workspace", name).status == 0
        assert lookalike("embed", "descriptor:color", "--name", "it", "--workspace", name).status == 0
        rows = [Workspace(tmp_path / name).catalog.row[f"{number}.png"] for number in range(8)]
        other = vectors(tmp_path / name, "it")[rows]
        ours = vectors(tmp_path / "ours", same)
        cosine = (ours * other).sum(1) / np.linalg.norm(ours, axis=1) / np.linalg.norm(other, axis=1)
        if same == "whole":
            np.testing.assert_array_equal(ours, other)
        else:  # a cut photo is enlarged, so its colours are not bit for bit those of the half
            assert cosine.min() > 0.97
            assert ((vectors(tmp_path / "ours", "whole") * ours).sum(1) < cosine).any()


def test_a_search_with_a_mask_finds_the_region(lookalike, photos, tmp_path):
    start(lookalike, photos, tmp_path)
    (tmp_path / "new.png").write_bytes((tmp_path / "photos/3.png").read_bytes())
    (tmp_path / "mask.png").write_bytes((tmp_path / "photos/mask3.png").read_bytes())
    common = ("search", "new.png", "--mask", "mask.png", "--workspace", "ours", "--json", "--encoder")
    best = lookalike(*common, "pool").json["results"][0]
    assert (best["image"], round(best["score"], 5)) == ("3.png", 1.0)
    assert lookalike("search", "new.png", *common[4:], "pool").json["results"][0]["score"] < 0.9999
    refused = lookalike(*common, "whole")
    assert refused.status != 0
    assert "whole does not use masks" in refused.err
    refused = lookalike("search", "3.png", *common[2:], "pool")
    assert "--mask needs a photo" in refused.err


def test_a_changed_mask_makes_its_vectors_stale_and_one_that_is_gone_is_named(lookalike, photos, tmp_path):
    start(lookalike, photos, tmp_path)
    before = vectors(tmp_path / "ours", "pool")
    with Image.open(tmp_path / "photos/mask2.png") as mask:
        mask.transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(tmp_path / "photos/mask2.png")
    refused = lookalike("embed", POOL, "--name", "again", "--workspace", "ours")
    assert refused.status != 0
    assert "1 changed since the catalog was made: '2.png'" in refused.err
    done = lookalike("catalog", "refresh", "--workspace", "ours", "--json").json
    assert (done["replaced"], sorted(done["stale"])) == (["2.png"], ["pool", "whole"])
    assert lookalike("embed", "--stale", "--workspace", "ours").status == 0
    changed = (vectors(tmp_path / "ours", "pool") != before).any(axis=1)
    assert np.flatnonzero(changed).tolist() == [2]
    (tmp_path / "photos/mask1.png").unlink()
    done = lookalike("catalog", "refresh", "--workspace", "ours", "--json").json
    assert done["gone"] == ["1.png"]
    assert "mask not usable: missing file" in Workspace(tmp_path / "ours").catalog.left_out[0].reason


def test_of_several_regions_of_one_item_the_best_counts(lookalike, tmp_path):
    """One photo with three products of an item, in three rows: a query finds the item by the region most like it."""
    (tmp_path / "photos").mkdir()
    both = Image.new("RGB", (90, 30), "red")
    both.paste("blue", (30, 0, 60, 30))
    both.paste("green", (60, 0, 90, 30))
    both.save(tmp_path / "photos/set.png")
    other = Image.new("RGB", (90, 30), "blue")
    other.paste("white", (0, 0, 60, 30))
    other.save(tmp_path / "photos/other.png")
    rows = [("image", "path", "item", "x0", "y0", "x1", "y1"), ("other", "other.png", "other", *[""] * 4)]
    rows += [(f"set-{at}", "set.png", "set", 30 * at, 0, 30 * at + 30, 30) for at in range(3)]
    with (tmp_path / "table.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    Image.new("RGB", (40, 40), "blue").save(tmp_path / "query.png")
    assert lookalike("init", "table.csv", "--images", "photos", "--workspace", "ours").status == 0
    for spec in ("descriptor:color", POOL):
        assert lookalike("embed", spec, "--name", "it", "--replace", "--workspace", "ours").status == 0
        found = lookalike("search", "query.png", "--workspace", "ours", "--json").json["results"]
        assert [one["image"] for one in found] == ["set-1", "other"]
        assert found[0]["score"] > 0.9 > found[1]["score"]


def test_a_studio_with_masks_is_a_catalog_with_boxes_and_masks(lookalike, tmp_path):
    made = ("studio", "drawn", "--photos", "200", "--size", "48", "--masks")
    said = lookalike(*made)
    assert said.status == 0, said.err
    assert "lookalike init drawn/catalog.csv" in said.out
    assert lookalike("init", "drawn/catalog.csv", "--workspace", "ours", "--json").json["images"] == 200
    catalog = Workspace(tmp_path / "ours").catalog
    for row in (0, 77, 199):
        region = Region.of(catalog.box[row])
        mask = studio(200).mask(int(catalog.position[row]), 48)
        down, across = np.nonzero(mask)
        assert region.box == (across.min(), down.min(), across.max() + 1, down.max() + 1)
        np.testing.assert_array_equal(np.asarray(Image.open(tmp_path / "drawn" / region.mask)), mask)
    kept = (tmp_path / "drawn/catalog.csv").read_bytes()
    (tmp_path / "drawn" / Region.of(catalog.box[3]).mask).unlink()
    assert lookalike(*made).status == 0
    assert (tmp_path / "drawn/catalog.csv").read_bytes() == kept
    assert (tmp_path / "drawn" / Region.of(catalog.box[3]).mask).is_file()
    assert lookalike("init", "drawn", "--workspace", "photos", "--json").json["images"] == 200
