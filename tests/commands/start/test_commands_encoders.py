"""`encoders` lists the zoo and what can run here. Licences are printed before weights are used or served."""

import pytest
import timm
import torch
from safetensors.torch import save_file

from lookalike.encode.zoo.networks import networks
from lookalike.store.workspace import Workspace
from lookalike.workflows.start.encoders import licence_of, licences_to_check


@pytest.fixture
def caches(tmp_path, monkeypatch):
    """Folders of weights that are empty at first."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path / "torch"))
    monkeypatch.delenv("LOOKALIKE_TRUSTED_HUB", raising=False)
    return tmp_path


def rows(lookalike, *given) -> dict[str, dict]:
    found = lookalike("encoders", *given, "--json")
    assert found.status == 0, found.err
    return {one["name"]: one for one in found.json["encoders"]}


def test_all_networks_are_listed_with_what_they_need(lookalike, caches):
    found = rows(lookalike)
    assert list(found) == [one.name for one in networks()]
    assert {one["missing"] for one in found.values()} == {"weights", "trust"}
    assert found["dino"]["licence"]["commercial"] == "yes"
    assert found["mae"]["licence"]["commercial"] == "no"
    assert found["dino"]["next_step"] == "lookalike embed dino (downloads its weights)"
    assert "LOOKALIKE_TRUSTED_HUB=facebookresearch/swav:main" in found["swav"]["next_step"]
    assert "https://dl.fbaipublicfiles.com/moco" in found["moco"]["next_step"]
    printed = lookalike("encoders", "dino_vitb")
    assert [line.split()[0] for line in printed.out.splitlines()[1:3]] == ["dino_vitb16", "dino_vitb8"]
    assert "Next, for dino_vitb8: lookalike embed dino_vitb8" in printed.out
    printed = lookalike("encoders")
    assert max(map(len, printed.out.splitlines())) < 120
    assert "lookalike encoders NAME" in printed.out
    assert list(rows(lookalike, "--paper", "vsd")) == [
        "argus",
        "dino",
        "beit",
        "clip",
        "dinov2",
        "openclip",
        "swag",
    ]
    assert set(rows(lookalike, "DEITS")) == {"dino", "deits16"}
    assert set(rows(lookalike, "dinov3-license")) == {"dinov3", "dinov3-convnext"}


@pytest.mark.parametrize("narrow", [("--here",), ("--paper", "vsd"), ("--here", "--paper", "adapt")])
def test_filters_that_leave_nothing_name_the_list_before_them(lookalike, caches, narrow):
    assert rows(lookalike, "dinov3-license", *narrow) == {}
    printed = lookalike("encoders", "dinov3-license", *narrow)
    assert printed.status == 0
    assert printed.out.strip().endswith("lookalike encoders dinov3-license")
    refused = lookalike("encoders", "dinov4", *narrow)  # no network at all, whatever the other filters
    assert refused.status == 1
    assert "dinov3" in refused.err


def test_networks_whose_weights_are_here_can_run(lookalike, caches, monkeypatch):
    (caches / "torch/hub/checkpoints").mkdir(parents=True)
    (caches / "torch/hub/checkpoints/resnet18-f37072fd.pth").touch()
    (caches / "torch/hub/checkpoints/swav_800ep_pretrain.pth.tar").touch()
    held = caches / "hf/hub/models--timm--vit_base_patch16_224.mae/snapshots/abc"
    held.mkdir(parents=True)
    (held / "model.safetensors").touch()
    (caches / "moco_v2_800ep_pretrain.pth.tar").touch()
    monkeypatch.chdir(caches)
    assert set(rows(lookalike, "--here")) == {"resnet18", "mae", "moco"}
    monkeypatch.setenv("LOOKALIKE_TRUSTED_HUB", "facebookresearch/swav:main")
    assert set(rows(lookalike, "--here")) == {"resnet18", "mae", "moco", "swav"}
    monkeypatch.setattr(
        "lookalike.encode.open.not_installed", lambda names: [n for n in names if n == "open_clip"]
    )
    found = rows(lookalike)
    assert {name for name, one in found.items() if one["missing"] == "library"} >= {
        "clip",
        "openclip",
        "pe-core-l",
    }
    assert "'.[more]'" in found["clip"]["next_step"]


def test_unknown_names_get_the_nearest(lookalike, photos):
    refused = lookalike("encoders", "dinov4")
    assert refused.status == 1
    assert "dinov3" in refused.err
    assert lookalike("init", photos).status == 0
    refused = lookalike("embed", "barlw")
    assert refused.status == 1
    assert "barlow" in refused.err


def test_the_licence_is_printed_before_weights_are_used(lookalike, photos, caches):
    torch.manual_seed(0)
    save_file(timm.create_model("test_resnet").state_dict(), caches / "moco_v2_800ep_pretrain.pth.tar")
    assert lookalike("init", photos).status == 0
    refused = lookalike("embed", "moco")  # another network's weights, after its licence
    assert refused.status == 1
    assert "commercial use: no" in refused.out
    assert "Is your service non-commercial?" in refused.out


@pytest.mark.parametrize(
    ("encoder", "commercial"),
    [
        ("dino", "yes"),
        ("timm:vit_base_patch16_224.mae?size=448", "no"),
        ("timm:resnet50.nobody_knows", "ask"),
        ("timm:fastvit_mci0.apple_mclip2_dfndr2b", "no"),  # not in the zoo, but in timm's table
        ("timm:resnet50.a1_in1k", "yes"),
        ("timm:no_such_network", "ask"),
        ("hf:someone/something", "ask"),
        ("descriptor:color", None),
        ("timm:resnet50?weights=mine.pth", None),
        ("onnx:mine.onnx", None),
    ],
)
def test_licences_of_strings(encoder, commercial):
    found = licence_of(encoder)
    assert (found.commercial if found else None) == commercial


def test_a_folder_of_your_own_has_no_licence_to_read(tmp_path, monkeypatch):
    (tmp_path / "nets/mine").mkdir(parents=True)
    assert licence_of("hf:nets/mine", tmp_path) is None
    assert licence_of(f"open_clip:local-dir:{tmp_path}/nets/mine") is None
    monkeypatch.chdir(tmp_path)
    assert licence_of("hf:nets/mine") is None
    assert licence_of("hf:nets/other").commercial == "ask"


def test_encoders_whose_weights_may_not_be_served_are_named_before_serving(
    lookalike, photos, tmp_path, monkeypatch
):
    assert lookalike("init", photos).status == 0
    assert lookalike("embed", "descriptor:color").status == 0
    workspace = Workspace(tmp_path)
    assert licences_to_check(workspace) == []
    held = workspace.manifest("color")
    changed = {"spec": "timm:vit_base_patch16_224.mae"}
    monkeypatch.setattr(Workspace, "manifest", lambda *_: type(held)(**{**vars(held), **changed}))
    assert [(name, terms.serving) for name, terms in licences_to_check(workspace)] == [("color", "ask")]
