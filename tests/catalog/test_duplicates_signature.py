"""A signature is what its docstring says, to the byte, and survives what people do to photos."""

import hashlib
import io
from fractions import Fraction

import numpy as np
import pytest
from PIL import Image
from sample_photos import photo

from lookalike.catalog.duplicates.signature import BYTES, as_rows, signature
from lookalike.catalog.photos.check import check_image
from lookalike.catalog.photos.decode import UPRIGHT


def by_definition(pixels: np.ndarray) -> list[int]:
    """The signature of a small photo (no draft, no averaging first), in fractions, cell by cell."""
    height, width, _ = pixels.shape
    means = [[_mean(pixels, row, column, width, height) for column in range(16)] for row in range(16)]
    light = [[(77 * r + 150 * g + 29 * b) / 256 for r, g, b in line] for line in means]
    made = [_rounded(value) for line in light for value in line]
    for channel in (2, 0):
        for row in range(0, 16, 2):
            for column in range(0, 16, 2):
                cells = [(row + i, column + j) for i in (0, 1) for j in (0, 1)]
                off = sum(means[i][j][channel] - light[i][j] for i, j in cells) / 4
                made.append(min(255, _rounded(128 + off / 2)))
    return made


def _mean(pixels, row, column, width, height):
    total, area = [Fraction(0)] * 3, Fraction(width * height, 256)
    for y in range(row * height // 16, -(-(row + 1) * height // 16)):
        for x in range(column * width // 16, -(-(column + 1) * width // 16)):
            tall = min(Fraction((row + 1) * height, 16), y + 1) - max(Fraction(row * height, 16), y)
            wide = min(Fraction((column + 1) * width, 16), x + 1) - max(Fraction(column * width, 16), x)
            total = [part + tall * wide * int(tone) for part, tone in zip(total, pixels[y, x], strict=True)]
    return [part / area for part in total]


def _rounded(value: Fraction) -> int:
    return int((value + Fraction(1, 2)) // 1)


@pytest.mark.parametrize("size", [(16, 16), (8, 31), (37, 20), (100, 9), (64, 127)])
def test_it_is_the_mean_of_every_cell(size):
    random = np.random.default_rng(sum(size))
    pixels = random.integers(0, 256, (size[1], size[0], 3), np.uint8)
    made = signature(Image.fromarray(pixels), *size)
    assert list(made) == by_definition(pixels)


def test_the_extremes_fit_into_bytes():
    for colour in ("black", "white", "blue", "red", "yellow", "cyan"):
        tone = np.array(Image.new("RGB", (1, 1), colour))
        assert list(signature(Image.new("RGB", (16, 16), colour), 16, 16)) == by_definition(
            np.broadcast_to(tone, (16, 16, 3))
        )


def test_the_same_bytes_on_every_machine():
    """Pixels made of integers alone; the hash was written down once."""
    y, x = np.mgrid[0:301, 0:200]
    pixels = np.stack([x * 5 + y, x * y // 7, (x - y) * 3], axis=2).astype(np.uint8)
    made = signature(Image.fromarray(pixels), 200, 301)
    assert hashlib.sha256(made).hexdigest()[:16] == "97eb04d7de97ef04"


def test_photos_are_averaged_first_without_moving():
    """301 x 200 pixels are averaged three by three; the last squares are smaller, and weigh less."""
    ramp = np.broadcast_to(np.linspace(0, 255, 301)[:, None, None], (301, 200, 3)).round().astype(np.uint8)
    fine = np.frombuffer(signature(Image.fromarray(ramp), 200, 301), np.uint8)[:256].reshape(16, 16)
    middle = (np.arange(16) + 0.5) * 301 / 16 - 0.5
    assert np.abs(fine - np.interp(middle, np.arange(301), np.linspace(0, 255, 301))[:, None]).max() <= 1


@pytest.mark.parametrize("turn", range(1, 9))
def test_it_is_of_the_photo_as_shown(tmp_path, turn):
    image = Image.open(photo(tmp_path / "a.png", 48, 32, seed=turn)).convert("RGB")
    exif = Image.Exif()
    exif[0x0112] = turn
    image.save(tmp_path / "turned.png", exif=exif)
    shown = image.transpose(UPRIGHT[turn]) if turn in UPRIGHT else image
    assert check_image(tmp_path / "turned.png").signature == signature(shown, *shown.size)


def test_kinds_of_one_picture_have_one_signature(tmp_path):
    grey = Image.open(photo(tmp_path / "a.png", 60, 40)).convert("L")
    clear = grey.convert("RGBA")
    clear.putalpha(255)
    deep = Image.fromarray(np.asarray(grey).astype(np.uint16) * 257)
    expected = signature(grey.convert("RGB"), 60, 40)
    for image in (grey, clear, deep, grey.convert("LA"), grey.convert("P")):
        assert signature(image, 60, 40) == expected, image.mode
    glass = Image.new("RGBA", (20, 20), (255, 0, 0, 0))
    assert signature(glass, 20, 20) == signature(Image.new("RGB", (20, 20), "white"), 20, 20)


@pytest.mark.parametrize("size", [(640, 480), (333, 517), (1025, 700)])
def test_a_jpeg_read_at_a_fraction_of_its_size_has_nearly_the_same(size):
    """At an eighth, quarter or half, whatever the last block of 8 x 8 pixels holds."""
    random = np.random.default_rng(1)
    coarse = Image.fromarray(random.integers(0, 256, (12, 12, 3), np.uint8))
    image = coarse.resize(size, Image.Resampling.BICUBIC)
    written = io.BytesIO()
    image.save(written, "JPEG", quality=95)
    drafted = Image.open(written)
    drafted.draft(None, (64, 64))
    drafted.load()
    assert drafted.size != size
    made, full = as_rows([signature(drafted, *size), signature(image, *size)]).astype(int)
    assert np.abs(made - full).max() <= 3


def test_bad_photos_have_rows_of_zeros(tmp_path):
    (tmp_path / "text.jpg").write_text("no photo")
    found = check_image(tmp_path / "text.jpg")
    good = check_image(photo(tmp_path / "a.jpg", 20, 20))
    assert (found.signature, len(good.signature)) == (b"", BYTES)
    rows = as_rows([found.signature, good.signature])
    assert rows.shape == (2, BYTES)
    assert not rows[0].any()
    assert rows[1].tobytes() == good.signature
    assert as_rows([]).shape == (0, BYTES)
