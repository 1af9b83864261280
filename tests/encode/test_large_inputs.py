"""What is large: JPEGs decoded at a reduced size, lower precision, files of vectors larger than a slice."""

import numpy as np
import pytest
import timm
import torch
from PIL import Image
from safetensors.torch import save_file

import lookalike
from lookalike.catalog.photos.decode import load_rgb
from lookalike.core.errors import EmbeddingsError
from lookalike.encode.encoder import encode_photo
from lookalike.encode.open import open_encoder
from lookalike.encode.sources import precomputed
from lookalike.encode.spec import parse


@pytest.fixture(scope="module")
def network(tmp_path_factory) -> str:
    torch.manual_seed(3)
    path = tmp_path_factory.mktemp("w") / "w.safetensors"
    save_file(timm.create_model("test_resnet", num_classes=0).state_dict(), path)
    return f"timm:test_resnet?weights={path}"


def cosine(a: np.ndarray, b: np.ndarray) -> float:
    return float(a @ b / np.linalg.norm(a) / np.linalg.norm(b))


def test_a_large_jpeg_is_decoded_smaller_and_looks_the_same(network, tmp_path):
    coarse = np.random.default_rng(0).integers(0, 255, (30, 40, 3), dtype=np.uint8)
    Image.fromarray(coarse).resize((4000, 3000), Image.Resampling.BICUBIC).save(
        tmp_path / "a.jpg", quality=92
    )
    encoder = open_encoder(parse(network))
    small = load_rgb(tmp_path / "a.jpg", size_hint=encoder.size_hint)
    whole = load_rgb(tmp_path / "a.jpg")
    assert min(small.size) < min(whole.size) / 2
    assert min(small.size) >= encoder.size_hint
    assert cosine(encode_photo(small, encoder), encode_photo(whole, encoder)) > 0.999


def test_lower_precision_is_recorded_and_close(network):
    photo = Image.fromarray(np.random.default_rng(1).integers(0, 255, (90, 90, 3), dtype=np.uint8))
    exact, rough = open_encoder(parse(network)), open_encoder(parse(network + "&precision=bfloat16"))
    assert (exact.origin.precision, rough.origin.precision) == ("float32", "bfloat16")
    found = encode_photo(photo, rough)
    assert found.dtype == np.float32
    assert 0.99 < cosine(found, encode_photo(photo, exact)) < 1


def test_a_file_of_vectors_is_taken_in_by_slices(tmp_path, monkeypatch):
    monkeypatch.setattr(precomputed, "SLICE", 7)
    catalog = lookalike.read_catalog({"image": [f"i{n}" for n in range(30)]})
    given = np.random.default_rng(0).standard_normal((30, 5))
    np.save(tmp_path / "v.npy", given)
    taken = lookalike.embed(catalog, f"precomputed:{tmp_path}/v.npy").vectors
    assert (taken == given.astype(np.float32)).all()
    given[23] = np.nan
    np.save(tmp_path / "v.npy", given)
    with pytest.raises(EmbeddingsError, match="'i23'"):
        lookalike.embed(catalog, f"precomputed:{tmp_path}/v.npy")
