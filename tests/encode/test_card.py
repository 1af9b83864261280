"""The precision of a network on a GPU, where there is one. On a processor the same tests hold."""

import numpy as np
import pytest
import timm
import torch
from safetensors.torch import save_file

from lookalike.encode.network import Network, exact_convolutions
from lookalike.encode.open import open_encoder
from lookalike.encode.spec import parse

pytestmark = pytest.mark.card
ON_CARD = torch.cuda.is_available()


@pytest.fixture
def spec(tmp_path) -> str:
    torch.manual_seed(3)
    save_file(timm.create_model("test_resnet", num_classes=0).state_dict(), tmp_path / "w.safetensors")
    return f"timm:test_resnet?weights={tmp_path}/w.safetensors&size=96"


def opened(text: str) -> Network:
    found = open_encoder(parse(text))
    assert isinstance(found, Network)
    return found


def pixels(count: int, size: int = 96) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 255, (count, size, size, 3), dtype=np.uint8)


def test_float32_is_the_same_on_a_card_and_on_a_processor(spec):
    """TF32 keeps 10 bits of a factor: with it the vectors are about 0.0005 of the largest entry apart."""
    found = opened(f"{spec}&precision=float32").vectors(pixels(20))
    expected = opened(f"{spec}&precision=float32").on(torch.device("cpu")).vectors(pixels(20))
    assert np.abs(found - expected).max() < 5e-5 * np.abs(expected).max()


def test_what_a_program_set_for_convolutions_comes_back():
    for before in (True, False):
        torch.backends.cudnn.allow_tf32 = before
        with exact_convolutions():
            assert not torch.backends.cudnn.allow_tf32
        assert torch.backends.cudnn.allow_tf32 == before
    torch.backends.cudnn.allow_tf32 = True  # PyTorch's own


def test_a_card_computes_in_bfloat16_unless_it_is_told_otherwise(spec):
    default, exact = opened(spec), opened(f"{spec}&precision=float32")
    assert default.origin.precision == ("bfloat16" if ON_CARD else "float32")
    one, two = (encoder.vectors(pixels(20)) for encoder in (default, exact))
    alike = (one * two).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(two, axis=1)
    assert alike.min() > 0.99
