"""One draw for several encoders: units of no weight for a value, known sums of weights, and no bias."""

from itertools import combinations

import numpy as np
import pytest

from lookalike.audit.sampling.design import Units, draw, shared
from lookalike.audit.sampling.estimate import estimate

NEEDED = np.array([[1, 1, 1, 1, 0, 0, 0], [0, 0, 1, 1, 1, 1, 1]], bool)
LABEL = np.array([1.0, 0, 1, 0, 1, 1, 0])


def test_the_weights_of_the_drawn_are_as_good_as_known():
    """Where every answer is the same, the value is exact although the sample has more of a value's units than U."""
    of_all = shared(NEEDED)
    for weight in (NEEDED[0] * 0.1, NEEDED[1] * 0.1, NEEDED[0] * 0.1 - NEEDED[1] * 0.1):
        units = Units(weight, of_all.stratum)
        for some in combinations(np.flatnonzero(of_all.stratum == 1).tolist(), 3):
            unit = np.array([*some, 2, 3])
            if len({*np.sign(weight[unit[:3]])}) > 1:
                assert estimate(units, unit, np.ones(5)).value == pytest.approx(weight.sum())


def test_with_known_weights_the_mean_over_all_samples_is_near_the_truth_and_the_variance_is_not_too_small():
    random = np.random.default_rng(1)
    needed = np.array([[1] * 6 + [0] * 6 + [1] * 3, [0] * 6 + [1] * 6 + [1] * 3], bool)
    label = random.permutation(np.tile([1.0, 0.0, 1.0], 5))
    of_all = shared(needed)
    first, second = (np.flatnonzero(of_all.stratum == m) for m in (1, 2))
    weight = needed[0] * 0.1 - needed[1] * 0.1
    units = Units(weight, of_all.stratum)
    found = []
    for one in combinations(first.tolist(), 7):
        unit = np.array([*one, *second])
        found.append(estimate(units, unit, label[unit]))
    values = np.array([one.value for one in found])
    plain = [(weight * label)[list(one)].sum() * 12 / 7 for one in combinations(first.tolist(), 7)]
    assert abs(values.mean() - weight @ label) < 0.1 * values.std()
    assert values.std() < np.std(plain)
    assert np.mean([one.error**2 for one in found]) > 0.9 * np.var(values)
    assert {one.method for one in found} == {"MOVER"}


@pytest.mark.slow
def test_every_encoder_and_every_difference_of_one_draw_holds_the_truth_19_times_in_20():
    random = np.random.default_rng(4)
    needed = random.uniform(size=(4, 900)) < np.array([0.2, 0.3, 0.4, 0.5])[:, None]
    needed = needed[:, needed.any(axis=0)]
    label = (random.uniform(size=needed.shape[1]) < 0.2 + 0.15 * needed.sum(axis=0)).astype(float)
    of_all = shared(needed)
    weights = [
        *(needed * 0.002),
        *((needed[a] * 0.002 - needed[b] * 0.002) for a, b in combinations(range(4), 2)),
    ]
    held = np.zeros((400, len(weights)))
    for seed in range(len(held)):
        design = draw(of_all, 150, seed)
        for at, weight in enumerate(weights):
            found = estimate(Units(weight, of_all.stratum), design, label[design])
            held[seed, at] = found.low <= weight @ label <= found.high
    assert held.mean() > 0.94
    assert held.mean(axis=0).min() > 0.91
