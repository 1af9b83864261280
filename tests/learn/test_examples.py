"""What a step sees: views of images, and weights between the views."""

import numpy as np
import pytest
import torch
from learning_worlds import world

from lookalike.learn.batches import BatchPlan, anchors
from lookalike.learn.examples import Cached, Examples
from lookalike.positive.graph import label_graph
from lookalike.positive.positiveness import Softness, relations

CPU = torch.device("cpu")


SOFT = Softness(beta=0.7, max_distance=3)


def examples(views: list[np.ndarray], seed: int = 0, soft: Softness | None = SOFT) -> Examples:
    made = world()
    rows = np.flatnonzero(made.catalog.split == "train")
    given = anchors(label_graph(made.catalog, made.labels), rows)
    return Examples(given, BatchPlan(size=12), soft, Cached(views, CPU), seed, CPU)


def test_one_view_is_the_features_themselves():
    made = world()
    count, batches = examples([made.features]).epoch(0)
    listed = list(batches)
    assert len(listed) == count > 1
    for batch in listed:
        assert (batch.inputs.numpy() == made.features[batch.rows]).all()
        assert batch.weight.shape == batch.judged.shape == (len(batch.rows),) * 2


def test_of_several_views_an_image_enters_as_two_different_ones():
    views = [
        np.full((60, 4), number, np.float32) + np.arange(60, dtype=np.float32)[:, None] / 100
        for number in range(3)
    ]
    pairs = set()
    for batch in list(examples(views).epoch(0)[1]):
        one, other = batch.inputs.numpy().reshape(2, len(batch.rows), 4)
        for half in (one, other):
            np.testing.assert_allclose(half[:, 0] % 1, batch.rows / 100, atol=1e-6)
        first, second = one[:, 0].astype(int), other[:, 0].astype(int)
        assert (first != second).all()
        pairs |= set(zip(first.tolist(), second.tolist(), strict=True))
    assert pairs == {(a, b) for a in range(3) for b in range(3) if a != b}


def test_weights_hold_between_the_images_of_the_views():
    """W is 1 between the two views of one image, and P between those of others."""
    made = world()
    sampled = examples([made.features, made.features])
    batch = next(sampled.epoch(0)[1])
    known = relations(sampled.around.graph, batch.rows, sampled.soft)
    n = len(batch.rows)
    for i in range(2 * n):
        for j in range(2 * n):
            assert batch.weight[i, j].item() == known.weight[i % n, j % n]
            assert batch.judged[i, j].item() == known.judged[i % n, j % n]
    assert (torch.diagonal(batch.weight, n) == 1).all()


def test_a_batch_is_a_function_of_seed_epoch_and_place():
    views = [np.random.default_rng(view).normal(size=(60, 4)).astype(np.float32) for view in range(3)]
    one, again, other = (list(examples(views, seed).epoch(2)[1]) for seed in (1, 1, 2))
    assert all(torch.equal(a.inputs, b.inputs) for a, b in zip(one, again, strict=True))
    assert not torch.equal(one[0].inputs, other[0].inputs)
    later = list(examples(views, 1).epoch(3)[1])
    assert one[0].rows.tolist() != later[0].rows.tolist()


def test_a_batch_lists_its_rows():
    batch = next(examples([world().features]).epoch(0)[1])
    assert str(batch).startswith(f"{len(batch.rows)} images, catalog rows {batch.rows[0]}, ")
    assert str(batch).endswith(", ...")


@pytest.mark.parametrize("soft", [None, Softness(beta=0.7, max_distance=1)])
def test_chains_of_one_pair_are_the_labels(soft):
    batch = next(examples([world().features], soft=soft).epoch(0)[1])
    off = ~torch.eye(len(batch.rows), dtype=torch.bool)
    assert set(batch.weight[off].unique().tolist()) <= {0.0, 1.0} | {float(np.exp(np.float32(-0.7)))}
    assert (batch.judged | (batch.weight == 0)).all()
