"""Masks: read from tables, checked against their photos, and part of what decides whether a vector is stale."""

import csv
import io

import numpy as np
import pytest
from PIL import Image
from sample_photos import photo, with_exif

from lookalike.catalog.photos.boxes import Box
from lookalike.catalog.photos.masks import Region, load_mask
from lookalike.catalog.read import catalog_from
from lookalike.catalog.update import merged, rooted
from lookalike.core.errors import CatalogError


def mask(path, width=40, height=30, inside=(5, 5, 20, 20), mode="L", value=255):
    image = Image.new(mode, (width, height))
    image.paste(value, inside)
    path.parent.mkdir(exist_ok=True)
    image.save(path)
    return path


def table(folder, rows, head=("image", "mask", "item")):
    with (folder / "catalog.csv").open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return folder / "catalog.csv"


def test_a_table_with_masks_is_read_and_masks_that_cannot_be_used_leave_images_out(tmp_path):
    for name in "abcdefg":
        photo(tmp_path / f"{name}.png", 40, 30, seed=ord(name))
    mask(tmp_path / "m/a b.png")
    mask(tmp_path / "m/large.png", width=41)
    mask(tmp_path / "m/empty.png", value=0)
    (tmp_path / "m/text.png").write_text("no image")
    named = ("m/a b.png", "m/absent.png", "m/large.png", "m/empty.png", "m/text.png", "../out.png", "")
    rows = [(f"{name}.png", path, name) for name, path in zip("abcdefg", named, strict=True)]
    reading = catalog_from(table(tmp_path, rows))
    assert reading.catalog.image.tolist() == ["a.png", "g.png"]
    region, whole = map(Region.of, reading.catalog.box)
    assert (region.box, region.mask, len(region.digest), whole) == (None, "m/a b.png", 64, Region())
    reasons = {one.image: one.reason for one in reading.catalog.left_out}
    assert reasons["b.png"] == "mask not usable: missing file: there is no such file (m/absent.png)"
    assert reasons["c.png"] == "mask of another size: it has 41 x 30 pixels, the photo 40 x 30 (m/large.png)"
    assert reasons["d.png"] == "mask empty: no pixel of it is marked (m/empty.png)"
    assert reasons["e.png"].startswith("mask not usable: not an image")
    assert reasons["f.png"].startswith("mask outside the photo folder")
    assert "mask" not in reading.catalog.columns
    assert any("1 image has a mask" in note or "6 images have masks" in note for note in reading.notes)


def test_a_mask_that_is_empty_in_its_box_leaves_the_image_out(tmp_path):
    for name in "ab":
        photo(tmp_path / f"{name}.png", 40, 30, seed=ord(name))
    mask(tmp_path / "m.png")
    head = ("image", "mask", "x0", "y0", "x1", "y1")
    reading = catalog_from(
        table(tmp_path, [("a.png", "m.png", 10, 10, 40, 30), ("b.png", "m.png", 25, 0, 40, 30)], head)
    )
    assert Region.of(reading.catalog.box[0])[:2] == (Box(10, 10, 40, 30), "m.png")
    assert reading.catalog.left_out[0].reason.startswith("mask empty: no pixel of it in its box is marked")


def test_a_changed_mask_changes_the_content_and_a_moved_one_does_not(tmp_path):
    photo(tmp_path / "a.png", 40, 30)
    mask(tmp_path / "m.png")
    mask(tmp_path / "n/m.png")
    first, moved = (catalog_from(table(tmp_path, [("a.png", m, 1)])).catalog for m in ("m.png", "n/m.png"))
    assert first.content.tolist() == moved.content.tolist() != first.digest.tolist()
    mask(tmp_path / "m.png", inside=(5, 5, 21, 20))
    second = catalog_from(table(tmp_path, [("a.png", "m.png", 1)])).catalog
    assert first.content.tolist() != second.content.tolist()
    assert first.digest.tolist() == second.digest.tolist()
    both, change = merged(first, second, seed=0, whole=True)
    assert (both.box.tolist(), change.replaced) == (second.box.tolist(), ("a.png",))
    elsewhere = rooted(first, tmp_path / "n", tmp_path, tmp_path)
    assert (elsewhere.path[0], Region.of(elsewhere.box[0]).mask) == ("n/a.png", "n/m.png")


@pytest.mark.parametrize(
    ("mode", "value"), [("1", 1), ("L", 1), ("L", 255), ("I;16", 65535), ("LA", (0, 255))]
)
def test_a_mask_may_be_of_many_kinds(tmp_path, mode, value):
    if mode == "LA":  # a product that was cut out: opacity counts, not brightness
        image = Image.new("LA", (40, 30), (255, 0))
        image.paste(value, (5, 5, 20, 20))
        image.save(path := tmp_path / "m.png")
    else:
        path = mask(tmp_path / "m.png", mode=mode, value=value)
    expected = np.zeros((30, 40))
    expected[5:20, 5:20] = 255
    np.testing.assert_array_equal(np.asarray(load_mask(path, (40, 30))), expected)


def test_the_noise_of_a_jpeg_is_not_in_the_mask_and_colour_is_brightness():
    held = io.BytesIO()
    image = Image.new("RGB", (160, 160))
    image.paste("white", (37, 41, 99, 121))
    image.save(held, "JPEG", quality=50)
    held.seek(0)
    found = np.asarray(load_mask(held, (160, 160))) > 0
    assert found.sum() == pytest.approx(62 * 80, rel=0.03)
    assert not found[:30].any()


def test_a_mask_is_turned_as_it_is_shown(tmp_path):
    path = with_exif(tmp_path / "turned.jpg", 6)  # stored 64 x 32, shown 32 x 64, red at the upper right
    assert load_mask(path, (32, 64)).size == (32, 64)
    with pytest.raises(CatalogError, match="another size"):
        load_mask(path, (64, 32))
