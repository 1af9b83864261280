"""Real photos, real networks' features and real human judgments, where the data pack stands beside the project."""

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


def example(name: str, monkeypatch: pytest.MonkeyPatch) -> dict:
    """Run an example as a person would, and give back its names."""
    monkeypatch.setattr(sys, "argv", [name, str(DATA)])
    return runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")


@pytest.mark.slow
def test_search_over_clothing_gives_the_reference_shares(monkeypatch, capsys):
    names = example("same_kind_of_garment", monkeypatch)
    table = capsys.readouterr().out.split("top 10\n")[1].split("\n\n")[0]
    printed = {name: (float(one), float(ten)) for name, one, ten in map(str.split, table.splitlines())}
    for network, reference in SAME_CATEGORY.items():
        assert printed[network] == pytest.approx(reference, abs=0.0006)
    assert set(names["NETWORKS"]) == set(SAME_CATEGORY)


def test_human_judgments_example_says_what_the_documentation_says(monkeypatch, capsys):
    example("human_judgments", monkeypatch)
    printed = capsys.readouterr().out
    assert "All 8,372 labels, 10.0 % similar" in printed
    shown = (ROOT / "docs/real-data.md").read_text(encoding="utf-8")
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
