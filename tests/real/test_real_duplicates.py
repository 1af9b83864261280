"""Duplicates among real photos: the one pair that is there, and copies edited as shops edit them."""

import io
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageEnhance

from lookalike.catalog.duplicates.groups import find_duplicates
from lookalike.catalog.duplicates.signature import as_rows
from lookalike.catalog.photos.check import check_image
from lookalike.catalog.read import catalog_from
from lookalike.core.checks import strings

DATA = Path(os.environ.get("LOOKALIKE_DATA", Path(__file__).parents[3] / "shared" / "data"))
CLOTHING = DATA / "clothing"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not CLOTHING.is_dir(), reason="the data pack is not here (set LOOKALIKE_DATA)"),
]
PAIR = {
    "train/shorts/6075b4a5-5b1a-4ce0-aea0-9dbfbca7c35c.jpg",
    "train/skirt/637a56e4-7fa6-4f75-8859-0f8902461554.jpg",
}


def cropped(photo: Image.Image, share: float) -> Image.Image:
    """Without half of the share on each side."""
    width, height = photo.size
    across, down = width * share / 2, height * share / 2
    return photo.crop((round(across), round(down), width - round(across), height - round(down)))


def resized(photo: Image.Image, share: float) -> Image.Image:
    return photo.resize((round(photo.width * share), round(photo.height * share)), Image.Resampling.LANCZOS)


EDITS = {
    "quality 60": (lambda photo: photo, {"format": "JPEG", "quality": 60}, 1.0),
    "half the size": (lambda photo: resized(photo, 0.5), {"format": "JPEG", "quality": 90}, 1.0),
    "WebP": (lambda photo: photo, {"format": "WEBP", "quality": 80}, 1.0),
    "PNG": (lambda photo: photo, {"format": "PNG"}, 1.0),
    "5 % brighter": (lambda photo: ImageEnhance.Brightness(photo).enhance(1.05), {"format": "PNG"}, 1.0),
    "3 % cropped": (lambda photo: cropped(photo, 0.03), {"format": "JPEG", "quality": 90}, 0.85),
    "5 % cropped": (lambda photo: cropped(photo, 0.05), {"format": "JPEG", "quality": 90}, 0.5),
}


def test_the_one_pair_of_the_clothing_photos_is_found_and_no_other():
    reading = catalog_from(CLOTHING)
    catalog = reading.catalog
    assert set(catalog.image[catalog.duplicate >= 0]) == PAIR
    (note,) = [note for note in reading.notes if "duplicate" in note]
    assert all(part in note for part in ("1 photo is", "0 exact, 1 near", "1 group", "1 across items"))


@pytest.mark.parametrize("edit", EDITS)
def test_edited_copies_are_found(tmp_path, edit):
    change, saving, expected = EDITS[edit]
    paths = sorted(CLOTHING.glob("*/*/*.jpg"))[::40]
    made = [check_image(path) for path in paths]
    for at, path in enumerate(paths):
        written = io.BytesIO()
        with Image.open(path) as photo:
            change(photo.convert("RGB")).save(written, **saving)
        (tmp_path / str(at)).write_bytes(written.getvalue())
        made.append(check_image(tmp_path / str(at)))
    found = find_duplicates(strings(one.digest for one in made), as_rows(one.signature for one in made))
    first, copy = np.split(found.group, 2)
    assert np.mean((first >= 0) & (first == copy)) >= expected
    assert found.groups <= len(paths)  # no copy of one photo is a duplicate of another photo
    assert all(set(np.flatnonzero(found.group == g) % len(paths)).__len__() == 1 for g in range(found.groups))
