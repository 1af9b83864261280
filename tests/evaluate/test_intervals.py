"""Intervals against their definitions, scipy's BCa, and the cases in which there is none."""

import dataclasses
import math

import numpy as np
import pytest
from evaluate.significance_worlds import encoders, repeated
from oracles import significance as slowly
from scipy.stats import bootstrap

from lookalike.core.errors import ArgumentError
from lookalike.core.types import Scores
from lookalike.evaluate.measures.table import DEFAULT, evaluate
from lookalike.evaluate.significance.bootstrap import Resampling
from lookalike.evaluate.significance.intervals import METHODS, acceleration, interval, percentile
from lookalike.evaluate.significance.summary import Settings, significance

MANY = (*DEFAULT, "DCS(average=macro)", "HR@3", "EHR@9")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(2))
def test_every_measure_equals_the_slow_bootstrap(seed: int, method: str):
    """Score the rows of the sampled queries again for each replicate and without each query; then the definition."""
    one = encoders(seed, queries=24, count=1)[0]
    settings = Settings(replicates=100, seed=seed, level=0.9, method=method)
    scores = evaluate(one, MANY)
    sampled = np.concatenate(list(Resampling(one.query_codes[0], 100, seed).weights()))
    again = [evaluate(repeated(one, counts), MANY) for counts in sampled]
    without = [evaluate(one.only(one.query_codes[1] != i), MANY) for i in range(24)]
    found = significance([scores], settings).intervals["e0"]
    for name, score in scores.scores.items():
        replicates, left_out = ([r[name].value for r in rows] for rows in (again, without))
        ends = (
            slowly.percentile(replicates, 0.9)
            if method == "percentile"
            else slowly.bca(score.value, replicates, left_out, 0.9)
        )
        assert score.queries >= 10, name
        assert (found[name].low, found[name].high) == pytest.approx(ends, abs=1e-9), name
        assert (found[name].replicates, found[name].undefined, found[name].method) == (100, 0, method)


@pytest.mark.parametrize("seed", range(3))
def test_bca_of_a_mean_equals_scipy_given_the_same_replicates(seed: int):
    random = np.random.default_rng(seed)
    x = random.exponential(size=40)
    replicates = x[random.integers(0, 40, (999, 40))].mean(axis=1)
    theirs = bootstrap((x,), np.mean, n_resamples=200, method="BCa")
    theirs.bootstrap_distribution = replicates
    ends = bootstrap((x,), np.mean, n_resamples=0, bootstrap_result=theirs, method="BCa").confidence_interval
    ours = interval(float(x.mean()), 40, replicates, (x.sum() - x) / 39, method="bca")
    assert (ours.low, ours.high) == pytest.approx((ends.low, ends.high), abs=1e-12)


def test_acceleration_of_a_mean_is_a_sixth_of_its_skewness_over_root_n():
    x = np.random.default_rng(0).exponential(size=50)
    d = x - x.mean()
    assert acceleration((x.sum() - x) / 49) == pytest.approx(np.sum(d**3) / (6 * np.sum(d**2) ** 1.5))
    assert acceleration(np.full(9, 0.3)) == 0.0


def scores_of(values: list[float]) -> Scores:
    """HR@1 of one candidate per query that is or is not on top."""
    one = encoders(0, queries=len(values), count=1, labels=1)[0]
    top = np.array(values) > 0
    object.__setattr__(one, "above", np.where(top, 0, 9))
    object.__setattr__(one, "tied", np.zeros(len(values), int))
    object.__setattr__(one, "label", np.ones(len(values), int))
    return evaluate(one, ["HR@1", "AUC_mic", "EHR@1"])


@pytest.mark.parametrize("queries", [1, 2, 9])
def test_few_queries_are_never_certain(queries: int):
    found = significance([scores_of([0, 1] * 5)] if queries == 9 else [scores_of([1] * queries)])
    one = found.intervals["e0"]["HR@1" if queries < 9 else "EHR@1"]
    assert math.isnan(one.low)
    assert math.isnan(one.high)
    assert one.reason.startswith("only ")
    assert "needs 10" in one.reason


def test_no_spread_is_no_certainty():
    one = significance([scores_of([1] * 12)]).intervals["e0"]["HR@1"]
    assert math.isnan(one.low)
    assert "no spread" in one.reason


def test_an_undefined_value_has_no_interval():
    one = significance([scores_of([1] * 12)]).intervals["e0"]["AUC_mic"]
    assert math.isnan(one.low)
    assert "undefined" in one.reason


def test_undefined_replicates_are_left_out_and_counted_and_too_many_are_refused():
    replicates = np.linspace(0, 1, 201)
    replicates[:10] = np.nan
    one = interval(0.5, 20, replicates, np.linspace(0.4, 0.6, 20), method="percentile")
    assert (one.undefined, one.replicates) == (10, 201)
    assert (one.low, one.high) == percentile(replicates[10:], 0.95)
    replicates[10] = np.nan
    two = interval(0.5, 20, replicates, np.linspace(0.4, 0.6, 20), method="percentile")
    assert math.isnan(two.low)
    assert two.reason.startswith("11 of 201 replicates")


def test_all_similar_pairs_of_one_query_leave_too_many_replicates_without_a_value():
    one = encoders(3, queries=24, count=1)[0]
    label = np.where(one.query_codes[1] == 0, 1, 0)
    object.__setattr__(one, "label", label)
    found = significance([evaluate(one, ["PR-AUC_mic"])]).intervals["e0"]["PR-AUC_mic"]
    assert math.isnan(found.low)
    assert found.undefined > 500
    assert found.reason.startswith(f"{found.undefined:,} of {found.replicates:,}")


def test_replicates_on_one_side_of_the_value_fall_back_to_the_percentile_ends():
    replicates = np.linspace(0.1, 0.4, 200)
    one = interval(0.5, 20, replicates, np.linspace(0.4, 0.6, 20), method="bca")
    assert one.method == "percentile"
    assert (one.low, one.high) == percentile(replicates, 0.95)


@pytest.mark.parametrize(
    "settings",
    [{"replicates": 99}, {"seed": -1}, {"level": 0.0}, {"level": 1.0}, {"level": math.nan}, {"method": "t"}],
    ids=str,
)
def test_settings_that_mean_nothing_are_refused(settings: dict[str, object]):
    with pytest.raises(ArgumentError):
        Settings(**settings)


@pytest.mark.parametrize("method", METHODS)
def test_intervals_cover_the_value_at_about_their_level(method: str):
    """Means of 80 skewed values; docs/research/calibration.md has the measures themselves."""
    random = np.random.default_rng(11)
    held = 0
    for _ in range(400):
        x = random.beta(4.0, 1.0, 80)
        replicates = x[random.integers(0, 80, (400, 80))].mean(axis=1)
        ends = interval(float(x.mean()), 80, replicates, (x.sum() - x) / 79, level=0.9, method=method)
        held += ends.low <= 0.8 <= ends.high
    assert 0.86 <= held / 400 <= 0.94


def test_no_labels_at_all():
    empty = evaluate(encoders(0, count=1)[0].only(np.zeros(len(encoders(0, count=1)[0]), bool)))
    found = significance([empty, dataclasses.replace(empty, encoder="e1")], Settings(replicates=100))
    assert all("undefined" in one.reason for one in found.intervals["e0"].values())
    assert all(math.isnan(one[0].p_holm) for one in found.comparisons.values())


def test_one_encoder_alone_has_intervals_and_no_comparison():
    found = significance([evaluate(encoders(0, count=1)[0])], Settings(replicates=100))
    assert set(found.comparisons.values()) == {()}
    assert found.intervals["e0"]["HR@5"].low > 0
