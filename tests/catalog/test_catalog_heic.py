"""HEIC photos: read with the plug-in; without it, left out with the commands that help."""

import io
import shlex
import sys

import numpy as np
import pytest
from PIL import Image
from sample_photos import photo, pixels

import lookalike
from lookalike.catalog.photos import decode
from lookalike.catalog.photos.decode import ORIENTATION, load_rgb, thumbnail
from lookalike.core.errors import CatalogError


def heic(path, width=64, height=48, orientation=1):
    """A HEIC photo as telephones store it: its rotation is in the container and in Exif."""
    import pillow_heif

    pillow_heif.register_heif_opener()
    path.parent.mkdir(parents=True, exist_ok=True)
    image, exif = smooth(width, height), Image.Exif()
    exif[ORIENTATION] = orientation
    image.info["exif"] = exif.tobytes()
    image.save(path, format="HEIF", quality=95)
    return path


def smooth(width, height):
    return pixels(8, 6).resize((width, height), Image.Resampling.BICUBIC)


@pytest.fixture
def without(monkeypatch):
    """No plug-in is installed."""
    monkeypatch.setitem(sys.modules, "pillow_heif", None)
    decode._formats.cache_clear()
    yield
    decode._formats.cache_clear()


def test_a_heic_photo_is_read_like_any_other(tmp_path):
    heic(tmp_path / "chair/IMG_1.HEIC")
    photo(tmp_path / "chair/2.jpg", 64, 48)
    catalog = lookalike.read_catalog(tmp_path)
    assert catalog.image.tolist() == ["chair/2.jpg", "chair/IMG_1.HEIC"]
    assert catalog.left_out == ()
    assert (catalog.width[1], catalog.height[1]) == (64, 48)
    shown = load_rgb(tmp_path / "chair/IMG_1.HEIC")
    wanted = smooth(64, 48)
    assert np.abs(np.asarray(shown, float) - np.asarray(wanted, float)).mean() < 6
    assert Image.open(io.BytesIO(thumbnail(tmp_path / "chair/IMG_1.HEIC", 32))).size == (32, 24)
    found = lookalike.embed(catalog, "descriptor:color", photos=tmp_path)
    assert np.isfinite(found.vectors).all()


def test_a_heic_photo_is_turned_once(tmp_path):
    shown = load_rgb(heic(tmp_path / "a.heic", 64, 48, orientation=6))
    wanted = smooth(64, 48).transpose(Image.Transpose.ROTATE_270)
    assert shown.size == (48, 64)
    assert np.abs(np.asarray(shown, float) - np.asarray(wanted, float)).mean() < 6


def test_without_the_plug_in_it_is_left_out_with_the_commands_that_help(tmp_path, without):
    name = "chair/IMG 1.heic"
    (tmp_path / "chair").mkdir()
    (tmp_path / name).write_bytes(b"\x00\x00\x00\x1cftypheic\x00\x00\x00\x00mif1heic" + bytes(200))
    photo(tmp_path / "chair/2.jpg")
    catalog = lookalike.read_catalog(tmp_path)
    assert catalog.image.tolist() == ["chair/2.jpg"]
    (left,) = catalog.left_out
    assert left.image == name
    assert left.reason.startswith("HEIC: ")
    assert "pip install '.[heic]'" in left.reason
    words = shlex.split(left.reason.rpartition(": ")[2])
    assert {str(tmp_path / name), str(tmp_path / "chair/IMG 1.jpg")} < set(words)
    with pytest.raises(CatalogError, match="pillow-heif"):
        load_rgb(io.BytesIO((tmp_path / name).read_bytes()))


def test_without_the_plug_in_other_files_have_their_own_reasons(tmp_path, without):
    (tmp_path / "a.heic").write_bytes(b"no photo at all")
    photo(tmp_path / "b.jpg")
    (left,) = lookalike.read_catalog(tmp_path).left_out
    assert left.reason.startswith("not an image: ")


def test_a_folder_of_heic_photos_alone_is_refused_with_the_reason(tmp_path, without):
    (tmp_path / "a.heic").write_bytes(b"\x00\x00\x00\x18ftypmif1" + bytes(200))
    with pytest.raises(CatalogError, match="HEIC"):
        lookalike.read_catalog(tmp_path)
