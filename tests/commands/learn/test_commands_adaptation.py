"""`lookalike finetune --head adaptation|diagonal`: on left and right images, and on a catalog's labels."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from lookalike import finetune as of_arrays
from lookalike.catalog.read import catalog_from
from lookalike.core.types import Embeddings
from lookalike.encode.heads.head import apply_head
from lookalike.encode.sources.checkpoint import read_head
from lookalike.learn.request import TrainingRequest
from lookalike.store.settings import WorkspaceSettings
from lookalike.store.workspace import Workspace
from lookalike.workflows.learn import finetune as recipe

PAIRS, WIDE = 60, 12
LIGHT = {
    "head": "adaptation",
    "epochs": 8,
    "resamples": 3,
    "dimensions": 6,
    "projection": 16,
    "rate": 0.01,
    "seed": 3,
}
ON = ("finetune", "base", "--name", "light", *(f"--{key}={value}" for key, value in LIGHT.items()))


@pytest.fixture
def shop(lookalike, tmp_path) -> Path:
    """Pairs of left and right images that share three of twelve numbers; 75:25, and no validation split."""
    random = np.random.default_rng(3)
    sides = (("left", "query"), ("right", "gallery"))
    table = {
        "image": [f"{side}{at}" for side, _ in sides for at in range(PAIRS)],
        "role": [role for _, role in sides for _ in range(PAIRS)],
        "split": ["test" if at % 4 == 3 else "train" for _ in sides for at in range(PAIRS)],
    }
    features = random.normal(size=(2 * PAIRS, WIDE)) * 1.5
    features[:, :3] = np.tile(random.normal(size=(PAIRS, 3)), (2, 1))
    np.save(tmp_path / "v.npy", features.astype(np.float32))
    Workspace.create(tmp_path, catalog_from(table).catalog, WorkspaceSettings("memory", ""))
    assert lookalike("embed", "precomputed:v.npy", "--name", "base").status == 0
    labels = [(f"left{at}", f"right{at}") for at in range(PAIRS)]
    write_labels(lookalike, tmp_path, labels)
    return tmp_path


def write_labels(lookalike, folder: Path, pairs: list[tuple[str, str]]) -> None:
    with (folder / "labels.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["query", "candidate", "label"], *([a, b, 1] for a, b in pairs)])
    assert lookalike("labels", "import", "labels.csv").status == 0


def head_of(folder: Path, name: str = "light") -> bytes:
    return (folder / "models" / name / "head.safetensors").read_bytes()


def test_the_head_is_an_encoder_and_resamples_chose_its_epochs(lookalike, shop):
    result = lookalike(*ON)
    assert result.status == 0, result.err
    words = " ".join(result.out.split())
    learned = json.loads((shop / "models/light/checkpoint.json").read_text())["learned"]
    epochs, recall = learned["bootstrap"]["epochs"], learned["bootstrap"]["recall"]
    assert f"light: {epochs} epoch" in words
    assert f"aR@1 {recall:.4f}" in words
    assert "3 resamples of the similar pairs choose the number of epochs." in words
    assert "validation split" not in words
    lines = (shop / "models/light/resamples.jsonl").read_text().splitlines()
    curves = [json.loads(line)["curve"] for line in lines]
    assert np.shape(curves) == (3, 8)
    assert epochs == int(np.mean(curves, 0).argmax()) + 1
    opened, held = Workspace(shop), read_head(shop / "models/light").head
    assert (held.kind, held.sizes) == ("adaptation", {"features": 12, "projection": 16, "components": 6})
    np.testing.assert_array_equal(
        opened.embeddings("light").vectors, apply_head(held, opened.embeddings("base").vectors)
    )
    assert lookalike("search", "left3", "--encoder", "light", "-k", "3", "--json").status == 0


def test_the_components_are_those_of_the_training_split(lookalike, shop):
    assert lookalike(*ON).status == 0
    opened = Workspace(shop)
    inside = opened.embeddings("base").vectors[opened.catalog.split == "train"]
    assert read_head(shop / "models/light").head.pca.mean.numpy() == pytest.approx(inside.mean(0), abs=1e-6)


def test_json_has_the_recall_of_every_epoch(lookalike, shop):
    result = lookalike(*ON, "--keep", "last", "--json").json
    assert (len(result["history"]), result["best"], result["out_of_bag"]) == (8, 8, None)
    assert all(0 <= epoch["recall"] <= 1 for epoch in result["history"])
    assert {epoch["rate"] for epoch in result["history"]} == {0.01}
    ahead = result["preview"]
    assert (ahead["batches"], ahead["pairs"], ahead["similar"]) == (1, 45 * 45, 45)


def test_training_lowers_the_loss_and_finds_more_pairs(lookalike, shop):
    result = lookalike(*ON[:4], "--head", "adaptation", "--dimensions", 12, "--keep", "last", "--json").json
    first, last = result["history"][0], result["history"][-1]
    assert len(result["history"]) == 150
    assert last["loss"] < first["loss"]
    assert last["recall"] > first["recall"]


def test_a_diagonal_head_weighs_what_pairs_share(lookalike, shop):
    result = lookalike(*ON[:4], "--head", "diagonal", "--keep", "last")
    assert result.status == 0, result.err
    weight = read_head(shop / "models/light").head.weight
    assert weight[:3].min() > weight[3:].max()


def test_other_losses_train_an_adaptation_head_too(lookalike, shop):
    write_labels(lookalike, shop, [("left0", "right0")])
    result = lookalike(*ON, "--loss", "supcon", "--json")
    assert result.status == 0, result.err
    assert result.json["keep"] == "best"


def test_a_pair_of_an_image_with_itself_is_left_out(lookalike, shop):
    opened = Workspace(shop)
    pairs = [("left0", "right0"), ("left1", "left1")]
    catalog = opened.catalog
    from lookalike.core.types import Labels
    from lookalike.learn.similar_pairs import similar_pairs
    from lookalike.positive.graph import label_graph

    labels = Labels.of(*zip(*pairs, strict=True), [1, 1])
    graph = label_graph(catalog, labels)
    assert [(one.reason, one.count) for one in graph.unusable] == [("query and candidate are one image", 1)]
    assert len(similar_pairs(catalog, labels, graph, "train")) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--head", "diagonal", "--projection", 8), "keeps the encoder's dimension"),
        (("--dimensions", 8), "only an adaptation head"),
        (("--keep", "bootstrap"), "resamples are of the pairs"),
        (("--head", "adaptation", "--patience", 3), "patience needs a best epoch"),
        (("--head", "adaptation", "--sigma", 0), "sigma"),
    ],
)
def test_options_that_cannot_be(lookalike, shop, options, message):
    result = lookalike(*ON[:4], *options)
    assert result.status != 0
    assert message in " ".join(result.err.split())
    assert not (shop / "models/light").exists()


def stopped_after(folder: Path, resamples: int, epochs: int, monkeypatch) -> None:
    """A run that is stopped after some resamples, or after some epochs of the run itself."""
    kept = recipe.models.TrainingRun.keep_resample

    def keep(run, number, curve):
        kept(run, number, curve)
        if number + 1 == resamples:
            raise KeyboardInterrupt

    def stop(epoch):
        if epoch.number > epochs:
            raise KeyboardInterrupt

    request, callbacks = TrainingRequest(**LIGHT), recipe.TrainingCallbacks(epoch=stop, every=0.0)
    with monkeypatch.context() as patched:
        patched.setattr(recipe.models.TrainingRun, "keep_resample", keep)
        with pytest.raises(KeyboardInterrupt):
            recipe.finetune(Workspace(folder), "base", "light", request, callbacks=callbacks)


@pytest.mark.parametrize(("resamples", "epochs"), [(1, 0), (2, 0), (9, 0), (9, 1)])
def test_stopped_and_resumed_it_ends_the_same(lookalike, shop, monkeypatch, resamples, epochs):
    assert lookalike(*ON[:3], "whole", *ON[4:]).status == 0
    stopped_after(shop, resamples, epochs, monkeypatch)
    status = " ".join(lookalike("status").out.split())
    assert re.search(r"finetune base --name light .*--head adaptation", status)
    assert lookalike(*ON).status == 0
    assert head_of(shop) == head_of(shop, "whole")
    for file in ("resamples.jsonl", "history.jsonl"):
        one, other = ((shop / "models" / name / file).read_text() for name in ("light", "whole"))
        assert one == other


def test_from_python_it_is_the_same_head(lookalike, shop):
    assert lookalike(*ON).status == 0
    opened = Workspace(shop)
    base = opened.embeddings("base")
    made = of_arrays(opened.catalog, base, opened.labels(), device="cpu", **LIGHT)
    assert isinstance(made, Embeddings)
    assert made.vectors == pytest.approx(opened.embeddings("light").vectors, abs=1e-5)
