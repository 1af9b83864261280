"""Views of photos by worker processes: a killed worker ends in a sentence, a corrupt photo is left out."""

import os

import numpy as np
import pytest
from PIL import Image

from lookalike.catalog.read import catalog_from
from lookalike.core.errors import LearningError
from lookalike.encode.inputs.workers import FEW
from lookalike.learn.networks.photo_views import Group, PhotoViews

pytestmark = pytest.mark.card

SIZE = (8, 8)


@pytest.fixture
def photos(tmp_path):
    draw = np.random.default_rng(0)
    for number in range(3):
        Image.fromarray(draw.integers(0, 255, (16, 16, 3), np.uint8)).save(tmp_path / f"{number}.png")
    return tmp_path


def plain(photo: Image.Image, number: int, seed: int) -> np.ndarray:
    return np.asarray(photo.convert("RGB").resize(SIZE))


def die(photo: Image.Image, number: int, seed: int) -> np.ndarray:
    os._exit(9)


def views_of(photos, make):
    return PhotoViews(catalog_from(photos).catalog, photos, [Group(2, make, SIZE)], 32, processors=2)


def test_a_killed_worker_ends_training_with_what_to_do(photos):
    views = views_of(photos, die)
    with pytest.raises(LearningError) as raised:
        list(views.stream([np.arange(len(views.catalog)).repeat(FEW)[:FEW]], 0, 0))
    assert "worker process was killed" in raised.value.problem
    assert "resumes" in raised.value.fix


def test_a_photo_that_became_corrupt_is_left_out_and_counted(photos):
    views = views_of(photos, plain)
    broken = views.catalog.path[1]
    (photos / broken).write_bytes(b"no photo")
    (drawn,) = views.stream([np.arange(3)], 0, 0)
    assert drawn.rows.tolist() == [0, 2]
    assert drawn.inputs.shape == (4, *SIZE, 3)
    assert list(views.unreadable) == [views.catalog.image[1]]
