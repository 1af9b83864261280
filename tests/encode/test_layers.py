"""Several layers of a network in one pass: the same numbers as running its layers one by one and averaging by hand."""

import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import timm
import torch
import torchvision
from oracles.rounding import network_error, terms_of
from PIL import Image
from safetensors.torch import save_file
from torch import nn

from lookalike.core.errors import EncoderError
from lookalike.encode.encoder import encode_photo
from lookalike.encode.layers import Layers, pooled, prefix_tokens, with_layers
from lookalike.encode.open import open_encoder
from lookalike.encode.spec import parse

PHOTOS = torch.randn(3, 3, 64, 64, generator=torch.Generator().manual_seed(1))


def averaged(layers: list[torch.Tensor], axes: tuple[int, ...], skip: int = 0) -> np.ndarray:
    """Each layer's mean over positions, brought to length 1, side by side; in float64."""
    found = []
    for layer in layers:
        values = layer.double().numpy()
        mean = (values[:, skip:] if skip else values).mean(axes) if axes else values
        found.append(mean / np.linalg.norm(mean, axis=1, keepdims=True))
    return np.concatenate(found, axis=1)


def resnet(net: nn.Module, x: torch.Tensor, relu: str) -> Iterator[torch.Tensor]:
    x = net.maxpool(getattr(net, relu)(net.bn1(net.conv1(x))))
    for name in ("layer1", "layer2", "layer3", "layer4"):
        x = getattr(net, name)(x)
        yield x


def mobilenet(net: nn.Module, x: torch.Tensor) -> Iterator[torch.Tensor]:
    x = net.bn1(net.conv_stem(x))
    for block in net.blocks:
        x = block(x)
        yield x


def vit(net: nn.Module, x: torch.Tensor) -> Iterator[torch.Tensor]:
    x = net.norm_pre(net._pos_embed(net.patch_embed(x)))
    for block in net.blocks:
        x = block(x)
        yield x
    yield net.norm(x)


def swin(net: nn.Module, x: torch.Tensor) -> Iterator[torch.Tensor]:
    x = net.patch_embed(x)
    for layer in net.layers:
        x = layer(x)
        yield x


def features(net: nn.Module, x: torch.Tensor) -> Iterator[torch.Tensor]:
    for part in net.features:
        x = part(x)
        yield x


def class_token(net: nn.Module, x: torch.Tensor) -> Iterator[torch.Tensor]:
    x = net._process_input(x)
    x = torch.cat([net.class_token.expand(len(x), -1, -1), x], dim=1) + net.encoder.pos_embedding
    for layer in net.encoder.layers:
        x = layer(x)
        yield x


def small_swin() -> nn.Module:
    return torchvision.models.SwinTransformer([4, 4], 12, [1, 1], [2, 2], [4, 4])


def small_vit() -> nn.Module:
    return torchvision.models.VisionTransformer(64, 16, 2, 2, 16, 32)


SPACE, CHANNELS_LAST, TOKENS = (2, 3), (1, 2), (1,)
CASES: dict[str, tuple[Callable[[], nn.Module], list[str], Callable, list[int], tuple[int, ...], int]] = {
    "timm resnet": (
        lambda: timm.create_model("test_resnet", num_classes=0),
        ["layer1", "layer2", "layer3", "layer4"],
        lambda net, x: resnet(net, x, "act1"),
        [0, 1, 2, 3],
        SPACE,
        0,
    ),
    "timm mobilenet": (
        lambda: timm.create_model("mobilenetv2_035", num_classes=0),
        ["blocks.5", "blocks.0", "blocks.3"],
        mobilenet,
        [5, 0, 3],
        SPACE,
        0,
    ),
    "timm vit with a class token": (
        lambda: timm.create_model("test_vit", num_classes=0, img_size=64),
        ["blocks.1", "norm"],
        vit,
        [1, -1],
        TOKENS,
        1,
    ),
    "timm vit with register tokens": (
        lambda: timm.create_model("test_vit", num_classes=0, img_size=64, reg_tokens=3),
        ["blocks.0", "blocks.1"],
        vit,
        [0, 1],
        TOKENS,
        4,
    ),
    "timm swin": (
        lambda: timm.create_model(
            "swin_tiny_patch4_window7_224", num_classes=0, img_size=64, embed_dim=24, window_size=4
        ),
        ["layers.0", "layers.1", "layers.2"],
        swin,
        [0, 1, 2],
        CHANNELS_LAST,
        0,
    ),
    "torchvision squeezenet": (
        lambda: torchvision.models.squeezenet1_0(weights=None),
        ["features.2", "features.7", "features.12"],
        features,
        [2, 7, 12],
        SPACE,
        0,
    ),
    "torchvision resnet": (
        lambda: torchvision.models.resnet18(weights=None),
        ["layer1", "layer4"],
        lambda net, x: resnet(net, x, "relu"),
        [0, 3],
        SPACE,
        0,
    ),
    "torchvision swin": (small_swin, ["features.1", "features.3"], features, [1, 3], CHANNELS_LAST, 0),
    "torchvision vit": (
        small_vit,
        ["encoder.layers.encoder_layer_0", "encoder.layers.encoder_layer_1"],
        class_token,
        [0, 1],
        TOKENS,
        1,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_layers_are_the_network_s_own_averaged_by_hand(case):
    make, names, by_hand, chosen, axes, skip = CASES[case]
    torch.manual_seed(3)
    network = make().eval()
    with torch.inference_mode():
        outputs = list(by_hand(network, PHOTOS))
        expected = averaged([outputs[at] for at in chosen], axes, skip)
        found = Layers(network, names)(PHOTOS).numpy()
    error = network_error(terms_of(network), expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=error)
    assert np.abs(expected).max() > 20 * error, "the tolerance would hide another layer"


@pytest.mark.parametrize(
    ("shape", "widths", "axes"),
    [
        ((2, 8, 5, 5), {8, 32}, (2, 3)),
        ((2, 5, 5, 8), {8, 32}, (1, 2)),
        ((2, 7, 7, 7), {7}, (2, 3)),  # all sides alike: channels first, as convolutions have them
        ((2, 6, 6, 24), {6, 24}, (1, 2)),  # a side that is a width too: the odd one out is the channels
        ((2, 24, 6, 6), {6, 24}, (2, 3)),
        ((2, 9, 4, 4), set(), (2, 3)),  # a layer without parameters
        ((2, 4, 4, 9), set(), (1, 2)),
        ((2, 4, 8, 16), {16}, (1, 2)),  # photos that are not square
        ((2, 16, 4, 8), {16}, (2, 3)),
    ],
)
def test_the_axis_of_the_channels(shape, widths, axes):
    output = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(pooled(output, frozenset(widths), 0), output.mean(axes))


def test_a_class_token_that_joins_later_costs_no_patch():
    """CaiT: blocks of 4 x 4 patches run without the class token that the network declares."""
    output = torch.randn(2, 16, 3, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(pooled(output, frozenset({3}), 1), output.mean(1))


def test_a_layer_that_is_zero_stays_zero():
    network = nn.Sequential(nn.Conv2d(3, 4, 1), nn.ReLU())
    nn.init.constant_(network[0].bias, -1e3)
    found = Layers(network, ["1", "0"])(PHOTOS)
    assert torch.equal(found[:, :4], torch.zeros(3, 4))
    torch.testing.assert_close(found[:, 4:].norm(dim=1), torch.ones(3))


def test_half_precision_is_averaged_in_float32():
    values = torch.full((1, 1, 64, 64), 3.0).bfloat16()
    values[0, 0, 0, 0] = 1000
    assert pooled(values, frozenset({1}), 0).item() == pytest.approx((4095 * 3 + 1000) / 4096, rel=1e-6)


def test_prefix_tokens_are_counted_without_timm_s_word_for_it():
    class Embeddings(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cls_token, self.mask_token = (nn.Parameter(torch.zeros(1, 1, 8)) for _ in range(2))
            self.register_tokens = nn.Parameter(torch.zeros(1, 4, 8))

    assert prefix_tokens(nn.Sequential(Embeddings(), nn.Linear(8, 8))) == 5
    assert prefix_tokens(small_vit()) == 1
    assert prefix_tokens(nn.Linear(8, 8)) == 0


def test_threads_that_share_a_network_do_not_mix_their_photos():
    torch.manual_seed(0)
    network = Layers(timm.create_model("test_resnet", num_classes=0).eval(), ["layer1", "layer4"])
    batches = [torch.randn(2, 3, 64, 64) for _ in range(8)]
    with torch.inference_mode():
        alone = [network(batch) for batch in batches]
    together: dict[int, torch.Tensor] = {}

    def run(at: int) -> None:
        with torch.inference_mode():
            for _ in range(5):
                together[at] = network(batches[at])

    threads = [threading.Thread(target=run, args=(at,)) for at in range(len(batches))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for at, expected in enumerate(alone):
        torch.testing.assert_close(together[at], expected, rtol=1e-3, atol=1e-4)


@pytest.fixture
def weights(tmp_path):
    torch.manual_seed(7)
    save_file(timm.create_model("test_resnet", num_classes=0).state_dict(), tmp_path / "w.safetensors")
    return f"timm:test_resnet?weights={tmp_path}/w.safetensors&size=64"


def test_one_option_of_the_encoder_string(weights):
    photo = Image.fromarray(np.random.default_rng(0).integers(0, 255, (90, 120, 3), dtype=np.uint8))
    both, first, last = (
        open_encoder(parse(f"{weights}&layers={names}")) for names in ("layer4,layer1", "layer4", "layer1")
    )
    assert both.dimension == first.dimension + last.dimension
    parts = [encode_photo(photo, first), encode_photo(photo, last)]
    error = network_error(terms_of(both.module), np.ones(1))
    np.testing.assert_allclose(encode_photo(photo, both), np.concatenate(parts), rtol=0, atol=error)
    assert "layers=layer4,layer1" in both.origin.spec


@pytest.mark.parametrize(
    ("layers", "missing", "listed"),
    [
        ("layer5", "layer5", "The network has conv1, bn1, act1, maxpool, layer1, layer2, layer3, layer4"),
        ("layer1,layer2.7", "layer2.7", "layer2 has layer2.0"),
        ("layer3.0.convolution.weight", "layer3.0.convolution.weight", "layer3.0 has layer3.0.conv1"),
        ("", "", "The network has conv1"),
        ("layer1,", "", "The network has conv1"),
        ("bn1.inner", "bn1.inner", "bn1 has no layers inside"),
    ],
)
def test_a_layer_that_does_not_exist_is_refused_with_those_that_do(weights, layers, missing, listed):
    with pytest.raises(EncoderError) as refused:
        open_encoder(parse(f"{weights}&layers={layers}"))
    assert repr(missing) in refused.value.problem
    assert refused.value.fix.startswith(listed)


def test_many_layers_are_listed_by_the_first_and_the_last():
    network = nn.Sequential(*(nn.Identity() for _ in range(30)))
    with pytest.raises(EncoderError) as refused:
        with_layers(network, "30", "it")
    assert refused.value.fix == "The network has 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ..., 29."


@pytest.mark.parametrize("name", ["windows", "unused"])
def test_a_layer_without_one_vector_per_photo_is_refused(name):
    class Windows(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.windows, self.unused = nn.Unflatten(3, (2, 32)), nn.Identity()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.windows(x).mean((2, 3, 4))

    with pytest.raises(EncoderError, match=f"layer '{name}' gives no vector per photo"):
        Layers(Windows(), [name])(PHOTOS)
