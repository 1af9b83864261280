"""Networks of libraries with local weights: the right vectors, or a plain refusal."""

import json
import socket
import subprocess
import sys
import urllib.error
import urllib.request

import numpy as np
import pytest
import timm
import torch
import torchvision
from oracles.rounding import gamma, network_error, terms_of
from PIL import Image
from safetensors.torch import save_file
from torch import nn

from lookalike.core.errors import EmbeddingsError, EncoderError
from lookalike.encode.encoder import encode_photo
from lookalike.encode.inputs.preprocessing import Preprocessing
from lookalike.encode.network import Network
from lookalike.encode.open import open_encoder
from lookalike.encode.sources import torchvision_networks
from lookalike.encode.sources.checkpoint import checkpoint_files
from lookalike.encode.spec import SOURCES, parse

SMALL = "test_resnet"


@pytest.fixture(scope="module")
def photo() -> Image.Image:
    return Image.fromarray(np.random.default_rng(0).integers(0, 255, (90, 120, 3), dtype=np.uint8))


@pytest.fixture(scope="module")
def trained() -> nn.Module:
    """A small network with a trained classifier."""
    torch.manual_seed(7)
    return timm.create_model(SMALL, num_classes=10).eval()


def feature(module: nn.Module, x: torch.Tensor) -> np.ndarray:
    with torch.inference_mode():
        return module.forward_head(module.forward_features(x), pre_logits=True).numpy()


def opened(text: str):
    return open_encoder(parse(text))


def test_local_weights_give_the_network_s_own_features(trained, photo, tmp_path):
    save_file(trained.state_dict(), tmp_path / "w.safetensors")
    encoder = opened(f"timm:{SMALL}?weights={tmp_path}/w.safetensors&mean=0.5&std=0.25&size=96")
    pixels = torch.from_numpy(encoder.prepare(photo)).permute(2, 0, 1)[None] / 255
    expected = feature(trained, (pixels - 0.5) / 0.25)
    error = network_error(terms_of(trained), expected)
    np.testing.assert_allclose(encode_photo(photo, encoder), expected[0], rtol=0, atol=error)
    assert encoder.dimension == expected.shape[1]


@pytest.mark.parametrize(
    "wrapped", [lambda s: s, lambda s: {"state_dict": s}, lambda s: {"model": s, "epoch": 3}]
)
@pytest.mark.parametrize("prefix", ["", "module.", "backbone."])
def test_weights_are_taken_out_of_what_training_programs_save(trained, photo, tmp_path, wrapped, prefix):
    state = {f"{prefix}{name}": value for name, value in trained.state_dict().items()}
    torch.save(wrapped(state), tmp_path / "w.pth")
    save_file(trained.state_dict(), tmp_path / "w.safetensors")
    one, other = (opened(f"timm:{SMALL}?weights={tmp_path}/w.{ending}") for ending in ("pth", "safetensors"))
    assert one.origin.weights == other.origin.weights
    assert (encode_photo(photo, one) == encode_photo(photo, other)).all()


def test_keyword_arguments_reach_the_network(photo, tmp_path):
    torch.manual_seed(0)
    made = timm.create_model("mobilenetv2_035", pad_type="same", num_classes=0)
    save_file(made.state_dict(), tmp_path / "w.safetensors")
    same = opened(f"timm:mobilenetv2_035?pad_type=same&weights={tmp_path}/w.safetensors")
    other = opened(f"timm:mobilenetv2_035?weights={tmp_path}/w.safetensors")
    assert same.origin.weights == other.origin.weights
    assert not np.allclose(encode_photo(photo, same), encode_photo(photo, other), atol=1e-4)


def test_weights_of_another_network_are_refused_with_what_differs(trained, tmp_path):
    save_file(trained.state_dict(), tmp_path / "w.safetensors")
    with pytest.raises(EncoderError, match=r"another network: .*missing") as refused:
        opened(f"timm:mobilenetv2_035?weights={tmp_path}/w.safetensors")
    assert "Name the network" in refused.value.fix


def test_weights_that_run_code_are_not_run(tmp_path):
    class Evil:
        def __reduce__(self):
            return (tmp_path.joinpath("ran").touch, ())

    torch.save({"state_dict": Evil()}, tmp_path / "w.pth")
    with pytest.raises(EncoderError, match=r"w\..* as weights"):
        opened(f"timm:{SMALL}?weights={tmp_path}/w.pth")
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PK\x03\x04 half a zip"])
@pytest.mark.parametrize("name", ["w.safetensors", "w.pth"])
def test_files_that_are_no_weights(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(EncoderError, match=r"w\..* as weights"):
        opened(f"timm:{SMALL}?weights={tmp_path}/{name}")


@pytest.mark.parametrize(
    ("text", "problem", "fix"),
    [
        ("timm:resnet5x", "no network named 'resnet5x'", "timm:resnet5"),
        ("timm:resnet50.nonsense_in1k", "tagged", "timm:resnet50."),
        ("torchvision:resnet5x", "no classification network", "torchvision:resnet"),
        ("torchvision:resnet50/V9", "no weights 'V9'", "IMAGENET1K_V2"),
        (f"timm:{SMALL}?weights=nowhere.pth", "no weights file 'nowhere.pth'", ".safetensors"),
        ("checkpoint:models/none", "no folder 'models/none'", "checkpoint:models/NAME"),
        ("checkpoint:.", "checkpoint.json is not what", "weights.safetensors"),
    ],
)
def test_an_unknown_name_is_reported_with_known_ones(text, problem, fix, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(EncoderError) as refused:
        opened(text)
    assert problem in refused.value.problem
    assert fix in refused.value.fix


def test_arguments_that_the_network_does_not_take(trained, tmp_path):
    save_file(trained.state_dict(), tmp_path / "w.safetensors")
    with pytest.raises(EncoderError, match="padd"):
        opened(f"timm:{SMALL}?padd=same&weights={tmp_path}/w.safetensors")
    with pytest.raises(EncoderError, match="precision"):
        opened(f"timm:{SMALL}?precision=int1&weights={tmp_path}/w.safetensors")


@pytest.mark.parametrize("text", ["huggingface:google/vit", "clip:ViT-B-32", "tim:resnet50"])
def test_an_unknown_source_is_refused_with_those_that_are_known(text):
    with pytest.raises(EncoderError) as refused:
        parse(text)
    assert repr(text.partition(":")[0]) in refused.value.problem
    for known in SOURCES:
        assert f"{known}:" in refused.value.fix
    assert ("mean timm:resnet50?" in refused.value.fix) == text.startswith("tim:")


@pytest.mark.parametrize("text", ["timm:resnet50.a1_in1k", "torchvision:resnet18"])
def test_weights_that_cannot_be_fetched_are_reported_with_their_source(text, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise socket.gaierror(-2, "Name or service not known")

    for proxy in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.setattr("lookalike.encode.sources.timm_networks.try_to_load_from_cache", lambda *_: None)
    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: refuse())
    with pytest.raises(EncoderError, match=r"fetched: .*not known") as refused:
        opened(text)
    assert "https://" in refused.value.fix
    assert "weights=FILE" in refused.value.fix


def test_a_name_without_published_weights(monkeypatch):
    name = next(name for name in timm.list_models() if not timm.models.is_model_pretrained(name))
    with pytest.raises(EncoderError, match=f"{name}: .*no weights") as refused:
        opened(f"timm:{name}")
    assert f"timm:{name}?weights=FILE" in refused.value.fix


NETWORKS = torchvision.models.list_models(module=torchvision.models)
REAL = [
    "regnet_x_400mf",
    "regnet_y_400mf",
]  # RegNets cannot be made without memory; the small ones represent all


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NETWORKS if not name.startswith("regnet")] + REAL)
def test_every_torchvision_network_ends_in_one_vector_per_photo(name):
    side = 299 if name == "inception_v3" else 224
    with torch.device("cpu" if name in REAL else "meta"):
        module = torchvision.models.get_model(name, weights=None, **torchvision_networks._quiet(name)).eval()
        torchvision_networks._without_head(module)
        found = module(torch.zeros(2, 3, side, side))
    assert found.flatten(1).shape[0] == 2
    assert 256 <= found.flatten(1).shape[1] <= 7392


def test_squeezenet_averages_its_features(photo, tmp_path):
    torch.manual_seed(0)
    made = torchvision.models.squeezenet1_1(weights=None).eval()
    save_file(made.state_dict(), tmp_path / "w.safetensors")
    encoder = opened(f"torchvision:squeezenet1_1?weights={tmp_path}/w.safetensors")
    x = torch.from_numpy(encoder.prepare(photo)).permute(2, 0, 1)[None] / 255
    mean, std = (torch.tensor(v)[None, :, None, None] for v in ((0.485, 0.456, 0.406), (0.229, 0.224, 0.225)))
    with torch.inference_mode():
        expected = made.features((x - mean) / std).mean((2, 3))[0].numpy()
    error = network_error(terms_of(made), expected)
    np.testing.assert_allclose(encode_photo(photo, encoder), expected, rtol=0, atol=error)


def test_a_checkpoint_is_the_same_encoder_again(trained, photo, tmp_path):
    save_file(trained.state_dict(), tmp_path / "w.safetensors")
    before = opened(f"timm:{SMALL}?weights={tmp_path}/w.safetensors&crop_mode=border&mean=0.5")
    folder = tmp_path / "models" / "run-7"
    folder.mkdir(parents=True)
    for name, content in checkpoint_files(f"timm:{SMALL}", before.module, before.preprocessing).items():
        (folder / name).write_bytes(content)
    after = open_encoder(parse("checkpoint:models/run-7"), tmp_path)
    assert parse("checkpoint:models/run-7").short_name == "run-7"
    assert (after.origin.weights, after.origin.preprocessing) == (
        before.origin.weights,
        before.origin.preprocessing,
    )
    assert (encode_photo(photo, after) == encode_photo(photo, before)).all()


def test_a_checkpoint_takes_no_options_but_precision(tmp_path, trained):
    folder = tmp_path / "run"
    folder.mkdir()
    for name, content in checkpoint_files(
        f"timm:{SMALL}", timm.create_model(SMALL, num_classes=0), Preprocessing((64, 64))
    ).items():
        (folder / name).write_bytes(content)
    with pytest.raises(EncoderError, match="option 'mean'"):
        open_encoder(parse("checkpoint:run?mean=0.5"), tmp_path)
    (folder / "checkpoint.json").write_text('{"format": 99}')
    with pytest.raises(EncoderError, match="newer Lookalike"):
        open_encoder(parse("checkpoint:run"), tmp_path)


class Cramped(nn.Module):
    """A network that needs more memory than there is for more than `room` photos at once."""

    def __init__(self, room: int, error: Exception) -> None:
        super().__init__()
        self.room, self.error, self.tried = room, error, []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.tried.append(len(x))
        if len(x) > self.room:
            raise self.error
        return x.mean((2, 3))


@pytest.mark.parametrize(
    "error",
    [
        torch.OutOfMemoryError("CUDA out of memory."),
        RuntimeError("DefaultCPUAllocator: can't allocate memory"),
    ],
)
def test_the_batch_is_halved_until_memory_holds_it(error):
    ready = np.random.default_rng(0).integers(0, 255, (16, 8, 8, 3), dtype=np.uint8)
    cramped = Cramped(3, error)
    network = Network.of(parse("timm:x"), cramped, Preprocessing((8, 8), mean=(0, 0, 0), std=(1, 1, 1)))
    found = network.vectors(ready)
    np.testing.assert_allclose(found, ready.mean((1, 2)) / 255, rtol=gamma(8 * 8 + 4))  # a mean of 64 pixels
    assert cramped.tried == [16, 8, 4, *[2] * 8]
    cramped.tried.clear()
    network.vectors(ready)
    assert cramped.tried == [2] * 8


def test_memory_that_does_not_hold_one_photo_is_an_error():
    network = Network.of(parse("timm:x"), Cramped(0, torch.OutOfMemoryError("no")), Preprocessing((8, 8)))
    with pytest.raises(EmbeddingsError, match="one photo"):
        network.vectors(np.zeros((4, 8, 8, 3), np.uint8))


def test_a_size_that_the_network_cannot_take(tmp_path):
    made = timm.create_model("vit_tiny_patch16_224", num_classes=0)
    save_file(made.state_dict(), tmp_path / "w.safetensors")
    encoder = opened(f"timm:vit_tiny_patch16_224?weights={tmp_path}/w.safetensors&size=64")
    with pytest.raises(EncoderError, match="64 x 64"):
        encoder.vectors(np.zeros((1, 64, 64, 3), np.uint8))


WITHOUT_EACH = """
import sys
from lookalike.cli.app import run
from lookalike.encode.open import open_encoder
from lookalike.encode.spec import parse
for library in sys.argv[1:]:
    assert library not in sys.modules, library
    sys.modules[library] = None
    try:
        open_encoder(parse("timm:resnet50"))
    except Exception as error:
        print(type(error).__name__, error.problem, error.fix)
    del sys.modules[library]
"""


@pytest.mark.slow
def test_without_the_extra_the_command_to_install_it_is_given():
    """One process for all, in the order of the requests: each is hidden before anything loads it."""
    libraries = ("torch", "torchvision", "timm", "safetensors")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_EACH, *libraries], capture_output=True, text=True, check=True
    )
    for library, line in zip(libraries, done.stdout.splitlines(), strict=True):
        assert line.startswith("EncoderError")
        assert f"need {library}, " in line
        assert "pip install '.[models]'" in line


def test_weights_that_only_lack_names_are_refused_in_words(tmp_path):
    save_file({"nonsense": torch.zeros(3)}, tmp_path / "w.safetensors")
    with pytest.raises(EncoderError, match=r"missing .*\('nonsense'\)"):
        opened(f"timm:{SMALL}?weights={tmp_path}/w.safetensors")


PREPROCESSING = {"size": [64, 64], "crop_mode": "center", "mean": [0.5] * 3, "std": [0.5] * 3}


@pytest.mark.parametrize(
    "about",
    [
        {"preprocessing": []},
        {"preprocessing": None},
        {"network": None},
        {"preprocessing": {}},
        *(
            {"preprocessing": {**PREPROCESSING, key: value}}
            for key, value in [
                ("size", [-5, 224]), ("size", [200000, 200000]), ("size", None), ("crop_mode", "zoom"),
                ("interpolation", "x"), ("mean", ["a", None, 1]), ("std", [0, 0, 0]), ("size", [0, 0]),
            ]
        ),
    ],
)  # fmt: skip
def test_a_checkpoint_that_was_edited_is_refused_in_words(tmp_path, about):
    save_file(timm.create_model(SMALL, num_classes=0).state_dict(), tmp_path / "weights.safetensors")
    whole = {"format": 1, "network": f"timm:{SMALL}", "preprocessing": PREPROCESSING}
    (tmp_path / "checkpoint.json").write_text(json.dumps(whole))
    assert open_encoder(parse("checkpoint:."), tmp_path).dimension > 0
    (tmp_path / "checkpoint.json").write_text(json.dumps({**whole, **about}))
    with pytest.raises(EncoderError, match="checkpoint"):
        open_encoder(parse("checkpoint:."), tmp_path)


@pytest.mark.slow
def test_a_vision_transformer_of_torchvision_is_made_for_the_size_of_its_weights(monkeypatch):
    made = torchvision.models.vit_b_16(weights=None, image_size=384)
    state = {name: value for name, value in made.state_dict().items() if not name.startswith("heads")}
    monkeypatch.setattr(torchvision_networks, "_fetched", lambda *_: state)
    encoder = opened("torchvision:vit_b_16/IMAGENET1K_SWAG_E2E_V1")
    assert encoder.preprocessing.size == (384, 384)
    assert encoder.dimension == 768
