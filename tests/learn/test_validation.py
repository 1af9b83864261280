"""What chooses the epoch: the validation split alone, by any measure that needs labels alone."""

import math

import numpy as np
import pytest
import torch
from learning_worlds import world
from torch import nn

from lookalike import embeddings, score
from lookalike.core.errors import MeasureError
from lookalike.core.types import Labels, Rule
from lookalike.encode.heads.two_layers import ProjectionHead
from lookalike.learn.validation import encode, validator


def test_it_is_the_value_that_evaluate_gives_on_the_split():
    made = world(items=120)
    head = ProjectionHead.seeded(12, 8, seed=0)
    for measure in ("DCS", "EHR@5", "AUC_mac"):
        validation = validator(made.catalog, made.labels, made.features, measure)
        vectors = encode(head, made.features)
        rule = Rule(split="validation")
        (expected,) = score(
            made.catalog, [embeddings(made.catalog, "e", vectors)], made.labels, measure, rule=rule
        )
        (value,) = (one.value for one in expected.scores.values())
        assert validation(head) == pytest.approx(value, abs=1e-6)
        assert len(validation.pairs) > 10


def test_the_untrained_encoder_is_measured_on_the_same_pairs():
    made = world(items=120)
    validation = validator(made.catalog, made.labels, made.features, "AUC_mac")
    same = nn.Linear(12, 12, bias=False)
    with torch.no_grad():
        same.weight.copy_(torch.eye(12))
    assert validation.untrained() == validation(same)  # a product with 0 and 1 is exact


def test_labels_of_other_splits_change_nothing():
    made = world(items=120)
    split = dict(zip(made.catalog.image, made.catalog.split, strict=True))
    inside = np.array([split[query] == "validation" for query in made.labels.query])
    only = Labels(made.labels.query[inside], made.labels.candidate[inside], made.labels.label[inside])
    one, other = (validator(made.catalog, labels, made.features, "DCS") for labels in (made.labels, only))
    assert one.untrained() == other.untrained()
    turned = made.features.copy()
    turned[made.catalog.split != "validation"] = -turned[made.catalog.split != "validation"]
    assert validator(made.catalog, only, turned, "DCS").untrained() == other.untrained()


def test_without_labels_there_it_is_undefined():
    made = world()
    split = dict(zip(made.catalog.image, made.catalog.split, strict=True))
    train = np.array([split[query] == "train" for query in made.labels.query])
    only = Labels(made.labels.query[train], made.labels.candidate[train], made.labels.label[train])
    validation = validator(made.catalog, only, made.features, "DCS")
    assert len(validation.pairs) == 0
    assert math.isnan(validation(ProjectionHead.seeded(12, 8, seed=0)))
    assert math.isnan(validation.untrained())


def test_a_measure_that_cannot_choose():
    made = world()
    with pytest.raises(MeasureError, match=r"AUC_mac.*epoch"):
        validator(made.catalog, made.labels, made.features, "AUC_mac(negatives=sampled,n=10)")
    with pytest.raises(MeasureError):
        validator(made.catalog, made.labels, made.features, "DCSS")


def test_slices_give_what_the_whole_gives(monkeypatch):
    made, head = world(), ProjectionHead.seeded(12, 8, seed=0)
    whole = encode(head, made.features)
    monkeypatch.setattr("lookalike.learn.validation.SLICE", 7)
    # two orders of a sum of 12 products of numbers up to 4, 2^-24 each time: 2 * 12 * 12 * 4 * 2^-24 < 1e-4
    np.testing.assert_allclose(encode(head, made.features), whole, rtol=0, atol=1e-4)
