"""ONNX files as encoders: our own exports by their metadata, others by their inputs and options."""

import json

import numpy as np
import onnx
import pytest
import timm
import torch
from oracles.rounding import network_error, terms_of
from PIL import Image
from safetensors.torch import save_file

from lookalike.core.errors import EncoderError
from lookalike.encode.encoder import encode_photo
from lookalike.encode.export import onnx_bytes
from lookalike.encode.open import open_encoder
from lookalike.encode.spec import located, parse


@pytest.fixture(scope="module")
def photos() -> list[Image.Image]:
    draw = np.random.default_rng(0)
    return [Image.fromarray(draw.integers(0, 255, (50, 70, 3), dtype=np.uint8)) for _ in range(3)]


@pytest.mark.slow
def test_our_own_export_is_the_same_encoder(photos, tmp_path):
    torch.manual_seed(1)
    save_file(timm.create_model("test_resnet").state_dict(), tmp_path / "w.safetensors")
    text = f"timm:test_resnet?weights={tmp_path}/w.safetensors&size=48&mean=0.5,0.4,0.3&std=0.25&crop_mode=border"
    network = open_encoder(parse(text))
    (tmp_path / "m.onnx").write_bytes(onnx_bytes(network))
    spec = located(parse(f"onnx:{tmp_path}/m.onnx"), tmp_path)
    assert (str(spec), spec.short_name) == ("onnx:m.onnx", "m")
    found = open_encoder(spec, tmp_path)
    assert found.preprocessing == network.preprocessing
    assert found.dimension == network.dimension
    assert (found.prepare(photos[0]) == network.prepare(photos[0])).all()
    for photo in photos:
        expected = encode_photo(photo, network)
        error = network_error(terms_of(network.module), expected)
        np.testing.assert_allclose(encode_photo(photo, found), expected, rtol=0, atol=error)


def channel_sums(path, shape, *, kind=onnx.TensorProto.FLOAT, extra=(), outputs=None) -> str:
    """A network whose vector is the sum of each channel of what goes in."""
    axes = [1, 2] if shape[3] == 3 else [2, 3]
    cast = onnx.helper.make_node("Cast", ["x"], ["f"], to=onnx.TensorProto.FLOAT)
    axis = onnx.helper.make_tensor("axes", onnx.TensorProto.INT64, [2], axes)
    total = onnx.helper.make_node("ReduceSum", ["f", "axes"], ["sums"], keepdims=0)
    given = [onnx.helper.make_tensor_value_info("x", kind, shape), *extra]
    made = [onnx.helper.make_tensor_value_info("sums", onnx.TensorProto.FLOAT, [shape[0], 3])]
    maps = onnx.helper.make_tensor_value_info("f", onnx.TensorProto.FLOAT, shape)
    graph = onnx.helper.make_graph([cast, total], "g", given, [maps, *made] if outputs else made, [axis])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 18)], ir_version=10)
    onnx.save(model, path)
    return f"onnx:{path}"


@pytest.mark.parametrize(
    ("shape", "kind"),
    [
        (["n", 3, 8, 6], onnx.TensorProto.FLOAT),
        (["n", 8, 6, 3], onnx.TensorProto.FLOAT),
        ([2, 3, 8, 6], onnx.TensorProto.FLOAT),
        ([1, 3, "h", "w"], onnx.TensorProto.FLOAT),
        (["n", 8, 6, 3], onnx.TensorProto.UINT8),
    ],
)
def test_layout_kind_batch_and_size_come_from_the_input(photos, tmp_path, shape, kind):
    size = "" if 8 in shape else "&size=8,6"
    encoder = open_encoder(
        parse(channel_sums(tmp_path / "m.onnx", shape, kind=kind) + f"?mean=0.5,0.25,0&std=0.5{size}")
    )
    assert encoder.preprocessing.size == (8, 6)
    assert encoder.batch == (shape[0] if isinstance(shape[0], int) else 16)
    ready = np.stack([encoder.prepare(photo) for photo in photos])
    scaled = ready if kind == onnx.TensorProto.UINT8 else (ready / 255 - [0.5, 0.25, 0]) / 0.5
    expected = [[sum(float(v) for v in one[..., c].ravel()) for c in range(3)] for one in scaled]
    np.testing.assert_allclose(encoder.vectors(ready), expected, rtol=1e-5, atol=1e-4)


def test_an_output_that_is_a_vector_is_chosen_or_named(tmp_path):
    text = channel_sums(tmp_path / "m.onnx", ["n", 3, 8, 6], outputs=True)
    assert open_encoder(parse(text)).dimension == 3
    assert open_encoder(parse(f"{text}?output=sums")).dimension == 3
    with pytest.raises(EncoderError, match="not one vector per photo") as refused:
        open_encoder(parse(f"{text}?output=f"))
    assert "sums" in refused.value.fix
    with pytest.raises(EncoderError, match="no output 'other'"):
        open_encoder(parse(f"{text}?output=other"))


def test_changed_bytes_are_other_weights(tmp_path):
    one = open_encoder(parse(channel_sums(tmp_path / "a.onnx", ["n", 3, 8, 6])))
    other = open_encoder(parse(channel_sums(tmp_path / "b.onnx", ["n", 3, 8, 6], outputs=True)))
    assert one.origin.weights != other.origin.weights
    assert len(one.origin.weights) == 64


def test_files_that_do_not_take_photos(tmp_path):
    second = onnx.helper.make_tensor_value_info("ids", onnx.TensorProto.INT64, ["n", 4])
    with pytest.raises(EncoderError, match=r"its inputs are x .* ids"):
        open_encoder(parse(channel_sums(tmp_path / "m.onnx", ["n", 3, 8, 6], extra=[second])))
    (tmp_path / "bad.onnx").write_bytes(b"nonsense")
    with pytest.raises(EncoderError, match="cannot be read"):
        open_encoder(parse(f"onnx:{tmp_path}/bad.onnx"))
    with pytest.raises(EncoderError, match=r"no file 'none\.onnx'"):
        open_encoder(parse("onnx:none.onnx"))
    with pytest.raises(EncoderError, match="no layers that can be named"):
        open_encoder(parse(channel_sums(tmp_path / "m.onnx", ["n", 3, 8, 6]) + "?layers=a"))
    with pytest.raises(EncoderError, match="cannot take photos of 9 x 9"):
        open_encoder(parse(channel_sums(tmp_path / "m.onnx", ["n", 3, 8, 6]) + "?size=9"))


@pytest.mark.slow
def test_metadata_of_an_export_hold_the_preprocessing_as_values(tmp_path):
    save_file(timm.create_model("test_resnet").state_dict(), tmp_path / "w.safetensors")
    network = open_encoder(parse(f"timm:test_resnet?weights={tmp_path}/w.safetensors&size=32"))
    held = {one.key: one.value for one in onnx.load_from_string(onnx_bytes(network)).metadata_props}
    assert json.loads(held["lookalike.preprocessing.values"])["size"] == [32, 32]
