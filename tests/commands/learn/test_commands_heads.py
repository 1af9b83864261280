"""A trained head through the commands: from its encoder's vectors or from photos, the same vectors."""

import shutil
from pathlib import Path

import numpy as np
import pytest
import timm
import torch
from PIL import Image
from safetensors.torch import save_file

from lookalike.catalog.read import catalog_from
from lookalike.core.errors import EmbeddingsError
from lookalike.core.types import Origin
from lookalike.encode.heads.head import Head, apply_head
from lookalike.encode.heads.two_layers import ProjectionHead
from lookalike.encode.sources.checkpoint import head_files
from lookalike.store.settings import WorkspaceSettings
from lookalike.store.workspace import Workspace
from lookalike.workflows.start import embed as recipe
from lookalike.workflows.start import heads

NETWORK = "timm:test_resnet?weights=models/mine.safetensors&size=64"


def keep(folder: Path, base: Origin, head: Head) -> None:
    folder.mkdir(parents=True)
    for name, content in head_files(base, head, {}).items():
        (folder / name).write_bytes(content)


@pytest.fixture
def shop(lookalike, photos, tmp_path) -> Path:
    """A workspace with the vectors of a network, and a head on them."""
    (tmp_path / "models").mkdir()
    torch.manual_seed(1)
    save_file(
        timm.create_model("test_resnet", num_classes=0).state_dict(), tmp_path / "models/mine.safetensors"
    )
    assert lookalike("init", photos).status == 0
    assert lookalike("embed", NETWORK, "--name", "base").status == 0
    workspace = Workspace(tmp_path)
    features = workspace.manifest("base").dimension
    keep(
        tmp_path / "models/run-7",
        workspace.manifest("base").origin,
        ProjectionHead.seeded(features, 24, seed=3),
    )
    return tmp_path


@pytest.fixture
def blind(lookalike, tmp_path) -> Path:
    """A workspace without photos, and a head on vectors from a file."""
    catalog = catalog_from({"image": [f"a{i}" for i in range(40)]}).catalog
    Workspace.create(tmp_path, catalog, WorkspaceSettings("memory", ""))
    np.save(tmp_path / "v.npy", np.random.default_rng(0).normal(size=(40, 6)).astype(np.float32))
    keep(
        tmp_path / "models/run-7",
        Origin("precomputed:v.npy", recipe.NOT_KNOWN),
        ProjectionHead.seeded(6, 9, seed=3),
    )
    return tmp_path


def test_vectors_come_from_those_of_the_encoder_and_no_photo_is_read(lookalike, shop, monkeypatch):
    monkeypatch.setattr(recipe, "encode_catalog", lambda *_, **__: pytest.fail("photos were read"))
    result = lookalike("embed", "checkpoint:run-7")
    assert result.status == 0, result.err
    assert "vectors of base" in " ".join(result.out.split())
    workspace = Workspace(shop)
    assert workspace.manifest("run-7").spec == "checkpoint:models/run-7"
    features = workspace.manifest("base").dimension
    expected = apply_head(ProjectionHead.seeded(features, 24, seed=3), workspace.embeddings("base").vectors)
    np.testing.assert_allclose(workspace.embeddings("run-7").vectors, expected, atol=1e-6)


def test_through_photos_they_are_the_same(lookalike, shop):
    assert lookalike("embed", "checkpoint:run-7").status == 0
    applied = np.array(Workspace(shop).embeddings("run-7").vectors)
    origin = Workspace(shop).manifest("run-7").origin
    assert lookalike("embed", "--remove", "run-7").status == 0
    assert lookalike("embed", "--remove", "base").status == 0
    assert lookalike("embed", "checkpoint:models/run-7").status == 0
    np.testing.assert_allclose(Workspace(shop).embeddings("run-7").vectors, applied, atol=1e-5)
    assert Workspace(shop).manifest("run-7").origin == origin


def test_search_by_a_new_photo_and_everything_that_lists_encoders(lookalike, shop, photos):
    assert lookalike("embed", "checkpoint:run-7").status == 0
    Image.open(photos / "rod/003/1.png").save("new.jpg")
    found = lookalike("search", "new.jpg", "--encoder", "run-7", "-k", 4, "--json")
    assert found.status == 0, found.err
    assert len(found.json["results"]) == 4
    for command in (["status"], ["doctor", "--deep"], ["discover", "--top", 3], ["report"]):
        result = lookalike(*command)
        assert result.status == 0, result.err
    assert "checkpoint:run-7" in (shop / "reports/report.html").read_text()


def test_the_workspace_can_be_moved(lookalike, shop, photos, tmp_path_factory, monkeypatch):
    assert lookalike("embed", "checkpoint:run-7").status == 0
    moved = tmp_path_factory.mktemp("moved") / "shop"
    shutil.copytree(shop, moved)
    shutil.rmtree(shop / "models")
    monkeypatch.chdir(moved.parent)
    Image.open(photos / "rod/003/1.png").save("new.jpg")
    result = lookalike("search", "new.jpg", "--encoder", "run-7", "-w", moved)
    assert result.status == 0, result.err


def test_a_stale_head_follows_its_encoder(lookalike, shop, monkeypatch):
    """Though it comes before it in the alphabet."""
    assert lookalike("embed", "checkpoint:run-7", "--name", "a-head").status == 0
    assert lookalike("catalog", "remove", "rod/000/1.png").status == 0
    result = lookalike("embed", "--stale")
    assert result.status == 0, result.err
    assert "vectors of base" in " ".join(result.out.split())
    workspace = Workspace(shop)
    assert len(workspace.embeddings("a-head").vectors) == len(workspace.catalog) == 35


def test_stale_vectors_of_the_encoder_are_not_used(lookalike, shop):
    assert lookalike("catalog", "remove", "rod/000/1.png").status == 0
    result = lookalike("embed", "checkpoint:run-7")
    assert result.status == 0, result.err
    assert "vectors of base" not in " ".join(result.out.split())
    assert len(Workspace(shop).embeddings("run-7").vectors) == 35


def test_without_photos_the_vectors_of_a_file_do(lookalike, blind):
    refused = lookalike("embed", "checkpoint:run-7")
    assert refused.status == 1
    assert "made of precomputed:v.npy" in " ".join(refused.err.split())
    assert "lookalike embed precomputed:v.npy" in refused.err
    assert not Workspace(blind).encoders
    assert lookalike("embed", "precomputed:v.npy").status == 0
    result = lookalike("embed", "checkpoint:run-7")
    assert result.status == 0, result.err
    expected = apply_head(ProjectionHead.seeded(6, 9, seed=3), np.load(blind / "v.npy"))
    np.testing.assert_allclose(Workspace(blind).embeddings("run-7").vectors, expected, atol=1e-6)
    Image.new("RGB", (40, 40)).save("new.png")
    refused = lookalike("search", "new.png", "--encoder", "run-7", "--json")
    assert refused.status == 1
    assert refused.json["error"]["kind"] == "EncoderError"
    assert "new photo" in refused.err
    assert lookalike("search", "a3", "--encoder", "run-7").status == 0


def test_a_head_on_a_head_without_photos(lookalike, blind):
    assert lookalike("embed", "precomputed:v.npy", "checkpoint:run-7").status == 0
    run = Workspace(blind).manifest("run-7").origin
    keep(blind / "models/a-second", run, ProjectionHead.seeded(9, 4, seed=5))
    assert lookalike("embed", "checkpoint:a-second").status == 0
    expected = apply_head(ProjectionHead.seeded(9, 4, seed=5), Workspace(blind).embeddings("run-7").vectors)
    np.testing.assert_allclose(Workspace(blind).embeddings("a-second").vectors, expected, atol=1e-6)
    assert lookalike("catalog", "remove", "a3").status == 0
    result = lookalike("embed", "--stale")
    assert result.status == 0, result.err
    assert len(Workspace(blind).embeddings("a-second").vectors) == 39


def test_vectors_of_another_length_are_refused(lookalike, blind):
    np.save(blind / "v.npy", np.ones((40, 5), np.float32))
    assert lookalike("embed", "precomputed:v.npy").status == 0
    refused = lookalike("embed", "checkpoint:run-7")
    assert refused.status == 1
    assert "takes 6 numbers" in " ".join(refused.err.split())


def test_a_stopped_run_resumes(blind, lookalike, monkeypatch):
    """Slices that were finished are not computed again, unless the vectors beneath have become others."""
    assert lookalike("embed", "precomputed:v.npy").status == 0
    monkeypatch.setattr(heads, "STEP", 8)
    computed, applied = [], apply_head

    def counted(head, vectors):
        computed.append(len(vectors))
        if len(computed) == 3:
            raise KeyboardInterrupt
        return applied(head, vectors)

    monkeypatch.setattr("lookalike.encode.heads.head.apply_head", counted)
    with pytest.raises(KeyboardInterrupt):
        recipe.embed(Workspace(blind), "checkpoint:run-7")
    made = recipe.embed(Workspace(blind), "checkpoint:run-7")
    assert computed == [8, 8, 8, 8, 8, 8]
    vectors = np.load(blind / "v.npy")
    np.testing.assert_allclose(made.vectors, applied(ProjectionHead.seeded(6, 9, seed=3), vectors), atol=1e-6)
    computed.clear()
    with pytest.raises(KeyboardInterrupt):
        recipe.embed(Workspace(blind), "checkpoint:run-7")
    np.save(blind / "v.npy", vectors[::-1])
    recipe.embed(Workspace(blind), "precomputed:v.npy")
    made = recipe.embed(Workspace(blind), "checkpoint:run-7")
    assert computed == [8, 8, 8, 8, 8, 8, 8, 8]
    np.testing.assert_allclose(
        made.vectors, applied(ProjectionHead.seeded(6, 9, seed=3), vectors[::-1]), atol=1e-6
    )


def test_a_head_that_gives_no_numbers_is_refused(blind, lookalike):
    assert lookalike("embed", "precomputed:v.npy").status == 0
    head = ProjectionHead.seeded(6, 9, seed=3)
    torch.nn.init.constant_(head.last.weight, 0)
    torch.nn.init.constant_(head.last.bias, 0)
    keep(blind / "models/dead", Origin("precomputed:v.npy", recipe.NOT_KNOWN), head)
    with pytest.raises(EmbeddingsError, match="only zeros") as refused:
        recipe.embed(Workspace(blind), "checkpoint:dead")
    assert "learning rate" in refused.value.fix
