"""Weights and vectors by the address of an object store, in `embed`, `plan embed`, `work` and `join`."""

from pathlib import Path

import numpy as np
import pytest
import timm
import torch
from object_store import object_store, upload
from safetensors.torch import save_file

from lookalike.store.workspace import Workspace


@pytest.fixture
def shop(lookalike, photos, tmp_path, monkeypatch) -> Path:
    """A workspace without vectors."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert lookalike("init", photos, "--workspace", ".").status == 0
    return tmp_path


@pytest.fixture
def bucket(monkeypatch):
    with object_store(monkeypatch) as address:
        yield address


def save_weights(folder: Path, seed: int) -> None:
    torch.manual_seed(seed)
    folder.mkdir(exist_ok=True)
    save_file(timm.create_model("test_resnet", num_classes=3).state_dict(), folder / "mine.safetensors")


def flat(text: str) -> str:
    return " ".join(text.split())


def test_all_machines_open_the_weights_of_one_address(lookalike, shop, bucket, monkeypatch):
    save_weights(shop / "models", 1)
    upload(shop / "models", f"{bucket}/models")
    assert lookalike("embed", "timm:test_resnet?weights=models/mine.safetensors&size=64").status == 0
    (shop / "models").rename(shop / "gone")
    spec = f"timm:test_resnet?size=64&weights={bucket}/models/mine.safetensors"
    planned = lookalike("plan", "embed", spec, "--to", f"{bucket}/plan", "--name", "two")
    assert planned.status == 0, planned.err
    monkeypatch.setenv("XDG_CACHE_HOME", str(shop / "another machine"))
    worked = lookalike("work", f"{bucket}/plan", "--shard", "1/1")
    assert worked.status == 0, worked.err
    assert len(list((shop / "another machine").rglob("mine.safetensors"))) == 1
    assert lookalike("join", f"{bucket}/plan").status == 0
    workspace = Workspace(shop)
    assert workspace.manifest("two").spec == spec
    assert workspace.manifest("two").weights == workspace.manifest("test_resnet").weights
    np.testing.assert_array_equal(
        workspace.embeddings("two").vectors, workspace.embeddings("test_resnet").vectors
    )


def test_weights_that_change_at_their_address_are_other_weights(lookalike, shop, bucket):
    save_weights(shop / "new", 1)
    upload(shop / "new", f"{bucket}/models")
    spec = f"timm:test_resnet?size=64&weights={bucket}/models/mine.safetensors"
    assert lookalike("embed", spec).status == 0
    assert lookalike("plan", "embed", spec, "--to", "plan", "--name", "two").status == 0
    before = Workspace(shop).manifest("test_resnet")
    save_weights(shop / "new", 2)
    upload(shop / "new", f"{bucket}/models")
    refused = lookalike("work", "plan", "--shard", "1/1")
    assert refused.status == 1
    assert "is not the encoder of the plan: its weights here" in flat(refused.err)
    assert lookalike("embed", spec).status == 0
    after = Workspace(shop).manifest("test_resnet")
    assert after.weights != before.weights
    assert after.sum != before.sum


def test_an_encoder_is_not_embedded_without_its_file(lookalike, shop, bucket):
    refused = lookalike("embed", f"timm:test_resnet?weights={bucket}/models/mine.safetensors")
    assert refused.status == 1
    assert f"There is no file at {bucket}/models/mine.safetensors." in flat(refused.err)
    assert not Workspace(shop).encoders


@pytest.mark.parametrize("command", [["embed"], ["plan", "embed", "--to", "plan"]])
def test_credentials_in_an_address_are_nowhere(lookalike, shop, command):
    refused = lookalike(*command, "timm:test_resnet?weights=s3://key:unseen4711@bucket/mine.safetensors")
    assert refused.status == 1
    assert "contains credentials" in refused.err
    assert "unseen4711" not in refused.out + refused.err
    kept = [path for path in shop.rglob("*") if path.is_file() and b"unseen4711" in path.read_bytes()]
    assert kept == []


def test_vectors_of_your_own_by_address(lookalike, shop, bucket):
    images = Workspace(shop).catalog.image
    vectors = np.random.default_rng(1).normal(size=(len(images), 4)).astype(np.float32)
    (shop / "mine").mkdir()
    np.save(shop / "mine/v.npy", vectors[::-1])
    (shop / "mine/ids.txt").write_text("\n".join(images[::-1]))
    upload(shop / "mine", f"{bucket}/mine")
    done = lookalike("embed", f"precomputed:{bucket}/mine/v.npy")
    assert done.status == 0, done.err
    np.testing.assert_array_equal(Workspace(shop).embeddings("v").vectors, vectors)
