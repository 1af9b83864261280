import io
import threading
import warnings

import numpy as np
import pytest
from PIL import Image
from sample_photos import huge_png, photo, pixels, truncated, with_exif

from lookalike.catalog.photos.check import check_image
from lookalike.catalog.photos.decode import load_rgb, open_photo, thumbnail
from lookalike.core.errors import ArgumentError, CatalogError

RED = (254, 0, 0)


def header_size(path):
    with open_photo(path) as image:
        return image.size


@pytest.mark.parametrize("orientation", range(1, 9))
def test_orientation_puts_the_corner_where_it_is_shown(tmp_path, orientation):
    # where the stored upper left corner is seen, by the EXIF standard: (row end, column end)
    corner = {1: (0, 0), 2: (0, 1), 3: (1, 1), 4: (1, 0), 5: (0, 0), 6: (0, 1), 7: (1, 1), 8: (1, 0)}
    path = with_exif(tmp_path / "a.jpg", orientation)
    shown = load_rgb(path)
    assert shown.size == ((64, 32) if orientation < 5 else (32, 64))
    row, column = corner[orientation]
    x, y = (4, shown.width - 5)[column], (4, shown.height - 5)[row]
    assert shown.getpixel((x, y)) == RED
    found = check_image(path)
    assert (found.width, found.height) == shown.size


@pytest.mark.parametrize("ending", ["png", "tiff", "webp"])
def test_orientation_of_other_formats_is_applied_once(tmp_path, ending):
    exif = Image.Exif()
    exif[0x0112] = 6
    path = photo(tmp_path / f"a.{ending}", 40, 20, exif=exif)
    assert load_rgb(path).size == (20, 40)
    assert check_image(path)[1:4] == (20, 40, "")


def test_a_bad_exif_block_fails_nothing(tmp_path):
    blocks = [
        b"Exif\0\0",
        b"Exif\0\0II*\0\xff\xff\xff\xff",
        b"Exif\0\0MM\0*\0\0\0\x08\0\x05\x01\x12\0\x03",
        b"Exif\0\0junk",
    ]
    for block in blocks:
        path = photo(tmp_path / "a.jpg", exif=block)
        assert check_image(path).reason == ""
        assert load_rgb(path).size == (32, 24)
    exif = Image.Exif()
    exif[0x0112] = 99
    assert load_rgb(photo(tmp_path / "b.jpg", exif=exif)).size == (32, 24)


def test_transparency_becomes_white(tmp_path):
    palette = Image.new("P", (10, 10), 0)
    palette.putpalette([255, 0, 0, 0, 0, 255])
    palette.paste(1, (5, 0, 10, 10))
    palette.save(tmp_path / "palette.png", transparency=0)
    palette.save(tmp_path / "bytes.png", transparency=b"\x00\x80")
    palette.save(tmp_path / "palette.gif", transparency=0)
    Image.new("RGBA", (10, 10), (0, 0, 0, 0)).save(tmp_path / "alpha.png")
    Image.new("LA", (10, 10), (0, 128)).save(tmp_path / "grey.png")
    Image.new("RGB", (10, 10), (1, 2, 3)).save(tmp_path / "key.png", transparency=(1, 2, 3))
    loaded = {path.name: load_rgb(path) for path in tmp_path.iterdir()}
    assert {image.mode for image in loaded.values()} == {"RGB"}
    for name in ("palette.png", "bytes.png", "palette.gif", "alpha.png", "key.png"):
        assert loaded[name].getpixel((1, 1)) == (255, 255, 255), name
    assert loaded["palette.png"].getpixel((8, 1)) == (0, 0, 255)
    assert loaded["bytes.png"].getpixel((8, 1)) == (127, 127, 255)
    assert loaded["grey.png"].getpixel((1, 1)) == (127, 127, 127)


def test_sixteen_bits_are_scaled_not_clipped(tmp_path):
    ramp = np.linspace(0, 65535, 256 * 16).astype(np.uint16).reshape(16, 256)
    for name in ("a.png", "a.tiff"):
        Image.fromarray(ramp).save(tmp_path / name)
        grey = np.asarray(load_rgb(tmp_path / name))[..., 0].astype(float)
        assert np.abs(grey - ramp / 257).max() <= 0.5
        assert check_image(tmp_path / name).reason == ""


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (np.float32([0.0, 0.5, 1.0]), [0, 128, 255]),
        (np.float32([0, 128, 255]), [0, 128, 255]),
        (np.int32([0, 128, 200]), [0, 128, 200]),
        (np.int32([0, 32768, 65535]), [0, 128, 255]),
        (np.int32([-100, 0, 100]), [0, 128, 255]),
        (np.float32([7e5, 7e5, 7e5]), [0, 0, 0]),
    ],
)
def test_deep_greyscale_by_its_range(tmp_path, values, expected):
    Image.fromarray(np.tile(values, (9, 3))).save(tmp_path / "a.tiff")
    assert np.asarray(load_rgb(tmp_path / "a.tiff"))[0, :3, 0].tolist() == expected


def test_every_kind_of_photo_becomes_rgb(tmp_path):
    base = pixels(40, 30)
    kinds = {
        "cmyk.jpg": base.convert("CMYK"),
        "cmyk.tiff": base.convert("CMYK"),
        "grey.jpg": base.convert("L"),
        "bits.png": base.convert("1"),
        "palette.png": base.quantize(16),
        "rgba.webp": base.convert("RGBA"),
        "rgb.bmp": base,
        "ycc.tiff": base.convert("YCbCr"),
    }
    for name, image in kinds.items():
        image.save(tmp_path / name)
    base.save(tmp_path / "two.jpg", "MPO", save_all=True, append_images=[base])
    for name in [*kinds, "two.jpg"]:
        assert check_image(tmp_path / name)[1:4] == (40, 30, ""), name
        loaded = load_rgb(tmp_path / name)
        assert (loaded.mode, loaded.size, loaded.info) == ("RGB", (40, 30), {}), name


def test_cmyk_keeps_its_colours(tmp_path):
    Image.new("RGB", (16, 16), (250, 10, 10)).convert("CMYK").save(tmp_path / "a.jpg", quality=95)
    red, green, blue = load_rgb(tmp_path / "a.jpg").getpixel((8, 8))
    assert red > 240
    assert max(green, blue) < 20


@pytest.mark.parametrize("name", ["a.gif", "a.png", "a.webp"])
def test_of_an_animation_the_first_frame(tmp_path, name):
    first, second = Image.new("RGB", (20, 20), "red"), Image.new("RGB", (20, 20), "blue")
    first.save(tmp_path / name, save_all=True, append_images=[second, first], duration=50)
    red, _, blue = load_rgb(tmp_path / name).getpixel((3, 3))
    assert red > 200
    assert blue < 60
    assert check_image(tmp_path / name)[1:4] == (20, 20, "")


def test_a_size_hint_never_goes_below_itself(tmp_path):
    path = photo(tmp_path / "a.jpg", 1000, 600)
    assert load_rgb(path).size == (1000, 600)
    for hint, size in ((600, (1000, 600)), (300, (500, 300)), (140, (250, 150)), (10, (125, 75))):
        assert load_rgb(path, size_hint=hint).size == size
    assert load_rgb(photo(tmp_path / "a.png", 100, 60), size_hint=10).size == (100, 60)
    with pytest.raises(ArgumentError, match="size_hint is 0"):
        load_rgb(path, size_hint=0)


def test_an_open_file_will_do(tmp_path):
    data = io.BytesIO(photo(tmp_path / "a.png").read_bytes())
    assert load_rgb(data).size == (32, 24)
    with pytest.raises(CatalogError, match=r"uploaded file .*: not an image"):
        load_rgb(io.BytesIO(b"hello"))


def test_an_unreadable_photo_has_a_reason(tmp_path):
    with pytest.raises(CatalogError, match=r"a\.jpg' .*: truncated"):
        load_rgb(truncated(tmp_path / "a.jpg"))
    with pytest.raises(CatalogError, match="missing file"):
        load_rgb(tmp_path / "none.jpg")


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.webp"])
def test_a_thumbnail_holds_no_metadata(tmp_path, name):
    exif = Image.Exif()
    exif[0x010F] = "SecretCamera"
    exif.get_ifd(0x8825)[1] = "N"
    comment = {"comment": b"SecretComment"} if name == "a.jpg" else {}
    photo(tmp_path / name, 300, 200, exif=exif, icc_profile=b"SecretProfile", **comment)
    assert b"Secret" in (tmp_path / name).read_bytes()
    small = thumbnail(tmp_path / name, 64)
    for trace in (b"Secret", b"Exif", b"ICC_PROFILE", b"http"):
        assert trace not in small
    read = Image.open(io.BytesIO(small))
    assert (read.format, read.size, read.mode) == ("JPEG", (64, 43), "RGB")


def test_thumbnails_are_upright_and_never_larger(tmp_path):
    assert Image.open(io.BytesIO(thumbnail(with_exif(tmp_path / "a.jpg", 6), 16))).size == (8, 16)
    assert Image.open(io.BytesIO(thumbnail(photo(tmp_path / "b.jpg"), 500))).size == (32, 24)
    assert Image.open(io.BytesIO(thumbnail(photo(tmp_path / "c.png", 2000, 8), 100))).size == (100, 1)


def test_no_warning_of_pillow_escapes_and_its_limit_stays(tmp_path):
    limit = Image.MAX_IMAGE_PIXELS
    path = huge_png(tmp_path / "a.png")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        assert header_size(path) == (20_000, 10_001)
        assert header_size(huge_png(tmp_path / "b.png", 10_000, 10_000)) == (10_000, 10_000)
        warnings.simplefilter("error", Image.DecompressionBombWarning)  # as Pillow's documentation advises
        assert header_size(tmp_path / "b.png") == (10_000, 10_000)
    assert seen == []
    assert limit == Image.MAX_IMAGE_PIXELS


def test_the_filter_is_set_once(tmp_path):
    path = photo(tmp_path / "a.png")
    load_rgb(path)
    before = list(warnings.filters)
    load_rgb(path)
    assert list(warnings.filters) == before


def test_threads_open_huge_photos_together(tmp_path):
    limit, path, sizes = Image.MAX_IMAGE_PIXELS, huge_png(tmp_path / "a.png"), []
    threads = [threading.Thread(target=lambda: sizes.append(header_size(path))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(sizes) == 8
    assert limit == Image.MAX_IMAGE_PIXELS
