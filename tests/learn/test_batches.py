"""Batches: every anchor once an epoch with what it brings, however many labels it has, by seed and epoch alone."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from learning_worlds import catalog_of, world

from lookalike.core.errors import LabelsError
from lookalike.core.types import Labels
from lookalike.learn.batches import NONE, Anchors, BatchPlan, anchors, epoch_batches, farther
from lookalike.positive.graph import label_graph
from lookalike.positive.positiveness import Softness

SOFT = Softness(beta=0.7, max_distance=4)


def around(nodes: str = "image", **how: object) -> tuple[Anchors, np.ndarray]:
    made = world(**how)
    rows = np.flatnonzero(made.catalog.split == "train")
    return anchors(label_graph(made.catalog, made.labels, nodes=nodes, split="train"), rows), rows


def neighbours_of(of: object, node: int) -> set[int]:
    return set(of.node[of.start[node] : of.start[node + 1]].tolist())


def hops(of: object, source: int) -> dict[int, int]:
    """Breadth-first search by hand."""
    found, edge = {source: 0}, [source]
    while edge:
        edge = [
            b
            for a in edge
            for b in neighbours_of(of, a)
            if b not in found and not found.update({b: found[a] + 1})
        ]
    return found


@given(st.integers(0, 2**32), st.integers(0, 50), st.integers(2, 60))
def test_every_anchor_comes_in_some_batch_and_none_is_too_large(seed, epoch, size):
    given_anchors, rows = around()
    batches = epoch_batches(given_anchors, BatchPlan(size=size), SOFT, seed, epoch)
    met = np.concatenate(batches)
    assert set(given_anchors.node.tolist()) <= set(met.tolist())
    assert set(met.tolist()) <= set(rows.tolist())
    assert all(len(batch) == len(np.unique(batch)) for batch in batches)
    assert all(len(batch) <= max(size, 6) for batch in batches)  # an anchor brings five


def test_a_batch_holds_positives_and_labelled_negatives_of_its_anchors():
    """One anchor to a batch shows what it brings: 2 positives, 2 labelled negatives, 1 within L hops."""
    given_anchors, _ = around(items=100)
    graph = given_anchors.graph
    batches = epoch_batches(given_anchors, BatchPlan(size=2), SOFT, 0, 0)
    assert len(batches) == len(given_anchors)
    met = []
    for batch in batches:
        fitting = []
        for anchor in set(batch.tolist()) & set(given_anchors.node.tolist()):
            rest = set(batch.tolist()) - {anchor}
            positive, negative = neighbours_of(graph.positive, anchor), neighbours_of(graph.negative, anchor)
            near = {b for b, d in hops(graph.positive, anchor).items() if d <= SOFT.max_distance}
            far = rest - positive - negative
            if (
                min(2, len(positive)) <= len(rest & positive) <= 3
                and len(rest & negative) == min(2, len(negative))
                and far <= near
                and len(far) <= 1
            ):
                fitting.append(anchor)
        assert fitting, batch
        met.append(fitting)
    assert set().union(*met) == set(given_anchors.node.tolist())


@given(st.integers(0, 2**32))
def test_soft_ones_are_two_or_more_hops_away_and_never_labelled(seed):
    graph, center = (made := around(items=100, share=0.1)[0]).graph, made.node
    found = farther(graph, center, 2, 4, np.random.default_rng(seed))
    reached = 0
    for anchor, ends in zip(center.tolist(), found.tolist(), strict=True):
        away = hops(graph.positive, anchor)
        labelled = neighbours_of(graph.positive, anchor) | neighbours_of(graph.negative, anchor)
        allowed = {node for node, far in away.items() if 2 <= far <= 4} - labelled
        assert set(ends) - {NONE} <= allowed
        reached += bool(set(ends) - {NONE})
        if not allowed:
            assert ends == [NONE, NONE]
    assert reached > len(center) / 2


def test_batches_are_filled_with_distinct_rows():
    given_anchors, _ = around(items=600, share=0.05)
    sizes = [len(batch) for batch in epoch_batches(given_anchors, BatchPlan(size=64), SOFT, 0, 0)]
    assert len(sizes) > 10
    assert max(sizes) <= 64
    assert np.mean(sizes) > 0.9 * 64
    assert min(sizes) > 0.5 * 64


def test_in_one_batch_soft_ones_change_nothing():
    """They are anchors themselves, which all are there; the other samples are the same with them and without."""
    given_anchors, _ = around(items=100)
    with_soft, without = (
        epoch_batches(given_anchors, BatchPlan(size=1_000), soft, 3, 4) for soft in (SOFT, None)
    )
    assert [one.tolist() for one in with_soft] == [one.tolist() for one in without]


def test_without_soft_positives_nothing_is_fetched_from_farther_off():
    given_anchors, _ = around(items=100)
    for batch in epoch_batches(given_anchors, BatchPlan(size=2), None, 0, 0):
        direct = [
            anchor
            for anchor in batch.tolist()
            if set(batch.tolist())
            <= {anchor}
            | neighbours_of(given_anchors.graph.positive, anchor)
            | neighbours_of(given_anchors.graph.negative, anchor)
        ]
        assert direct


def test_an_anchor_with_a_thousand_labels_comes_as_often_as_one_with_one():
    """A star of 1,000 and 500 single pairs: each end is sampled once, so the star's centre does not fill the epoch."""
    image = [f"i{at}" for at in range(2_001)]
    catalog = catalog_of(image, image, np.full(len(image), "train"))
    star = [("i0", f"i{at}") for at in range(1, 1_001)]
    single = [(f"i{at}", f"i{at + 1}") for at in range(1_001, 2_001, 2)]
    pairs = star + single
    labels = Labels.of([a for a, _ in pairs], [b for _, b in pairs], np.ones(len(pairs)))
    made = anchors(label_graph(catalog, labels), np.arange(len(image)))
    batches = epoch_batches(made, BatchPlan(size=2, positives=1, negatives=0, soft=0), None, 0, 0)
    assert 1_990 < len(batches) <= 2_001  # the two ends of a single pair, sampled in turn, share a batch
    times = np.bincount(np.concatenate(batches), minlength=2_001)
    assert times[0] == 1_001  # as the one positive of each of its thousand, and once itself
    assert (times[1:1_001].sum(), times[1_001:].max()) == (1_001, 2)
    assert times[1_001:].sum() == 2 * (len(batches) - 1_001)


def test_positives_are_sampled_with_equal_chances():
    given_anchors, _ = around(items=40, clusters=2, share=1.0)
    plan, anchor = BatchPlan(size=2, positives=2, negatives=0, soft=0), int(given_anchors.node[0])
    positive = sorted(neighbours_of(given_anchors.graph.positive, anchor))
    times = dict.fromkeys(positive, 0)
    for epoch in range(600):
        batches = epoch_batches(given_anchors, plan, None, 1, epoch)
        place = np.random.Generator(np.random.PCG64(np.random.SeedSequence((1, epoch)))).permutation(
            given_anchors.node
        )
        for one in batches[int(np.flatnonzero(place == anchor)[0])].tolist():
            if one != anchor:
                times[one] += 1
    expected = 600 * 2 / len(positive)
    assert len(positive) > 4
    assert all(abs(count - expected) < 5 * expected**0.5 for count in times.values()), times


def test_batches_are_a_function_of_seed_and_epoch():
    given_anchors, _ = around()

    def batches_of(seed: int, epoch: int) -> list[list[int]]:
        return [
            batch.tolist() for batch in epoch_batches(given_anchors, BatchPlan(size=12), SOFT, seed, epoch)
        ]

    assert batches_of(3, 7) == batches_of(3, 7)
    assert batches_of(3, 7) != batches_of(3, 8)
    assert batches_of(3, 7) != batches_of(4, 7)


def test_a_batch_larger_than_the_catalog_is_all_of_it_once():
    given_anchors, rows = around()
    (batch,) = epoch_batches(given_anchors, BatchPlan(size=10_000), SOFT, 0, 0)
    assert set(given_anchors.node.tolist()) <= set(batch.tolist()) <= set(rows.tolist())


def test_with_items_as_nodes_any_photo_of_an_item_is_taken():
    given_anchors, rows = around(nodes="item", photos=3)
    met: set[int] = set()
    for epoch in range(20):
        for batch in epoch_batches(given_anchors, BatchPlan(size=12), SOFT, 0, epoch):
            met |= set(batch.tolist())
    labelled = {
        row for row in rows.tolist() if given_anchors.graph.node[row] in set(given_anchors.node.tolist())
    }
    assert labelled <= met <= set(rows.tolist())
    one_photo, _ = around(photos=3)
    assert set(one_photo.node.tolist()) < labelled  # as images only the first photos have labels


def test_the_two_kinds_of_nodes_agree_where_an_item_has_one_photo():
    by_image, by_item = around()[0], around(nodes="item")[0]
    one, other = (epoch_batches(made, BatchPlan(size=12), SOFT, 5, 0) for made in (by_image, by_item))
    assert [batch.tolist() for batch in one] == [batch.tolist() for batch in other]


def test_no_positive_is_an_error_and_one_is_enough():
    made = world()
    rows = np.arange(len(made.catalog))
    none = made.labels.label == 0
    only = Labels(made.labels.query[none], made.labels.candidate[none], made.labels.label[none])
    with pytest.raises(LabelsError, match="labelled similar") as error:
        anchors(label_graph(made.catalog, only), rows)
    outside = label_graph(made.catalog, only).unusable[0].count
    assert f"{outside:,} left out" in error.value.problem
    one = Labels.of(["i0-0"], ["i5-0"], [1])
    (batch,) = epoch_batches(anchors(label_graph(made.catalog, one), rows), BatchPlan(), SOFT, 0, 0)
    assert batch.tolist() == [0, 5]
