"""Vectors of augmented views are made once, kept, gone on with, and gone with their encoder."""

import shutil

import numpy as np
import pytest
import timm
import torch
from safetensors.torch import save_file

from lookalike.catalog.photos.decode import load_rgb
from lookalike.core.errors import ArgumentError, EmbeddingsError
from lookalike.encode import run
from lookalike.encode.encoder import encode_photo
from lookalike.encode.heads.head import apply_head
from lookalike.encode.heads.two_layers import ProjectionHead
from lookalike.encode.inputs import workers
from lookalike.encode.inputs.augment import Augmented
from lookalike.encode.open import open_encoder
from lookalike.encode.sources.checkpoint import head_files
from lookalike.encode.spec import parse
from lookalike.store.workspace import Workspace
from lookalike.workflows.learn.views import augmented_views


@pytest.fixture
def shop(lookalike, photos, tmp_path):
    assert lookalike("init", photos).status == 0
    assert lookalike("embed", "descriptor:color").status == 0
    return tmp_path


@pytest.fixture
def computed(monkeypatch) -> list[int]:
    """How many photos each batch had that was encoded."""
    batches, vectors = [], Augmented.vectors
    monkeypatch.setattr(Augmented, "vectors", lambda self, x: batches.append(len(x)) or vectors(self, x))
    return batches


def test_every_view_of_every_image(shop, photos):
    workspace = Workspace(shop)
    steps = []
    found = augmented_views(
        workspace,
        "color",
        2,
        5,
        progress=lambda done, total: steps.append((done, total)),
    )
    assert [type(one) for one in found] == [np.memmap, np.memmap]
    encoder = open_encoder(parse("descriptor:color"))
    for number, vectors in enumerate(found, start=1):
        seen = Augmented(encoder, number, 5)
        for row in (0, 17, 35):
            photo = load_rgb(photos / workspace.catalog.path[row], size_hint=seen.size_hint)
            np.testing.assert_allclose(vectors[row], encode_photo(photo, seen), atol=1e-6)
    assert not np.allclose(found[0], found[1])
    assert steps[-1] == (72, 72)
    assert steps == sorted(steps)


def test_they_are_made_once(shop, computed):
    first = augmented_views(Workspace(shop), "color", 2, 5)
    assert sum(computed) == 72
    again = augmented_views(Workspace(shop), "color", 2, 5)
    assert sum(computed) == 72
    assert all((one == other).all() for one, other in zip(first, again, strict=True))
    augmented_views(Workspace(shop), "color", 3, 5)
    assert sum(computed) == 108
    other = augmented_views(Workspace(shop), "color", 1, 6)
    assert sum(computed) == 144
    assert not np.allclose(other[0], again[0])


def test_only_what_changed_is_made_again(lookalike, shop, computed):
    augmented_views(Workspace(shop), "color", 1, 5)
    assert lookalike("catalog", "remove", "rod/000/1.png").status == 0
    computed.clear()
    assert len(augmented_views(Workspace(shop), "color", 1, 5)[0]) == 35
    assert sum(computed) == 0


def test_a_stopped_run_resumes(shop, computed, monkeypatch):
    """A view that was finished stays, and so do the finished shards of the next one."""
    monkeypatch.setattr(run, "SHARD", 8)
    monkeypatch.setattr(run, "CHUNK", 8)
    counted = Augmented.vectors

    def stop(self, ready):
        if sum(computed) >= 36 + 16:
            raise KeyboardInterrupt
        return counted(self, ready)

    with monkeypatch.context() as patch:
        patch.setattr(Augmented, "vectors", stop)
        with pytest.raises(KeyboardInterrupt):
            augmented_views(Workspace(shop), "color", 2, 6)
    computed.clear()
    found = [np.array(one) for one in augmented_views(Workspace(shop), "color", 2, 6)]
    assert 0 < sum(computed) < 36
    shutil.rmtree(shop / "views/color")
    whole = augmented_views(Workspace(shop), "color", 2, 6)
    assert all((one == other).all() for one, other in zip(found, whole, strict=True))


def test_worker_processes_make_the_same_views(shop, monkeypatch):
    here = np.array(augmented_views(Workspace(shop), "color", 1, 5)[0])
    shutil.rmtree(shop / "views/color")
    monkeypatch.setattr(workers, "FEW", 0)
    assert (augmented_views(Workspace(shop), "color", 1, 5, workers=2)[0] == here).all()


def test_views_of_a_head_are_the_head_of_the_views(lookalike, shop):
    origin, features = Workspace(shop).manifest("color").origin, Workspace(shop).manifest("color").dimension
    head = ProjectionHead.seeded(features, 8, seed=0)
    (shop / "models/run").mkdir(parents=True)
    for name, content in head_files(origin, head, {}).items():
        (shop / "models/run" / name).write_bytes(content)
    assert lookalike("embed", "checkpoint:run").status == 0
    found = augmented_views(Workspace(shop), "run", 1, 5)[0]
    beneath = augmented_views(Workspace(shop), "color", 1, 5)[0]
    np.testing.assert_allclose(found, apply_head(head, beneath), atol=1e-5)


def test_an_encoder_that_has_become_another_makes_no_views(lookalike, shop):
    file = shop / "w.safetensors"
    for seed in (1, 2):
        torch.manual_seed(seed)
        save_file(timm.create_model("test_resnet", num_classes=0).state_dict(), file)
        if seed == 1:
            text = "timm:test_resnet?weights=w.safetensors&size=64"
            assert lookalike("embed", text, "--name", "net").status == 0
    with pytest.raises(EmbeddingsError, match="net has changed") as refused:
        augmented_views(Workspace(shop), "net", 1, 5)
    assert "--name net" in refused.value.fix


def test_they_are_no_encoder_and_go_with_theirs(lookalike, shop):
    augmented_views(Workspace(shop), "color", 2, 5)
    assert Workspace(shop).encoders == ["color"]
    assert lookalike("doctor", "--deep").status == 0
    assert lookalike("status").status == 0
    size = sum(path.stat().st_size for path in (shop / "views").rglob("*") if path.is_file())
    removed = lookalike("embed", "--remove", "color", "--json").json
    assert removed["bytes"] > size
    assert not list((shop / "views").rglob("*.npy"))
    assert not Workspace(shop).encoders


def test_damaged_views_are_made_again(shop, computed):
    first = np.array(augmented_views(Workspace(shop), "color", 1, 5)[0])
    file = shop / "views/color/1/vectors.npy"
    content = bytearray(file.read_bytes())
    content[-1] ^= 1
    file.write_bytes(content)
    assert (augmented_views(Workspace(shop), "color", 1, 5)[0] == first).all()
    assert sum(computed) == 72


def test_what_has_no_photos_has_no_views(lookalike, shop):
    np.save(shop / "v.npy", np.random.default_rng(0).normal(size=(36, 4)))
    assert lookalike("embed", "precomputed:v.npy", "--name", "mine").status == 0
    with pytest.raises(EmbeddingsError, match="mine need photos") as refused:
        augmented_views(Workspace(shop), "mine", 1, 0)
    assert "one view" in refused.value.fix
    (shop / "lookalike.toml").write_text(
        "\n".join(
            'photos = ""' if line.startswith("photos") else line
            for line in (shop / "lookalike.toml").read_text().splitlines()
        )
    )
    with pytest.raises(EmbeddingsError, match="has no photos"):
        augmented_views(Workspace(shop), "color", 1, 0)


def test_arguments(shop):
    for count, seed in ((0, 0), (1, -1)):
        with pytest.raises(ArgumentError):
            augmented_views(Workspace(shop), "color", count, seed)
    with pytest.raises(EmbeddingsError, match="Unknown encoder 'hog'"):
        augmented_views(Workspace(shop), "hog", 1, 0)
