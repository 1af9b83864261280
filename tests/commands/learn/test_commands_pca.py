"""`lookalike pca` from the stored vectors to a search by photo."""

import json
from pathlib import Path

import numpy as np
import pytest
import timm
import torch
from PIL import Image
from safetensors.torch import save_file
from trained_shop import WIDE, keep_head, make_shop

from lookalike.store.workspace import Workspace
from lookalike.workflows.decide.trained import trained

NETWORK = "timm:test_resnet?weights=models/mine.safetensors&size=64&layers=layer1,layer4"


@pytest.fixture
def shop(tmp_path) -> Workspace:
    return make_shop(tmp_path)


def reduced_by_hand(workspace: Workspace, encoder: str, count: int) -> tuple[np.ndarray, float]:
    """The projection and the share of variance, from all vectors of the training split at once."""
    vectors = workspace.embeddings(encoder).vectors.astype(np.float64)
    chosen = vectors[workspace.catalog.split == "train"]
    mean = chosen.mean(axis=0)
    _, size, directions = np.linalg.svd(chosen - mean, full_matrices=False)
    signs = np.sign(directions[np.arange(len(directions)), np.abs(directions).argmax(axis=1)])
    return (vectors - mean) @ (directions * signs[:, None])[:count].T, (size**2)[:count].sum() / (
        size**2
    ).sum()


def test_the_vectors_are_the_projection_of_the_stored_ones(lookalike, shop):
    found = lookalike("pca", "plain", "--name", "small", "--dimensions", 3, "--json").json
    expected, share = reduced_by_hand(shop, "plain", 3)
    np.testing.assert_allclose(shop.embeddings("small").vectors, expected, rtol=0, atol=1e-4)
    assert found["variance"] == pytest.approx(share, abs=1e-5)
    assert (found["base"], found["base_dimension"], found["dimension"], found["images"]) == (
        "plain",
        WIDE,
        3,
        16,
    )
    assert shop.manifest("small").spec == "checkpoint:models/small"


def test_it_learned_from_no_label_and_is_measured_on_all_of_them(lookalike, shop):
    assert lookalike("pca", "plain", "--name", "small", "--dimensions", 3).status == 0
    assert trained(shop) == ()
    assert json.loads((shop.folder / "models/small/checkpoint.json").read_text())["learned"] == {}
    on_all, of_test = (
        lookalike("evaluate", "plain", "small", *words, "--json").json["labels"]
        for words in ((), ("--split", "test"))
    )
    assert on_all > of_test


def test_on_a_trained_encoder_it_is_trained(lookalike, shop):
    keep_head(shop.folder / "models/better", shop.manifest("plain").origin)
    assert lookalike("embed", "checkpoint:better").status == 0
    assert lookalike("pca", "better", "--name", "small", "--dimensions", 3).status == 0
    assert trained(shop) == ("better", "small")


def test_more_dimensions_than_there_are_are_refused_softly(lookalike, shop):
    result = lookalike("pca", "plain", "--name", "small")
    assert result.status == 0
    assert "small: 8 dimensions of 8" in result.out
    assert "Share of their variance: 100" in result.out
    assert "256 were requested" in result.out


def test_the_same_command_again_computes_nothing(lookalike, shop, monkeypatch):
    first = lookalike("pca", "plain", "--name", "small", "--dimensions", 3, "--json").json
    made = Path(first["folder"], "checkpoint.json").stat().st_mtime_ns
    created = shop.manifest("small").created
    monkeypatch.setattr("lookalike.learn.components.fit_components", None)
    assert lookalike("pca", "plain", "--name", "small", "--dimensions", 3, "--json").json == first
    assert Path(first["folder"], "checkpoint.json").stat().st_mtime_ns == made
    assert shop.manifest("small").created == created


def test_vectors_that_were_removed_are_made_again_from_the_checkpoint(lookalike, shop):
    assert lookalike("pca", "plain", "--name", "small", "--dimensions", 3).status == 0
    before = np.array(shop.embeddings("small").vectors)
    assert lookalike("embed", "--remove", "small").status == 0
    assert lookalike("pca", "plain", "--name", "small", "--dimensions", 3).status == 0
    assert np.array_equal(shop.embeddings("small").vectors, before)


def test_other_settings_need_replace(lookalike, shop):
    assert lookalike("pca", "plain", "--name", "small", "--dimensions", 3).status == 0
    refused = lookalike("pca", "plain", "--name", "small", "--dimensions", 4)
    assert refused.status == 1
    assert "dimensions was 3 and is now 4" in refused.err
    assert lookalike("pca", "plain", "--name", "small", "--dimensions", 4, "--replace").status == 0
    assert shop.embeddings("small").vectors.shape[1] == 4


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("nothing", "--name", "small"), "Unknown encoder 'nothing'"),
        (("plain", "--name", "plain"), "taken"),
        (("plain", "--name", "a b"), "not a valid name"),
        (("plain", "--name", "small", "--dimensions", 0), "dimensions"),
    ],
)
def test_what_cannot_be_reduced_is_refused(lookalike, shop, words, problem):
    refused = lookalike("pca", *words)
    assert refused.status != 0
    assert problem in refused.err
    assert not (shop.folder / "models/small").exists()


def test_a_catalog_without_a_training_split_is_refused(lookalike, tmp_path, shop):
    from lookalike.catalog.read import catalog_from
    from lookalike.store.settings import WorkspaceSettings

    folder = tmp_path / "test-only"
    catalog = catalog_from({"image": ["a", "b"], "split": ["test", "test"]}).catalog
    Workspace.create(folder, catalog, WorkspaceSettings("memory", ""))
    np.save(folder / "v.npy", np.eye(2, dtype=np.float32))
    assert lookalike("embed", f"precomputed:{folder}/v.npy", "--name", "v", "-w", folder).status == 0
    refused = lookalike("pca", "v", "--name", "small", "-w", folder)
    assert refused.status == 1
    assert "training split" in refused.err


def test_a_new_photo_is_reduced_as_the_catalog_s(lookalike, photos, tmp_path):
    (tmp_path / "models").mkdir()
    torch.manual_seed(1)
    save_file(
        timm.create_model("test_resnet", num_classes=0).state_dict(), tmp_path / "models/mine.safetensors"
    )
    assert lookalike("init", photos).status == 0
    assert lookalike("embed", NETWORK, "--name", "layers").status == 0
    result = lookalike("pca", "layers", "--name", "small", "--dimensions", 4)
    assert result.status == 0, result.err
    workspace = Workspace(tmp_path)
    known = workspace.catalog.path[0]
    Image.open(Path(photos, known)).save("new.png")
    found = lookalike("search", "new.png", "--encoder", "small", "-k", 3, "--json").json
    assert found["results"][0]["image"] == workspace.catalog.image[0]
