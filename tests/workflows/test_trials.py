"""Repeated trials: what they score, what chooses their epochs, what a journal spares, and what they must not see."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import lookalike
from lookalike.api.training import material
from lookalike.catalog.split import assign_splits
from lookalike.core.errors import ArgumentError
from lookalike.core.types import Labels
from lookalike.encode.heads.head import apply_head
from lookalike.encode.heads.two_layers import ProjectionHead
from lookalike.learn.batches import BatchPlan, anchors
from lookalike.learn.examples import Cached, Examples
from lookalike.learn.finetune import finetune
from lookalike.learn.keeper import Unkept
from lookalike.learn.request import TrainingRequest
from lookalike.learn.settings import TrainingSettings
from lookalike.learn.validation import validator
from lookalike.positive.graph import label_graph
from lookalike.research.bias.ground_truths import as_if_encoders
from lookalike.research.trials import run as repeated
from lookalike.research.trials.run import (
    Divided,
    Ground,
    Trial,
    WildQueries,
    method_name,
    run_trial,
    run_trials,
)
from lookalike.research.trials.summary import (
    View,
    as_csv,
    by_method,
    choices,
    compared,
    compared_table,
    means,
    table,
)
from lookalike.store.journal import Journal
from lookalike.studio import studio
from lookalike.workflows.demo.truth import complete_labels

MEASURES = ("AUC_mic", "HR@5", "DCS(alpha=10)")
QUICK = TrainingSettings(epochs=4, rate=3e-3, measure="AUC_mic", batch=512)


@pytest.fixture(scope="module")
def ground() -> Ground:
    """200 items of the studio with simulated encoders: no photo is rendered."""
    generated = studio(200, photos_per_item=1, seed=1)
    catalog, encoders = generated.catalog(), as_if_encoders(generated)
    pool = lookalike.make_pool(catalog, encoders[:2], top=5)
    truth = complete_labels(generated, catalog, pool)
    known = {
        (a, b): label for a, b, label in zip(truth.query, truth.candidate, truth.label.tolist(), strict=True)
    }
    labels = Labels.of(
        pool.query, pool.candidate, [known[pair] for pair in zip(pool.query, pool.candidate, strict=True)]
    )
    return Ground("as if", catalog, np.asarray(encoders[0].vectors, np.float32), labels, truth)


def trial(split: int = 0, settings: TrainingSettings = QUICK, **other) -> Trial:
    return Trial(split, settings, 16, ("DCS(alpha=10)",), MEASURES, **other)


def test_scores_are_those_of_the_test_split_alone(ground):
    entry = run_trial(Divided(ground, 3), trial(3))
    rows = np.flatnonzero(assign_splits(ground.catalog.item, seed=3) == "test")
    inside = ground.catalog.take(rows)
    there = set(inside.image)
    for on, labels in (("truth", ground.truth), ("labels", ground.labels)):
        keep = [a in there and b in there for a, b in zip(labels.query, labels.candidate, strict=True)]
        part = Labels(labels.query[keep], labels.candidate[keep], labels.label[keep])
        vectors = lookalike.Embeddings("own", inside.image, ground.features[rows])
        (scores,) = lookalike.score(inside, [vectors], part, MEASURES)
        assert entry["values"]["pretrained"][on] == {name: scores[name].value for name in MEASURES}
    assert entry["sizes"] == {"train": 120, "validation": 30, "test": 50}


def test_the_epoch_is_the_one_that_training_itself_chooses(ground):
    split = assign_splits(ground.catalog.item, seed=0)
    catalog, here = replace(ground.catalog, split=split), torch.device("cpu")
    head = ProjectionHead.seeded(ground.features.shape[1], 16, seed=0)
    around = anchors(label_graph(catalog, ground.labels, nodes="item"), np.flatnonzero(split == "train"))
    examples = Examples(around, BatchPlan(512), QUICK.soft, Cached([ground.features], here), 0, here)
    validate = validator(catalog, ground.labels, ground.features, QUICK.measure)
    run = finetune(head, examples, QUICK, validate, Unkept())
    last = apply_head(head, ground.features[split == "test"])
    head.load_state_dict(run.parameters)
    best = apply_head(head, ground.features[split == "test"])
    divided = Divided(ground, 0)
    entry = run_trial(divided, trial())
    assert entry["best"]["AUC_mic"] == run.best
    assert entry["validation"]["AUC_mic"] == run.history[run.best - 1].value
    assert entry["values"]["AUC_mic"] == divided.scores(best, MEASURES)
    assert entry["values"]["last"] == divided.scores(last, MEASURES)


def test_labels_of_test_images_and_the_truth_change_no_vector(ground):
    """Turning round every label that touches the test split, and the truth, leaves the training as it was."""
    test = set(ground.catalog.image[assign_splits(ground.catalog.item, seed=0) == "test"])
    labels = ground.labels
    touched = [a in test or b in test for a, b in zip(labels.query, labels.candidate, strict=True)]
    other = replace(labels, label=np.where(touched, 1 - labels.label, labels.label).astype(np.int8))
    truth = replace(ground.truth, label=(1 - ground.truth.label).astype(np.int8))
    one = run_trial(Divided(ground, 0), trial())
    two = run_trial(Divided(replace(ground, labels=other, truth=truth), 0), trial())
    assert sum(touched) > 0
    assert two["best"] == one["best"]
    auc = (entry["values"]["last"]["truth"]["AUC_mic"] for entry in (one, two))
    assert sum(auc) == pytest.approx(1.0)


def test_a_residual_head_that_learns_nothing_scores_as_the_encoder(ground):
    """At this rate no weight moves: its vectors are the encoder's, but for their length."""
    still = replace(trial(settings=QUICK.changed(rate=1e-30)), projection=0)
    values = run_trial(Divided(ground, 0), still)["values"]
    assert values["last"]["truth"] == pytest.approx(values["pretrained"]["truth"], abs=1e-6)
    moved = run_trial(Divided(ground, 0), replace(trial(), projection=0))["values"]
    assert abs(moved["last"]["truth"]["AUC_mic"] - moved["pretrained"]["truth"]["AUC_mic"]) > 1e-4


def test_wild_photos_are_queries_only_and_their_item_is_no_candidate(ground):
    """Wild photos that are the shop's own photos again score as these do, and change no training."""
    shop = ground.catalog
    asked = np.array([f"wild/{image}" for image in shop.image], object)
    twice = shop.take(np.tile(np.arange(len(shop)), 2))
    role = np.repeat(np.array(["gallery", "query"], object), len(shop))
    wild = replace(twice, image=np.concatenate([shop.image, asked]), role=role)
    truth = Labels.of(
        [f"wild/{image}" for image in ground.truth.query], ground.truth.candidate, ground.truth.label
    )
    more = replace(ground, wild=WildQueries(wild, ground.features, truth))
    one, two = (run_trial(Divided(of, 0), trial())["values"] for of in (ground, more))
    for chosen in ("pretrained", "last", "AUC_mic"):
        assert two[chosen]["wild"] == two[chosen]["truth"] == one[chosen]["truth"]
    assert trial().key(more) != trial().key(ground)


def test_trials_learn_from_items_as_finetune_does():
    """A label on one photo is its item's: 20 items with two photos each, one pair of photos labelled of each two."""
    images = [f"{item:02d}/{photo}" for item in range(20) for photo in (1, 2)]
    catalog = lookalike.read_catalog({"image": images, "item": [image[:2] for image in images]})
    labels = Labels.of(images[0:-2:2], images[2::2], np.ones(19, np.int8))
    features = np.random.default_rng(0).normal(size=(40, 4)).astype(np.float32)
    divided = Divided(Ground("photos", catalog, features, labels, labels), 0)
    request = TrainingRequest(**QUICK.as_values())
    wanted = material(divided.catalog, labels, features, request).around
    made = anchors(divided.graph, np.flatnonzero(divided.catalog.split == "train"))
    assert made.graph.kind == request.nodes
    assert np.array_equal(made.graph.node, wanted.graph.node)


def test_a_stopped_study_resumes_with_the_same_result(ground, tmp_path, monkeypatch):
    listed = [trial(split, QUICK.changed(positives=kind)) for split in (0, 1) for kind in ("labels", "soft")]
    whole = run_trials(ground, listed, Journal(tmp_path / "whole.jsonl"))
    run_trials(ground, listed[:3], Journal(tmp_path / "stopped.jsonl"))
    ran = []
    real = repeated.run_trial
    monkeypatch.setattr(repeated, "run_trial", lambda *given: ran.append(given) or real(*given))
    assert run_trials(ground, listed, Journal(tmp_path / "stopped.jsonl")) == whole
    assert len(ran) == 1


def test_a_key_is_everything_that_makes_a_trial_and_nothing_else(ground):
    labels, first = ground.labels, trial().key(ground)
    assert trial().key(replace(ground, name="another")) == first
    assert trial(settings=QUICK.changed(seed=7)).key(ground) == first
    turned = replace(
        labels, label=np.where(np.arange(len(labels)) == 5, 1 - labels.label, labels.label).astype(np.int8)
    )
    others = [
        trial(1).key(ground),
        trial(settings=QUICK.changed(positives="labels")).key(ground),
        trial(settings=QUICK.changed(rate=1e-3)).key(ground),
        replace(trial(), projection=8).key(ground),
        replace(trial(), projection=0).key(ground),
        replace(trial(), choosers=()).key(ground),
        replace(trial(), measures=MEASURES[:1]).key(ground),
        trial().key(replace(ground, labels=turned)),
        trial().key(replace(ground, truth=labels)),
        trial().key(replace(ground, features=ground.features * np.float32(2))),
        trial().key(replace(ground, catalog=ground.catalog.take(np.arange(199)))),
    ]
    assert len({first, *others}) == len(others) + 1


def entries(values: dict[str, list[float]], pretrained: float = 0.5) -> list[dict]:
    """Entries as a journal has them, of two splits and one measure."""
    return [
        {
            "ground": "by hand",
            "split": split,
            "method": method,
            "sizes": {"train": 60, "validation": 15, "test": 25},
            "values": {
                "pretrained": {"truth": {"AUC_mic": pretrained}},
                "last": {"truth": {"AUC_mic": value}},
            },
        }
        for method, each in values.items()
        for split, value in enumerate(each)
    ]


def test_the_summary_is_the_entries_mean_and_pairs_methods_by_split():
    made = entries({"SupCon": [0.6, 0.8], "SupCon SPA": [0.7, 0.8], "SupCon NSPA": [0.5, 0.5]})
    view = View("AUC_mic")
    assert {name: one.value for name, one in means(made, view).items()} == pytest.approx(
        {"pretrained": 0.5, "SupCon": 0.7, "SupCon SPA": 0.75, "SupCon NSPA": 0.5}
    )
    assert by_method(list(reversed(made)), view)["SupCon"].tolist() == [0.6, 0.8]
    pairs = {one.methods: one.by.value for one in compared(made, view)}
    assert pairs == pytest.approx(
        {
            ("SupCon", "pretrained"): 0.2,
            ("SupCon SPA", "SupCon"): 0.05,
            ("SupCon NSPA", "SupCon"): -0.2,
            ("SupCon SPA", "SupCon NSPA"): 0.25,
        }
    )
    assert "| SupCon | 0.700 ± " in table(made, [("AUC_mic", view)])
    assert "| SupCon SPA - SupCon | +0.050 ± " in compared_table(made, view)
    lines = as_csv(made).splitlines()
    assert lines[1].startswith("by hand,pretrained,,truth,AUC_mic,0.5,0.5,0.5,2")
    assert len(lines) == 5


def test_the_measure_that_selects_the_epoch_is_reported_over_all_methods():
    made = entries({"SupCon": [0.6, 0.8], "Con": [0.7, 0.9]})
    for entry, epoch in zip(made, (1, 1, 3, 7), strict=True):
        entry |= {"settings": {"epochs": 9}, "best": {"DCS": epoch}}
        entry["values"]["DCS"] = {"truth": {"AUC_mic": 0.5}}
    text = choices(made, "AUC_mic").splitlines()
    assert text[2:] == ["| last | 0.750 | 9 | 0% |", "| DCS | 0.500 | 2 | 50% |"]


def test_two_trials_of_one_name_are_refused():
    """Beta, L, temperature and more are no part of a method's name."""
    with pytest.raises(ArgumentError, match=r"2 trials on split 1 .*SupCon SPA"):
        means([*entries({"SupCon SPA": [0.6, 0.8]}), entries({"SupCon SPA": [0.1, 0.2]})[1]], View("AUC_mic"))


def test_a_trial_that_stopped_is_undefined_and_spoils_no_table(ground):
    """At this rate the weights are beyond what a float holds after one step."""
    stopped = run_trial(Divided(ground, 0), trial(0, QUICK.changed(rate=1e39)))
    whole = run_trial(Divided(ground, 1), trial(1))
    assert stopped["stopped"]
    assert stopped["best"] == {}
    assert list(stopped["values"]) == list(whole["values"])
    assert np.isnan(stopped["values"]["last"]["truth"]["AUC_mic"])
    both = [stopped, whole]
    for by in ("last", "AUC_mic", "DCS(alpha=10)"):
        alone = whole["values"][by]["truth"]["AUC_mic"]
        assert means(both, View("AUC_mic", by))["SupCon SPA"].value == alone
        assert f"| {by} | {alone:.3f} | " in choices(both, "AUC_mic")
    del stopped["values"]["AUC_mic"]  # as journals had it
    assert np.isnan(by_method(both, View("AUC_mic", "AUC_mic"))["SupCon SPA"][0])


def test_numbers_that_the_trials_do_not_have_are_named():
    with pytest.raises(ArgumentError, match="HR@5"):
        means(entries({"SupCon": [0.6, 0.8]}), View("HR@5"))


def test_methods_have_names_of_their_own():
    ways = [
        TrainingSettings(loss=loss, positives=kind)
        for loss in ("supcon", "con", "trpl")
        for kind in ("labels", "soft", "full")
    ]
    assert len({method_name(way) for way in ways}) == 9
