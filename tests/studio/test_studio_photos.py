import doctest
import importlib
import os
import pkgutil
import subprocess
import sys

import numpy as np
import pytest
from PIL import Image, ImageFilter

import lookalike.studio as package
from lookalike.core.errors import ArgumentError, StorageError
from lookalike.studio import contact_sheet, studio, write_photos
from lookalike.studio.attributes import WOOD, Attributes
from lookalike.studio.rendering import scene

PINNED = "097198e7c7fc48a94dc0981522473828233d5ae7b0df072ad5c41f5cdc375f20"
DIGEST = """
import hashlib
from lookalike.studio import studio
drawn = studio(200, seed=11)
digest = hashlib.sha256()
for row in range(0, 200, 9):
    digest.update(drawn.draw(row, 64).tobytes())
digest.update(drawn.draw(5).tobytes())
"""


def test_pixels_are_pinned():
    space = {}
    exec(DIGEST, space)
    assert space["digest"].hexdigest() == PINNED


@pytest.mark.slow
def test_a_plain_processor_renders_the_same_pixels(tmp_path):
    plain = os.environ | {
        "NUMBA_CPU_NAME": "generic",
        "NUMBA_CPU_FEATURES": "",
        "NUMBA_CACHE_DIR": str(tmp_path),
    }
    command = [sys.executable, "-c", DIGEST + "print(digest.hexdigest())"]
    done = subprocess.run(command, env=plain, capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == PINNED


def test_a_photo_is_the_same_alone_and_in_any_order():
    rows = [3, 150, 42, 199]
    forward = {row: studio(200, seed=2).draw(row, 40) for row in rows}
    one = studio(200, seed=2)
    for row in reversed(rows):
        assert np.array_equal(one.draw(row, 40), forward[row])


def test_a_mask_is_where_the_colours_of_the_item_show():
    """Photos of the item in two colours differ in its mask, but for pixels on its edge, and hardly elsewhere."""
    drawn = studio(200, seed=2)
    for row in (2, 5, 41, 100, 161, 190):
        item, photo = divmod(row, 2)
        first = Attributes(*(column[item] for column in drawn.of))._replace(material=np.int64(WOOD))
        second = first._replace(body=1 - first.body, frame=1 - first.frame)
        light, dark = (scene.photograph(one, 2, item, photo, 96).astype(int) for one in (first, second))
        differs = np.abs(light - dark).max(axis=2) > 0
        mask = scene.mask(first, 2, item, photo, 96)
        grown = np.array(Image.fromarray(mask).convert("L").filter(ImageFilter.MaxFilter(3))) > 0
        assert not (differs & ~grown).any()
        assert (differs & mask).sum() > 0.25 * mask.sum()
        assert np.array_equal(mask, scene.mask(second, 2, item, photo, 96))
    assert np.array_equal(drawn.mask(5, 96), scene.mask(Attributes(*(c[2] for c in drawn.of)), 2, 2, 1, 96))


def test_photos_of_an_item_and_of_other_seeds_differ():
    one = studio(200, seed=2)
    assert one.draw(0).shape == (160, 160, 3)
    assert one.draw(0).dtype == np.uint8
    assert np.abs(one.draw(0, 48).astype(int) - one.draw(1, 48)).mean() > 5
    assert not np.array_equal(one.draw(0, 48), studio(200, seed=3).draw(0, 48))


@pytest.mark.parametrize("row", [-1, 200])
def test_rows_outside_the_studio_are_refused(row):
    with pytest.raises(ArgumentError, match=f"row is {row}"):
        studio(200).draw(row)


def test_photos_are_neither_black_nor_white_and_use_their_range():
    one = studio(2_000, seed=5)
    for row in range(0, 2_000, 67):
        photo = one.draw(row, 48)
        assert 60 < photo.mean() < 250
        assert photo.std() > 12


@pytest.mark.parametrize("workers", [1, 3])
def test_written_photos_are_the_rendered_ones(tmp_path, workers):
    one, seen = studio(200, seed=8), []
    rows = list(range(0, 80, 2))
    write_photos(one, tmp_path, rows=rows, size=32, workers=workers, progress=lambda *step: seen.append(step))
    written = sorted(path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file())
    assert written == [one.image_name(row) for row in rows]
    for row in rows[::9]:
        assert np.array_equal(np.asarray(Image.open(tmp_path / one.image_name(row))), one.draw(row, 32))
    assert seen[-1] == (40, 40)
    assert seen == sorted(seen)


def test_all_photos_are_written_by_default(tmp_path):
    write_photos(studio(200), tmp_path, size=8)
    assert len(list(tmp_path.rglob("*.png"))) == 200


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "bed").write_text("a file where a folder has to be")
    with pytest.raises(StorageError, match="cannot be written"):
        write_photos(studio(200), tmp_path, rows=[0], size=8)


def test_a_contact_sheet_shows_the_photos_of_an_item_side_by_side():
    one = studio(200, photos_per_item=3)
    sheet = np.asarray(contact_sheet(one, columns=6, rows=2, size=30))
    assert sheet.shape == (2 * 32 + 2, 2 * 92 + 2, 3)
    assert np.array_equal(sheet[2:32, 32:62], one.draw(1, 30))


def test_examples_in_the_docstrings_hold():
    tried = 0
    for module in pkgutil.iter_modules(package.__path__):
        done = doctest.testmod(importlib.import_module(f"{package.__name__}.{module.name}"))
        assert done.failed == 0, module.name
        tried += done.attempted
    assert tried > 15
