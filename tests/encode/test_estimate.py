"""The estimate before a long run: photos, time, disk."""

import math

import numpy as np
import pytest
from PIL import Image

from lookalike.catalog.read import catalog_from
from lookalike.cli.start.embed import duration
from lookalike.encode.estimate import WORTH_MEASURING, estimate
from lookalike.encode.open import open_encoder
from lookalike.encode.spec import parse


@pytest.fixture(scope="module")
def some(tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    for n in range(WORTH_MEASURING + 10):
        Image.new("RGB", (12, 12), (n % 256, 40, 9)).save(folder / f"{n:04d}.png")
    return catalog_from(folder).catalog, folder


def test_time_grows_with_the_photos_and_disk_with_the_catalog(some):
    catalog, folder = some
    encoder = open_encoder(parse("descriptor:color"))
    rows = np.arange(len(catalog))
    found = estimate(catalog, folder, encoder, rows, workers=2)
    assert (found.compute, found.known) == (len(catalog), 0)
    assert found.bytes == len(catalog) * (4 * 486 + 16)
    assert 0 < found.seconds < 60
    few = estimate(catalog, folder, encoder, rows[: WORTH_MEASURING - 1], workers=2)
    assert math.isnan(few.seconds)
    assert (few.compute, few.known) == (WORTH_MEASURING - 1, 11)


def test_photos_that_are_gone_leave_the_time_unknown(some, tmp_path):
    catalog, _ = some
    found = estimate(catalog, tmp_path, open_encoder(parse("descriptor:lbp")), np.arange(len(catalog)), 2)
    assert math.isnan(found.seconds)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.2, "1 s"), (99, "99 s"), (101, "2 min"), (3599, "1 h 0 min"), (9000, "2 h 30 min")],
)
def test_durations_in_words(seconds, expected):
    assert duration(seconds) == expected
