import hashlib
import os
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest
from PIL import Image
from sample_photos import huge_png, photo, pixels, truncated

from lookalike.catalog.photos.check import check_image, check_images
from lookalike.catalog.photos.decode import load_rgb
from lookalike.core.errors import ArgumentError


@contextmanager
def without_rights():
    """Root may read anything, so become the user nobody for a moment."""
    was = os.geteuid()
    if was == 0:
        os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(was)


def test_a_good_photo(tmp_path):
    path = photo(tmp_path / "a.jpg", 31, 17)
    assert check_image(path)[:4] == (hashlib.sha256(path.read_bytes()).hexdigest(), 31, 17, "")


def test_every_bad_photo_has_its_reason_and_stops_nothing(tmp_path):
    root = tmp_path / "root"
    photo(root / "good.jpg")
    photo(tmp_path / "outside.jpg")
    (root / "empty.jpg").write_bytes(b"")
    (root / "text.jpg").write_text("this is no photo, whatever its name\n" * 20)
    (root / "folder.jpg").mkdir()
    os.mkfifo(root / "pipe.jpg")
    truncated(root / "cut.jpg")
    truncated(root / "cut.png")
    truncated(root / "cut.webp")
    photo(root / "header.jpg").write_bytes((root / "good.jpg").read_bytes()[:30])
    pixels(200, 200).save(root / "cut.tiff", compression="tiff_lzw")
    (root / "cut.tiff").write_bytes((root / "cut.tiff").read_bytes()[:3000])
    photo(root / "dot.png", 1, 1)
    photo(root / "thin.png", 500, 7)
    huge_png(root / "huge.png")
    pixels().convert("LAB").save(root / "lab.tiff")
    os.symlink("nowhere.jpg", root / "dead.jpg")
    os.symlink("circle.jpg", root / "circle.jpg")
    expected = {
        "good.jpg": "",
        "empty.jpg": "empty file: it has 0 bytes",
        "text.jpg": "not an image: the content",
        "folder.jpg": "folder: ",
        "pipe.jpg": "not an image: this is no regular file",
        "cut.jpg": "truncated: ",
        "cut.png": "truncated: ",
        "cut.webp": ("damaged: ", "truncated: ", "not an image: "),
        "header.jpg": ("truncated: ", "not an image: "),
        "cut.tiff": ("damaged: ", "truncated: ", "not an image: "),
        "dot.png": "too small: 1 x 1 pixels, at least 8 x 8",
        "thin.png": "too small: 500 x 7 pixels",
        "huge.png": "too large: 20,000 x 10,001 pixels are 200.0 megapixels, the limit is 100; to use it",
        "lab.tiff": "not an image: colours of kind LAB",
        "dead.jpg": "missing file: ",
        "circle.jpg": "damaged: ",
        "none.jpg": "missing file: there is no such file",
        "good.jpg/a.jpg": "missing file: ",
        "a\\b.jpg": "missing file: there is no such file (it has backslashes",
        "https://shop.example/a.jpg": "missing file: there is no such file (it is an address",
        "n" * 300 + ".jpg": "damaged: ",
        "nul\0.jpg": "outside the photo folder",
        "../outside.jpg": "outside the photo folder: ",
        "a/../../outside.jpg": "outside the photo folder: ",
        str(tmp_path / "outside.jpg"): "outside the photo folder: ",
        str(root / "good.jpg"): "",
        "./sub/../good.jpg": "",
        ".": "folder: ",
    }
    found = dict(zip(expected, check_images(list(expected), root), strict=True))
    for path, reason in expected.items():
        assert found[path].reason.startswith(reason), (path, found[path])
        assert bool(reason) == bool(found[path].reason)
        assert bool(reason) != bool(found[path].digest)


def test_nothing_is_printed(tmp_path, capfd):
    pixels(200, 200).save(tmp_path / "a.tiff", compression="tiff_lzw")
    whole = (tmp_path / "a.tiff").read_bytes()
    for end in (10, 100, 3000, len(whole) - 50):
        (tmp_path / "a.tiff").write_bytes(whole[:end])
        assert check_image(tmp_path / "a.tiff").reason
    printed = capfd.readouterr()
    assert (printed.out, printed.err) == ("", "")


def test_no_permission():
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        path = photo(Path(folder) / "a.png")
        load_rgb(path)
        path.chmod(0)
        with without_rights():
            found = check_image(path)
    assert found.reason.startswith("no permission:")


def test_the_limit_can_be_raised(tmp_path):
    path = huge_png(tmp_path / "a.png", 20_000, 10_001)
    assert check_image(path, max_megapixels=199).reason.startswith("too large")
    found = check_image(path, max_megapixels=201)
    assert (found.width, found.height, found.reason) == (20_000, 10_001, "")
    with pytest.raises(ArgumentError, match="--max-megapixels is 0"):
        check_images([], tmp_path, max_megapixels=0)


def test_a_link_inside_may_lead_outside(tmp_path):
    photo(tmp_path / "elsewhere" / "a.jpg")
    (tmp_path / "root").mkdir()
    os.symlink(tmp_path / "elsewhere", tmp_path / "root" / "link")
    assert check_images(["link/a.jpg"], tmp_path / "root")[0].reason == ""


def test_an_absolute_path_through_a_linked_root(tmp_path):
    photo(tmp_path / "real" / "a.jpg")
    os.symlink(tmp_path / "real", tmp_path / "link")
    assert check_images([str(tmp_path / "real" / "a.jpg")], tmp_path / "link")[0].reason == ""


def test_progress_counts_in_the_calling_thread(tmp_path):
    for i in range(7):
        photo(tmp_path / f"{i}.png", seed=i)
    seen = []
    found = check_images([f"{i}.png" for i in range(7)], tmp_path, progress=lambda *step: seen.append(step))
    assert seen == [(i, 7) for i in range(1, 8)]
    assert len({one.digest for one in found}) == 7


def test_what_stops_the_caller_stops_the_check(tmp_path):
    photo(tmp_path / "a.png")

    def interrupted(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check_images(["a.png"] * 3000, tmp_path, progress=interrupted)


def test_every_photo_that_passes_can_be_loaded(tmp_path):
    for mode in ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "I", "F", "YCbCr"):
        path = tmp_path / f"{mode.replace(';', '')}.{'png' if mode in ('LA', 'P') else 'tiff'}"
        Image.new(mode, (12, 9)).save(path)
        assert check_image(path)[1:4] == (12, 9, ""), mode
        assert load_rgb(path).mode == "RGB"
