"""A network with weights of one's own, through the commands: its vectors are never those of other weights."""

from pathlib import Path

import numpy as np
import pytest
import timm
import torch
from PIL import Image
from safetensors.torch import save_file

from lookalike.encode.open import open_encoder
from lookalike.encode.sources.checkpoint import checkpoint_files
from lookalike.encode.spec import parse
from lookalike.store.workspace import Workspace

NETWORK = "timm:test_resnet?weights=models/mine.safetensors&size=64"


def weights(seed: int, path: Path) -> None:
    torch.manual_seed(seed)
    path.parent.mkdir(exist_ok=True)
    save_file(timm.create_model("test_resnet", num_classes=3).state_dict(), path)


@pytest.fixture
def shop(lookalike, photos, tmp_path) -> Path:
    weights(1, tmp_path / "models/mine.safetensors")
    assert lookalike("init", photos).status == 0
    result = lookalike("embed", NETWORK)
    assert result.status == 0, result.err
    assert "weights of timm:test_resnet?size=64&weights=mine.safetensors is not known" in result.out
    return tmp_path


def test_from_photos_to_search_and_report(lookalike, shop, photos):
    manifest = Workspace(shop).manifest("test_resnet")
    assert len(manifest.weights) == 64
    assert "64 x 64" in manifest.preprocessing
    assert "licence" not in lookalike("embed", "descriptor:color").out
    assert lookalike("discover", "--top", 3).status == 0
    Image.open(photos / "rod/003/1.png").save("new.jpg")
    found = lookalike("search", "new.jpg", "--encoder", "test_resnet", "-k", 4, "--json").json
    assert len(found["results"]) == 4
    assert lookalike("report").status == 0
    assert manifest.weights[:12] in Path("reports/report.html").read_text()


def test_other_weights_in_the_same_file_are_seen(lookalike, shop, photos):
    before = np.array(Workspace(shop).embeddings("test_resnet").vectors)
    weights(2, shop / "models/mine.safetensors")
    Image.open(photos / "rod/003/1.png").save("new.jpg")
    refused = lookalike("search", "new.jpg", "--encoder", "test_resnet")
    assert refused.status == 1
    assert "its weights changed" in refused.err
    assert "lookalike embed" in refused.err
    assert lookalike("embed", NETWORK).status == 0
    after = Workspace(shop).embeddings("test_resnet").vectors
    assert not np.allclose(before, after, atol=1e-3)
    assert lookalike("search", "new.jpg", "--encoder", "test_resnet").status == 0


def test_other_preprocessing_is_another_encoder(lookalike, shop):
    refused = lookalike("embed", NETWORK + "&mean=0.3")
    assert refused.status == 1
    assert "--replace" in refused.err
    assert lookalike("embed", NETWORK + "&mean=0.3", "--name", "half").status == 0
    mine, half = (Workspace(shop).embeddings(name).vectors for name in ("test_resnet", "half"))
    assert not np.allclose(mine, half, atol=1e-3)


def test_the_weights_file_is_found_from_any_folder(lookalike, shop, tmp_path_factory, monkeypatch):
    assert "weights=models/mine.safetensors" in Workspace(shop).manifest("test_resnet").spec
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    weights(5, elsewhere / "models/theirs.safetensors")
    monkeypatch.chdir(elsewhere)
    assert (
        lookalike(
            "embed", "timm:test_resnet?weights=models/theirs.safetensors", "--name", "theirs", "-w", shop
        ).status
        == 0
    )
    assert str(elsewhere) in Workspace(shop).manifest("theirs").spec
    Image.new("RGB", (40, 40)).save("new.png")
    assert lookalike("search", "new.png", "--encoder", "test_resnet", "-w", shop).status == 0


def test_a_checkpoint_in_the_workspace_is_an_encoder(lookalike, shop):
    trained = open_encoder(parse(NETWORK), shop)
    folder = shop / "models/run-7"
    folder.mkdir()
    for name, content in checkpoint_files("timm:test_resnet", trained.module, trained.preprocessing).items():
        (folder / name).write_bytes(content)
    assert lookalike("embed", "checkpoint:models/run-7").status == 0
    workspace = Workspace(shop)
    assert workspace.encoders == ["run-7", "test_resnet"]
    assert (workspace.embeddings("run-7").vectors == workspace.embeddings("test_resnet").vectors).all()
    assert lookalike("embed", "checkpoint:models/run-7?layers=layer2", "--name", "second").status == 0
    assert workspace.embeddings("second").vectors.shape[1] == 48


def test_several_layers_are_one_encoder(lookalike, shop, photos):
    text = f"{NETWORK}&layers=layer1,layer2,layer4"
    result = lookalike("embed", text, "--name", "layers")
    assert result.status == 0, result.err
    vectors = Workspace(shop).embeddings("layers").vectors
    assert vectors.shape[1] == 32 + 48 + 96
    ends = [(0, 32), (32, 80), (80, 176)]
    lengths = [np.linalg.norm(vectors[:, first:last], axis=1) for first, last in ends]
    np.testing.assert_allclose(lengths, 1, atol=1e-5)
    Image.open(photos / "rod/003/1.png").save("new.jpg")
    assert lookalike("search", "new.jpg", "--encoder", "layers", "-k", 2).status == 0
    refused = lookalike("embed", f"{NETWORK}&layers=layer9", "--name", "nine")
    assert refused.status == 1
    assert "layer4" in refused.err


def test_what_cannot_be_had_leaves_no_half_encoder(lookalike, shop):
    for text in ("timm:resnet50x", "timm:test_resnet?weights=nowhere.pth", "checkpoint:models/none"):
        refused = lookalike("embed", text)
        assert refused.status == 1
        assert "Traceback" not in refused.err
    assert Workspace(shop).encoders == ["test_resnet"]
    assert not Workspace(shop).unfinished


def test_vectors_that_are_not_numbers_are_refused(lookalike, shop):
    refused = lookalike("embed", NETWORK + "&std=1e-320", "--name", "broken")
    assert refused.status == 1
    assert "NaN" in refused.err
    assert "std" in refused.err
    assert Workspace(shop).encoders == ["test_resnet"]


def test_stale_vectors_are_made_by_the_workspace_s_own_weights(
    lookalike, shop, tmp_path_factory, monkeypatch
):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    weights(9, elsewhere / "models/mine.safetensors")  # the same name, and not the ones
    before = Workspace(shop).manifest("test_resnet")
    assert lookalike("catalog", "remove", "rod/000/1.png").status == 0
    monkeypatch.chdir(elsewhere)
    result = lookalike("embed", "--stale", "-w", shop)
    assert result.status == 0, result.err
    assert Workspace(shop).manifest("test_resnet").origin == before.origin
