"""Augmented views: Khosla et al.'s values, torchvision's arithmetic, and the same view wherever it is made."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from torchvision.transforms import functional

from lookalike.encode.encoder import encode_photo
from lookalike.encode.inputs.augment import Augment, Augmented, augmented, crop_box, jittered, turned
from lookalike.encode.inputs.preprocessing import Preprocessing
from lookalike.encode.open import open_encoder
from lookalike.encode.spec import parse


def photo(seed=0, width=120, height=90) -> Image.Image:
    small = np.random.default_rng(seed).integers(0, 255, (6, 8, 3), dtype=np.uint8)
    return Image.fromarray(small).resize((width, height), Image.Resampling.BICUBIC)


def test_a_view_depends_on_content_number_and_seed_alone():
    one = augmented(photo(), 1, 0, 64)
    assert one == augmented(photo(), 1, 0, 64)
    others = [augmented(photo(), 2, 0, 64), augmented(photo(), 1, 1, 64), augmented(photo(1), 1, 0, 64)]
    assert all(other != one for other in others)


def test_a_view_is_the_same_in_another_process():
    program = """
import hashlib, sys
from lookalike.encode.inputs.augment import augmented
from PIL import Image
print(hashlib.sha256(augmented(Image.linear_gradient("L").convert("RGB"), 3, 7, 50).tobytes()).hexdigest())
assert "torch" not in sys.modules
"""
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert runs[0] == runs[1]


@given(st.integers(1, 60), st.integers(1, 60), st.integers(0, 10_000))
def test_a_crop_is_within_the_photo_and_has_the_area_and_ratio(width, height, seed):
    left, top, wide, high = crop_box(np.random.default_rng(seed), width, height)
    assert 0 <= left <= left + wide <= width
    assert 0 <= top <= top + high <= height
    if min(width, height) >= 30 and max(width, height) <= 40:  # rounding and the fallback matter less here
        assert 0.18 <= wide * high / (width * height) <= 1
        assert 0.7 <= wide / high <= 1.45


def test_crops_are_spread_as_torchvision_s():
    """Mean and spread of area and ratio over many samples, compared with the peer's."""
    import torch
    from torchvision.transforms import RandomResizedCrop

    torch.manual_seed(0)
    random, size = np.random.default_rng(0), photo(0, 300, 200)
    ours = np.array([crop_box(random, 300, 200) for _ in range(4000)], float)
    peers = np.array(
        [RandomResizedCrop.get_params(size, (0.2, 1.0), (3 / 4, 4 / 3)) for _ in range(4000)], float
    )
    peers = peers[:, [1, 0, 3, 2]]
    np.testing.assert_allclose(ours.mean(0), peers.mean(0), rtol=0.04)
    np.testing.assert_allclose(ours.std(0), peers.std(0), rtol=0.06)


@pytest.mark.parametrize("turn", [-0.1, -0.03, 0.0, 0.05, 0.1])
def test_hues_are_turned_as_torchvision_turns_them(turn):
    assert turned(photo(), turn) == functional.adjust_hue(photo(), turn)


def test_colours_are_jittered_as_torchvision_does():
    random = np.random.default_rng(5)
    found = jittered(photo(), random)
    again = np.random.default_rng(5)
    (brightness, contrast, saturation), turn = again.uniform(0.6, 1.4, 3), again.uniform(-0.1, 0.1)
    steps = [
        lambda x: functional.adjust_brightness(x, brightness),
        lambda x: functional.adjust_contrast(x, contrast),
        lambda x: functional.adjust_saturation(x, saturation),
        lambda x: functional.adjust_hue(x, turn),
    ]
    expected = photo()
    for step in again.permutation(4):
        expected = steps[step](expected)
    assert found == expected


def test_how_often_a_view_is_grey_or_mirrored():
    """One of five is grey. Photos that are dark on the left are dark on the right in half of the views."""
    slope = np.linspace(0, 255, 64).astype(np.uint8)
    views, grey, mirrored = 600, 0, 0
    for seed in range(views):
        pixels = np.stack([np.tile(slope, (64, 1)), np.full((64, 64), 90), np.full((64, 64), 30)], 2).astype(
            np.uint8
        )
        view = np.asarray(augmented(Image.fromarray(pixels), 1, seed, 64)).astype(int)
        grey += (view.std(2) == 0).all()
        mirrored += view[:, :8].sum() > view[:, -8:].sum()
    assert 0.15 < grey / views < 0.25
    assert 0.4 < mirrored / views < 0.6


@pytest.mark.parametrize("size", [(1, 1), (1, 500), (500, 1), (3, 2)])
def test_odd_photos_have_views(size):
    view = augmented(Image.new("RGB", size, "red"), 1, 0, 64)
    assert view.size[0] == view.size[1] >= 1


def test_a_photo_of_one_colour_without_jitter_stays_near_it():
    views = [np.asarray(augmented(Image.new("RGB", (40, 40), (200, 40, 40)), n, 0, 16)) for n in range(40)]
    assert any((view == (200, 40, 40)).all() for view in views)
    assert not all((view == (200, 40, 40)).all() for view in views)


def test_an_augmented_encoder_says_so_and_can_be_sent_to_a_worker():
    encoder = open_encoder(parse("descriptor:color"))
    seen = Augmented(encoder, 2, 7)
    assert seen.origin.spec == "descriptor:color"
    assert seen.origin.preprocessing.startswith("augmented (view 2 of seed 7)")
    assert seen.origin.preprocessing.endswith(encoder.origin.preprocessing)
    assert seen.dimension == encoder.dimension
    prepare = pickle.loads(pickle.dumps(seen.prepare))
    expected = encoder.vectors(encoder.prepare(augmented(photo(), 2, 7, encoder.size_hint))[None])[0]
    assert (prepare(photo()) == expected).all()
    assert (encode_photo(photo(), seen) == expected).all()
    assert not np.allclose(encode_photo(photo(), encoder), expected)


def test_a_network_s_preparation_travels_too():
    preprocessing = Preprocessing((32, 32))
    prepare = pickle.loads(pickle.dumps(Augment(preprocessing.pixels, 1, 0, 64)))
    assert (prepare(photo()) == preprocessing.pixels(augmented(photo(), 1, 0, 64))).all()
