"""Weights of a blend: those of scikit-learn's logistic regression, never negative, and worth their labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from lookalike.core.errors import LearningError
from lookalike.learn.blend import blend_weights
from lookalike.research.bias.ground_truths import as_if_encoders
from lookalike.studio import studio, true_labels


def pairs(seed: int, n: int, slopes: list[float]) -> tuple[np.ndarray, np.ndarray]:
    """Cosines of encoders, and labels that follow them by the slopes."""
    random = np.random.default_rng(seed)
    cosines = random.uniform(-1, 1, size=(n, len(slopes)))
    label = (random.logistic(size=n) < cosines @ np.array(slopes)).astype(np.int8)
    label[:2] = 0, 1
    return cosines, label


def by_scikit_learn(cosines: np.ndarray, label: np.ndarray) -> np.ndarray:
    """Slopes of standardised cosines with a ridge of 1, as weights of the cosines, sum 1."""
    scaled = (cosines - cosines.mean(axis=0)) / cosines.std(axis=0)
    fitted = LogisticRegression(C=1.0, tol=1e-10, max_iter=10_000).fit(scaled, label)
    found = fitted.coef_[0] / cosines.std(axis=0)
    return found / found.sum()


def test_weights_are_those_of_logistic_regression():
    cosines, label = pairs(0, 500, [3.0, 1.0, 0.5])
    found = blend_weights(cosines, label)
    np.testing.assert_allclose(found.weights, by_scikit_learn(cosines, label), atol=1e-6)
    assert found.dropped == ()
    assert found.alone.argmax() == 0


def test_negative_weights_are_left_out_and_the_rest_is_fitted_again():
    cosines, label = pairs(1, 800, [3.0, -2.0, 1.5, -1.0])
    found = blend_weights(cosines, label)
    assert found.dropped == (1, 3)  # the most negative first
    np.testing.assert_allclose(found.weights[[0, 2]], by_scikit_learn(cosines[:, [0, 2]], label), atol=1e-6)
    assert found.weights[[1, 3]].tolist() == [0, 0]


@given(st.integers(0, 300), st.integers(4, 60), st.lists(st.floats(0.5, 5), min_size=1, max_size=4))
def test_weights_are_never_negative_and_sum_to_one(seed, n, slopes):
    cosines, label = pairs(seed, n, slopes)
    try:
        found = blend_weights(cosines, label)
    except LearningError:
        return
    assert found.weights.min() >= 0
    assert found.weights.sum() == pytest.approx(1)
    assert set(found.dropped) == set(np.flatnonzero(found.weights == 0))


def test_a_cosine_on_another_scale_gets_the_weight_that_undoes_it():
    cosines, label = pairs(2, 400, [2.0, 1.0])
    one, other = blend_weights(cosines, label), blend_weights(cosines * [1, 0.1] + [0, 0.7], label)
    assert other.weights[1] / other.weights[0] == pytest.approx(
        10 * one.weights[1] / one.weights[0], rel=1e-6
    )


def test_labels_that_a_cosine_separates_give_finite_weights():
    cosines = np.column_stack([np.linspace(0, 1, 40), np.random.default_rng(0).uniform(size=40)])
    found = blend_weights(cosines, (cosines[:, 0] > 0.5).astype(np.int8))
    assert np.isfinite(found.weights).all()
    assert found.weights[0] > 0.5


def test_a_constant_cosine_is_left_out():
    cosines, label = pairs(3, 200, [2.0, 1.0])
    cosines[:, 1] = 0.4
    found = blend_weights(cosines, label)
    assert found.dropped == (1,)
    assert found.weights.tolist() == [1, 0]


@pytest.mark.parametrize("label", [[0, 0, 0], [1, 1, 1], []])
def test_labels_of_one_kind_give_no_weights(label):
    with pytest.raises(LearningError, match="none of them similar or none dissimilar"):
        blend_weights(np.zeros((len(label), 2)), np.array(label, np.int8))


def test_cosines_that_fall_with_similarity_give_no_weights():
    cosines, label = pairs(4, 300, [-2.0, -1.0])
    with pytest.raises(LearningError, match="No encoder's cosine rises"):
        blend_weights(cosines, label)


def unit(vectors: np.ndarray) -> np.ndarray:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def hit_rate(similarity: np.ndarray, truth: np.ndarray, queries: np.ndarray) -> float:
    """HR@5 by its definition: the mean share of similar items in the first five, without the query itself."""
    shares = []
    for query in queries:
        order = [item for item in np.argsort(-similarity[query]) if item != query][:5]
        shares.append(truth[query, order].mean())
    return float(np.mean(shares))


def test_on_queries_without_labels_a_learned_blend_beats_equal_weights_and_the_best_encoder():
    """Studios with encoders of very different quality: 626 labels of the first items' lists, the rest are queries."""
    gains = []
    for seed in range(6):
        drawn = studio(300, photos_per_item=1, seed=seed)
        items = np.arange(drawn.items)
        one, other = (side.ravel() for side in np.meshgrid(items, items, indexing="ij"))
        truth = np.zeros(len(one), np.int64)
        truth[one != other] = true_labels(drawn, one[one != other], other[one != other])
        truth = truth.reshape(drawn.items, drawn.items)
        noise = np.random.default_rng(seed).normal(size=(2, drawn.items, 64))
        good = [unit(encoder.vectors.astype(np.float64)) for encoder in as_if_encoders(drawn)[:3]]
        cosines = np.stack([v @ v.T for v in (*good, *map(unit, noise))])
        training, queries = items[:200], items[200:]
        proposed = {
            (min(query, item), max(query, item))
            for query in training
            for cosine in cosines
            for item in [at for at in training[np.argsort(-cosine[query, training])] if at != query][:3]
        }
        a, b = np.array(sorted(proposed)).T
        a, b = a[:626], b[:626]
        found = blend_weights(cosines[:, a, b].T, truth[a, b])
        learned = hit_rate(np.tensordot(found.weights, cosines, 1), truth, queries)
        equal = hit_rate(cosines.sum(axis=0), truth, queries)
        best = max(hit_rate(cosine, truth, queries) for cosine in cosines)
        gains.append((learned - equal, learned - best))
    to_equal, to_best = np.mean(gains, axis=0)
    assert to_equal > 0.02
    assert to_best > 0.0
