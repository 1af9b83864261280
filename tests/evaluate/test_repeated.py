"""Means over splits that overlap, against the paper's formula by hand and against what it is for."""

import sys
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

sys.path.insert(0, str(Path(__file__).parents[1] / "oracles"))
import splitting

from lookalike.core.errors import ArgumentError
from lookalike.evaluate.significance.repeated_splits import (
    differences,
    over_splits,
    resampled_t_test,
    standard_error,
)


@pytest.mark.parametrize("splits", [2, 3, 10, 50])
@pytest.mark.parametrize(("tested", "trained"), [(25, 60), (1, 3), (150, 360)])
def test_equals_the_paper_by_hand(splits, tested, trained):
    values = np.random.default_rng(splits).normal(0.1, 0.2, splits)
    mean, error = splitting.corrected(values.tolist(), tested, trained)
    low, high = splitting.interval(values.tolist(), tested, trained, 0.9)
    found = over_splits(values, tested, trained, level=0.9)
    assert standard_error(values, tested, trained) == pytest.approx(error)
    assert (found.value, found.low, found.high, found.splits) == pytest.approx((mean, low, high, splits))
    p = splitting.p_value(values.tolist(), tested, trained)
    assert resampled_t_test(values, tested, trained) == pytest.approx(p)


def test_is_the_plain_t_test_where_test_sets_hardly_overlap():
    values = np.random.default_rng(0).normal(0.1, 0.2, 20)
    assert resampled_t_test(values, 1, 10**9) == pytest.approx(stats.ttest_1samp(values, 0).pvalue, rel=1e-6)


def test_the_plain_test_is_too_sure_of_splits_that_overlap_and_this_one_is_not():
    """Two methods without a difference on a catalog's images: each split tests 25 of 100. Errors at 5 %."""
    random = np.random.default_rng(0)
    plain = corrected = 0
    for _ in range(300):
        catalog = random.normal(size=100)
        means = np.array([random.permutation(catalog)[:25].mean() for _ in range(50)])
        plain += stats.ttest_1samp(means, 0).pvalue < 0.05
        corrected += resampled_t_test(means, 25, 60) < 0.05
    assert plain / 300 > 0.4
    assert corrected / 300 < 0.1


def test_undefined_cases():
    one = over_splits(np.array([0.5, np.nan]), 25, 60)
    assert (one.value, one.splits) == (0.5, 1)
    assert np.isnan([one.low, one.high]).all()
    none = over_splits(np.array([np.nan]), 25, 60)
    assert np.isnan([none.value, none.low, none.high]).all()
    assert none.splits == 0
    assert np.isnan(resampled_t_test(np.array([0.1]), 25, 60))
    assert np.isnan(resampled_t_test(np.array([0.1, 0.1]), 25, 60))
    assert resampled_t_test(np.zeros(3), 25, 60) == 1.0


@pytest.mark.parametrize(("tested", "trained"), [(0, 60), (25, 0)])
def test_no_images_are_refused(tested, trained):
    with pytest.raises(ArgumentError):
        standard_error(np.array([0.1, 0.2]), tested, trained)


@pytest.mark.parametrize("level", [0.0, 1.0, float("nan")])
def test_a_level_outside_is_refused(level):
    with pytest.raises(ArgumentError):
        over_splits(np.array([0.1, 0.2]), 25, 60, level=level)


def test_differences_are_paired_and_holm_counts_them_all():
    random = np.random.default_rng(1)
    base = random.normal(0.8, 0.1, 12)
    found = {
        "a": base,
        "b": base + random.normal(0.05, 0.01, 12),
        "c": np.where(np.arange(12) < 4, np.nan, base),
    }
    first, second = differences(found, [("b", "a"), ("c", "a")], 25, 60)
    assert first.by.value == pytest.approx(np.mean(found["b"] - found["a"]))
    assert first.won == 1.0
    assert first.p_holm == pytest.approx(2 * first.p)
    assert (second.by.splits, second.by.value, second.won, second.p) == (8, 0.0, 0.5, 1.0)
