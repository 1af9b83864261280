"""A head's arithmetic: VSD E's layers on rows of one length, the same again from the same seed."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from oracles.rounding import gamma

from lookalike.core.errors import ArgumentError
from lookalike.encode.heads.head import Head, apply_head
from lookalike.encode.heads.two_layers import ProjectionHead, ResidualHead, scaled


def by_hand(head: ProjectionHead, vectors: np.ndarray) -> np.ndarray:
    """The formula in float64, a row and an entry at a time."""
    first, a, last, b = (value.detach().double().numpy() for value in head.parameters())
    rows = []
    for row in vectors.astype(np.float64):
        length = np.sqrt(sum(entry * entry for entry in row))
        s = row * np.sqrt(len(row)) / length if length else row
        rows.append(last @ np.maximum(first @ s + a, 0) + b + (s if head.kind == "residual" else 0))
    return np.array(rows)


@given(st.integers(0, 1000), st.integers(1, 9), st.sampled_from([1e-30, 1e-3, 1.0, 1e4, 1e30]), st.booleans())
def test_the_formula_at_any_length_of_the_vectors(seed, features, scale, residual):
    random = np.random.default_rng(seed)
    vectors = (random.normal(size=(5, features)) * scale).astype(np.float32)
    vectors[2] = 0
    kind, projection = (ResidualHead, features) if residual else (ProjectionHead, 6)
    head = kind.seeded(features, projection, seed=seed)
    if residual:
        torch.nn.init.uniform_(
            head.last.weight,
            -1 / features**0.5,
            1 / features**0.5,
            generator=torch.Generator().manual_seed(seed),
        )
    # Weights are below 1/sqrt(f) and |s| = sqrt(f), so the absolute sums of a row are below f + 2, and s itself adds at
    # most sqrt(f); they are 2 f products deep, with some 10 roundings for the scaling, the biases and s.
    error = gamma(2 * features + 11) * (features + 2 + np.sqrt(features))
    np.testing.assert_allclose(apply_head(head, vectors), by_hand(head, vectors), rtol=0, atol=error)


def test_a_residual_head_begins_with_the_encoder_s_cosines():
    """Every vector is a positive multiple of its own: s(v) and nothing else, to the bit."""
    vectors = np.random.default_rng(0).normal(size=(20, 7)).astype(np.float32) * 1e3
    head = ResidualHead.seeded(7, 7, seed=0)
    with torch.inference_mode():
        expected = scaled(torch.from_numpy(vectors)).numpy()
    assert np.array_equal(apply_head(head, vectors), expected)
    assert torch.equal(head.first.weight, ProjectionHead.seeded(7, 7, seed=0).first.weight)


def test_a_residual_head_learns_in_its_first_step():
    """The last layer is 0, but its gradient is not."""
    head = ResidualHead.seeded(7, 7, seed=0)
    head(torch.randn(5, 7, generator=torch.Generator().manual_seed(0))).square().sum().backward()
    assert head.last.weight.grad.abs().max() > 0


def test_a_residual_head_of_another_dimension_is_refused():
    with pytest.raises(ArgumentError, match="gives 7, not 8"):
        ResidualHead.seeded(7, 8, seed=0)


def test_a_seed_gives_the_same_head_and_touches_no_other_generator():
    before = torch.get_rng_state()
    one, same, other = (ProjectionHead.seeded(8, 5, seed=seed) for seed in (3, 3, 4))
    assert torch.equal(torch.get_rng_state(), before)
    assert all(torch.equal(x, y) for x, y in zip(one.parameters(), same.parameters(), strict=True))
    assert not torch.equal(one.first.weight, other.first.weight)
    assert (one.first.weight.shape, one.last.weight.shape) == ((8, 8), (5, 8))


def test_the_initialisation_is_pytorch_s():
    """Same bound for weights and biases as in nn.Linear: the largest of many random values is just below it."""
    head, peer = ProjectionHead.seeded(400, 2048, seed=0), torch.nn.Linear(400, 2048)
    for mine, theirs in ((head.last.weight, peer.weight), (head.last.bias, peer.bias)):
        assert mine.abs().max().item() == pytest.approx(theirs.abs().max().item(), rel=0.02)
        assert mine.std().item() == pytest.approx(theirs.std().item(), rel=0.1)


def test_entries_come_in_at_size_one():
    found = scaled(torch.randn(50, 640) * 1e-4)
    torch.testing.assert_close(found.pow(2).mean(1), torch.ones(50))


def test_gradients_are_those_of_the_formula():
    vectors = torch.randn(
        3, 4, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    ).requires_grad_()
    assert torch.autograd.gradcheck(scaled, vectors)


def test_a_zero_row_has_a_finite_gradient():
    vectors = torch.zeros(2, 4, requires_grad=True)
    ProjectionHead.seeded(4, 3, seed=0)(vectors).sum().backward()
    assert torch.isfinite(vectors.grad).all()


def test_the_base_class_cannot_be_made():
    with pytest.raises(TypeError, match="forward"):
        Head(2, 2)
