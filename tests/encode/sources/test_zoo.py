"""The zoo is true: every network is built without weights, and every weight name is in a library's table."""

from importlib.metadata import version
from urllib.parse import parse_qsl

import open_clip
import pytest
import timm
import torch
import torchvision
from open_clip import factory, pretrained

from lookalike.core.errors import EncoderError
from lookalike.encode.layers import with_layers
from lookalike.encode.open import open_encoder
from lookalike.encode.sources import open_clip_networks, torchvision_networks
from lookalike.encode.sources.libraries import OWN, _value
from lookalike.encode.spec import parse
from lookalike.encode.zoo.networks import PAPERS, ZooNetwork, licence, nearest, networks

# By hand: stages of a ResNet have 64 w, 128 w, 256 w and 512 w channels, four times as many with bottlenecks.
BASIC, DEEP = 64 + 128 + 256 + 512, 256 + 512 + 1024 + 2048
ANNEX = {  # of ADAPT: the concatenated sizes
    **dict.fromkeys(("resnet18", "resnet34"), BASIC),
    **dict.fromkeys(("adapt-resnet50", "resnet101", "resnet152", "barlow", "dino_resnet50"), DEEP),
    **dict.fromkeys(("resnet50_ssl", "resnext101_32x8d_ssl", "resnet50_swsl"), DEEP),
    **dict.fromkeys(("resnext101_32x16d_swsl", "resnext101_32x8d_swsl"), DEEP),
    **dict.fromkeys((f"resnext101_32x{width}d_wsl" for width in (8, 16, 32, 48)), DEEP),
    **dict.fromkeys(("bit-m-r50x1", "bit-m-r101x1"), DEEP),
    **dict.fromkeys(("bit-m-r50x3", "bit-m-r101x3"), 3 * DEEP),
    **{"bit-m-r152x2": 2 * DEEP, "bit-m-r152x4": 4 * DEEP},
    **{"clip_rm50": DEEP + 1024, "clip_rm101": DEEP + 512, "clip_rm50x4": 5 * DEEP // 4 + 640},
    **dict.fromkeys(("deits16", "dino"), 384),
    **dict.fromkeys(("dino_vitb16", "dino_vitb8", "vit", "clip_vit32_b"), 768),
    **{"facenet": 1792, "alexnet": 256},
    **{"efficientnet_b0": 1280, "efficientnet_b1": 1280, "efficientnet_b2": 1408, "efficientnet_b3": 1536},
}
DATED = {  # in no installed library: where each comes from, as of the date in zoo.toml
    "facenet": "https://github.com/timesler/facenet-pytorch/",
    "marqo-fashion": "Marqo/marqo-fashionSigLIP",
    "marqo-ecommerce": "Marqo/marqo-ecommerce-embeddings-B",
    "argus": "the Python package argusvision",
    "barlow": "https://dl.fbaipublicfiles.com/barlowtwins/",
    "dino_resnet50": "https://dl.fbaipublicfiles.com/dino/dino_resnet50_pretrain/",
    "swav": "https://dl.fbaipublicfiles.com/deepcluster/",
    "moco": "https://dl.fbaipublicfiles.com/moco/",
    "resnext101_32x48d_wsl": "https://download.pytorch.org/models/ig_resnext101_32x48",
}
BUILT = [one for one in networks() if one.name not in ("facenet", "marqo-fashion", "marqo-ecommerce")]


def names(paper: str) -> set[str]:
    return {one.name for one in networks() if paper in one.papers}


def test_every_network_of_the_papers_is_there():
    assert names("adapt") == set(ANNEX)
    assert len(ANNEX) == 37
    vsd = {"argus", "dino", "beit", "clip", "dinov2", "openclip", "swag"}
    assert names("vsd") == vsd
    more = {"resnet50", "convnext", "vit-b16", "moco", "swav", "mae", "noisy-student"}
    assert names("eds") == more | {"argus", "dino", "beit", "clip", "swag"}
    assert {parse(one).name for one in ("deits8", "dino", "DINO")} == {"vit_small_patch8_224.dino"}
    assert len(names("today")) == 13


def test_names_and_aliases_are_unique_and_their_strings_are_encoder_strings():
    given = [name for one in networks() for name in (one.name, *one.aliases)]
    assert len(given) == len(set(given))
    for one in networks():
        spec = parse(one.name)
        assert str(parse(str(spec))) == str(spec)
        assert spec.short_name == one.name
        assert dict(parse_qsl(one.source.partition("?")[2])) == dict(spec.options)
        assert set(one.papers) <= set(PAPERS)
        assert len({one.name.partition(":")[0] for one in networks()}) == len(networks())


@pytest.mark.parametrize(
    "one", [one for one in networks() if "adapt" in one.papers], ids=lambda one: one.name
)
def test_the_concatenated_sizes_are_those_of_adapt_s_annex(one):
    assert one.dimension == ANNEX[one.name]
    assert set(one.figures["adapt"]) >= {"concatenated", "pca", "sigma1", "sigma15"}


def module_of(one: ZooNetwork) -> tuple[torch.nn.Module, tuple[int, int]]:
    """The architecture as the source makes it, without weights, and the size of its photos."""
    spec = parse(one.source)
    arguments = {key: _value(text) for key, text in spec.options if key not in OWN}
    if spec.source == "timm":
        _, height, width = timm.get_pretrained_cfg(spec.name).input_size
        return timm.create_model(spec.name, num_classes=0, **arguments), (height, width)
    if spec.source == "open_clip":
        model, _, _ = open_clip_networks._settings(spec)
        module = open_clip_networks._tower(model, arguments)
        size = module.image_size
        return module, (size, size) if isinstance(size, int) else size
    ours = spec.source == "torchvision"  # the three hub entries are torchvision's resnet50 (their hubconf.py)
    name, _, tag = spec.name.partition("/") if ours else ("resnet50", "", "IMAGENET1K_V1")
    weights = torchvision_networks._weights(spec, name, tag)
    made = torchvision.models.get_model(name, weights=None, **torchvision_networks._sized(name, weights))
    torchvision_networks._without_head(made)
    size = weights.transforms().crop_size[0]
    return made, (size, size)


@pytest.mark.slow
@pytest.mark.parametrize("one", BUILT, ids=lambda one: one.name)
def test_every_architecture_gives_vectors_of_the_dimension_in_the_zoo(one):
    with torch.device("meta"), torch.inference_mode():
        module, (height, width) = module_of(one)
        module = with_layers(module.eval(), dict(parse(one.source).options).get("layers"), one.name)
        assert module(torch.zeros(2, 3, height, width)).shape == (2, one.dimension)


@pytest.mark.parametrize("one", networks(), ids=lambda one: one.name)
def test_every_weight_name_is_in_a_library_s_table_or_in_the_dated_list(one):
    spec = parse(one.source)
    if one.name in DATED:
        assert one.weights.startswith(DATED[one.name])
        assert spec.source in ("hub", "onnx") or "weights" in dict(spec.options) or "hf-hub:" in spec.name
    elif spec.source == "timm":
        assert timm.models.is_model_pretrained(spec.name)
        held = timm.get_pretrained_cfg(spec.name)
        assert held.license == one.licence
        assert held.hf_hub_id == (one.weights or f"timm/{spec.name}")
    elif spec.source == "open_clip":
        name, _, tag = spec.name.partition("/")
        assert (name, tag) in open_clip.list_pretrained()
        assert pretrained.get_pretrained_cfg(name, tag)["hf_hub"] == f"{one.weights}/"
        assert factory.get_model_config(name)["embed_dim"] == one.dimension or "layers" in dict(spec.options)
    else:
        name, _, tag = spec.name.partition("/")
        assert torchvision.models.get_model_weights(name)[tag].url == one.weights


def test_the_zoo_was_checked_with_the_installed_libraries():
    assert version("timm") == "1.0.31"
    assert (version("torchvision").partition("+")[0], version("open_clip_torch")) == ("0.29.2", "3.3.0")


def test_licences_that_are_not_listed_count_as_ask():
    for one in {one.licence for one in networks()} | {"of-my-own"}:
        held = licence(one)
        assert {held.commercial, held.derivatives, held.serving} <= {"yes", "no", "ask"}
        assert (held.checked is None) == (one in ("unknown", "of-my-own"))
        if held.checked is None:
            assert (held.commercial, held.derivatives, held.serving) == ("ask", "ask", "ask")
        else:
            assert held.source.startswith("https://")
        answers = (held.commercial, held.derivatives, held.serving)
        assert bool(held.question) == ("ask" in answers and held.checked is not None)


def test_every_licence_of_timm_is_listed_but_those_that_timm_does_not_know():
    named = {timm.get_pretrained_cfg(name).license for name in timm.list_pretrained()}
    assert {name for name in named if licence(str(name)).checked is None} == {None, "unknown"}


@pytest.mark.parametrize(
    ("text", "problem", "fix"),
    [
        ("dinov4", "'dinov4' is neither", "dinov3"),
        ("moco", "no weights file 'moco_v2_800ep_pretrain.pth.tar'", "https://dl.fbaipublicfiles.com/moco/"),
        ("argus", "no weights file 'argusvision.pth'", "the Python package argusvision"),
        (
            "resnext101_32x48d_wsl",
            "no weights file",
            "https://download.pytorch.org/models/ig_resnext101_32x48",
        ),
        ("facenet", "no file 'facenet-vggface2.onnx'", "https://github.com/timesler/facenet-pytorch"),
        ("barlow", "have not trusted", "LOOKALIKE_TRUSTED_HUB=facebookresearch/barlowtwins:main"),
    ],
)
def test_a_name_whose_weights_are_not_here_says_where_they_come_from(
    text, problem, fix, monkeypatch, tmp_path
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("LOOKALIKE_TRUSTED_HUB", raising=False)
    with pytest.raises(EncoderError) as refused:
        open_encoder(parse(text))
    assert problem in refused.value.problem
    assert fix in refused.value.fix


def test_options_of_the_user_go_before_those_of_the_zoo():
    spec = parse("adapt-resnet50?layers=layer4&size=320")
    assert dict(spec.options) == {"layers": "layer4", "size": "320"}
    assert spec.short_name == "adapt-resnet50"
    assert nearest("barlw") == ["barlow"]
