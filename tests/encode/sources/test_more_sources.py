"""open_clip, transformers and torch.hub: the library's own vectors from weights made here, without a network."""

import json
import socket

import numpy as np
import open_clip
import pytest
import torch
from open_clip.transform import PreprocessCfg, image_transform_v2
from oracles.rounding import network_error, terms_of
from PIL import Image
from safetensors.torch import save_file
from torch import nn
from transformers import (
    AutoModel,
    BeitConfig,
    BeitModel,
    CLIPVisionConfig,
    CLIPVisionModel,
    Dinov2Config,
    Dinov2Model,
)

from lookalike.core.errors import EncoderError
from lookalike.encode.encoder import encode_photo
from lookalike.encode.open import open_encoder
from lookalike.encode.sources.hub_networks import TRUSTED
from lookalike.encode.spec import located, parse, without_folders

MEAN, STD = (0.5, 0.4, 0.3), (0.25, 0.5, 0.2)
TOWER = {
    "embed_dim": 12,
    "vision_cfg": {"image_size": 32, "layers": 2, "width": 16, "head_width": 8, "patch_size": 8},
    "text_cfg": {"context_length": 8, "vocab_size": 64, "width": 16, "heads": 2, "layers": 1},
}


@pytest.fixture(scope="module")
def photo() -> Image.Image:
    return Image.fromarray(np.random.default_rng(0).integers(0, 255, (50, 70, 3), dtype=np.uint8))


@pytest.fixture
def offline(monkeypatch, tmp_path):
    """No connection, and no proxy that would need one; folders of weights are empty."""

    def refuse(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    for proxy in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.setattr(socket, "create_connection", refuse)


def opened(text: str):
    return open_encoder(parse(text))


def equal(vectors: np.ndarray, expected: torch.Tensor, module: nn.Module) -> None:
    values = expected.detach().numpy()
    np.testing.assert_allclose(vectors, values, rtol=0, atol=network_error(terms_of(module), values))


def pixels(encoder, photo) -> torch.Tensor:
    found = torch.from_numpy(encoder.prepare(photo)).permute(2, 0, 1)[None] / 255
    mean, std = (
        torch.tensor(part).reshape(3, 1, 1)
        for part in (encoder.preprocessing.mean, encoder.preprocessing.std)
    )
    return (found - mean) / std


@pytest.fixture
def clip(tmp_path) -> tuple[nn.Module, str]:
    folder = tmp_path / "clip"
    folder.mkdir()
    torch.manual_seed(1)
    model = open_clip.CLIP(**json.loads(json.dumps(TOWER))).eval()
    about = {"model_cfg": TOWER, "preprocess_cfg": {"mean": MEAN, "std": STD, "interpolation": "bilinear"}}
    (folder / "open_clip_config.json").write_text(json.dumps(about))
    save_file(model.state_dict(), folder / "open_clip_model.safetensors")
    return model, f"open_clip:local-dir:{folder}"


def test_an_image_tower_of_open_clip_sees_and_gives_what_the_library_does(clip, photo):
    model, text = clip
    encoder = opened(text)
    ours = pixels(encoder, photo)
    theirs = image_transform_v2(
        PreprocessCfg(32, mean=MEAN, std=STD, interpolation="bilinear"), is_train=False
    )
    assert torch.allclose(
        ours[0], theirs(photo), atol=1 / 255 / min(STD) + 1e-6
    )  # within one level of a pixel
    equal(encode_photo(photo, encoder), model.encode_image(ours)[0], model)
    assert encoder.dimension == 12


@pytest.mark.parametrize("visual", [True, False])
def test_local_weights_of_the_whole_model_or_of_its_image_tower(clip, photo, tmp_path, visual):
    model, text = clip
    with torch.no_grad():
        model.visual.proj.mul_(-1)
    held = model.visual if visual else model
    save_file({name: value.clone() for name, value in held.state_dict().items()}, tmp_path / "w.safetensors")
    encoder = opened(f"{text}?weights={tmp_path}/w.safetensors")
    equal(encode_photo(photo, encoder), model.encode_image(pixels(encoder, photo))[0], model)
    assert encoder.origin.weights != opened(text).origin.weights


@pytest.mark.parametrize(
    ("mode", "ours"), [("shortest", "center"), ("longest", "border"), ("squash", "squash")]
)
def test_each_way_to_resize_of_open_clip_is_ours(clip, mode, ours):
    from lookalike.encode.sources.open_clip_networks import _preprocessing

    assert _preprocessing({"size": (32, 32), "resize_mode": mode}).crop_mode == ours
    assert _preprocessing({"size": 32, "resize_mode": mode, "fill_color": 7}).fill == (7, 7, 7)


@pytest.mark.parametrize(
    ("text", "problem", "fix"),
    [
        ("open_clip:ViT-B-3x/openai", "no network named 'ViT-B-3x'", "open_clip:ViT-B-32"),
        ("open_clip:ViT-B-32/openay", "no weights 'openay'", "open_clip:ViT-B-32/openai"),
        ("open_clip:ViT-B-32", "names no weights", "Use open_clip:ViT-B-32/openai or"),
        ("open_clip:ViT-B-32", "names no weights", "weights=FILE"),
        ("open_clip:local-dir:nowhere", "no open_clip_config.json", "another folder"),
        ("hub:resnet50", "no entry", "hub:OWNER/REPOSITORY"),
        ("hf:nobody/nothing?weights=none.safetensors", "no weights file", ".safetensors"),
    ],
)
def test_wrong_names(text, problem, fix):
    with pytest.raises(EncoderError) as refused:
        opened(text)
    assert problem in refused.value.problem
    assert fix in refused.value.fix


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        ("open_clip:RN50x64/openai", "open_clip:RN50x64/openai?weights=FILE"),
        ("open_clip:hf-hub:nobody/nothing", "open_clip:local-dir:FOLDER"),
        ("hf:nobody/nothing", "hf:FOLDER"),  # its settings are needed, too
        ("hub:nobody/nothing:main/net", "hub:FOLDER/ENTRY"),
    ],
)
def test_what_cannot_be_fetched_is_reported_with_its_source(text, instead, offline, monkeypatch):
    monkeypatch.setenv(TRUSTED, "nobody/nothing:main")
    with pytest.raises(EncoderError, match="fetched: ") as refused:
        opened(text)
    assert "https://" in refused.value.fix
    assert refused.value.fix.endswith(instead)


def saved(model: nn.Module, folder, processor: dict) -> str:
    model.save_pretrained(folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(processor))
    return f"hf:{folder}"


SMALL = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}
CUT = {
    "size": {"shortest_edge": 40},
    "crop_size": {"height": 32, "width": 32},
    "do_center_crop": True,
    "resample": 3,
}
WHOLE = {"size": {"height": 32, "width": 32}, "do_center_crop": False, "resample": 2}
SCALE = {"image_mean": MEAN, "image_std": STD, "do_normalize": True}


@pytest.mark.parametrize("processor", [CUT | SCALE, WHOLE | SCALE])
def test_a_network_of_transformers_gives_its_pooled_output(tmp_path, photo, processor):
    torch.manual_seed(2)
    model = Dinov2Model(Dinov2Config(image_size=32, patch_size=8, **SMALL)).eval()
    encoder = opened(saved(model, tmp_path, processor))
    equal(encode_photo(photo, encoder), model(pixels(encoder, photo)).pooler_output[0], model)
    assert encoder.preprocessing.size == (32, 32)
    assert encoder.preprocessing.shorter == (40 if processor["do_center_crop"] else 32)
    assert encoder.preprocessing.interpolation == ("bicubic" if processor["do_center_crop"] else "bilinear")
    assert (encoder.preprocessing.mean, encoder.preprocessing.std) == (MEAN, STD)


def test_weights_in_half_precision_are_computed_with_in_single(tmp_path, photo):
    torch.manual_seed(2)
    model = Dinov2Model(Dinov2Config(image_size=32, patch_size=8, **SMALL)).eval().half()
    encoder = opened(saved(model, tmp_path, WHOLE | SCALE) + "?precision=float32")
    whole = model.float()
    equal(encode_photo(photo, encoder), whole(pixels(encoder, photo)).pooler_output[0], whole)


def test_weights_without_a_pooler_give_the_class_token_and_never_random_numbers(tmp_path, photo):
    torch.manual_seed(3)
    config = BeitConfig(image_size=32, patch_size=8, vocab_size=10, **SMALL)
    model = BeitModel(config, add_pooling_layer=False).eval()
    text = saved(model, tmp_path / "a", WHOLE | SCALE)
    encoder = opened(text)
    assert opened(text).origin == encoder.origin
    first = model(pixels(encoder, photo)).last_hidden_state[0, 0]
    equal(encode_photo(photo, encoder), first, model)
    save_file(dict(model.state_dict()), tmp_path / "w.safetensors")
    again = opened(f"{text}?weights={tmp_path}/w.safetensors")
    equal(encode_photo(photo, again), first, model)


def test_local_weights_of_a_network_of_transformers(tmp_path, photo):
    torch.manual_seed(4)
    config = CLIPVisionConfig(image_size=32, patch_size=8, **SMALL)
    text = saved(CLIPVisionModel(config).eval(), tmp_path / "a", WHOLE | SCALE)
    other = AutoModel.from_config(config).eval()
    save_file(
        {f"{other.base_model_prefix}.{k}": v for k, v in other.state_dict().items()},
        tmp_path / "w.safetensors",
    )
    encoder = opened(f"{text}?weights={tmp_path}/w.safetensors")
    equal(encode_photo(photo, encoder), other(pixels(encoder, photo)).pooler_output[0], other)
    save_file({"nonsense": torch.ones(2)}, tmp_path / "x.safetensors")
    with pytest.raises(EncoderError, match="another network"):
        opened(f"{text}?weights={tmp_path}/x.safetensors")


def test_a_repository_that_wants_to_run_code_is_refused_and_not_run(tmp_path):
    ran = tmp_path / "ran"
    (tmp_path / "evil.py").write_text(f"open({str(ran)!r}, 'w')\nclass Config: pass\nclass Model: pass\n")
    about = {"model_type": "evil", "auto_map": {"AutoConfig": "evil.Config", "AutoModel": "evil.Model"}}
    (tmp_path / "config.json").write_text(json.dumps(about))
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(WHOLE | SCALE))
    with pytest.raises(EncoderError) as refused:
        opened(f"hf:{tmp_path}")
    assert "never runs code" in refused.value.fix
    assert not ran.exists()


def test_weights_of_torch_save_are_not_read_from_a_repository_of_transformers(tmp_path):
    model = Dinov2Model(Dinov2Config(image_size=32, patch_size=8, **SMALL))
    text = saved(model, tmp_path, WHOLE | SCALE)
    (tmp_path / "model.safetensors").unlink()
    torch.save(model.state_dict(), tmp_path / "pytorch_model.bin")
    with pytest.raises(EncoderError, match="cannot be fetched") as refused:
        opened(text)
    assert "in safetensors" in refused.value.fix


HUBCONF = """
from pathlib import Path
import torch
Path(__file__).with_name("ran").touch()
dependencies = ["torch"]
def net(pretrained=True, width=6):
    torch.manual_seed(5)
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.body = torch.nn.Conv2d(3, width, 3, bias=pretrained)
            self.fc = torch.nn.Linear(width, 10)
        def forward(self, x):
            return self.fc(self.body(x).mean((2, 3)))
    return Net()
def number():
    return 7
def broken():
    raise RuntimeError("no such thing")
"""


@pytest.fixture
def hub(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "hubconf.py").write_text(HUBCONF)
    return folder


@pytest.mark.parametrize("trusted", [None, "", "facebookresearch/barlowtwins:main", "{hub}x", "{hub}/net"])
def test_code_of_a_hub_entry_does_not_run_unasked(hub, trusted, monkeypatch):
    monkeypatch.delenv(TRUSTED, raising=False)
    if trusted is not None:
        monkeypatch.setenv(TRUSTED, trusted.format(hub=hub))
    for text in (f"hub:{hub}/net", f"hub:{hub}/net?trust_repo=true"):
        with pytest.raises(EncoderError, match="not trusted") as refused:
            opened(text)
        assert f"{TRUSTED}={hub}" in refused.value.fix
    assert not (hub / "ran").exists()


def test_code_of_a_repository_that_torch_hub_holds_already_does_not_run_unasked(hub, tmp_path, monkeypatch):
    monkeypatch.delenv(TRUSTED, raising=False)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    held = tmp_path / "torch/hub/some_one_main"
    held.parent.mkdir(parents=True)
    hub.rename(held)
    (held.parent / "trusted_list").write_text("some_one\n")
    with pytest.raises(EncoderError, match="not trusted"):
        opened("hub:some/one:main/net")
    assert not (held / "ran").exists()
    monkeypatch.setenv(TRUSTED, "another/one:main, some/one:main")
    assert opened("hub:some/one:main/net").dimension == 6
    assert (held / "ran").exists()


def test_an_entry_of_a_trusted_repository_gives_the_input_of_its_classifier(
    hub, photo, tmp_path, monkeypatch
):
    monkeypatch.setenv(TRUSTED, str(hub))
    encoder = opened(f"hub:{hub}/net?width=8&size=32")
    body = encoder.module.body
    equal(encode_photo(photo, encoder), body(pixels(encoder, photo)).mean((2, 3))[0], encoder.module)
    assert encoder.dimension == 8
    state = {"body.weight": torch.ones(6, 3, 3, 3), "fc.weight": torch.ones(10, 6)}
    save_file(state, tmp_path / "w.safetensors")
    local = opened(f"hub:{hub}/net?size=32&weights={tmp_path}/w.safetensors")  # made with pretrained=False
    assert (local.module.body.weight == 1).all()
    for entry, what in (("number", "returns a int"), ("broken", "no such thing"), ("none", "code failed")):
        with pytest.raises(EncoderError, match=what):
            opened(f"hub:{hub}/{entry}")


def test_of_a_file_with_two_networks_the_trained_one_is_taken(tmp_path):
    import torchvision

    made = torchvision.models.resnet18(weights=None, num_classes=4)
    state = {f"module.encoder_q.{name}": value for name, value in made.state_dict().items()}
    state |= {f"module.encoder_k.{name}": value * 0 for name, value in made.state_dict().items()}
    torch.save(
        {"epoch": 3, "state_dict": state | {"module.queue": torch.zeros(2)}}, tmp_path / "moco.pth.tar"
    )
    encoder = opened(f"torchvision:resnet18?weights={tmp_path}/moco.pth.tar")
    assert torch.equal(encoder.module.conv1.weight.cpu(), made.conv1.weight)


@pytest.mark.parametrize("source", ["hf", "open_clip"])
def test_a_folder_in_the_workspace_is_stored_relative_to_it(source, clip, tmp_path, photo, monkeypatch):
    """So a workspace works after it was moved, and from any current folder."""
    home = tmp_path / "home"
    (home / "nets").mkdir(parents=True)
    if source == "open_clip":
        (tmp_path / "clip").rename(home / "nets/net")
        prefix = "open_clip:local-dir:"
    else:
        model = Dinov2Model(Dinov2Config(image_size=32, patch_size=8, **SMALL))
        (home / "nets/net").mkdir()
        saved(model, home / "nets/net", WHOLE | SCALE)
        prefix = "hf:"
    monkeypatch.chdir(home / "nets")
    for text in (f"{prefix}net", f"{prefix}{home}/nets/net"):
        assert str(located(parse(text), home)) == f"{prefix}nets/net"
    stored = parse(f"{prefix}nets/net")
    assert stored.short_name == "net"
    before = open_encoder(stored, home)
    home.rename(tmp_path / "moved")
    monkeypatch.chdir(tmp_path)
    after = open_encoder(stored, tmp_path / "moved")
    assert after.origin == before.origin
    assert after.origin.spec == f"{prefix}nets/net"
    assert np.array_equal(encode_photo(photo, after), encode_photo(photo, before))


def test_a_repository_is_no_folder(tmp_path):
    spec = parse("hf:facebook/dinov2-base")
    assert located(spec, tmp_path) == spec
    assert str(without_folders(parse(f"open_clip:local-dir:{tmp_path}/net"))) == "open_clip:local-dir:net"
