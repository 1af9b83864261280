"""Principal components in blocks: those of a plain decomposition of all rows at once, and of scikit-learn."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA

from lookalike.core.errors import EmbeddingsError
from lookalike.encode.heads.head import apply_head
from lookalike.learn import components
from lookalike.learn.components import fit_components


def spread(seed: int, n: int, dimension: int, far: float = 0.0) -> np.ndarray:
    """Vectors whose directions have clearly different variances, so that each component is determined."""
    random = np.random.default_rng(seed)
    turned = np.linalg.qr(random.normal(size=(dimension, dimension)))[0]
    sizes = 2.0 ** -np.arange(dimension)
    return (random.normal(size=(n, dimension)) * sizes) @ turned + far


def by_svd(rows: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The definition, in float64, of all rows at once: right singular vectors of the centred rows."""
    mean = rows.mean(axis=0)
    _, size, directions = np.linalg.svd(rows - mean, full_matrices=False)
    chosen = directions[:count].T
    signs = [np.sign(column[np.abs(column).argmax()]) for column in chosen.T]
    return mean, chosen * signs, size[:count] ** 2 / (size**2).sum()


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("far", [0.0, 3.0])
@pytest.mark.parametrize("block", [7 * 40, 1 << 24])
def test_components_are_those_of_all_rows_at_once(monkeypatch, kind, far, block):
    monkeypatch.setattr(components, "BLOCK", block)
    vectors = spread(0, 300, 7, far).astype(kind)
    rows = np.random.default_rng(1).permutation(300)[:200]
    found = fit_components(vectors, rows, 4)
    mean, columns, share = by_svd(vectors[rows].astype(np.float64), 4)
    # Float32 rounds each entry by 2^-24 of (3 + the largest of about 4); a direction turns by that over the gap of
    # the standard deviations around it, which is 1/16 at least for the first four.
    np.testing.assert_allclose(found.head.mean, mean, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.head.components, columns, rtol=0, atol=2e-4)
    assert found.share == pytest.approx(share.sum(), abs=1e-5)


def test_fewer_rows_than_numbers():
    vectors = spread(4, 30, 9).astype(np.float32)
    found = fit_components(vectors, np.arange(6), 3)
    mean, columns, share = by_svd(vectors[:6].astype(np.float64), 3)
    np.testing.assert_allclose(found.head.mean, mean, rtol=0, atol=1e-6)
    np.testing.assert_allclose(found.head.components, columns, rtol=0, atol=1e-5)
    assert found.share == pytest.approx(share.sum(), abs=1e-6)


def test_scikit_learn_agrees():
    vectors = spread(5, 400, 6, 1.0)
    found, peer = fit_components(vectors, np.arange(400), 3), PCA(3, svd_solver="full").fit(vectors)
    assert found.share == pytest.approx(peer.explained_variance_ratio_.sum(), abs=1e-6)
    ours = apply_head(found.head, vectors.astype(np.float32))
    theirs = peer.transform(vectors)
    np.testing.assert_allclose(ours, theirs * np.sign((ours * theirs).sum(axis=0)), atol=1e-4)


@given(st.integers(0, 500), st.integers(2, 30), st.integers(1, 8), st.integers(1, 12))
def test_columns_are_orthonormal_and_no_more_than_rows_and_dimension_allow(seed, n, dimension, count):
    vectors = np.random.default_rng(seed).normal(size=(n, dimension)).astype(np.float32)
    found = fit_components(vectors, np.arange(n), count)
    columns, size = found.head.components.numpy(), min(count, dimension, n - 1)
    assert columns.shape == (dimension, size)
    np.testing.assert_allclose(columns.T @ columns, np.eye(size), atol=1e-5)
    assert 0 < found.share <= 1 + 1e-9
    assert np.array_equal(columns.max(axis=0), np.abs(columns).max(axis=0)), "the largest entry is positive"
    variances = apply_head(found.head, vectors).var(axis=0)
    assert (np.diff(variances) <= 1e-4 * variances[0]).all(), "components are in order"


def test_blocks_and_a_mapped_file_change_nothing(tmp_path, monkeypatch):
    vectors = spread(2, 1000, 6).astype(np.float32)
    np.save(tmp_path / "v.npy", vectors)
    mapped, rows = np.load(tmp_path / "v.npy", mmap_mode="r"), np.arange(0, 1000, 3)
    whole = fit_components(vectors, rows, 3)
    steps = []
    monkeypatch.setattr(components, "BLOCK", 6 * 100)
    parts = fit_components(mapped, rows, 3, lambda done, total: steps.append((done, total)))
    np.testing.assert_allclose(parts.head.components, whole.head.components, atol=1e-5)
    assert steps == [(100, 334), (200, 334), (300, 334), (334, 334)]
    assert np.array_equal(np.load(tmp_path / "v.npy"), vectors)


def test_the_same_call_gives_the_same_bytes():
    vectors = spread(3, 200, 5).astype(np.float32)
    one, other = (fit_components(vectors, np.arange(200), 3) for _ in range(2))
    assert torch.equal(one.head.components, other.head.components)


@pytest.mark.parametrize("n", [0, 1])
def test_fewer_than_two_rows_have_no_components(n):
    with pytest.raises(EmbeddingsError, match=f"^{n} vectors .* no principal components"):
        fit_components(np.eye(3), np.arange(n), 2)


@pytest.mark.parametrize("value", [0.0, 0.1, 1e3])
@pytest.mark.parametrize("n", [3, 50])
def test_equal_rows_have_no_components(value, n):
    with pytest.raises(EmbeddingsError, match="no principal components"):
        fit_components(np.full((n, 4), value, np.float32), np.arange(n), 2)


def test_rows_that_are_not_finite_are_refused():
    vectors = spread(0, 20, 3)
    vectors[4, 1] = np.nan
    with pytest.raises(EmbeddingsError, match="without NaN"):
        fit_components(vectors, np.arange(20), 2)
