"""Nothing to learn, vectors without a direction, and wrong arguments."""

from itertools import product

import pytest
from batches_at_random import Kind, batch, each_kind, each_rule, value_and_gradient

from lookalike.core.errors import ArgumentError
from lookalike.learn.losses.weighted import LOSSES, contrastive, supcon, triplet

torch = pytest.importorskip("torch")
VECTORS = {
    "identical": lambda n: torch.full((n, 33), 0.37),
    "zero": lambda n: torch.zeros(n, 33),
    "one zero": lambda n: torch.randn(n, 33, generator=torch.Generator().manual_seed(n)).index_fill(
        0, torch.arange(min(n, 1)), 0
    ),
    "two alike": lambda n: torch.randn(n, 33, generator=torch.Generator().manual_seed(n))[
        torch.arange(n) // 2
    ],
    "opposite": lambda n: torch.full((n, 33), 0.37) * (torch.arange(n) % 2 * 2 - 1).unsqueeze(1),
    "huge": lambda n: torch.randn(n, 33, generator=torch.Generator().manual_seed(n)) * 1e15,
    "tiny": lambda n: torch.randn(n, 33, generator=torch.Generator().manual_seed(n)) * 1e-15,
}
WEIGHTS = {
    "no positives": lambda n: torch.zeros(n, n),
    "no negatives": lambda n: torch.ones(n, n),
    "two of a kind": lambda n: (torch.arange(n).unsqueeze(1) // 2 == torch.arange(n) // 2).float(),
}


@each_kind
@each_rule
@pytest.mark.parametrize("vectors", VECTORS)
def test_no_nan(kind: Kind, unjudged: str, vectors: str):
    for n, weights, all_judged in product([0, 1, 2, 9], WEIGHTS, [False, True]):
        weight = WEIGHTS[weights](n)
        judged = (weight > 0) | all_judged
        loss, slope = value_and_gradient(kind, VECTORS[vectors](n), weight, judged, unjudged=unjudged)
        assert loss.value.shape == ()
        assert loss.value.isfinite()
        assert slope.isfinite().all()
        assert all(count.dtype == torch.int64 and count.shape == () for count in loss[1:4])


@each_kind
def test_nothing_to_learn_is_zero_with_a_slope_of_zero(kind: Kind):
    vectors = batch(0).vectors
    nobody = torch.zeros(12, 12, dtype=torch.float64)
    loss, slope = value_and_gradient(kind, vectors, nobody, nobody > 0, unjudged="ignore")
    assert (loss.value.item(), loss.kept.item(), loss.negatives.item()) == (0, 0, 0)
    assert not slope.any()


@each_kind
def test_a_zero_vector_has_no_gradient_and_distance_one(kind: Kind):
    sample = batch(0)
    sample.vectors[3] = 0
    sample.weight[3] = (
        0  # as an anchor it has all at one distance but for the last bits: no hard triplets to agree on
    )
    loss, slope = value_and_gradient(kind, *sample)
    expected = kind.oracle(*(part.tolist() for part in sample), "negative")
    assert loss.value.item() == pytest.approx(expected.value, rel=1e-9)
    assert not slope[3].any()
    assert slope[[0, 1, 2, 4]].any()


@each_kind
@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_a_broken_vector_is_not_hidden(kind: Kind, bad: float):
    sample = batch(0)
    sample.vectors[3, 1] = bad
    assert kind.loss(*sample).value.isnan()


@each_kind
def test_a_vector_too_long_for_its_numbers_is_not_taken_for_zero(kind: Kind):
    sample = batch(0)
    assert kind.loss(sample.vectors.float() * 1e25, *sample[1:]).value.isnan()


def test_identical_vectors_have_no_hard_triplet_and_keep_the_margin_to_learn():
    weight = WEIGHTS["two of a kind"](8).double()
    vectors = torch.eye(1, 5, dtype=torch.float64).repeat(8, 1)
    hard = triplet(vectors, weight, weight > 0, triplets="hard")
    assert (hard.value.item(), hard.kept.item(), hard.skipped.item()) == (0, 0, 8)
    assert triplet(vectors, weight, weight > 0, triplets="semihard").kept == 0
    every = triplet(vectors, weight, weight > 0, margin=0.3)
    assert every.value.item() == pytest.approx(0.3)
    assert every.kept == 8


def test_equal_distances_are_neither_hard_nor_semihard():
    """The anchor 0 has a positive and a negative at one distance, and a negative at the edge of the margin."""
    angles = torch.tensor([0.0, 0.5, -0.5, 1.0], dtype=torch.float64)
    vectors = torch.stack([angles.cos(), angles.sin()], dim=1)
    weight = torch.zeros(4, 4, dtype=torch.float64)
    weight[0, 1] = 1
    for rule in ("hard", "semihard"):
        assert triplet(vectors, weight, weight > 0, triplets=rule, margin=0.1).kept == 0
    assert triplet(vectors, weight, weight > 0, triplets="semihard", margin=0.6).kept == 1


def test_the_names():
    assert dict(LOSSES) == {"supcon": supcon, "con": contrastive, "trpl": triplet}


@pytest.mark.parametrize(
    ("loss", "settings", "named"),
    [
        (supcon, {"temperature": 0.0}, "temperature is 0.0"),
        (supcon, {"temperature": -0.1}, "temperature is -0.1"),
        (supcon, {"temperature": float("nan")}, "temperature is nan"),
        (supcon, {"unjudged": "positive"}, "unjudged is 'positive'"),
        (contrastive, {"margin": -1.0}, "margin is -1.0"),
        (contrastive, {"margin": float("inf")}, "margin is inf"),
        (contrastive, {"unjudged": ""}, "unjudged is ''"),
        (triplet, {"margin": -0.2}, "margin is -0.2"),
        (triplet, {"triplets": "easy"}, "triplets is 'easy'"),
        (triplet, {"unjudged": "none"}, "unjudged is 'none'"),
    ],
)
def test_wrong_settings(loss, settings, named: str):
    with pytest.raises(ArgumentError) as caught:
        loss(*batch(0), **settings)
    assert named in caught.value.problem


@each_kind
def test_wrong_tensors(kind: Kind):
    vectors, weight, judged = batch(0)
    wrong = [
        ((vectors[0], weight, judged), "vectors"),
        ((vectors.long(), weight, judged), "vectors"),
        ((vectors[:5], weight, judged), "weight"),
        ((vectors, weight[:, :5], judged), "weight"),
        ((vectors, weight > 0, judged), "weight"),
        ((vectors, weight, judged[:3]), "judged"),
        ((vectors, weight, weight), "judged"),
    ]
    for given, named in wrong:
        with pytest.raises(ArgumentError) as caught:
            kind.loss(*given)
        assert caught.value.problem.startswith(named)
