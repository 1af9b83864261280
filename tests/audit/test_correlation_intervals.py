"""When a correlation has an interval, and how many values one of few encoders can take."""

from itertools import permutations

import numpy as np
import pytest
from scipy.stats import spearmanr

from lookalike.audit.audits import ENOUGH, AuditSettings
from lookalike.audit.correlation import FEWEST, KINDS, correlate, possible_values, with_interval
from lookalike.core.errors import ArgumentError

FOUND = correlate(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0.1, 0.3, 0.2, 0.4]))


def replicated(undefined: int) -> np.ndarray:
    """Two hundred replicates, of which the first `undefined` have no value."""
    values = np.linspace(0.0, 1.0, 600).reshape(200, 3)
    values[:undefined] = np.nan
    return values


@pytest.mark.parametrize("undefined", [0, 1, 10])
def test_five_percent_of_the_replicates_may_be_undefined(undefined):
    values = replicated(undefined)
    found = with_interval(FOUND, values)
    for kind, column in zip(KINDS, values.T, strict=True):
        one = getattr(found, kind)
        assert (one.undefined, one.no_interval, one.reason) == (undefined, "", "")
        assert (one.low, one.high) == pytest.approx(tuple(np.nanquantile(column, [0.025, 0.975])))


@pytest.mark.parametrize("undefined", [11, 100, 200])
def test_more_undefined_replicates_leave_no_interval_and_say_so(undefined):
    one = with_interval(FOUND, replicated(undefined)).spearman
    assert np.isnan([one.low, one.high]).all()
    assert one.value == FOUND.spearman.value
    assert one.no_interval.startswith(f"{undefined} of 200 replicates")


def test_an_undefined_value_has_no_interval():
    one = with_interval(correlate(np.ones(4), np.arange(4.0)), replicated(0)).spearman
    assert np.isnan([one.value, one.low, one.high]).all()
    assert one.reason
    assert "undefined" in one.no_interval


@pytest.mark.parametrize("replicates", [1, 50, 99, -1])
def test_too_few_replicates_are_refused(replicates):
    with pytest.raises(ArgumentError, match="100 to 1,000,000"):
        AuditSettings(replicates=replicates)


def test_zero_and_enough_replicates_are_accepted():
    assert [AuditSettings(replicates=number).replicates for number in (0, 100)] == [0, 100]


@pytest.mark.parametrize("n", range(FEWEST, ENOUGH))
def test_the_values_of_spearman_without_ties_are_counted_over_all_orders(n):
    seen = {round(float(spearmanr(range(n), order).statistic), 9) for order in permutations(range(n))}
    assert possible_values(n) == len(seen)
