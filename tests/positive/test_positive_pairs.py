"""Positiveness of all pairs of a catalog, of a batch, and the labels that positives speak against, by hand."""

from itertools import combinations, pairwise
from math import isclose

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.matching import Vote
from oracles.ranking import Photo
from oracles.softness import node_labels, soft_positives
from oracles.worlds import catalog_of, labels_of
from positive.label_worlds import worlds

from lookalike.api.positiveness import positiveness
from lookalike.core.errors import ArgumentError, LabelsError
from lookalike.positive.contradictions import contradictions
from lookalike.positive.graph import label_graph
from lookalike.positive.positiveness import Softness, last_hop, relations, weights

REASONS = {
    "the catalog lacks the image": "unknown image",
    "query and candidate are one image": "one image",
    "both photos show one item": "one item",
    "labelled both similar and dissimilar": "both ways",
}
settings = st.fixed_dictionaries(
    {
        "beta": st.sampled_from([0.0, 0.1, 0.7, 2.0]),
        "most": st.integers(1, 9),
        "nodes": st.sampled_from(["image", "item"]),
        "split": st.sampled_from([None, "train", "train", "test"]),
    }
)


def soft_of(made: dict) -> Softness:
    """The package's parameters."""
    return Softness(beta=made["beta"], max_distance=made["most"])


@given(world=worlds, made=settings)
def test_every_pair_above_zero_is_there_once_and_no_other(world, made):
    catalog, labels = catalog_of(world.photos), labels_of(world.votes)
    truth = soft_positives(world.photos, world.votes, **made)
    wanted = {pair: soft for pair, soft in truth.items() if soft.positiveness > 0}
    options = {
        "beta": made["beta"],
        "max_distance": made["most"],
        "nodes": made["nodes"],
        "split": made["split"],
    }
    if not any(
        label == 1
        for label in node_labels(world.photos, world.votes, made["nodes"], made["split"])[0].values()
    ):
        with pytest.raises(LabelsError):
            positiveness(catalog, labels, **options)
        return
    found = positiveness(catalog, labels, **options)
    rows = [(catalog.row[a], catalog.row[b]) for a, b in zip(found.image_a, found.image_b, strict=True)]
    assert all(a < b for a, b in rows)
    pairs = [frozenset(pair) for pair in zip(found.image_a, found.image_b, strict=True)]
    assert len(pairs) == len(set(pairs)) == len(found)
    assert set(pairs) == set(wanted)
    for pair, p, hops in zip(pairs, found.positiveness.tolist(), found.distance.tolist(), strict=True):
        assert hops == wanted[pair].hops
        assert isclose(p, wanted[pair].positiveness, rel_tol=1e-6)


@given(world=worlds, made=settings, pick=st.integers(0, 2**32))
def test_a_batch_has_the_positiveness_of_its_pairs(world, made, pick):
    catalog, labels = catalog_of(world.photos), labels_of(world.votes)
    truth = soft_positives(world.photos, world.votes, **made)
    inside = [row for row, photo in enumerate(world.photos) if made["split"] in (None, photo.split)]
    if not inside:
        return
    rows = np.random.default_rng(pick).choice(inside, 20)  # a row may be there twice
    graph = label_graph(catalog, labels, nodes=made["nodes"], split=made["split"])
    found = relations(graph, rows, soft_of(made))
    plain = relations(graph, rows, None)
    assert (found.weight == found.weight.T).all()
    assert (found.judged == plain.judged).all()
    for i, j in combinations(range(len(rows)), 2):
        names = frozenset((catalog.image[rows[i]], catalog.image[rows[j]]))
        if len(names) == 1:
            assert (found.weight[i, j], plain.weight[i, j], found.judged[i, j]) == (1, 1, True)
            continue
        same = made["nodes"] == "item" and catalog.item[rows[i]] == catalog.item[rows[j]]
        soft = truth[names]
        assert isclose(found.weight[i, j], soft.positiveness, rel_tol=1e-6)
        assert plain.weight[i, j] == (same or soft.label == 1)
        assert found.judged[i, j] == (same or soft.label is not None)


@given(world=worlds, made=settings)
def test_contradictions_are_the_negatives_within_reach(world, made):
    catalog, labels = catalog_of(world.photos), labels_of(world.votes)
    graph = label_graph(catalog, labels, nodes=made["nodes"], split=made["split"])
    found = contradictions(catalog, labels, graph, soft_of(made))
    node = {p.image: p.item if made["nodes"] == "item" else p.image for p in world.photos}
    truth = soft_positives(world.photos, world.votes, **made)
    wanted = {
        frozenset(node[image] for image in pair): soft.hops
        for pair, soft in truth.items()
        if soft.label == 0 and soft.hops is not None
    }
    ends = zip(found.query, found.candidate, strict=True)
    listed = dict(zip((frozenset((node[a], node[b])) for a, b in ends), found.distance.tolist(), strict=True))
    assert listed == wanted
    assert len(found) == len(wanted)
    assert found.distance.tolist() == sorted(found.distance.tolist())
    assert np.allclose(found.positiveness, np.exp(-made["beta"] * found.distance))
    given_votes = {(vote.query, vote.candidate) for vote in world.votes if vote.label == 0}
    assert set(zip(found.query, found.candidate, strict=True)) <= given_votes


@given(world=worlds, made=settings)
def test_labels_left_out_are_counted_by_reason(world, made):
    graph = label_graph(
        catalog_of(world.photos), labels_of(world.votes), nodes=made["nodes"], split=made["split"]
    )
    found = {REASONS.get(part.reason, "outside of the split"): part.count for part in graph.unusable}
    assert found == node_labels(world.photos, world.votes, made["nodes"], made["split"])[1]


CHAIN = [Photo(name, name) for name in "abcdefgh"]
LINKS = [Vote(one.image, other.image, 1) for one, other in pairwise(CHAIN)]


def chain(*more: Vote, **options: object) -> dict[str, float]:
    """Positiveness along a chain a, b, ..., h of similar neighbours, and further votes; pairs as `ah`."""
    found = positiveness(catalog_of(CHAIN), labels_of([*LINKS, *more]), **options)
    names = (a + b for a, b in zip(found.image_a, found.image_b, strict=True))
    return dict(zip(names, found.positiveness.tolist(), strict=True))


def test_the_papers_own_figures():
    """VSD 6.1: L = 7, beta = 0.7; exp(-1.4) = 0.2466 at two hops, exp(-4.9) = 0.0074 at seven."""
    found = chain()
    assert len(found) == 28
    assert (found["ab"], round(found["ac"], 4), round(found["ah"], 4)) == (1.0, 0.2466, 0.0074)
    assert "ah" not in chain(max_distance=6)


def test_a_labelled_negative_stays_zero_and_does_not_cut_the_path():
    found = chain(Vote("a", "c", 0))
    assert "ac" not in found
    assert round(found["ad"], 4) == round(float(np.exp(-2.1)), 4)


def test_beta_zero_weighs_all_alike():
    assert set(chain(beta=0.0, max_distance=3).values()) == {1.0}


def test_a_least_positiveness_is_a_lower_limit_of_hops():
    assert set(chain(min_positiveness=0.1)) == set(chain(max_distance=3))
    value = chain()["ac"]
    assert set(chain(min_positiveness=value)) == set(
        chain(max_distance=2)
    )  # a value from a file can be the minimum
    assert set(chain(min_positiveness=1.0)) == {"ab", "bc", "cd", "de", "ef", "fg", "gh"}


def test_what_rounds_to_zero_is_left_out():
    assert last_hop(Softness(beta=50.0, max_distance=7)) == 2
    assert set(chain(beta=50.0)) == set(chain(max_distance=2))
    assert min(chain(beta=50.0).values()) > 0


def test_one_positive_is_one_pair():
    found = positiveness(catalog_of(CHAIN), labels_of(LINKS[:1]))
    assert (found.image_a.tolist(), found.image_b.tolist(), found.distance.tolist()) == (["a"], ["b"], [1])


def test_weights_beyond_the_limit_are_zero():
    table = weights(Softness(beta=0.7, max_distance=100))
    assert (table[101:] == 0).all()
    assert (np.diff(table) <= 0).all()


def test_photos_of_one_item_are_joined_at_distance_zero():
    photos = [Photo("a1", "a"), Photo("b1", "b"), Photo("a2", "a"), Photo("a3", "a", split="test")]
    found = positiveness(catalog_of(photos), labels_of([Vote("a1", "b1", 1)]), nodes="item")
    rows = zip(found.image_a, found.image_b, found.distance.tolist(), strict=True)
    assert set(rows) == {("a1", "a2", 0), ("a1", "b1", 1), ("b1", "a2", 1)}


@pytest.mark.parametrize("nodes", ["image", "item"])
def test_labels_of_another_split_do_not_reach_the_graph(nodes):
    """Each item has a photo in every split. Labels of test photos do not change the training graph."""
    photos = [Photo(f"{name}{split}", name, split=split) for name in "abcd" for split in ("train", "test")]
    train = [Vote("atrain", "btrain", 1), Vote("btrain", "ctrain", 0), Vote("ctrain", "dtrain", 1)]
    opposite = [
        Vote(v.query.replace("train", "test"), v.candidate.replace("train", "test"), 1 - v.label)
        for v in train
    ]
    catalog = catalog_of(photos)
    alone, beside = (
        label_graph(catalog, labels_of(votes), nodes=nodes) for votes in (train, train + opposite)
    )
    for one, other in ((alone.positive, beside.positive), (alone.negative, beside.negative)):
        assert (one.start.tolist(), one.node.tolist()) == (other.start.tolist(), other.node.tolist())
    assert (beside.positive.pairs, beside.negative.pairs) == (2, 1)
    (left,) = beside.unusable
    assert left.count == 3
    assert "split train" in left.reason


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"beta": -1.0}, "beta"),
        ({"beta": float("nan")}, "beta"),
        ({"max_distance": 0}, "max_distance"),
        ({"max_distance": 101}, "max_distance"),
        ({"nodes": "photo"}, "nodes"),
        ({"split": "tests"}, "split"),
        ({"min_positiveness": 1.5}, "min_positiveness"),
        ({"min_positiveness": float("nan")}, "min_positiveness"),
        ({"max_pairs": 5}, "28 pairs .*max_pairs is 5"),
    ],
)
def test_values_out_of_range_are_refused(options, words):
    with pytest.raises(ArgumentError, match=words):
        chain(**options)
