"""Pairs of left and right images from a catalog's labels, and the epoch that resamples of them choose."""

import numpy as np
import pytest
from learning_worlds import catalog_of, world

from lookalike.core.errors import LabelsError
from lookalike.core.types import Labels
from lookalike.learn.bootstrap import bootstrap_epochs
from lookalike.learn.examples import Cached
from lookalike.learn.keeper import Unkept
from lookalike.learn.settings import TrainingSettings
from lookalike.learn.similar_pairs import PairExamples, SimilarPairs, similar_pairs
from lookalike.positive.graph import label_graph

torch = pytest.importorskip("torch")
HERE = torch.device("cpu")
QUICK = TrainingSettings(loss="symmetric", epochs=12, resamples=4, rate=0.05)


def pairs_of(labels: Labels, *, nodes: str = "image", photos: int = 1) -> SimilarPairs:
    items = [f"i{at}" for at in range(8) for _ in range(photos)]
    images = [f"i{at}-{photo}" for at in range(8) for photo in range(photos)]
    catalog = catalog_of(images, items, np.array(["train"] * 7 * photos + ["test"] * photos))
    return similar_pairs(catalog, labels, label_graph(catalog, labels, nodes=nodes), "train")


def test_left_is_the_query_and_only_usable_similar_pairs_of_the_split_are_there():
    found = pairs_of(
        Labels.of(
            ["i3-0", "i1-0", "i1-0", "i0-0", "i2-0", "i5-0", "i4-0", "i6-0", "i2-0"],
            ["i0-0", "i2-0", "i4-0", "i3-0", "i5-0", "i2-0", "i4-0", "i7-0", "i6-0"],
            [1, 1, 0, 1, 1, 0, 1, 1, 1],
        )
    )
    assert found.left.tolist() == [3, 1, 2]  # i2-i5 both ways, i4 with itself, i7 in the test split
    assert found.right.tolist() == [0, 2, 6]
    apart = np.zeros((3, 3), bool)
    assert found.apart() is None or (found.apart() != apart).any()


def test_one_to_one_pairs_have_nothing_apart():
    found = pairs_of(Labels.of(["i0-0", "i1-0", "i2-0"], ["i3-0", "i4-0", "i5-0"], [1, 1, 1]))
    assert found.apart() is None


def test_known_positives_and_photos_of_the_same_item_are_no_negatives():
    queries, candidates = ["i0-0", "i0-0", "i3-0", "i2-0"], ["i1-0", "i2-0", "i4-0", "i5-0"]
    found = pairs_of(Labels.of(queries, candidates, [1] * 4))
    similar = {frozenset(pair) for pair in zip(queries, candidates, strict=True)}
    expected = [
        [i != j and (a == b or frozenset((a, b)) in similar) for j, b in enumerate(candidates)]
        for i, a in enumerate(queries)
    ]
    assert found.apart().tolist() == expected
    assert expected[3][1]  # image i2 is left in one pair and right in another


def test_with_items_another_photo_is_no_negative_either():
    labels = Labels.of(["i0-0", "i0-1"], ["i1-0", "i2-0"], [1, 1])
    assert pairs_of(labels, photos=2).apart() is None
    assert pairs_of(labels, nodes="item", photos=2).apart().tolist() == [[False, True], [True, False]]


def test_a_batch_holds_every_pair_and_two_views_are_copies_of_pairs():
    made = pairs_of(Labels.of(["i0-0", "i1-0"], ["i3-0", "i4-0"], [1, 1]))
    view = np.arange(16, dtype=np.float32).reshape(8, 2)
    one, (batch,) = PairExamples(made, Cached([view], HERE), 0, HERE).epoch(0)
    assert one == 1
    assert batch.inputs.tolist() == view[[0, 1, 3, 4]].tolist()
    assert batch.apart is None
    _, (two,) = PairExamples(made, Cached([view, view + 100], HERE), 0, HERE).epoch(0)
    assert len(two.inputs) == 8
    assert two.apart.tolist() == [[i != j and (i - j) % 2 == 0 for j in range(4)] for i in range(4)]
    assert (two.inputs[:2] - two.inputs[2:4]).abs().tolist() == [[100, 100]] * 2


def linear(seed: int) -> torch.nn.Module:
    model = torch.nn.Linear(12, 8, bias=False)
    with torch.no_grad():
        model.weight.normal_(generator=torch.Generator().manual_seed(seed))
    return model


def learning(seed: int = 0):
    made = world(items=80, share=0.3, seed=seed)
    graph = label_graph(made.catalog, made.labels)
    return similar_pairs(made.catalog, made.labels, graph, "train"), Cached([made.features], HERE)


def test_the_epoch_is_that_of_the_highest_mean_out_of_bag():
    pairs, views = learning()
    found = bootstrap_epochs(linear, pairs, views, QUICK, Unkept(), HERE)
    mean = found.curves.mean(0)
    assert found.curves.shape == (4, 12)
    assert found.epochs == int(mean.argmax()) + 1
    assert found.recall == pytest.approx(mean.max())
    assert len(np.unique(found.curves, axis=0)) == 4  # each resample is another one


class Kept(Unkept):
    def __init__(self):
        self.curves = {}

    def resample(self, number):
        return self.curves.get(number)

    def keep_resample(self, number, curve):
        assert number not in self.curves
        self.curves[number] = curve


def test_finished_resamples_are_not_run_again():
    pairs, views = learning()
    keeper = Kept()
    first = bootstrap_epochs(linear, pairs, views, QUICK, keeper, HERE)
    keeper.curves[1] = [0.0] * 11 + [9.0]
    again = bootstrap_epochs(lambda _: pytest.fail("a model was made"), pairs, views, QUICK, keeper, HERE)
    assert again.epochs == 12
    assert (again.curves[[0, 2, 3]] == first.curves[[0, 2, 3]]).all()


def test_one_pair_is_too_few_to_resample():
    made = pairs_of(Labels.of(["i0-0"], ["i1-0"], [1]))
    views = Cached([np.ones((8, 12), np.float32)], HERE)
    with pytest.raises(LabelsError, match="too few"):
        bootstrap_epochs(linear, made, views, QUICK, Unkept(), HERE)
