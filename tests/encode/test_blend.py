"""A blend of encoders: its cosine is the weighted mean of theirs, from photos and from its files."""

import json
import pickle

import numpy as np
import pytest
import timm
import torch
from hypothesis import given
from hypothesis import strategies as st
from oracles.rounding import gamma
from PIL import Image
from safetensors.torch import save_file

from lookalike.core.errors import EncoderError
from lookalike.core.types import Origin
from lookalike.encode.encoder import encode_photo
from lookalike.encode.open import open_encoder
from lookalike.encode.sources.blend import blend_files, blended
from lookalike.encode.sources.checkpoint import read_head
from lookalike.encode.sources.checkpoint_file import BlendAbout, ancestry, made_of
from lookalike.encode.spec import parse

PHOTOS = [
    Image.fromarray(np.random.default_rng(at).integers(0, 255, (90, 120, 3), dtype=np.uint8))
    for at in range(3)
]
NETWORK = "timm:test_resnet?weights=w.safetensors&size=64"
WEIGHTS = (0.5, 0.3, 0.2)


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    a, b = a.astype(np.float64), b.astype(np.float64)
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def keep(folder, bases, weights=WEIGHTS):
    folder.mkdir(parents=True)
    for name, content in blend_files(BlendAbout(tuple(bases), tuple(weights), {})).items():
        (folder / name).write_bytes(content)
    return folder


@pytest.fixture
def home(tmp_path):
    """A folder with a blend of a network and two descriptors in models/mix."""
    torch.manual_seed(1)
    save_file(timm.create_model("test_resnet", num_classes=0).state_dict(), tmp_path / "w.safetensors")
    bases = [
        open_encoder(parse(text), tmp_path).origin for text in (NETWORK, "descriptor:color", "descriptor:hog")
    ]
    keep(tmp_path / "models/mix", bases)
    return tmp_path


@given(
    st.integers(0, 500),
    st.lists(st.floats(0.01, 10), min_size=1, max_size=4),
    st.sampled_from([1e-30, 1.0, 1e30]),
)
def test_the_cosine_is_the_weighted_mean_of_the_cosines(seed, weights, scale):
    random = np.random.default_rng(seed)
    parts = [(random.normal(size=(2, 3 + at)) * scale).astype(np.float32) for at, _ in enumerate(weights)]
    found = blended(parts, weights)
    expected = sum(w * cosine(*part) for w, part in zip(weights, parts, strict=True)) / sum(weights)
    assert cosine(*found) == pytest.approx(expected, abs=gamma(sum(part.shape[1] for part in parts) + 4))
    assert found.dtype == np.float32


def test_a_zero_vector_stays_zero():
    found = blended([np.zeros((1, 3), np.float32), np.ones((1, 2), np.float32)], [0.5, 0.5])
    assert found[0, :3].tolist() == [0, 0, 0]


def test_photos_go_through_every_encoder(home):
    mix = open_encoder(parse("checkpoint:mix"), home)
    bases = [open_encoder(parse(one.spec), home) for one in made_of(parse("checkpoint:mix"), home).bases]
    ready = np.stack([mix.prepare(photo) for photo in PHOTOS])
    assert ready.dtype == np.uint8
    found = mix.vectors(ready)
    own = [base.vectors(np.stack([base.prepare(photo) for photo in PHOTOS])) for base in bases]
    np.testing.assert_allclose(found, blended(own, WEIGHTS), rtol=0, atol=1e-5)
    assert mix.dimension == found.shape[1] == sum(base.dimension for base in bases)
    assert mix.threads == min(base.threads for base in bases)
    assert mix.size_hint == max(base.size_hint for base in bases)


def test_prepare_can_be_sent_to_another_process(home):
    prepare = open_encoder(parse("checkpoint:mix"), home).prepare
    assert np.array_equal(pickle.loads(pickle.dumps(prepare))(PHOTOS[0]), prepare(PHOTOS[0]))


def test_other_weights_are_another_encoder(home):
    bases = made_of(parse("checkpoint:mix"), home).bases
    keep(home / "models/other", bases, (0.3, 0.5, 0.2))
    one, other = (open_encoder(parse(f"checkpoint:{name}"), home).origin for name in ("mix", "other"))
    assert one.weights != other.weights
    assert one.preprocessing.count(";") >= 1


def test_a_blend_of_a_blend(home):
    mix = open_encoder(parse("checkpoint:mix"), home)
    color = open_encoder(parse("descriptor:color"), home)
    keep(home / "models/second", [mix.origin, color.origin], (0.6, 0.4))
    second = open_encoder(parse("checkpoint:second"), home)
    vectors = [np.stack([encode_photo(photo, one) for photo in PHOTOS]) for one in (second, mix, color)]
    expected = 0.6 * cosine(*vectors[1][:2]) + 0.4 * cosine(*vectors[2][:2])
    assert cosine(*vectors[0][:2]) == pytest.approx(expected, abs=1e-5)
    names = [str(one) for one in ancestry(parse("checkpoint:second"), home)]
    assert names[0] == "checkpoint:second"
    assert names.count("descriptor:color") == 1


def test_a_circle_is_refused(tmp_path):
    for name, other in (("a", "b"), ("b", "a")):
        keep(
            tmp_path / "models" / name,
            [Origin(f"checkpoint:{other}", ""), Origin("descriptor:color", "")],
            (1, 1),
        )
    with pytest.raises(EncoderError, match="circle"):
        open_encoder(parse("checkpoint:a"), tmp_path)


def test_an_encoder_that_has_become_another_is_refused(home):
    torch.manual_seed(9)
    save_file(timm.create_model("test_resnet", num_classes=0).state_dict(), home / "w.safetensors")
    with pytest.raises(EncoderError, match=r"made of timm:test_resnet.*weights are"):
        open_encoder(parse("checkpoint:mix"), home)


def test_options_are_refused(home):
    with pytest.raises(EncoderError, match="option 'precision'"):
        open_encoder(parse("checkpoint:mix?precision=float32"), home)


def test_a_blend_is_no_head(home):
    with pytest.raises(EncoderError, match="a blend of encoders, not of a head"):
        read_head(home / "models/mix")


def base_with(weight: object) -> dict[str, object]:
    """The description of one base."""
    texts = dict.fromkeys(("preprocessing", "weights", "precision"), "")
    return {"encoder": "descriptor:hog", "weight": weight, **texts}


@pytest.mark.parametrize(
    "changed",
    [
        {"encoders": None},
        {"encoders": [{}]},
        {"encoders": [{"encoder": "descriptor:color"}]},
        {"learned": None},
        *({"encoders": [base_with(weight)]} for weight in (0, -1, True, "1", None, float("inf"))),
    ],
)
def test_an_edited_description_is_refused(home, changed):
    file = home / "models/mix/checkpoint.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | changed))
    with pytest.raises(EncoderError, match=r"checkpoint\.json is not what"):
        open_encoder(parse("checkpoint:mix"), home)
