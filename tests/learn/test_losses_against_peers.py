"""With weights of 0 and 1 SupCon and TRPL equal pytorch-metric-learning, value and slope.

Its SupCon gives an anchor without positives a loss of 0 and then averages over the losses above 0 (AvgNonZeroReducer),
so such anchors are left out there as here; without a positive or without a negative in the whole batch it returns 0,
where Khosla's Eq. 2 still has a value for positives alone. Its hard triplets take d_in <= d_ip, its semihard ones
d_in <= d_ip + m: the same but for ties.
"""

import pytest
from batches_at_random import Batch, batch

from lookalike.learn.losses.weighted import supcon, triplet

torch = pytest.importorskip("torch")
distances = pytest.importorskip("pytorch_metric_learning.distances")
from pytorch_metric_learning import losses, miners, reducers  # noqa: E402

EUCLIDEAN = distances.LpDistance(normalize_embeddings=True, p=2)
SEEDS = range(6)
each_rule = pytest.mark.parametrize("unjudged", ["negative", "ignore"])
each_size = pytest.mark.parametrize("n", [12, 40])


def masks(sample: Batch, unjudged: str):
    """Positive and negative pairs."""
    apart = ~torch.eye(len(sample.vectors), dtype=torch.bool)
    negative = (sample.weight == 0) & apart
    return (sample.weight > 0) & apart, negative & sample.judged if unjudged == "ignore" else negative


def same(ours, theirs, vectors) -> None:
    """One value and one slope."""
    for loss in (ours, theirs):
        assert loss.item() > 0
    slopes = [torch.autograd.grad(loss, vectors)[0] for loss in (ours, theirs)]
    torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-12)
    torch.testing.assert_close(*slopes, rtol=1e-7, atol=1e-9)


@each_rule
@each_size
def test_supcon(unjudged: str, n: int):
    for seed in SEEDS:
        sample = batch(seed, n, hard=True)
        positive, negative = masks(sample, unjudged)
        indices = (*torch.where(positive), *torch.where(negative))
        vectors = sample.vectors.requires_grad_()
        ours = supcon(*sample, temperature=0.1, unjudged=unjudged)
        same(ours.value, losses.SupConLoss(temperature=0.1)(vectors, indices_tuple=indices), vectors)


@each_size
def test_supcon_on_labels(n: int):
    label = torch.arange(n) % 5
    sample = batch(1, n)
    weight = (label.unsqueeze(1) == label).double()
    vectors = sample.vectors.requires_grad_()
    ours = supcon(vectors, weight, weight > 0, temperature=0.05)
    same(ours.value, losses.SupConLoss(temperature=0.05)(vectors, label), vectors)


@each_rule
@each_size
def test_triplets(unjudged: str, n: int):
    for seed in SEEDS:
        sample = batch(seed, n, hard=True)
        positive, negative = masks(sample, unjudged)
        listed = torch.where(positive.unsqueeze(2) & negative.unsqueeze(1))
        vectors = sample.vectors.requires_grad_()
        peer = losses.TripletMarginLoss(0.2, distance=EUCLIDEAN, reducer=reducers.MeanReducer())
        ours = triplet(*sample, margin=0.2, unjudged=unjudged)
        same(ours.value, peer(vectors, indices_tuple=listed), vectors)


@each_size
@pytest.mark.parametrize("rule", ["hard", "semihard"])
def test_mined_triplets(rule: str, n: int):
    label = torch.arange(n) % 5
    weight = (label.unsqueeze(1) == label).double()
    for seed in SEEDS:
        vectors = batch(seed, n).vectors.requires_grad_()
        mined = miners.TripletMarginMiner(0.3, rule, distance=EUCLIDEAN)(vectors, label)
        peer = losses.TripletMarginLoss(0.3, distance=EUCLIDEAN, reducer=reducers.MeanReducer())
        ours = triplet(vectors, weight, weight > 0, margin=0.3, triplets=rule)
        same(ours.value, peer(vectors, label, mined), vectors)


def test_the_peer_gives_nothing_for_positives_alone():
    """Where we part: Eq. 2 of Khosla has a value here."""
    vectors = batch(0).vectors
    weight = torch.ones(len(vectors), len(vectors), dtype=torch.float64)
    assert losses.SupConLoss()(vectors, torch.zeros(len(vectors))) == 0
    assert supcon(vectors, weight, weight > 0).value > 1
