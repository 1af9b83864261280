"""Preprocessing is what the libraries do with their own weights, bit for bit, and what its options say."""

import numpy as np
import pytest
import timm
import torch
import torchvision
from PIL import Image

from lookalike.core.errors import EncoderError
from lookalike.encode.inputs.preprocessing import Preprocessing
from lookalike.encode.sources import timm_networks, torchvision_networks

# Pixel / 255, less the mean, over the standard deviation: 4 roundings of numbers below 1 / 0.2 in float32.
ROUNDED = 4 * 5 * 2.0**-24
SIZES = [(300, 200), (200, 300), (97, 410), (64, 64), (1001, 555), (31, 17)]


def photo(width: int, height: int) -> Image.Image:
    noise = np.random.default_rng(width).integers(
        0, 255, (height // 4 + 1, width // 4 + 1, 3), dtype=np.uint8
    )
    return Image.fromarray(noise).resize((width, height), Image.Resampling.BICUBIC)


def as_input(preprocessing: Preprocessing, image: Image.Image) -> torch.Tensor:
    """The network's input, by the formula in the docstring."""
    pixels = torch.from_numpy(preprocessing.pixels(image)).permute(2, 0, 1).double() / 255
    mean, std = (
        torch.tensor(v, dtype=torch.double)[:, None, None] for v in (preprocessing.mean, preprocessing.std)
    )
    return (pixels - mean) / std


@pytest.mark.parametrize(
    "name", ["test_resnet", "resnet50", "vit_base_patch14_dinov2", "convnext_tiny", "beit_base_patch16_224"]
)
@pytest.mark.parametrize("size", SIZES)
def test_timm_networks_see_what_timm_shows_them(name, size):
    with torch.device("meta"):
        module = timm.create_model(name, num_classes=0)
    theirs = timm.data.create_transform(**timm.data.resolve_model_data_config(module), is_training=False)
    ours = timm_networks._preprocessing(module)
    image = photo(*size)
    assert torch.allclose(as_input(ours, image), theirs(image).double(), atol=ROUNDED)


@pytest.mark.parametrize(
    "weights",
    [
        "ResNet50_Weights.IMAGENET1K_V1",
        "ResNet50_Weights.IMAGENET1K_V2",
        "ViT_B_16_Weights.IMAGENET1K_SWAG_E2E_V1",
        "EfficientNet_B3_Weights.DEFAULT",
    ],
)
@pytest.mark.parametrize("size", SIZES)
def test_torchvision_networks_see_what_torchvision_shows_them(weights, size):
    chosen = torchvision.models.get_weight(weights)
    ours = torchvision_networks._preprocessing(chosen)
    image = photo(*size)
    assert torch.allclose(as_input(ours, image), chosen.transforms()(image).double(), atol=ROUNDED)


def test_border_keeps_the_whole_photo_on_its_colour():
    ours = Preprocessing((40, 40), crop_mode="border", fill=(10, 20, 30))
    pixels = ours.pixels(Image.new("RGB", (20, 10), (200, 0, 0)))
    assert pixels.shape == (40, 40, 3)
    assert (pixels[0, 0] == (10, 20, 30)).all()
    assert (pixels[20, 20] == (200, 0, 0)).all()


def test_squash_takes_any_proportions():
    assert Preprocessing((32, 48), crop_mode="squash").pixels(photo(300, 40)).shape == (32, 48, 3)


@pytest.mark.parametrize("mode", ["center", "border", "squash"])
@pytest.mark.parametrize("size", [(1, 1), (1, 900), (900, 1), (8, 8)])
def test_any_photo_fits(mode, size):
    assert Preprocessing((24, 24), resize=28, crop_mode=mode).pixels(Image.new("RGB", size)).shape == (
        24,
        24,
        3,
    )


def test_options_change_what_they_name():
    ours = Preprocessing((224, 224), resize=256).with_options(
        {
            "size": "112",
            "mean": "0.5",
            "std": "1/255,2/255,3/255",
            "fill": "black",
            "crop_mode": "squash",
            "weights": "x",
        },
        "s",
    )
    assert (ours.size, ours.resize) == ((112, 112), 128)
    assert ours.mean == (0.5, 0.5, 0.5)
    assert ours.std == (1 / 255, 2 / 255, 3 / 255)
    assert (ours.fill, ours.crop_mode, ours.interpolation) == ((0, 0, 0), "squash", "bicubic")


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("size", "0"),
        ("size", "a"),
        ("size", "1.5"),
        ("size", "1,2,3"),
        ("size", ""),
        ("size", "9999999"),
        ("size", "inf"),
        ("resize", "inf"),
        ("resize", "1,2"),
        ("mean", "1,2"),
        ("mean", "nan"),
        ("mean", "1/0"),
        ("std", "0"),
        ("std", "-1"),
        ("fill", "red"),
        ("fill", "256"),
        ("crop_mode", "round"),
        ("interpolation", "best"),
    ],
)
def test_options_that_cannot_be_are_refused_by_name(key, text):
    with pytest.raises(EncoderError, match=key) as refused:
        Preprocessing((224, 224)).with_options({key: text}, "timm:x")
    assert refused.value.fix


def test_a_border_that_is_no_square_is_refused():
    with pytest.raises(EncoderError, match="border"):
        Preprocessing((224, 224)).with_options({"size": "224,112", "crop_mode": "border"}, "timm:x")


def test_it_is_described_in_words():
    text = str(Preprocessing((224, 224), crop_mode="border", mean=(0.5, 0.5, 0.5), std=(0.5, 0.5, 0.5)))
    assert text == "centred on a white square, then 224 x 224, bicubic, mean 0.5, std 0.5"
