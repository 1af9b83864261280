"""What must not change a loss does not, and what must does."""

import pytest
from batches_at_random import Batch, Kind, batch, each_kind, value_and_gradient
from hypothesis import given
from hypothesis import strategies as st

torch = pytest.importorskip("torch")
batches = st.builds(
    batch, st.integers(0, 10**6), st.integers(2, 14), st.integers(2, 8), views=st.integers(1, 2)
)
rules = st.sampled_from(["negative", "ignore"])


def close(kind: Kind, one: Batch, other: Batch, unjudged: str) -> None:
    """Both batches give the same value and counts."""
    first, second = (kind.loss(*sampled, unjudged=unjudged) for sampled in (one, other))
    torch.testing.assert_close(first, second, rtol=1e-8, atol=1e-10)


@each_kind
@given(batches, rules, st.randoms(use_true_random=False))
def test_the_order_of_the_rows_does_not_matter(kind: Kind, sample: Batch, unjudged: str, random):
    order = list(range(len(sample.vectors)))
    random.shuffle(order)
    weight, judged = (square[order][:, order] for square in sample[1:])
    close(kind, sample, Batch(sample.vectors[order], weight, judged), unjudged)


@each_kind
@given(batches, rules, st.floats(1e-6, 1e6))
def test_the_length_of_a_vector_does_not_matter(kind: Kind, sample: Batch, unjudged: str, factor: float):
    longer = sample.vectors.clone()
    longer[0] *= factor
    close(kind, sample, sample._replace(vectors=longer), unjudged)


@each_kind
@given(batches, rules, st.floats(1e-3, 1e3))
def test_only_the_proportions_of_weights_matter(kind: Kind, sample: Batch, unjudged: str, factor: float):
    close(kind, sample, sample._replace(weight=sample.weight * factor), unjudged)


@each_kind
@given(batches, rules)
def test_a_vector_is_no_pair_with_itself(kind: Kind, sample: Batch, unjudged: str):
    other = Batch(sample.vectors, sample.weight.clone().fill_diagonal_(0.5), ~sample.judged)
    off = ~torch.eye(len(sample.vectors), dtype=torch.bool)
    close(kind, sample, other._replace(judged=torch.where(off, sample.judged, other.judged)), unjudged)


@each_kind
@given(batches)
def test_the_rule_for_the_unjudged_decides_nothing_where_all_are_judged(kind: Kind, sample: Batch):
    all_judged = sample._replace(judged=torch.ones_like(sample.judged))
    one, other = kind.loss(*all_judged, unjudged="negative"), kind.loss(*all_judged, unjudged="ignore")
    assert torch.equal(torch.stack(one[:4]), torch.stack(other[:4]))
    assert torch.equal(one.value, kind.loss(*sample, unjudged="negative").value)


@each_kind
@given(batches)
def test_an_unjudged_pair_without_weight_can_take_no_part(kind: Kind, sample: Batch):
    """An unjudged image without a similar one changes nothing for the others."""
    n = len(sample.vectors)
    vectors = torch.cat([sample.vectors, sample.vectors[:1] + 0.1])
    weight = torch.zeros(n + 1, n + 1, dtype=torch.float64)
    judged = torch.zeros(n + 1, n + 1, dtype=torch.bool)
    weight[:n, :n], judged[:n, :n] = sample.weight, sample.judged
    before = kind.loss(*sample, unjudged="ignore")
    after, slope = value_and_gradient(kind, vectors, weight, judged, unjudged="ignore")
    torch.testing.assert_close(before.value, after.value, rtol=1e-9, atol=1e-12)
    assert (after.kept, after.negatives) == (before.kept, before.negatives)
    assert not slope[n].any()


@each_kind
def test_a_step_against_the_slope_lowers_the_loss(kind: Kind):
    sample = batch(5, n=30, hard=True)
    loss, slope = value_and_gradient(kind, *sample)
    step = 1e-4 / slope.norm()
    lower, _ = value_and_gradient(kind, sample.vectors - step * slope, *sample[1:])
    if "trpl all" in kind.name or "trpl" not in kind.name:  # a step may choose other hard triplets
        assert lower.value < loss.value


@each_kind
def test_soft_weights_matter(kind: Kind):
    sample = batch(5, n=30)
    plain = sample._replace(weight=(sample.weight > 0).double())
    assert abs(kind.loss(*sample).value - kind.loss(*plain).value) > 1e-5
