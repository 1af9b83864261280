"""Hours left, the expected end, and intervals that narrow as labels grow."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.annotate.agreement.figure import Figure
from lookalike.annotate.agreement.pace import HOUR_MS, Worked, pace
from lookalike.annotate.agreement.patterns import vote_table
from lookalike.annotate.agreement.plan import (
    DAY_MS,
    discussed,
    expected_end,
    forecast,
    hours_left,
)
from lookalike.annotate.protocol import Protocol

NOW = 20_000 * DAY_MS


def test_hours_left_turn_the_interval_of_the_pace_around():
    found = hours_left(2_600, Figure(130.0, 104.0, 260.0, 40))
    assert (found.value, found.low, found.high) == (20.0, 10.0, 25.0)
    assert hours_left(2_600, Figure(130.0, 0.0, 260.0, 40)).high == math.inf


def test_no_remaining_pair_takes_no_time_and_no_pace_gives_no_estimate():
    assert hours_left(0, pace([]).per_hour).value == 0.0
    found = hours_left(5, pace([]).per_hour)
    assert math.isnan(found.value)
    assert "active minutes" in found.reason


def test_without_an_interval_of_the_pace_there_is_none_of_the_hours():
    found = hours_left(100, Figure(100.0, math.nan, math.nan, 3, "an interval needs 10 person-hours"))
    assert (found.value, math.isnan(found.low), found.reason) == (
        1.0,
        True,
        "an interval needs 10 person-hours",
    )


def test_the_end_is_foreseen_from_the_hours_a_day_of_late():
    hour = NOW // HOUR_MS
    worked = [
        Worked(1, hour - 24 * day, 120, HOUR_MS) for day in range(1, 11)
    ]  # one hour a day since 10 days
    end, low, high = expected_end(Figure(30.0, 20.0, math.inf, 10), worked, NOW)
    assert (end - NOW) / DAY_MS == pytest.approx(30)
    assert (low - NOW) / DAY_MS == pytest.approx(20)
    assert high == math.inf


def test_work_long_ago_foresees_no_end():
    worked = [Worked(1, NOW // HOUR_MS - 24 * 15, 120, HOUR_MS)]
    assert all(math.isnan(time) for time in expected_end(Figure(1.0, 1.0, 1.0, 1), worked, NOW))


def test_the_share_to_discuss_follows_the_protocol():
    rows = [("", "1+ 2+", 6), ("", "1+ 2-", 2), ("", "1? 2?", 1), ("", "1- 2-", 1)]
    patterns = vote_table(rows).counts
    assert discussed(patterns, Protocol("consensus", 2)).value == 0.3
    assert discussed(patterns, Protocol("majority", 2)).value == 0.0
    assert math.isnan(discussed(vote_table([]).counts, Protocol()).value)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=10, max_size=40))
def test_the_ratio_and_its_interval_equal_the_textbook(rows):
    y = np.array([float(min(one)) for one in rows])
    x = np.array([float(max(one)) for one in rows])
    found = forecast(y, x, labels=100, most=1000)
    kept = [(a, b) for a, b in zip(y.tolist(), x.tolist(), strict=True) if b > 0]
    if len(kept) < 10:
        assert math.isnan(found.value.low)
        return
    ratio = sum(a for a, _ in kept) / sum(b for _, b in kept)
    mean = sum(b for _, b in kept) / len(kept)
    residual = sum((a - ratio * b) ** 2 for a, b in kept) / (len(kept) - 1)
    half = 1.959964 * math.sqrt(residual / len(kept)) / mean
    assert found.value.value == pytest.approx(ratio)
    assert found.value.high - found.value.value == pytest.approx(half, rel=1e-6)
    assert found.steps[0].half_width == pytest.approx(half, rel=1e-6)


def test_four_times_the_queries_halve_the_interval_and_steps_end_at_the_most():
    y, x = np.arange(20.0) % 5, np.full(20, 5.0)
    found = forecast(y, x, labels=100, most=130)
    assert [step.queries for step in found.steps] == [20, 40, 80, 130]
    assert [step.labels for step in found.steps] == [100, 200, 400, 650]
    assert found.steps[2].half_width == pytest.approx(found.steps[0].half_width / 2)


def test_too_few_queries_have_no_forecast():
    few = forecast(np.ones(9), np.full(9, 2.0), labels=18, most=50)
    none = forecast(np.zeros(3), np.zeros(3), labels=0, most=50)
    assert (few.value.value, math.isnan(few.value.low), few.steps) == (0.5, True, ())
    assert (math.isnan(none.value.value), none.value.count, none.steps) == (True, 0, ())
    assert "no query" in none.value.reason


def test_forecasts_are_right_where_queries_are_sampled_alike():
    """From 50 queries, the half-width at 800 within a quarter of what 800 then have."""
    random = np.random.default_rng(1)
    labels = random.integers(5, 21, 800).astype(float)
    similar = random.binomial(labels.astype(int), random.beta(2, 1.2, 800)).astype(float)
    early = forecast(similar[:50], labels[:50], labels=int(labels[:50].sum()), most=800)
    late = forecast(similar, labels, labels=int(labels.sum()), most=800)
    assert early.steps[-1].queries == 800
    assert early.steps[-1].half_width == pytest.approx(late.steps[0].half_width, rel=0.25)
    assert early.steps[-1].labels == pytest.approx(labels.sum(), rel=0.1)
