"""Boxes: read from tables, checked against their photos, and cut where encoders read photos."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from sample_photos import photo, pixels, with_exif

from lookalike.catalog.photos.boxes import CORNERS, SIZE, SIZE_TURNED, Box, box_of, placed
from lookalike.catalog.photos.decode import load_rgb
from lookalike.catalog.read import catalog_from
from lookalike.core.errors import ArgumentError, CatalogError


def table(folder, rows, head=("image", "x0", "y0", "x1", "y1", "item")):
    with (folder / "catalog.csv").open("w", newline="") as file:
        csv.writer(file).writerows([head, *rows])
    return folder / "catalog.csv"


def test_a_table_with_four_corners_has_boxes(tmp_path):
    for name in "abc":
        photo(tmp_path / f"{name}.png", 40, 30, seed=ord(name))
    rows = [("a.png", 1, 2, 30, 20, 1), ("b.png", "", "", "", "", 2), ("c.png", "0.5", "0", "39.2", "30", 3)]
    reading = catalog_from(table(tmp_path, rows))
    assert reading.catalog.box.tolist() == ["1,2,30,20", "", "0,0,40,30"]
    assert not reading.catalog.columns
    assert any("2 images have boxes" in note for note in reading.notes)


def test_columns_of_a_box_may_have_other_names_and_three_of_them_are_no_box(tmp_path):
    photo(tmp_path / "a.png", 40, 30)
    head = ("image", "x_1", "y_1", "x_2", "y_2")
    source = table(tmp_path, [("a.png", 1, 2, 30, 20)], head)
    names = {"x0": "x_1", "y0": "y_1", "x1": "x_2", "y1": "y_2"}
    assert catalog_from(source, columns=names).catalog.box.tolist() == ["1,2,30,20"]
    with pytest.raises(ArgumentError, match="needs all of x0, y0, x1, y1"):
        catalog_from(source, columns={"x0": "x_1"})
    plain = catalog_from(table(tmp_path, [("a.png", 7)], ("image", "x1"))).catalog
    assert (plain.box.tolist(), plain.columns["x1"].tolist()) == ([""], ["7"])


def test_a_box_that_is_no_four_numbers_names_its_line(tmp_path):
    photo(tmp_path / "a.png", 40, 30)
    photo(tmp_path / "b.png", 40, 30, seed=1)
    rows = [("a.png", 1, 2, 30, 20, 1), ("b.png", 1, 2, "", 20, 2)]
    with pytest.raises(CatalogError, match="no box of four numbers in line 3"):
        catalog_from(table(tmp_path, rows))


def test_a_box_outside_its_photo_leaves_the_image_out_and_one_over_an_edge_is_cut(tmp_path):
    for name in "abc":
        photo(tmp_path / f"{name}.png", 40, 30, seed=ord(name))
    rows = [("a.png", 50, 2, 60, 20, 1), ("b.png", -4, 2, 45, 20, 2), ("c.png", 0, 0, 41, 30, 3)]
    reading = catalog_from(table(tmp_path, rows))
    assert dict(zip(reading.catalog.image, reading.catalog.box, strict=True)) == {
        "b.png": "0,2,40,20",
        "c.png": "0,0,40,30",
    }
    (gone,) = reading.catalog.left_out
    assert gone.image == "a.png"
    assert gone.reason.startswith("box outside the photo")
    assert any("1 box reached over an edge" in note for note in reading.notes)


def test_boxes_of_a_table_in_another_order_are_refused(tmp_path):
    photo(tmp_path / "a.png", 40, 30)
    photo(tmp_path / "b.png", 40, 30, seed=1)
    rows = [("a.png", 20, 10, 18, 15, 1), ("b.png", 1, 2, 30, 20, 2)]  # x, y, width, height
    with pytest.raises(CatalogError, match="do not fit their photos as x0, y0, x1, y1"):
        catalog_from(table(tmp_path, rows))


@pytest.mark.parametrize(
    ("numbers", "orders", "found", "said"),
    [
        ([10, 10, 80, 30], (SIZE_TURNED, SIZE, CORNERS), "10,10,40,90", "as documented"),  # fits all orders
        (
            [60, 10, 30, 80],
            (SIZE_TURNED, SIZE, CORNERS),
            "60,10,90,90",
            "Boxes are read as x, y, width, height",
        ),
        ([20, 80, 95, 99], (SIZE, CORNERS), "20,80,95,99", "Boxes are read as x0, y0, x1, y1"),
    ],
)
def test_the_order_that_fits_is_read_and_said(numbers, orders, found, said):
    size = np.array([100])
    boxes = placed(np.array([numbers], float), orders, size, size)
    assert boxes.text == [found]
    assert said in boxes.notes[0]


@given(st.sampled_from([CORNERS, SIZE, SIZE_TURNED]), st.integers(0, 2**32 - 1))
def test_boxes_come_back_in_whatever_order_they_were_written(order, seed):
    """Boxes in the lower right half of tall photos fit in one order only, so it is found without being told."""
    random = np.random.default_rng(seed)
    true, written = [], []
    for _ in range(6):
        x, y = int(random.integers(30, 45)), int(random.integers(110, 150))
        width, height = int(random.integers(5, 15)), int(random.integers(30, 50))
        true.append(f"{x},{y},{x + width},{y + height}")
        ends = {CORNERS: (x + width, y + height), SIZE: (width, height), SIZE_TURNED: (height, width)}
        written.append((x, y, *ends[order]))
    documented = (SIZE_TURNED, SIZE, CORNERS)
    found = placed(np.array(written, float), documented, np.full(6, 60), np.full(6, 200))
    assert found.text == true
    assert ("Boxes are read as" in found.notes[0]) == (order != documented[0])


def test_two_crops_of_one_photo_are_no_duplicates(tmp_path):
    photo(tmp_path / "a.png", 40, 30)
    head = ("image", "path", "x0", "y0", "x1", "y1")
    rows = [("one", "a.png", 0, 0, 20, 30), ("two", "a.png", 20, 0, 40, 30), ("three", "a.png", 0, 0, 20, 30)]
    catalog = catalog_from(table(tmp_path, rows, head)).catalog
    assert catalog.duplicate.tolist() == [0, -1, 0]
    assert len(set(catalog.digest)) == 1
    assert len(set(catalog.content)) == 2


def test_a_boxed_photo_that_was_saved_again_is_a_near_duplicate(tmp_path):
    smooth = pixels(8, 6).resize((160, 120), Image.Resampling.BICUBIC)
    smooth.save(tmp_path / "a.png")
    smooth.save(tmp_path / "b.jpg", quality=80)
    photo(tmp_path / "c.png", 160, 120, seed=7)
    rows = [("a.png", 0, 0, 80, 90, 1), ("b.jpg", 0, 0, 80, 90, 2), ("c.png", 0, 0, 80, 90, 3)]
    assert catalog_from(table(tmp_path, rows)).catalog.duplicate.tolist() == [0, 0, -1]


def test_a_photo_is_cut_as_it_is_shown(tmp_path):
    path = with_exif(tmp_path / "turned.jpg", 6)  # stored 64 x 32, shown 32 x 64, red at the upper right
    whole = load_rgb(path)
    assert whole.size == (32, 64)
    part = load_rgb(path, box=Box(16, 0, 32, 16))
    assert part.tobytes() == whole.crop((16, 0, 32, 16)).tobytes()
    red, _, blue = np.asarray(part).reshape(-1, 3).mean(axis=0)
    assert (red > 200, blue < 60) == (True, True)


@pytest.mark.parametrize("hint", [1, 20, 60, 400])
def test_a_jpeg_is_decoded_smaller_but_its_box_not_below_the_hint(hint):
    held = io.BytesIO()
    smooth = pixels(8, 6).resize((800, 600), Image.Resampling.BICUBIC)
    smooth.save(held, "JPEG", quality=95)
    box = Box(200, 120, 600, 420)
    exact = load_rgb(io.BytesIO(held.getvalue()), box=box)
    part = load_rgb(io.BytesIO(held.getvalue()), size_hint=hint, box=box)
    assert min(part.size) >= min(hint, *exact.size)
    same = np.asarray(part.resize(exact.size, Image.Resampling.BICUBIC), float)
    assert np.abs(same - np.asarray(exact, float)).mean() < 12


def test_a_box_of_a_search_must_be_one_and_lie_in_the_photo(tmp_path):
    for text in ("1,2,3", "a,b,c,d", "5,5,5,9", "-1,0,5,5"):
        with pytest.raises(ArgumentError, match="is not a box"):
            box_of(text)
    path = photo(tmp_path / "a.png", 40, 30)
    with pytest.raises(CatalogError, match="leads out of the photo, which has 40 x 30 pixels"):
        load_rgb(path, box=Box(0, 0, 41, 30))
