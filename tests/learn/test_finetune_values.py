"""`lookalike.finetune`: the same training from Python, without a workspace."""

from dataclasses import replace

import numpy as np
import pytest
from learning_worlds import world

import lookalike
from lookalike.core.errors import ArgumentError, EmbeddingsError, LabelsError, LearningError
from lookalike.core.types import Labels

pytestmark = pytest.mark.card


def test_it_gives_better_vectors_of_every_image():
    made = world(items=150)
    base = lookalike.embeddings(made.catalog, "base", made.features)
    better = lookalike.finetune(
        made.catalog, base, made.labels, name="better", projection=16, epochs=40, rate=0.003, batch=64
    )
    assert (better.encoder, better.vectors.shape) == ("better", (150, 16))
    rule = lookalike.Rule(split="test")
    before, after = lookalike.score(made.catalog, [base, better], made.labels, "AUC_mac", rule=rule)
    assert after["AUC_mac"].value > before["AUC_mac"].value


@pytest.mark.parametrize("head", ["residual", "projection"])
def test_no_label_of_a_test_image_moves_a_bit(head):
    """Labels inside the test split and across its border, turned round or taken away: the vectors are the same."""
    made = world(items=100, across=True)
    base = lookalike.embeddings(made.catalog, "base", made.features)
    labels, split = made.labels, dict(zip(made.catalog.image, made.catalog.split, strict=True))
    ends = np.array([(split[a], split[b]) for a, b in zip(labels.query, labels.candidate, strict=True)])
    touched = (ends == "test").any(axis=1)
    assert (ends[touched] == "test").all(axis=1).sum() > 5
    assert (ends[touched] == "train").any(axis=1).sum() > 5
    turned = Labels(
        labels.query, labels.candidate, np.where(touched, 1 - labels.label, labels.label).astype(np.int8)
    )
    without = Labels(labels.query[~touched], labels.candidate[~touched], labels.label[~touched])
    one, two, three = (
        lookalike.finetune(made.catalog, base, some, head=head, epochs=3).vectors
        for some in (labels, turned, without)
    )
    assert np.array_equal(one, two)
    assert np.array_equal(one, three)


def test_drawn_pairs_decide_whether_it_helped_and_other_labels_do_not():
    """2% of the test split's pairs have a label: 100 others are drawn, and the bounds hold the true difference."""
    made = world(items=400, share=0.02)
    base = lookalike.embeddings(made.catalog, "base", made.features)
    better = lookalike.finetune(made.catalog, base, made.labels, name="better", projection=4, epochs=2)
    assert (better.verdict.word, better.verdict.left) == ("cannot be told", len(better.to_label))
    assert len(better.to_label) == 100
    everything = world(items=400, share=1.0)
    rule = lookalike.Rule(split="test")
    before, after = lookalike.score(made.catalog, [base, better], everything.labels, "HR@5", rule=rule)
    true = after["HR@5"].value - before["HR@5"].value
    asked = set(zip(better.to_label.query, better.to_label.candidate, strict=True))
    ends = zip(everything.labels.query, everything.labels.candidate, strict=True)
    is_drawn = np.array([not asked.isdisjoint({(a, b), (b, a)}) for a, b in ends])
    answers = Labels(*(column[is_drawn] for column in (everything.labels.query, everything.labels.candidate)),
                     everything.labels.label[is_drawn])  # fmt: skip
    found = lookalike.training_verdict(better, made.catalog, answers)
    more = lookalike.training_verdict(better, made.catalog, everything.labels, margin=0.01)
    assert (found.labels, found.left) == (100, 0)
    assert found.low < true < found.high
    assert (more.low, more.high, more.margin) == (found.low, found.high, 0.01)
    few = Labels(answers.query[:50], answers.candidate[:50], answers.label[:50])
    assert lookalike.training_verdict(better, made.catalog, few).word == "cannot be told"


def test_without_a_test_split_there_is_nothing_to_draw():
    made = world(items=60)
    split = np.where(made.catalog.split == "test", "train", made.catalog.split).astype(object)
    catalog = replace(made.catalog, split=split)
    base = lookalike.embeddings(catalog, "base", made.features)
    better = lookalike.finetune(catalog, base, made.labels, epochs=2)
    assert (len(better.to_label), better.verdict.word, better.verdict.left) == (0, "cannot be told", 0)


def test_validation_labels_choose_the_epoch_and_teach_nothing():
    """With the last epoch kept, they change no bit; with the best kept, they do."""
    made = world(items=100)
    base = lookalike.embeddings(made.catalog, "base", made.features)
    split = dict(zip(made.catalog.image, made.catalog.split, strict=True))
    inside = np.array([split[query] == "validation" for query in made.labels.query])
    turned = np.where(inside, 1 - made.labels.label, made.labels.label).astype(np.int8)
    other = Labels(made.labels.query, made.labels.candidate, turned)
    for keep, same in (("last", True), ("best", False)):
        one, two = (
            lookalike.finetune(made.catalog, base, labels, keep=keep, epochs=8, rate=0.01).vectors
            for labels in (made.labels, other)
        )
        assert np.array_equal(one, two) == same


def test_what_cannot_be_is_refused():
    made = world()
    base = lookalike.embeddings(made.catalog, "base", made.features)
    with pytest.raises(LabelsError, match="no labels"):
        lookalike.finetune(made.catalog, base, Labels.of([], [], []))
    with pytest.raises(ArgumentError, match=r"projection.*0"):
        lookalike.finetune(made.catalog, base, made.labels, projection=0)
    with pytest.raises(ArgumentError, match=r"projection.*65537"):
        lookalike.finetune(made.catalog, base, made.labels, projection=65_537)
    broken = lookalike.Embeddings("base", made.catalog.image, np.full_like(made.features, np.nan))
    with pytest.raises(EmbeddingsError, match="NaN or infinite"):
        lookalike.finetune(made.catalog, broken, made.labels)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"soft": 0.5}, "Unknown setting: soft"),
        ({"epochs": 1.5}, r"epochs.*1.5"),
        ({"views": 2}, r"views.*2"),
        ({"projection": 8.5}, r"projection.*8.5"),
    ],
)
def test_wrong_settings_are_refused_by_name(settings, message):
    made = world()
    base = lookalike.embeddings(made.catalog, "base", made.features)
    with pytest.raises(ArgumentError, match=message):
        lookalike.finetune(made.catalog, base, made.labels, **settings)


def test_a_run_that_never_gets_through_an_epoch(monkeypatch):
    made = world()
    base = lookalike.embeddings(made.catalog, "base", made.features)
    from lookalike.learn.losses import weighted as loop

    supcon = loop.LOSSES["supcon"]
    monkeypatch.setattr(
        loop,
        "LOSSES",
        {"supcon": lambda *a, **o: (found := supcon(*a, **o))._replace(value=found.value * float("nan"))},
    )
    with pytest.raises(LearningError, match=r"base .*loss is nan in epoch 1"):
        lookalike.finetune(made.catalog, base, made.labels, projection=4, epochs=2)
