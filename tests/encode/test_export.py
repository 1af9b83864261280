"""ONNX files give the encoder's own vectors in another runtime, for any number of photos, and are made in silence."""

import sys

import numpy as np
import onnx
import onnxruntime
import pytest
import timm
import torch
from head_samples import keep
from oracles.rounding import network_error, terms_of
from PIL import Image
from safetensors.torch import save_file

from lookalike.core.errors import EncoderError
from lookalike.encode import export
from lookalike.encode.export import onnx_bytes
from lookalike.encode.heads.head import apply_head
from lookalike.encode.heads.two_layers import ProjectionHead, ResidualHead
from lookalike.encode.open import open_encoder
from lookalike.encode.sources.checkpoint import Headed, read_head
from lookalike.encode.sources.descriptor import Descriptor
from lookalike.encode.spec import parse


def run(content: bytes, given: np.ndarray) -> np.ndarray:
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    (found,) = session.run(None, {session.get_inputs()[0].name: given})
    return found


def photos(count: int) -> list[Image.Image]:
    random = np.random.default_rng(4)
    return [Image.fromarray(random.integers(0, 255, (70, 90, 3), dtype=np.uint8)) for _ in range(count)]


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Heads on a convolutional network, a transformer, a descriptor, and on another head."""
    home = tmp_path_factory.mktemp("home")
    for name, size in (("test_resnet", 64), ("test_vit", 160)):
        torch.manual_seed(1)
        save_file(timm.create_model(name, num_classes=0).state_dict(), home / f"{name}.safetensors")
        head_on(
            home,
            f"on_{name}",
            f"timm:{name}?weights={name}.safetensors&size={size}&mean=0.4&std=0.3,0.2,0.1",
            33,
        )
    head_on(home, "on_color", "descriptor:color", 20)
    head_on(home, "on_head", "checkpoint:on_test_resnet", 12)
    head_on(home, "residual", "checkpoint:on_test_resnet", 33)
    return home


def head_on(home, name, text, projection):
    """A head; one of the encoder's own dimension is residual."""
    base = open_encoder(parse(text), home)
    kind = ResidualHead if projection == base.dimension else ProjectionHead
    head = kind.seeded(base.dimension, projection, seed=7)
    torch.nn.init.uniform_(head.last.weight, -0.1, 0.1, generator=torch.Generator().manual_seed(8))
    keep(home / "models" / name, base.origin, head)


def close(found, expected, encoder):
    """Equal up to the rounding of all layers, of the encoder and of the heads on it."""
    terms = 0
    while isinstance(encoder, Headed):
        terms, encoder = terms + terms_of(encoder.head), encoder.base
    terms += terms_of(getattr(encoder, "module", encoder)) if not isinstance(encoder, Descriptor) else 0
    np.testing.assert_allclose(found, expected, rtol=0, atol=network_error(terms, expected))


@pytest.fixture(scope="module")
def exported(home):
    """An encoder, photos made ready for it, its vectors before the export, and the file."""
    encoder = open_encoder(parse("checkpoint:on_test_resnet"), home)
    ready = np.stack([encoder.prepare(photo) for photo in photos(5)])
    before = encoder.vectors(ready)
    return encoder, ready, before, onnx_bytes(encoder)


def test_pixels_to_the_encoder_s_vectors(exported):
    encoder, ready, before, content = exported
    for count in (5, 1, 2):
        close(run(content, ready[:count]), before[:count], encoder)


def test_exporting_leaves_the_encoder_as_it_was(exported):
    encoder, ready, before, _ = exported
    assert (encoder.vectors(ready) == before).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "checkpoint:on_test_vit",
        "checkpoint:on_head",
        "checkpoint:residual",
        "timm:test_resnet?weights=test_resnet.safetensors&size=96",
        "timm:test_resnet?weights=test_resnet.safetensors&size=96&layers=layer2,layer4",
    ],
)
def test_a_transformer_heads_on_a_head_and_a_network_without_one(home, text, capfd):
    encoder = open_encoder(parse(text), home)
    ready = np.stack([encoder.prepare(photo) for photo in photos(3)])
    content = onnx_bytes(encoder)
    for count in (3, 1):
        close(run(content, ready[:count]), encoder.vectors(ready[:count]), encoder)
    assert capfd.readouterr() == ("", "")


def test_a_descriptor_s_vectors_to_the_head_s(home, capfd):
    encoder = open_encoder(parse("checkpoint:on_color"), home)
    ready = np.stack([encoder.prepare(photo) for photo in photos(4)])
    close(run(onnx_bytes(encoder), ready), encoder.vectors(ready), encoder)
    assert capfd.readouterr() == ("", "")


def test_a_head_by_itself_at_any_length(home):
    head = read_head(home / "models/on_color").head
    vectors = np.random.default_rng(0).normal(size=(6, head.features)).astype(np.float32)
    vectors *= np.array([1e-30, 1e-4, 1, 1e4, 1e30, 0], np.float32)[:, None]
    close(run(onnx_bytes(head), vectors), apply_head(head, vectors), head)


def test_the_file_describes_its_encoder(exported):
    encoder, _, _, content = exported
    model = onnx.load_from_string(content)
    onnx.checker.check_model(model)
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    assert metadata["lookalike.spec"] == "checkpoint:on_test_resnet"
    assert metadata["lookalike.preprocessing"] == encoder.origin.preprocessing
    assert metadata["lookalike.weights"] == encoder.origin.weights
    assert [one.name for one in model.graph.input] == ["pixels"]
    assert [one.name for one in model.graph.output] == ["found"]


def test_the_file_contains_no_folder_of_this_machine(exported, home):
    content = exported[-1]
    for part in (b".py", b"stack_trace", str(home).encode(), b"site-packages"):
        assert part not in content


def test_a_descriptor_has_nothing_to_export():
    with pytest.raises(EncoderError, match="nothing to export"):
        onnx_bytes(open_encoder(parse("descriptor:color")))


def test_what_no_single_file_holds_is_refused(monkeypatch):
    monkeypatch.setattr(export, "MOST", 100)
    with pytest.raises(EncoderError, match="2 GB"):
        onnx_bytes(ProjectionHead.seeded(8, 8, seed=0))


def test_without_the_library_the_command_to_install_it_is_given(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(EncoderError, match="needs onnxscript") as refused:
        onnx_bytes(ProjectionHead.seeded(4, 4, seed=0))
    assert "'.[learn]'" in refused.value.fix
