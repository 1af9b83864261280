"""As-if encoders: repeatable, better with smaller errors, blind to a respect that they do not mind."""

from dataclasses import replace

import numpy as np
import pytest

from lookalike.core.errors import ArgumentError
from lookalike.studio import studio, true_labels
from lookalike.studio.simulated_encoders import RESPECTS, observed, observers
from lookalike.studio.wild import wild_photo

STUDIO = studio(600)


def hit_rate(observer) -> float:
    """True share of the five nearest other items of every item's first photo."""
    vectors = observed(STUDIO, observer).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    product = vectors[::2] @ vectors[1::2].T  # first photos ask, second photos are found
    np.fill_diagonal(product, -2)
    near = np.argsort(-product, axis=1)[:, :5]
    items = np.repeat(np.arange(len(near)), 5)
    return float(true_labels(STUDIO, items, near.ravel()).mean())


def test_equal_arguments_give_equal_vectors_and_other_observers_others():
    one, two = observers(2, seed=4)
    assert np.array_equal(observed(STUDIO, one), observed(STUDIO, one))
    assert not np.allclose(observed(STUDIO, one), observed(STUDIO, two))
    assert observers(5, seed=4)[:2] == (one, two)
    assert observers(2, seed=5) != (one, two)


def test_smaller_errors_and_less_to_mislead_make_a_better_encoder():
    base = replace(observers(1, seed=0)[0], minds=(1.0,) * len(RESPECTS), nuisance=0.0, focus=0.9)
    clear, vague, lost = (hit_rate(replace(base, error=error)) for error in (0.02, 0.3, 0.9))
    assert clear > vague > lost
    assert hit_rate(replace(base, error=0.02, nuisance=0.6)) < clear


def test_what_is_not_minded_is_not_seen():
    nothing = replace(observers(1, seed=0)[0], minds=(0.0,) * len(RESPECTS), error=0.0, nuisance=0.0)
    vectors = observed(STUDIO, nothing)
    assert np.ptp(vectors, axis=0).max() < 1e-5
    of_kind = observed(STUDIO, replace(nothing, minds=(1.0, *[0.0] * (len(RESPECTS) - 1))))
    kind = STUDIO.of.kind[np.arange(600) // 2]
    assert np.allclose(of_kind[kind == 0], of_kind[kind == 0][0], atol=1e-5)
    assert not np.allclose(of_kind[kind == 0][0], of_kind[kind == 1][0], atol=1e-2)


def test_the_family_spreads_from_poor_to_good():
    rates = [hit_rate(one) for one in observers(11, seed=0)]
    assert max(rates) > 0.9
    assert max(rates) - min(rates) > 0.2


def test_no_observer_at_all_is_refused():
    with pytest.raises(ArgumentError):
        observers(0, seed=0)


def test_wild_photos_come_after_the_catalog_are_of_another_style_and_change_no_other_vector():
    one = observers(1, seed=0)[0]
    plain, both = observed(STUDIO, one), observed(STUDIO, one, np.array([0, 5]))
    assert np.array_equal(both[: len(STUDIO)], plain)
    assert both.shape == (len(STUDIO) + 2, plain.shape[1])
    assert np.array_equal(both, observed(STUDIO, one, np.array([0, 5])))
    unit = both / np.linalg.norm(both, axis=1, keepdims=True)
    assert unit[-2] @ unit[0] < unit[1] @ unit[0]  # item 0's wild photo is less like it than its other photo


def test_a_wild_photo_is_another_one_of_the_same_size_by_its_seed():
    photo = STUDIO.draw(4, 48)
    one, again = (wild_photo(photo, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(one, again)
    assert (one.shape, one.dtype) == (photo.shape, np.uint8)
    assert np.abs(one.astype(int) - photo).mean() > 10
