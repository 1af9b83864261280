"""`?layers=` of open_clip, transformers and torch.hub: the outputs of the library's own layers, averaged by hand."""

import json
from collections.abc import Callable

import numpy as np
import open_clip
import pytest
import torch
from oracles.rounding import network_error, terms_of
from PIL import Image
from safetensors.torch import save_file
from torch import nn
from transformers import (
    CLIPVisionConfig,
    CLIPVisionModel,
    Dinov2Config,
    Dinov2Model,
    ResNetConfig,
    ResNetModel,
)

from lookalike.core.errors import EncoderError
from lookalike.encode.encoder import encode_photo
from lookalike.encode.open import open_encoder
from lookalike.encode.sources.hub_networks import TRUSTED
from lookalike.encode.spec import parse

PHOTO = Image.fromarray(np.random.default_rng(0).integers(0, 255, (50, 70, 3), dtype=np.uint8))
VIT = {"image_size": 32, "layers": 3, "width": 16, "head_width": 8, "patch_size": 8}
RESNET = {"image_size": 32, "layers": [1, 1, 1, 1], "width": 8, "head_width": 8}
TEXT = {"context_length": 8, "vocab_size": 64, "width": 16, "heads": 2, "layers": 1}
SMALL = {"hidden_size": 16, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 24}
HUBCONF = """
import torch
dependencies = ["torch"]
def net(pretrained=True):
    torch.manual_seed(5)
    net = torch.nn.Sequential()
    net.first, net.second = torch.nn.Conv2d(3, 6, 3), torch.nn.Conv2d(6, 5, 3, stride=2)
    net.pool, net.flat = torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten()
    net.fc = torch.nn.Linear(5, 10)
    return net
"""
Made = tuple[str, Callable[[torch.Tensor], dict[str, torch.Tensor]], nn.Module]


def clip(folder, vision) -> tuple[nn.Module, str]:
    torch.manual_seed(1)
    about = {"embed_dim": 12, "vision_cfg": vision, "text_cfg": TEXT}
    model = open_clip.CLIP(**json.loads(json.dumps(about))).eval()
    (folder / "open_clip_config.json").write_text(json.dumps({"model_cfg": about, "preprocess_cfg": {}}))
    save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    return model.visual, f"open_clip:local-dir:{folder}"


def open_clip_transformer(folder, _) -> Made:
    net, text = clip(folder, VIT)

    def layers(x: torch.Tensor) -> dict[str, torch.Tensor]:
        x = net.conv1(x).flatten(2).transpose(1, 2)
        x = torch.cat([net.class_embedding.expand(len(x), 1, -1), x], dim=1) + net.positional_embedding
        x, found = net.ln_pre(x), {}
        for at, block in enumerate(net.transformer.resblocks):
            x = block(x)
            found[f"transformer.resblocks.{at}"] = x[:, 1:].mean(1)  # 16 patches behind the class token
        return found

    return text, layers, net


def open_clip_resnet(folder, _) -> Made:
    net, text = clip(folder, RESNET)

    def layers(x: torch.Tensor) -> dict[str, torch.Tensor]:
        x, found = net.stem(x), {}
        for name in ("layer1", "layer2", "layer3", "layer4"):
            x = getattr(net, name)(x)
            found[name] = x.mean((2, 3))
        return found | {"attnpool": net.attnpool(x)}  # one vector per photo already

    return text, layers, net


def saved(folder, model: nn.Module) -> str:
    model.save_pretrained(folder)
    scale = {"image_mean": [0.5, 0.4, 0.3], "image_std": [0.25, 0.5, 0.2], "do_normalize": True}
    size = {"size": {"height": 32, "width": 32}, "do_center_crop": False}
    (folder / "preprocessor_config.json").write_text(json.dumps(size | scale))
    return f"hf:{folder}"


def hf_dinov2(folder, _) -> Made:
    torch.manual_seed(2)
    net = Dinov2Model(Dinov2Config(image_size=32, patch_size=8, **SMALL)).eval()
    text = saved(folder, net)

    def layers(x: torch.Tensor) -> dict[str, torch.Tensor]:
        states = net(x, output_hidden_states=True).hidden_states[1:]  # behind the embeddings
        return {f"model.encoder.layer.{at}": one[:, 1:].mean(1) for at, one in enumerate(states)}

    return text, layers, net


def hf_clip(folder, _) -> Made:
    torch.manual_seed(3)
    net = CLIPVisionModel(CLIPVisionConfig(image_size=32, patch_size=8, **SMALL)).eval()
    text = saved(folder, net)
    names = {name.removesuffix(".0") for name, _ in net.named_modules() if name.endswith("encoder.layers.0")}
    (above,) = names

    def layers(x: torch.Tensor) -> dict[str, torch.Tensor]:
        states = net(x, output_hidden_states=True).hidden_states[1:]
        return {f"model.{above}.{at}": one[:, 1:].mean(1) for at, one in enumerate(states)}

    return text, layers, net


def hf_resnet(folder, _) -> Made:
    torch.manual_seed(4)
    sizes = {"embedding_size": 8, "hidden_sizes": [8, 12, 16], "depths": [1, 1, 1], "layer_type": "basic"}
    net = ResNetModel(ResNetConfig(**sizes)).eval()
    text = saved(folder, net)

    def layers(x: torch.Tensor) -> dict[str, torch.Tensor]:
        states = net(x, output_hidden_states=True).hidden_states[1:]
        return {f"model.encoder.stages.{at}": one.mean((2, 3)) for at, one in enumerate(states)}

    return text, layers, net


def hub(folder, monkeypatch) -> Made:
    (folder / "hubconf.py").write_text(HUBCONF)
    monkeypatch.setenv(TRUSTED, str(folder))
    net = torch.hub.load(str(folder), "net", source="local", trust_repo=True).eval()

    def layers(x: torch.Tensor) -> dict[str, torch.Tensor]:
        first = net.first(x)
        return {"first": first.mean((2, 3)), "second": net.second(first).mean((2, 3))}

    return f"hub:{folder}/net?size=32", layers, net


MAKERS = [open_clip_transformer, open_clip_resnet, hf_dinov2, hf_clip, hf_resnet, hub]


def with_layers(text: str, names: str) -> str:
    return f"{text}{'&' if '?' in text else '?'}layers={names}&precision=float32"


def network_input(encoder) -> torch.Tensor:
    pixels = torch.from_numpy(encoder.prepare(PHOTO)).permute(2, 0, 1)[None] / 255
    mean, std = (
        torch.tensor(part).reshape(3, 1, 1)
        for part in (encoder.preprocessing.mean, encoder.preprocessing.std)
    )
    return (pixels - mean) / std


@pytest.mark.slow
@pytest.mark.parametrize("maker", MAKERS)
def test_the_layers_of_each_source_are_the_library_s_own_averaged_by_hand(maker, tmp_path, monkeypatch):
    text, layers, net = maker(tmp_path, monkeypatch)
    with torch.inference_mode():
        names = list(layers(torch.zeros(1, 3, 32, 32)))
        chosen = [names[-1], names[0]]  # not in the network's order
        encoder = open_encoder(parse(with_layers(text, ",".join(chosen))))
        found = layers(network_input(encoder))
    parts = []
    for name in chosen:
        mean = found[name][0].double().numpy()
        parts.append(mean / np.sqrt(sum(entry * entry for entry in mean)))
    expected = np.concatenate(parts)
    error = network_error(terms_of(net), expected)
    np.testing.assert_allclose(encode_photo(PHOTO, encoder), expected, rtol=0, atol=error)
    assert np.abs(expected).max() > 20 * error, "the tolerance would hide another layer"
    assert encoder.dimension == len(expected)


@pytest.mark.parametrize("maker", MAKERS)
def test_a_layer_that_does_not_exist_is_refused_with_those_that_do(maker, tmp_path, monkeypatch):
    text, layers, _ = maker(tmp_path, monkeypatch)
    with torch.inference_mode():
        name = next(iter(layers(torch.zeros(1, 3, 32, 32))))
    above = name.rpartition(".")[0]
    with pytest.raises(EncoderError) as refused:
        open_encoder(parse(with_layers(text, f"{above}.99".lstrip("."))))
    assert "no layer" in refused.value.problem
    assert "99" in refused.value.problem
    assert name in refused.value.fix


def test_an_onnx_file_has_no_layers_to_name():
    with pytest.raises(EncoderError) as refused:
        open_encoder(parse("onnx:model.onnx?layers=layer1"))
    assert "layers" in refused.value.problem
    assert "output=" in refused.value.fix
