"""The positive rate: its estimate, its interval and its budget do what they say (EDS 3.3.1)."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles import sampling
from scipy.stats import beta, binom

from lookalike.core.errors import ArgumentError
from lookalike.discover.prevalence import (
    chebyshev_budget,
    credible_interval,
    map_estimate,
    positive_rate,
)

STEPS = 4_000


@given(st.integers(1, 60), st.data())
def test_the_estimate_is_the_mode_of_the_posterior(labelled: int, data):
    positives = data.draw(st.integers(0, labelled))
    bound = data.draw(st.sampled_from([0.0, 0.001, 0.1, 0.6]))
    grid = sampling.posterior(labelled, positives, bound, STEPS)
    densest = max(grid, key=lambda point: point[1])[0]
    assert map_estimate(labelled, positives, bound) == pytest.approx(densest, abs=2 / STEPS)


@given(st.integers(1, 60), st.data())
def test_the_interval_is_the_shortest_with_that_probability(labelled: int, data):
    positives = data.draw(st.integers(0, labelled))
    bound = data.draw(st.sampled_from([0.0, 0.001, 0.1, 0.6]))
    level = data.draw(st.sampled_from([0.5, 0.9, 0.95]))
    low, high = credible_interval(labelled, positives, bound, level)
    first, last = sampling.highest_density(sampling.posterior(labelled, positives, bound, STEPS), level)
    assert (low, high) == (pytest.approx(first, abs=3 / STEPS), pytest.approx(last, abs=3 / STEPS))
    assert bound <= low <= map_estimate(labelled, positives, bound) <= high <= 1


@given(st.integers(1, 5_000), st.integers(0, 20), st.sampled_from([0.0, 1e-5, 1e-3]))
def test_the_interval_holds_its_share_of_a_posterior_of_rare_positives(labelled, positives, bound):
    positives = min(positives, labelled)
    low, high = credible_interval(labelled, positives, bound, 0.95)
    posterior = beta(positives + 1, labelled - positives + 1)
    assert posterior.cdf(high) - posterior.cdf(low) == pytest.approx(0.95 * posterior.sf(bound), rel=1e-6)


@pytest.mark.parametrize(("labelled", "bound", "level"), [(30, 0.0, 0.9), (30, 0.2, 0.95), (200, 0.01, 0.5)])
def test_over_its_prior_the_interval_has_exactly_its_level(labelled, bound, level):
    """p uniform on [p_LB, 1], a binomial: P(p in the interval) is the level, by adding up all cases."""
    p = bound + (np.arange(20_000) + 0.5) * (1 - bound) / 20_000
    right = np.zeros_like(p)
    for positives in range(labelled + 1):
        low, high = credible_interval(labelled, positives, bound, level)
        right += binom.pmf(positives, labelled, p) * ((low <= p) & (p <= high))
    assert right.mean() == pytest.approx(level, abs=2e-3)


@pytest.mark.parametrize("labelled", [500, 2_000, 20_000])
def test_for_any_one_rare_rate_the_interval_has_nearly_its_level(labelled: int):
    """A rate is one number, not a draw from the prior: at worst 90 % instead of 95 %, and more where it is tiny."""
    rates = np.geomspace(1e-5, 2e-2, 300)
    right = np.zeros_like(rates)
    for positives in range(int(labelled * 0.02 + 12 * math.sqrt(labelled * 0.02)) + 10):
        low, high = credible_interval(labelled, positives, 0.0)
        right += binom.pmf(positives, labelled, rates) * ((low <= rates) & (rates <= high))
    assert right.min() > 0.9
    assert right[rates < 1 / labelled].min() > 0.95
    assert right.mean() > 0.94


@pytest.mark.parametrize("rate", [1e-4, 5e-4, 0.002, 0.01, 0.3])
@pytest.mark.parametrize(("precision", "risk"), [(0.001, 0.05), (0.005, 0.2)])
def test_the_budget_keeps_its_promise(rate: float, precision: float, risk: float):
    """P(|p_hat - p| >= eps) <= q by adding up the binomial, with the bound p_LB anywhere below p."""
    for known in (rate, None):
        budget = chebyshev_budget(precision, risk, known)
        for bound in (0.0, 0.5 * rate, rate):
            low = math.ceil((rate + precision) * budget - 1e-9)
            err = binom.sf(low - 1, budget, rate)
            if bound <= rate - precision:
                err += binom.cdf(math.floor((rate - precision) * budget + 1e-9), budget, rate)
            assert err <= risk


@given(st.floats(0.0005, 0.2), st.floats(0.01, 0.5), st.floats(0.0, 1.0))
def test_the_budget_is_eq_3(precision: float, risk: float, rate: float):
    worst = min(rate, 0.5)
    exact = 1 / (precision * risk) if rate < precision else worst * (1 - worst) / (risk * precision**2)
    assert chebyshev_budget(precision, risk, rate) == pytest.approx(math.ceil(exact), abs=1)
    assert chebyshev_budget(precision, risk, rate) <= chebyshev_budget(precision, risk) or rate < precision


def test_the_budget_grows_with_the_rate_but_for_the_papers_rounding():
    """Just below eps the paper takes p(1 - p) for eps; just above it is eps(1 - eps), a thousandth less."""
    assert chebyshev_budget(0.001, 0.05, 0.00099) == 20_000
    assert chebyshev_budget(0.001, 0.05, 0.001) == 19_980
    assert chebyshev_budget(0.001, 0.05) == 5_000_000


# ---- what is not known


def known(**changed) -> dict:
    counts = {"pairs": 10_000, "known": 30, "drawn": 100, "labelled": 95, "positives": 1}
    return counts | {"pool_labelled": 60, "pool_positives": 30} | changed


def test_all_figures_from_counts():
    found = positive_rate(**known())
    assert found.lower_bound == 0.003
    assert found.rate == 1 / 95
    assert found.pool_rate == 0.5
    assert found.gain == pytest.approx(47.5)
    assert (found.gain_low, found.gain_high) == (0.5 / found.high, 0.5 / found.low)
    assert found.known_share == pytest.approx(0.003 * 95)
    assert found.reason == ""


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"pairs": 0, "known": 0, "drawn": 0, "labelled": 0, "positives": 0}, "no pair to ask"),
        ({"drawn": 0, "labelled": 0, "positives": 0}, "no random pair"),
        ({"labelled": 89}, "only 89 of 100"),
        ({"labelled": 2, "positives": 2}, "only 2 of 100"),
    ],
)
def test_what_cannot_be_known_yet_is_undefined_with_its_reason(changed, reason):
    found = positive_rate(**known(**changed))
    assert reason in found.reason
    undefined = (found.rate, found.low, found.high, found.gain, found.gain_low, found.known_share)
    assert all(math.isnan(value) for value in undefined)
    assert math.isnan(found.lower_bound) == (found.pairs == 0)


def test_without_a_labelled_pool_there_is_a_rate_but_no_gain():
    found = positive_rate(**known(pool_labelled=0, pool_positives=0))
    assert found.rate == 1 / 95
    assert math.isnan(found.gain)
    assert math.isnan(found.pool_rate)


def test_no_positive_anywhere_is_a_rate_of_zero_with_an_upper_end_and_no_gain():
    found = positive_rate(pairs=10_000, known=0, drawn=300, labelled=300, positives=0)
    assert (found.rate, found.low) == (0.0, 0.0)
    assert found.high == pytest.approx(1 - 0.05 ** (1 / 301))  # the "rule of three": about 3 / b
    assert math.isnan(found.gain)


def test_without_a_positive_among_random_pairs_the_rate_is_unknown_and_eq_2_stays():
    found = positive_rate(
        pairs=420_000, known=286, drawn=286, labelled=286, positives=0, pool_labelled=900, pool_positives=286
    )
    assert found.rate == found.lower_bound == 286 / 420_000  # EDS Eq. 2
    assert 0.0105 < found.high < 0.0115
    assert math.isnan(found.gain)
    assert math.isnan(found.known_share)
    assert found.gain_low == found.pool_rate / found.high
    assert "1.1%" in found.reason
    whole = positive_rate(pairs=286, known=0, drawn=286, labelled=286, positives=0)
    assert (whole.rate, whole.reason) == (0.0, "")  # every pair was asked


def test_a_gain_over_a_rate_that_may_be_zero_has_no_upper_end():
    found = positive_rate(
        pairs=10_000, known=0, drawn=9, labelled=9, positives=1, pool_labelled=5, pool_positives=4
    )
    assert found.low > 0
    found = positive_rate(**known(known=0, positives=0))
    assert found.gain_high == math.inf


def test_a_sample_that_contradicts_the_labels_has_no_interval():
    found = positive_rate(**known(pairs=10**6, known=10_000, drawn=100_000, labelled=100_000, positives=0))
    assert math.isnan(found.low)
    assert "contradicts" in found.reason


@pytest.mark.parametrize(
    "changed",
    [
        {"known": 10_001},
        {"labelled": 101},
        {"positives": 96},
        {"positives": -1},
        {"pool_positives": 61},
        {"drawn": 10_001},
    ],
)
def test_counts_that_do_not_fit_into_each_other_are_refused(changed):
    with pytest.raises(ArgumentError):
        positive_rate(**known(**changed))


@pytest.mark.parametrize("share", [0.0, 1.0, -0.1, 95.0, math.nan])
def test_shares_that_are_none_are_refused(share: float):
    for call in (
        lambda: credible_interval(10, 1, 0.0, share),
        lambda: chebyshev_budget(share, 0.05),
        lambda: chebyshev_budget(0.001, share),
    ):
        with pytest.raises(ArgumentError):
            call()
