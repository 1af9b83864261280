"""A head's folder: the same encoder again, or a plain refusal that says what differs and what to do."""

import json
from types import MappingProxyType

import numpy as np
import pytest
import timm
import torch
from head_samples import LEARNED, keep
from oracles.rounding import gamma, network_error, terms_of
from PIL import Image
from safetensors.torch import load, save_file

from lookalike.core.errors import EncoderError
from lookalike.core.types import Origin
from lookalike.encode.encoder import encode_photo
from lookalike.encode.heads.head import apply_head
from lookalike.encode.heads.pca import PcaHead
from lookalike.encode.heads.two_layers import ProjectionHead, ResidualHead, scaled
from lookalike.encode.open import open_encoder
from lookalike.encode.sources.checkpoint import head_files, read_head
from lookalike.encode.spec import located, parse

PHOTO = Image.fromarray(np.random.default_rng(0).integers(0, 255, (90, 120, 3), dtype=np.uint8))
NETWORK = "timm:test_resnet?weights=w.safetensors&size=64"


def opened(text, base):
    return open_encoder(parse(text), base)


def weights(path, seed=1):
    torch.manual_seed(seed)
    save_file(timm.create_model("test_resnet", num_classes=0).state_dict(), path)


@pytest.fixture(params=["descriptor:color", NETWORK])
def home(request, tmp_path):
    """A folder with a base encoder and a head on it in models/run."""
    weights(tmp_path / "w.safetensors")
    base = opened(request.param, tmp_path)
    keep(tmp_path / "models/run", base.origin, ProjectionHead.seeded(base.dimension, 16, seed=2))
    return tmp_path


def test_vectors_are_the_head_s_of_the_encoder_s(home):
    held, encoder = read_head(home / "models/run"), opened("checkpoint:run", home)
    base = opened(held.base.spec, home)
    expected = apply_head(held.head, encode_photo(PHOTO, base)[None])[0]
    error = network_error(terms_of(held.head), expected)
    np.testing.assert_allclose(encode_photo(PHOTO, encoder), expected, rtol=0, atol=error)
    assert encoder.dimension == 16
    assert (encoder.size_hint, encoder.batch, encoder.threads) == (base.size_hint, base.batch, base.threads)
    assert encoder.origin.preprocessing == base.origin.preprocessing
    assert encoder.origin.precision == base.origin.precision
    assert dict(held.learned) == LEARNED
    assert isinstance(held.learned, MappingProxyType)


def test_a_residual_head_stays_one_and_is_refused_by_programs_that_do_not_know_it(tmp_path):
    """Programs before residual heads read formats 1 and 2 and refuse newer ones: as a projection it gives nonsense."""
    head = ResidualHead.seeded(6, 6, seed=2)
    torch.nn.init.constant_(head.last.bias, 0.5)
    folder = keep(tmp_path / "run", Origin("descriptor:color", ""), head)
    vectors = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)
    assert np.array_equal(apply_head(read_head(folder).head, vectors), apply_head(head, vectors))
    assert json.loads((folder / "checkpoint.json").read_text())["format"] == 3


@pytest.mark.parametrize(("kind", "number"), [(ProjectionHead, 2), (ResidualHead, 3)])
def test_heads_with_formats_of_their_own_are_written_as_ever(kind, number):
    """The description is the one that programs before format 4 wrote and read, to the byte."""
    origin = Origin("descriptor:color", "size 8", "ab", "bfloat16")
    head = kind.seeded(4, 4, seed=1)
    made = head_files(origin, head, {"rate": 0.5})
    expected = (
        f'{{\n  "format": {number},\n  "encoder": "descriptor:color",\n  "weights": "ab",\n'
        '  "preprocessing": "size 8",\n  "precision": "bfloat16",\n'
        '  "head": {\n    "features": 4,\n    "projection": 4\n  },\n  "learned": {\n    "rate": 0.5\n  }\n}\n'
    )
    assert made["checkpoint.json"].decode() == expected
    tensors = load(made["head.safetensors"])
    assert sorted(tensors) == ["first.bias", "first.weight", "last.bias", "last.weight"]
    assert all(torch.equal(value, tensors[name]) for name, value in head.state_dict().items())


def test_another_kind_of_head_is_format_4_and_comes_back(home):
    base = opened(json.loads((home / "models/run/checkpoint.json").read_text())["encoder"], home)
    head, random = PcaHead(base.dimension, 5), np.random.default_rng(1)
    head.mean.copy_(torch.from_numpy(random.normal(size=base.dimension)))
    head.components.copy_(torch.from_numpy(random.normal(size=(base.dimension, 5))))
    about = json.loads((keep(home / "models/pca", base.origin, head) / "checkpoint.json").read_text())
    assert about["format"] == 4
    assert about["head"] == {"kind": "pca", "features": base.dimension, "projection": 5}
    encoder, given = opened("checkpoint:pca", home), encode_photo(PHOTO, base).astype(np.float64)
    expected = (given - head.mean.double().numpy()) @ head.components.double().numpy()
    size = np.abs(given - head.mean.double().numpy()) @ np.abs(head.components.double().numpy())
    error = gamma(base.dimension + 3) * size.max()
    np.testing.assert_allclose(encode_photo(PHOTO, encoder), expected, rtol=0, atol=error)


def test_a_checkpoint_from_before_residual_heads_is_a_projection(tmp_path):
    """The files of format 2, written out: of equal dimensions too it has no way around its layers."""
    head = ProjectionHead.seeded(6, 6, seed=2)
    about = {
        "format": 2,
        "encoder": "descriptor:color",
        "weights": "",
        "preprocessing": "",
        "precision": "float32",
    }
    about |= {"head": {"features": 6, "projection": 6}, "learned": {}}
    (tmp_path / "checkpoint.json").write_text(json.dumps(about))
    save_file(head.state_dict(), tmp_path / "head.safetensors")
    vectors = np.random.default_rng(0).normal(size=(5, 6)).astype(np.float32)
    with torch.inference_mode():
        expected = head.last(torch.relu(head.first(scaled(torch.from_numpy(vectors))))).numpy()
    assert np.array_equal(apply_head(read_head(tmp_path).head, vectors), expected)


def test_a_hash_is_of_both(home):
    one = opened("checkpoint:run", home).origin
    base = read_head(home / "models/run").base
    keep(home / "models/other", base, ProjectionHead.seeded(opened(base.spec, home).dimension, 16, seed=3))
    assert one.weights != opened("checkpoint:other", home).origin.weights
    assert one.weights != base.weights
    assert len(one.weights) == 64


def test_a_head_on_a_head(home):
    run = opened("checkpoint:models/run", home)
    keep(home / "models/second", run.origin, ProjectionHead.seeded(16, 4, seed=5))
    second = opened("checkpoint:second", home)
    expected = apply_head(ProjectionHead.seeded(16, 4, seed=5), encode_photo(PHOTO, run)[None])[0]
    error = network_error(terms_of(second.head), expected)
    np.testing.assert_allclose(encode_photo(PHOTO, second), expected, rtol=0, atol=error)


def test_a_head_in_a_circle_is_refused(tmp_path):
    for name, other in (("a", "b"), ("b", "a")):
        keep(
            tmp_path / "models" / name,
            Origin(f"checkpoint:{other}", "any"),
            ProjectionHead.seeded(4, 4, seed=0),
        )
    with pytest.raises(EncoderError, match="circle"):
        opened("checkpoint:a", tmp_path)


def test_where_a_checkpoint_is_looked_for(tmp_path, monkeypatch):
    """In models/ of the workspace, then in the workspace, then here; a folder without one is passed over."""
    shop, here = tmp_path / "shop", tmp_path / "here"
    origin = opened("descriptor:color", tmp_path).origin
    features = opened("descriptor:color", tmp_path).dimension
    for side, folder in enumerate((shop / "models/run", shop / "run", here / "run"), start=1):
        keep(folder, origin, ProjectionHead.seeded(features, side, seed=0))
    monkeypatch.chdir(here)
    found = [opened("checkpoint:run", shop).dimension]
    (shop / "models/run/checkpoint.json").unlink()
    found.append(opened("checkpoint:run", shop).dimension)
    (shop / "run/checkpoint.json").unlink()
    found.append(opened("checkpoint:run", shop).dimension)
    assert found == [1, 2, 3]


def test_a_name_is_kept_relative_to_the_workspace(home, monkeypatch, tmp_path_factory):
    """So that the workspace can be moved, and two ways to say it are one encoder."""
    for text in ("checkpoint:run", "checkpoint:models/run"):
        assert str(located(parse(text), home)) == "checkpoint:models/run"
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    monkeypatch.chdir(home)
    assert str(located(parse("checkpoint:run"), home)) == "checkpoint:models/run"
    monkeypatch.chdir(home / "models")
    assert str(located(parse("checkpoint:run"), elsewhere)) == f"checkpoint:{home}/models/run"
    assert str(located(parse("checkpoint:none"), home)) == "checkpoint:none"


@pytest.mark.parametrize("home", [NETWORK], indirect=True)
def test_an_encoder_that_has_become_another_is_refused(home):
    weights(home / "w.safetensors", seed=9)
    with pytest.raises(EncoderError, match=r"timm.* weights are") as refused:
        opened("checkpoint:run", home)
    assert "timm:test_resnet" in refused.value.fix


@pytest.mark.parametrize(
    ("changed", "match"),
    [
        ({"preprocessing": "another"}, "preprocessing"),
        ({"weights": "ab" * 32}, "weights are none"),
    ],
)
def test_differences_are_named(tmp_path, changed, match):
    base = opened("descriptor:color", tmp_path)
    fields = {
        "spec": base.origin.spec,
        "preprocessing": base.origin.preprocessing,
        "weights": "",
        **changed,
    }
    keep(tmp_path / "models/run", Origin(**fields), ProjectionHead.seeded(base.dimension, 4, seed=0))
    with pytest.raises(EncoderError, match=match):
        opened("checkpoint:run", tmp_path)


def test_an_encoder_of_another_dimension_is_refused(tmp_path):
    keep(
        tmp_path / "models/run",
        opened("descriptor:color", tmp_path).origin,
        ProjectionHead.seeded(7, 4, seed=0),
    )
    with pytest.raises(EncoderError, match=r"486 numbers, .* 7"):
        opened("checkpoint:run", tmp_path)


def test_a_head_on_precomputed_vectors_encodes_no_photo(tmp_path):
    keep(
        tmp_path / "models/run", Origin("precomputed:v.npy", "not known"), ProjectionHead.seeded(7, 4, seed=0)
    )
    with pytest.raises(EncoderError, match="new photo"):
        opened("checkpoint:run", tmp_path)


def test_there_is_no_such_checkpoint(home):
    with pytest.raises(EncoderError, match="no folder 'runn'") as refused:
        opened("checkpoint:runn", home)
    assert "'run'" in refused.value.fix


def test_options_are_refused(home):
    with pytest.raises(EncoderError, match="option 'precision'"):
        opened("checkpoint:run?precision=float32", home)


def damage(folder, what):
    file, about = folder / "head.safetensors", json.loads((folder / "checkpoint.json").read_text())
    if what == "missing":
        file.unlink()
    elif what == "cut":
        file.write_bytes(file.read_bytes()[:-100])
    elif what == "nonsense":
        file.write_bytes(b"nonsense")
    elif what == "shapes":
        save_file(ProjectionHead.seeded(5, 5, seed=0).state_dict(), file)
    elif what == "names":
        save_file({"weight": torch.zeros(3)}, file)
    elif what == "nan":
        head = ProjectionHead.seeded(about["head"]["features"], 16, seed=0)
        torch.nn.init.constant_(head.last.bias, float("nan"))
        save_file(head.state_dict(), file)


@pytest.mark.parametrize(
    ("what", "match"),
    [
        ("missing", "no head.safetensors"),
        ("cut", "as weights"),
        ("nonsense", "as weights"),
        ("shapes", r"holds first.bias 5, .* says first.bias \d\d+"),
        ("names", "holds weight 3, where"),
        ("nan", "NaN or infinite"),
    ],
)
def test_damaged_parameters(home, what, match):
    damage(home / "models/run", what)
    with pytest.raises(EncoderError, match=match) as refused:
        opened("checkpoint:run", home)
    assert "checkpoint:run" in refused.value.problem or "head.safetensors" in refused.value.problem


def test_a_shape_larger_than_memory_is_refused_like_any_other(home):
    file = home / "models/run/checkpoint.json"
    record = json.loads(file.read_text())
    file.write_text(json.dumps(record | {"head": {"features": 1 << 20, "projection": 1 << 20}}))
    with pytest.raises(EncoderError, match=r"says first\.bias 1048576"):
        read_head(home / "models/run")


@pytest.mark.parametrize(
    "changed",
    [
        {"learned": []},
        {"learned": None},
        {"encoder": None},
        {"encoder": "nowhere"},
        {"weights": 7},
        {"preprocessing": {}},
        {"precision": None},
        {"head": None},
        {"head": {}},
        {"head": {"features": "many", "projection": 4}},
        {"head": {"features": 4, "projection": 0}},
        {"head": {"features": True, "projection": 4}},
        {"head": {"features": 1 << 40, "projection": 4}},
        {"format": "2"},
        {"format": None},
        {"format": 3, "head": {"features": 4, "projection": 8}},
        {"format": 4},
        {"format": 4, "head": {"kind": 7, "features": 4, "projection": 4}},
        {"format": 4, "head": {"kind": "pca", "features": 4, "projection": 4, "inner": 4}},
    ],
)
def test_an_edited_description_is_refused_in_words(tmp_path, changed):
    folder = keep(
        tmp_path / "models/run", Origin("descriptor:color", ""), ProjectionHead.seeded(4, 4, seed=0)
    )
    record = json.loads((folder / "checkpoint.json").read_text())
    (folder / "checkpoint.json").write_text(json.dumps(record | changed))
    with pytest.raises(EncoderError, match=r"checkpoint\.json is not what"):
        opened("checkpoint:run", tmp_path)


@pytest.mark.parametrize("content", ["", "[]", "7", '{"format": 2}', "\x00", "{"])
def test_a_folder_that_is_no_checkpoint(tmp_path, content):
    (tmp_path / "models/run").mkdir(parents=True)
    with pytest.raises(EncoderError, match=r"checkpoint\.json is not what"):
        opened("checkpoint:run", tmp_path)
    (tmp_path / "models/run/checkpoint.json").write_text(content)
    with pytest.raises(EncoderError, match=r"checkpoint\.json is not what"):
        opened("checkpoint:run", tmp_path)


def test_a_newer_format_is_refused(home):
    (home / "models/run/checkpoint.json").write_text('{"format": 7}')
    with pytest.raises(EncoderError, match=r"newer Lookalike .*format 7"):
        opened("checkpoint:run", home)


def test_a_kind_of_a_newer_version_is_refused(tmp_path):
    folder = keep(tmp_path / "run", Origin("descriptor:color", ""), PcaHead(4, 4))
    record = json.loads((folder / "checkpoint.json").read_text())
    (folder / "checkpoint.json").write_text(
        json.dumps(record | {"head": record["head"] | {"kind": "spline"}})
    )
    with pytest.raises(EncoderError, match="kind 'spline'") as refused:
        read_head(folder)
    assert "pca" in refused.value.fix


def test_a_whole_network_is_no_head(tmp_path):
    (tmp_path / "checkpoint.json").write_text('{"format": 1}')
    with pytest.raises(EncoderError, match="whole network"):
        read_head(tmp_path)


def test_files_are_the_same_bytes_each_time():
    head, origin = ProjectionHead.seeded(4, 4, seed=0), Origin("descriptor:color", "")
    assert head_files(origin, head, {"a": 1}) == head_files(origin, head, {"a": 1})
    assert list(head_files(origin, head, {})) == ["head.safetensors", "checkpoint.json"]
