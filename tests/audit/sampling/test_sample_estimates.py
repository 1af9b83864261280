"""Estimates: every sample of a small population counted, the formulas of SPEC 17 written plainly, and their laws."""

from itertools import combinations, product

import numpy as np
import pytest
from scipy.stats import t as student

from lookalike.audit.sampling.design import Design, Units, draw, filled
from lookalike.audit.sampling.estimate import estimate, estimates
from lookalike.audit.trust import wilson

WEIGHT = np.array([0.1, 0.1, 0.2, 0.1, 0.2, -0.1, -0.1, -0.2])
STRATUM = np.array([0, 0, 0, 0, 0, 1, 1, 1])
LABEL = np.array([1.0, 0, 1, 0, 1, 1, 0, 1])
GUESS = np.array([0.9, 0.2, 0.7, 0.4, 0.5, 0.8, 0.1, 0.6])


def every_sample(of_first: int, of_second: int):
    """All stratified samples of 5 and 3 units."""
    for one, other in product(combinations(range(5), of_first), combinations(range(5, 8), of_second)):
        unit = np.array([*one, *other])
        yield Design(unit, np.where(unit < 5, of_first / 5, of_second / 3), 0)


def test_without_a_covariate_the_mean_over_all_samples_is_the_true_value():
    units = Units(WEIGHT, STRATUM, known=0.25)
    found = [estimate(units, design, LABEL[design.unit]).value for design in every_sample(3, 2)]
    assert np.mean(found) == pytest.approx(0.25 + WEIGHT @ LABEL)


def test_the_variance_is_that_of_all_samples_or_more():
    units = Units(WEIGHT, STRATUM)
    found = [estimate(units, design, LABEL[design.unit]) for design in every_sample(3, 2)]
    assert np.mean([one.error**2 for one in found]) >= np.var([one.value for one in found])


def plainly(units: Units, design: Design, label: np.ndarray, level: float) -> tuple[float, float, float]:
    """SPEC 17 with loops: the value, its interval, lambda."""
    strata = sorted(set(units.stratum))
    v, f = units.weight, units.covariate
    cov = var = 0.0
    for h in strata:
        mine = [i for i, u in enumerate(design.unit) if units.stratum[u] == h]
        there, n = int(np.sum(units.stratum == h)), len(mine)
        times = there**2 * (1 - n / there) / n
        g = [v[design.unit[i]] * f[design.unit[i]] for i in mine]
        z = [v[design.unit[i]] * label[i] for i in mine]
        matrix = np.cov(z, g)
        cov, var = cov + times * matrix[0, 1], var + times * matrix[1, 1]
    slope = cov / var
    value = units.known + slope * sum(v * f)
    variance = 0.0  # the two labels more are those of the stratum's mean unit
    for h in strata:
        mine = [i for i, u in enumerate(design.unit) if units.stratum[u] == h]
        there, n = int(np.sum(units.stratum == h)), len(mine)
        e = [v[design.unit[i]] * (label[i] - slope * f[design.unit[i]]) for i in mine]
        value += sum(e) * there / n
        mean_v = np.mean([v[u] for u in range(len(v)) if units.stratum[u] == h])
        mean_g = np.mean([v[u] * f[u] for u in range(len(v)) if units.stratum[u] == h])
        more = [*e, mean_v - slope * mean_g, -slope * mean_g]
        variance += there**2 * (1 - n / there) * max(np.var(more, ddof=1), np.var(e, ddof=1)) / n
    freedom = len(design.unit) - len(strata) - 1
    half = student.ppf((1 + level) / 2, freedom) * np.sqrt(variance * (freedom + 1) / freedom)
    return value, half, slope


def test_the_difference_estimator_is_the_specification_s():
    random = np.random.default_rng(3)
    weight = random.choice([0.01, 0.02, -0.01], 120)
    guess = random.uniform(size=120)
    label = (random.uniform(size=120) < guess).astype(float)
    units = Units(weight, (weight > 0).astype(int), 0.3, guess)
    design = draw(units, 50, 4)
    found = estimate(units, design, label[design.unit], level=0.9)
    value, half, slope = plainly(units, design, label[design.unit], 0.9)
    assert [found.value, found.low, found.high] == pytest.approx([value, value - half, value + half])
    assert (found.method, found.coefficient) == ("t+", pytest.approx(slope))
    assert slope > 0.5


def test_a_covariate_that_says_nothing_gets_next_to_no_weight_and_one_that_misleads_a_negative_one():
    random = np.random.default_rng(5)
    label = (random.uniform(size=400) < 0.4).astype(float)
    weight = np.full(400, 0.0025)
    for guess, low, high in ((random.uniform(size=400), -0.3, 0.3), (1 - label, -1.01, -0.99)):
        units = Units(weight, np.zeros(400, int), 0.0, guess)
        design = draw(units, 150, 1)
        assert low < estimate(units, design, label[design.unit]).coefficient < high


def test_all_units_labelled_give_the_exact_value():
    units = Units(WEIGHT, STRATUM, 0.25, GUESS)
    design = draw(units, 8, 0)
    found = estimate(units, design, LABEL[design.unit])
    assert found.low == found.high == found.value == pytest.approx(0.25 + WEIGHT @ LABEL)
    assert (found.method, found.error) == ("exact", 0.0)


def test_one_side_is_wilson_s_and_two_sides_are_joined_by_squares():
    label = np.tile([1.0, 0.0, 0.0, 0.0], 25)
    one = Units(np.full(1000, 0.001), np.zeros(1000, int))
    design = draw(one, 100, 0)
    found = estimate(one, design, label)
    low, high = wilson(0.25, 100 * 999 / 900, 0.95)
    assert (found.method, found.low, found.high) == ("Wilson", pytest.approx(low), pytest.approx(high))
    two = Units(np.repeat([0.001, -0.001], 1000), np.repeat([0, 1], 1000))
    design = draw(two, 200, 0)
    found = estimate(two, design, np.where(two.weight[design.unit] > 0, 0.5, 0.25))
    first, second = wilson(0.5, 100 * 999 / 900, 0.95), wilson(0.25, 100 * 999 / 900, 0.95)
    below, above = np.hypot(0.5 - first[0], second[1] - 0.25), np.hypot(first[1] - 0.5, 0.25 - second[0])
    assert [found.low, found.high] == pytest.approx([0.25 - below, 0.25 + above])
    assert found.method == "MOVER"


def test_drawn_units_without_an_answer_widen_the_interval_to_both_extremes():
    units = Units(np.repeat([0.01, -0.01], 100), np.repeat([0, 1], 100))
    design = draw(units, 60, 2)
    label = np.resize([1.0, 0.0], 60)
    skipped = label.copy()
    skipped[:10] = np.nan
    found = estimate(units, design, skipped)
    rising = units.weight[design.unit[:10]] > 0
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
    found = estimate(units, Design(np.array([0, 1]), np.array([0.4, 0.4]), 0), np.array([1.0, 0.0]))
    assert np.isnan([found.value, found.low, found.high]).all()


@pytest.mark.parametrize("known", [8, 4, 0])
def test_whatever_part_the_covariate_is_there_for_the_value_has_no_bias_at_a_fixed_coefficient(known):
    """The estimator less its tuned part: over all samples, the mean is the truth with any covariate frozen before."""
    guess = GUESS.copy()
    guess[np.random.default_rng(0).permutation(8)[known:]] = np.nan
    f = filled(guess, STRATUM)
    total = [
        0.7 * (WEIGHT @ f) + ((WEIGHT * (LABEL - 0.7 * f))[d.unit] / d.probability).sum()
        for d in every_sample(3, 2)
    ]
    assert np.mean(total) == pytest.approx(WEIGHT @ LABEL)
    one = Design(np.array([0, 2, 3, 6, 7]), np.array([0.6, 0.6, 0.6, 2 / 3, 2 / 3]), 0)
    found = estimate(Units(WEIGHT, STRATUM, 0.0, f), one, LABEL[one.unit])
    by_hand = found.coefficient * (WEIGHT @ f)
    by_hand += ((WEIGHT * (LABEL - found.coefficient * f))[one.unit] / one.probability).sum()
    assert found.value == pytest.approx(by_hand)


def test_many_draws_at_once_are_the_single_ones():
    units = Units(np.repeat([0.01, -0.02, 0.01], 40), np.repeat([0, 1, 2], 40), 0.1, np.linspace(0, 1, 120))
    designs = [draw(units, 45, seed) for seed in range(3)]
    unit = np.stack([d.unit[np.argsort(units.stratum[d.unit], kind="stable")] for d in designs])
    label = (np.sin(unit) > 0).astype(float)
    for some in (units, Units(units.weight, units.stratum, 0.1)):
        together = estimates(some, unit, label)
        for at, design in enumerate(designs):
            alone = estimate(some, design, (np.sin(design.unit) > 0).astype(float))
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
        found = estimate(units, design, label[design.unit])
        held += found.low <= truth <= found.high
        square += (found.value - truth) ** 2
    assert held / 1000 > 0.93
    plain = Units(weight, units.stratum, 0.1)
    alone = [estimate(plain, draw(plain, 100, s), label[draw(plain, 100, s).unit]).value for s in range(300)]
    ratio = np.sqrt(square / 1000) / np.sqrt(np.mean((np.array(alone) - truth) ** 2))
    assert ratio < (1.1 if guessing in ("no covariate", "useless") else 0.7)
