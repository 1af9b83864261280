"""The bootstrap of drawn units: every resample of small draws counted, and the variance of the draw."""

from itertools import product
from math import hypot

import numpy as np
import pytest

from lookalike.audit.sampling.bootstrap import bootstrap_ends
from lookalike.audit.sampling.design import Units, draw
from lookalike.audit.sampling.estimate import Estimate, estimate, extremes
from lookalike.audit.sampling.queries import with_queries_drawn
from lookalike.audit.sampling.rounds import combined

WEIGHT = np.array([0.1, 0.2, 0.1, 0.1, 0.3, 0.1, 0.2, 0.1, 0.1, 0.2, -0.1, -0.2, -0.1, -0.1, -0.2, -0.1])
STRATUM = np.repeat([0, 1], [10, 6])
GUESS = np.linspace(0.1, 0.9, 16)
UNIT = np.array([1, 4, 0, 7, 10, 12, 15])  # 4 of 10, 3 of 6
LABEL = np.array([0.0, 1, 1, 1, 1, 0, 1])
REPLICATES = 40_000


def every_replicate(units: Units, coefficient: float) -> np.ndarray:
    """The value of each of the 4^3 x 3^2 resamples, equally likely, by loops over the formula."""
    f, v, values = units.covariate, units.weight, []
    first = [i for i, u in enumerate(UNIT) if STRATUM[u] == 0]
    second = [i for i, u in enumerate(UNIT) if STRATUM[u] == 1]
    for picked in product(*[first] * (len(first) - 1), *[second] * (len(second) - 1)):
        value = units.known
        for sign in (1, -1):
            side = [u for u in range(16) if np.sign(v[u]) == sign]
            total = sum(abs(v[u]) for u in side)
            over = under = 0.0
            for i, u in enumerate(UNIT):
                if np.sign(v[u]) != sign:
                    continue
                n, there = (4, 10) if STRATUM[u] == 0 else (3, 6)
                r = picked.count(i)
                weight = there / n * (1 + np.sqrt(1 - n / there) * (r * n / (n - 1) - 1))
                over += weight * abs(v[u]) * (LABEL[i] - coefficient * f[u])
                under += weight * abs(v[u])
            rate = over / under + coefficient * sum(abs(v[u]) * f[u] for u in side) / total
            value += sign * total * min(max(rate, 0.0), 1.0)
        values.append(value)
    return np.array(values)


@pytest.mark.parametrize("coefficient", [0.0, 0.7])
@pytest.mark.parametrize("level", [0.5, 0.8, 0.9])
def test_the_ends_are_the_quantiles_of_all_resamples(coefficient, level):
    units = Units(WEIGHT, STRATUM, 0.4, GUESS)
    every = every_replicate(units, coefficient)
    found = bootstrap_ends(
        units, UNIT, np.stack([LABEL] * 2), np.full(2, coefficient), level, replicates=REPLICATES
    )
    for end, share in zip(found, ((1 - level) / 2, (1 + level) / 2), strict=True):
        few, many = np.quantile(every, [share - 0.01, share + 0.01])
        assert few - 1e-9 <= end <= many + 1e-9


def test_the_ends_of_a_normal_bootstrap_are_those_of_the_variance_without_replacement():
    units = Units(np.full(400, 0.0025), np.zeros(400, int))
    label = np.random.default_rng(1).uniform(size=200)
    low, high = bootstrap_ends(
        units, np.arange(200), np.stack([label] * 2), np.zeros(2), 0.6827, replicates=REPLICATES
    )
    error = np.sqrt((1 - 200 / 400) * np.var(label, ddof=1) / 200)
    assert (high - low) / 2 == pytest.approx(error, rel=0.05)
    assert (high + low) / 2 == pytest.approx(label.mean(), abs=0.1 * error)


def test_the_only_unit_of_a_stratum_and_a_full_stratum_do_not_vary_and_an_empty_one_has_no_value():
    units = Units(np.full(8, 0.1), np.repeat([0, 1], [4, 4]), 0.2)
    label = np.array([[1.0, 0, 1, 0, 1]] * 2)
    alone = bootstrap_ends(units, np.arange(5), label, np.zeros(2), 0.95, replicates=1000)
    assert alone == pytest.approx((0.2 + 0.2 + 0.4,) * 2)
    empty = bootstrap_ends(units, np.arange(4), label[:, :4], np.zeros(2), 0.95, replicates=1000)
    assert np.isnan(empty).all()


def test_drawn_units_without_an_answer_widen_it_and_the_same_design_gives_the_same():
    units = Units(WEIGHT, STRATUM, 0.4)
    unknown = LABEL.copy()
    unknown[:2] = np.nan
    answers = (LABEL, LABEL, extremes(unknown, WEIGHT[UNIT]))
    full, again, open_ = (estimate(units, UNIT, one, replicates=1000) for one in answers)
    assert full == again
    assert open_.bootstrap[0] <= full.bootstrap[0] < full.bootstrap[1] <= open_.bootstrap[1]
    assert open_.bootstrap[1] - open_.bootstrap[0] > full.bootstrap[1] - full.bootstrap[0]


def test_rounds_and_drawn_queries_change_it_as_they_change_the_interval():
    same = Estimate(0.5, 0.4, 0.6, "Wilson", 50, 0, 0.0, 0.05, bootstrap=(0.4, 0.6))
    for found in (combined([same, same], [0.5, 0.5]), with_queries_drawn(same, 0.0016, 100)):
        assert found.bootstrap == (found.low, found.high)
    assert combined([same, same], [0.5, 0.5]).bootstrap[0] == pytest.approx(0.5 - hypot(0.05, 0.05))


@pytest.mark.slow
def test_with_100_labels_it_holds_the_truth_about_as_often_as_it_says():
    random = np.random.default_rng(2)
    weight = random.permutation(np.repeat([0.001, -0.001, 0.002], [500, 300, 100]))
    label = (random.uniform(size=900) < np.where(weight > 0, 0.55, 0.3)).astype(float)
    units, held = Units(weight, (weight > 0).astype(int), 0.1), 0
    for seed in range(400):
        design = draw(units, 100, seed)
        low, high = estimate(units, design, label[design], replicates=1000).bootstrap
        held += low <= 0.1 + weight @ label <= high
    assert held / 400 > 0.9
