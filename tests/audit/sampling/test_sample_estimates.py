"""Estimates: every sample of a small population counted, the formulas of SPEC 17 written plainly, and their laws."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import t as student

from lookalike.audit.sampling.design import Units, draw, filled, probability
from lookalike.audit.sampling.estimate import estimate, estimates, extremes
from lookalike.audit.trust import wilson

WEIGHT = np.array([0.1, 0.1, 0.2, 0.1, 0.2, -0.1, -0.1, -0.2])
EQUAL = np.array([0.1] * 5 + [-0.2] * 3)
STRATUM = np.array([0, 0, 0, 0, 0, 1, 1, 1])
LABEL = np.array([1.0, 0, 1, 0, 1, 1, 0, 1])
GUESS = np.array([0.9, 0.2, 0.7, 0.4, 0.5, 0.8, 0.1, 0.6])


def every_sample(of_first: int, of_second: int):
    """All stratified samples of 5 and 3 units."""
    for one, other in product(combinations(range(5), of_first), combinations(range(5, 8), of_second)):
        unit = np.array([*one, *other])
        yield unit


def test_without_a_covariate_the_mean_over_all_samples_is_the_true_value():
    units = Units(EQUAL, STRATUM, known=0.25)
    found = [estimate(units, design, LABEL[design]).value for design in every_sample(3, 2)]
    assert np.mean(found) == pytest.approx(0.25 + EQUAL @ LABEL)


def test_known_sums_of_unequal_weights_make_the_value_vary_less_with_next_to_no_bias():
    units = Units(WEIGHT, STRATUM, known=0.25)
    found = [estimate(units, design, LABEL[design]).value for design in every_sample(4, 2)]
    plain = [0.25 + ((WEIGHT * LABEL)[d] / probability(units, d)).sum() for d in every_sample(4, 2)]
    assert np.mean(plain) == pytest.approx(0.25 + WEIGHT @ LABEL)
    assert abs(np.mean(found) - np.mean(plain)) < 0.1 * np.std(found)
    assert np.std(found) < np.std(plain)
    everything = [estimate(units, design, np.ones(6)).value for design in every_sample(4, 2)]
    assert everything == pytest.approx([0.25 + WEIGHT.sum()] * len(everything))


@pytest.mark.parametrize("weight", [EQUAL, WEIGHT])
def test_the_variance_is_that_of_all_samples_or_more(weight):
    units = Units(weight, STRATUM)
    found = [estimate(units, design, LABEL[design]) for design in every_sample(3, 2)]
    assert np.mean([one.error**2 for one in found]) >= np.var([one.value for one in found])


def plainly(
    units: Units, design: np.ndarray, label: np.ndarray, level: float
) -> tuple[float, float, float, float]:
    """The formulas of `estimates` with loops: the value, its interval, lambda. Every side is a stratum."""
    v, f = np.abs(units.weight), units.covariate
    sides = {}
    for sign in sorted({int(np.sign(w)) for w in units.weight}):
        everybody = [u for u in range(len(v)) if np.sign(units.weight[u]) == sign]
        mine = [(i, u) for i, u in enumerate(design) if u in everybody]
        there, n = len(everybody), len(mine)
        heavy = sum(v[u] for _, u in mine)
        mean_y, mean_f = (sum(v[u] * x for u, x in rows) / heavy for rows in (
            [(u, label[i]) for i, u in mine], [(u, f[u]) for _, u in mine]))  # fmt: skip
        z = [v[u] * (label[i] - mean_y) for i, u in mine]
        g = [v[u] * (f[u] - mean_f) for _, u in mine]
        sides[sign] = everybody, there, n, there**2 * (1 - n / there) / n, mean_y, mean_f, z, g
    zz, zg, gg = (
        sum(side[3] * np.cov(side[a], side[b])[0, 1] for side in sides.values())
        for a, b in ((6, 6), (6, 7), (7, 7))
    )
    labels = sum(side[2] for side in sides.values()) - len(sides)
    slope = zg / gg * max(0.0, 1 - (gg * zz - zg**2) / (zg**2 * (labels - 1)))
    t = student.ppf((1 + level) / 2, labels - 1)
    value, below, above = units.known, 0.0, 0.0
    for sign, (everybody, there, n, times, mean_y, mean_f, z, g) in sides.items():
        total = sum(v[u] for u in everybody)
        rate = mean_y + slope * (sum(v[u] * f[u] for u in everybody) / total - mean_f)
        e = [a - slope * b for a, b in zip(z, g, strict=True)]
        typical = total / there
        more = [*e, typical * (1 - rate), -typical * rate]
        variance = times * max(np.var(more, ddof=1), np.var(e, ddof=1)) * labels / (labels - 1)
        plus = (n * rate + 1) / (n + 2)
        worth = plus * (1 - plus) * total**2 / variance
        middle, scale = rate + t * t / (2 * worth), 1 + t * t / worth
        half = t * np.sqrt(rate * (1 - rate) / worth + t * t / (4 * worth**2))
        ends = total * (rate - (middle - half) / scale), total * ((middle + half) / scale - rate)
        value += sign * total * rate
        below, above = np.hypot(below, ends[sign < 0]), np.hypot(above, ends[sign > 0])
    return value, value - below, value + above, slope


@pytest.mark.parametrize("mixed", [False, True])
def test_the_difference_estimator_is_the_formula_s(mixed):
    random = np.random.default_rng(3)
    weight = random.choice([0.01, 0.02, -0.01] if mixed else [0.01, 0.02], 120)
    guess = random.uniform(size=120)
    label = (random.uniform(size=120) < guess).astype(float)
    units = Units(weight, (weight > 0).astype(int), 0.3, guess)
    design = draw(units, 50, 4)
    found = estimate(units, design, label[design], level=0.9)
    expected = plainly(units, design, label[design], 0.9)
    assert [found.value, found.low, found.high, found.coefficient] == pytest.approx(expected)
    assert found.method == ("MOVER" if mixed else "Wilson")
    assert found.coefficient > 0.5


def test_a_covariate_that_says_nothing_gets_next_to_no_weight_and_one_that_misleads_a_negative_one():
    random = np.random.default_rng(5)
    label = (random.uniform(size=400) < 0.4).astype(float)
    weight = np.full(400, 0.0025)
    for guess, low, high in ((random.uniform(size=400), -0.3, 0.3), (1 - label, -1.01, -0.99)):
        units = Units(weight, np.zeros(400, int), 0.0, guess)
        design = draw(units, 150, 1)
        assert low < estimate(units, design, label[design]).coefficient < high


def test_a_covariate_whose_coefficient_is_noise_is_left_out():
    """Answers and guesses that do not go together: the coefficient is 0, and the value that without a covariate."""
    label, guess = np.tile([1.0, 0.0], 30), np.repeat([0.2, 0.4, 0.3], 20)
    units = Units(np.full(90, 0.01), np.zeros(90, int), 0.0, np.concatenate([guess, np.full(30, 0.9)]))
    design = np.arange(60)
    found = estimate(units, design, label)
    assert (found.coefficient, found.value) == (0.0, pytest.approx(0.45))


def test_all_units_labelled_give_the_exact_value():
    units = Units(WEIGHT, STRATUM, 0.25, GUESS)
    design = draw(units, 8, 0)
    found = estimate(units, design, LABEL[design])
    assert found.low == found.high == found.value == pytest.approx(0.25 + WEIGHT @ LABEL)
    assert (found.method, found.error) == ("exact", 0.0)


def test_one_side_of_equal_weights_is_wilson_s_for_the_labels_by_the_finite_stratum():
    label = np.tile([1.0, 0.0, 0.0, 0.0], 25)
    units = Units(np.full(1000, 0.001), np.zeros(1000, int))
    found = estimate(units, draw(units, 100, 0), label)
    low, high = wilson(0.25, 100 * 1000 / 900, 0.95)
    assert [found.low, found.high] == pytest.approx([low, high], abs=0.002)


def test_no_similar_label_and_none_but_similar_ones_leave_room_on_one_side():
    units = Units(np.full(1000, 0.001), np.zeros(1000, int))
    design = draw(units, 50, 0)
    none, every = (estimate(units, design, np.full(50, answer)) for answer in (0.0, 1.0))
    assert (none.value, none.low) == (0.0, pytest.approx(0.0, abs=1e-12))
    assert 0.05 < none.high < 0.1
    assert [1 - every.high, 1 - every.low] == pytest.approx([none.low, none.high], abs=1e-12)


def test_nothing_open_is_exact():
    units = Units(np.empty(0), np.empty(0, int), 0.4)
    found = estimate(units, np.empty(0, int), np.empty(0))
    assert (found.value, found.low, found.high, found.method) == (0.4, 0.4, 0.4, "exact")


def test_drawn_units_without_an_answer_widen_the_interval_to_both_extremes():
    units = Units(np.repeat([0.01, -0.01], 100), np.repeat([0, 1], 100))
    design = draw(units, 60, 2)
    label = np.resize([1.0, 0.0], 60)
    skipped = label.copy()
    skipped[:10] = np.nan
    found = estimate(units, design, extremes(skipped, units.weight[design]))
    rising = units.weight[design[:10]] > 0
    least, most = (
        estimate(units, design, np.r_[np.where(rising == up, 1.0, 0.0), label[10:]]) for up in (False, True)
    )
    assert (found.low, found.high) == (least.low, most.high)
    assert (found.labels, found.open) == (50, 10)
    assert found.value == pytest.approx((least.value + most.value) / 2)


def test_looks_share_the_error_equally():
    units = Units(np.full(300, 0.01), np.zeros(300, int), 0.0, np.linspace(0, 1, 300))
    design = draw(units, 60, 2)
    label = np.resize([1.0, 0.0, 0.0], 60)
    one = estimate(units, design, label, level=0.99)
    five = estimate(units, design, label, level=0.95, looks=5)
    assert [five.low, five.high] == pytest.approx([one.low, one.high])


def test_a_stratum_without_a_label_has_no_value():
    units = Units(WEIGHT, STRATUM)
    found = estimate(units, np.array([0, 1]), np.array([1.0, 0.0]))
    assert np.isnan([found.value, found.low, found.high]).all()


@pytest.mark.parametrize("known", [8, 4, 0])
def test_whatever_part_the_covariate_is_there_for_the_value_has_no_bias_at_a_fixed_coefficient(known):
    """The estimator less its tuned part: over all samples, the mean is the truth with any covariate frozen before."""
    guess = GUESS.copy()
    guess[np.random.default_rng(0).permutation(8)[known:]] = np.nan
    f = filled(guess, STRATUM)
    total = [
        0.7 * (WEIGHT @ f) + ((WEIGHT * (LABEL - 0.7 * f))[d] / probability(Units(WEIGHT, STRATUM), d)).sum()
        for d in every_sample(3, 2)
    ]
    assert np.mean(total) == pytest.approx(WEIGHT @ LABEL)


def test_many_draws_at_once_are_the_single_ones():
    units = Units(np.repeat([0.01, -0.02, 0.01], 40), np.repeat([0, 1, 2], 40), 0.1, np.linspace(0, 1, 120))
    designs = [draw(units, 45, seed) for seed in range(3)]
    unit = np.stack([d[np.argsort(units.stratum[d], kind="stable")] for d in designs])
    label = (np.sin(unit) > 0).astype(float)
    for some in (units, Units(units.weight, units.stratum, 0.1)):
        together = estimates(some, unit, label)
        for at, design in enumerate(designs):
            alone = estimate(some, design, (np.sin(design) > 0).astype(float))
            assert [together.value[at], together.low[at], together.high[at]] == pytest.approx(
                [alone.value, alone.low, alone.high]
            )


@pytest.mark.slow
@pytest.mark.parametrize("guessing", ["no covariate", "good", "useless", "adversarial"])
def test_the_interval_holds_the_truth_19_times_in_20(guessing):
    """A difference of two encoders with 900 open questions, 100 labels: 1,000 draws, so 95 +- 2 %."""
    random = np.random.default_rng(8)
    weight = random.permutation(np.repeat([0.001, -0.001, 0.002], [500, 300, 100]))
    chance = np.where(weight > 0, 0.55, 0.3)
    label = (random.uniform(size=900) < chance).astype(float)
    guess = {
        "no covariate": None,
        "good": np.clip(label * 0.6 + 0.4 * random.uniform(size=900), 0, 1),
        "useless": random.uniform(size=900),
        "adversarial": 1 - label * 0.9,
    }[guessing]
    units = Units(weight, (weight > 0).astype(int), 0.1, guess)
    truth, held, square = 0.1 + weight @ label, 0, 0.0
    for seed in range(1000):
        design = draw(units, 100, seed)
        found = estimate(units, design, label[design])
        held += found.low <= truth <= found.high
        square += (found.value - truth) ** 2
    assert held / 1000 > 0.93
    plain = Units(weight, units.stratum, 0.1)
    alone = [estimate(plain, draw(plain, 100, s), label[draw(plain, 100, s)]).value for s in range(300)]
    ratio = np.sqrt(square / 1000) / np.sqrt(np.mean((np.array(alone) - truth) ** 2))
    assert ratio < (1.1 if guessing in ("no covariate", "useless") else 0.7)
