"""Real photos, real networks' features and real human judgments, if the data pack is next to the project."""

import os
import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

import lookalike

ROOT = Path(__file__).parents[2]
DATA = Path(os.environ.get("LOOKALIKE_DATA", ROOT.parent / "shared" / "data"))
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(
        not (DATA / "objects92").is_dir(), reason="the data pack is not here (set LOOKALIKE_DATA)"
    ),
]
SAME_CATEGORY = {  # the data pack's own reference values: top 1, top 10
    "mobilenetv1_100": (0.640, 0.575),
    "mobilenetv2_100": (0.702, 0.633),
    "mobilenet_edgetpu_075": (0.723, 0.658),
    "squeezenet1_0": (0.605, 0.533),
}


def example(name: str, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> dict:
    """Run an example as a person would, and return its names."""
    monkeypatch.setattr(sys, "argv", [name, str(DATA), *arguments])
    return runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")


@pytest.mark.slow
def test_search_over_clothing_gives_the_reference_shares(monkeypatch, capsys):
    names = example("same_kind_of_garment", monkeypatch, "color")
    table = capsys.readouterr().out.split("top 10\n")[1].split("\n\n")[0]
    printed = {name: (float(one), float(ten)) for name, one, ten in map(str.split, table.splitlines())}
    for network, reference in SAME_CATEGORY.items():
        assert printed[network] == pytest.approx(reference, abs=0.0006)
    assert set(names["NETWORKS"]) == set(SAME_CATEGORY)


def test_human_judgments_example_prints_the_documented_figures(monkeypatch, capsys):
    example("human_judgments", monkeypatch)
    printed = capsys.readouterr().out
    assert "All 8,372 labels, 10.0% similar" in printed
    shown = (ROOT / "docs/research/real-data.md").read_text(encoding="utf-8")
    conclusions = printed.split("\nSpearman")[1].splitlines()
    assert len(conclusions) == 12
    for line in conclusions:
        if line.startswith("  "):
            assert " ".join(line.split()) in " ".join(shown.split()), line


def test_every_measure_is_defined_on_complete_human_labels(monkeypatch):
    names = runpy.run_path(str(ROOT / "examples" / "human_judgments.py"))
    catalog = lookalike.read_catalog(DATA / "objects92/catalog.csv", images=DATA / "objects92/images")
    labels = names["complete_labels"](DATA / "objects92/judgments.csv")
    encoder = lookalike.embed(catalog, f"precomputed:{DATA}/embeddings/objects92/mobilenetv2_100.npy")
    (scores,) = lookalike.score(catalog, [encoder], labels)
    assert all(np.isfinite(score.value) for score in scores.scores.values())
    assert scores["coverage@5"].value == 1.0
    assert scores["HR@5"].value == scores["EHR@5"].value


LIKE_TENSORFLOW = "pad_type=same&mean=0.5&std=0.5&crop_mode=border&interpolation=bilinear"
NETWORKS = {
    "mobilenetv1_100": f"timm:mobilenetv1_100?weights={{}}&{LIKE_TENSORFLOW}",
    "mobilenetv2_100": f"timm:mobilenetv2_100?weights={{}}&{LIKE_TENSORFLOW}",
    "squeezenet1_0": "torchvision:squeezenet1_0?weights={}&size=227&crop_mode=border"
    "&mean=123/255,117/255,104/255&std=1/255",
}


@pytest.mark.slow
@pytest.mark.parametrize("network", NETWORKS)
def test_networks_give_the_reference_features(network):
    catalog = lookalike.read_catalog(DATA / "objects92/catalog.csv", images=DATA / "objects92/images")
    text = NETWORKS[network].format(DATA / "weights" / f"{network}.safetensors")
    made = lookalike.embed(catalog, text, photos=DATA / "objects92/images")
    reference = np.load(DATA / "embeddings/objects92" / f"{network}.npy").astype(np.float32)
    ids = (DATA / "embeddings/objects92/ids.txt").read_text().split()
    reference = reference[[ids.index(image) for image in catalog.image]]
    cosine = (made.vectors * reference).sum(axis=1) / np.linalg.norm(made.vectors, axis=1)
    assert cosine.min() > 0.999
    assert made.encoder == network


@pytest.mark.slow
def test_the_wrong_keyword_arguments_are_seen_in_the_features():
    catalog = lookalike.read_catalog(DATA / "objects92/catalog.csv", images=DATA / "objects92/images")
    weights = DATA / "weights/mobilenetv2_100.safetensors"
    right = lookalike.embed(
        catalog, NETWORKS["mobilenetv2_100"].format(weights), photos=DATA / "objects92/images"
    )
    other = NETWORKS["mobilenetv2_100"].format(weights).replace("pad_type=same&", "")
    wrong = lookalike.embed(catalog, other, photos=DATA / "objects92/images")
    norms = np.linalg.norm(right.vectors, axis=1) * np.linalg.norm(wrong.vectors, axis=1)
    assert np.median((right.vectors * wrong.vectors).sum(axis=1) / norms) < 0.95
