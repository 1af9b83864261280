"""Coordinates of the map, against slow code from the formulas."""

import numpy as np
import pytest

from lookalike.core.errors import ArgumentError
from lookalike.search import plane
from lookalike.search.plane import by_neighbours, components, has_umap, in_plane


def directions(rows: int, size: int, seed: int = 0) -> np.ndarray:
    draw = np.random.default_rng(seed)
    return (draw.normal(size=(rows, size)) * np.linspace(1, 4, size) + 1).astype(np.float32)


def test_components_are_those_of_the_singular_value_decomposition():
    vectors = directions(60, 7)
    unit = vectors.astype(np.float64) / np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    centred = unit - unit.mean(0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    expected = []
    for axis in axes[:3]:
        largest = axis[np.abs(axis).argmax()]
        expected.append(centred @ (axis if largest > 0 else -axis))
    np.testing.assert_allclose(components(vectors, 3), np.stack(expected, 1), atol=1e-5)


def test_blocks_and_the_sample_keep_the_components(monkeypatch):
    vectors = directions(500, 6)
    whole = components(vectors, 2)
    monkeypatch.setattr(plane, "BLOCK", 64)
    np.testing.assert_allclose(components(vectors, 2), whole, atol=1e-5)
    monkeypatch.setattr(plane, "FITTED", 400)
    sampled = components(vectors, 2, seed=3)
    assert np.corrcoef(sampled[:, 0], whole[:, 0])[0, 1] > 0.98
    np.testing.assert_array_equal(components(vectors, 2, seed=3), sampled)


def test_one_dimension_and_a_vector_of_length_zero_have_places():
    assert components(np.array([[2.0], [-1.0], [0.0]], np.float32), 2).tolist() == [[1, 0], [-1, 0], [0, 0]]


@pytest.mark.parametrize("scores", [1, 40, 10_000])
def test_new_images_are_at_the_median_of_their_neighbours(monkeypatch, scores):
    monkeypatch.setattr(plane, "SCORES", scores)
    old, new = directions(30, 5), directions(8, 5, seed=1)
    places = np.random.default_rng(2).normal(size=(30, 2)).astype(np.float32)
    for vector, found in zip(new, by_neighbours(new, old, places), strict=True):
        cosine = [vector @ other / np.linalg.norm(vector) / np.linalg.norm(other) for other in old]
        nearest = sorted(range(30), key=lambda row: -cosine[row])[:5]
        np.testing.assert_allclose(found, np.median(places[nearest], axis=0), atol=1e-6)


def test_fewer_images_than_neighbours():
    places = np.array([[1, 2], [3, 4]], np.float32)
    assert by_neighbours(directions(1, 3), directions(2, 3), places).tolist() == [[2, 3]]


def test_methods_that_cannot_be_used_say_what_to_do(monkeypatch):
    with pytest.raises(ArgumentError, match="tsne"):
        in_plane(directions(20, 3), "tsne")
    monkeypatch.setattr(plane, "not_installed", lambda names: ["umap"])
    with pytest.raises(ArgumentError, match="not installed"):
        in_plane(directions(20, 3), "umap")


@pytest.mark.slow
@pytest.mark.skipif(not has_umap(), reason="umap-learn is not installed (the extra map)")
def test_umap_keeps_groups_together_and_repeats_with_its_seed():
    draw = np.random.default_rng(0)
    centres = np.eye(8)[:3] * 5
    vectors = np.concatenate([draw.normal(c, 0.3, (40, 8)) for c in centres]).astype(np.float32)
    places, group = in_plane(vectors, "umap", 1), np.repeat(np.arange(3), 40)
    np.testing.assert_array_equal(in_plane(vectors, "umap", 1), places)
    middle = np.stack([places[group == one].mean(0) for one in range(3)])
    assert (np.linalg.norm(places[:, None] - middle, axis=2).argmin(1) == group).all()
    with pytest.raises(ArgumentError, match="more than 15"):
        in_plane(vectors[:15], "umap")
