"""Answers per active hour, and how sure that is."""

import math

import numpy as np
import pytest

from lookalike.annotate.agreement.pace import HOUR_MS, Worked, by_annotator, hours, pace


def test_pace_is_a_ratio_of_sums_in_active_hours():
    found = pace([Worked(1, 5, 130, HOUR_MS), Worked(1, 6, 2, HOUR_MS // 60), Worked(2, 6, 0, 0)])
    assert found.per_hour.value == pytest.approx(132 / (61 / 60))
    assert found.seconds == pytest.approx(3600 / found.per_hour.value)
    assert (found.answers, found.per_hour.count) == (132, 2)
    assert "10 person-hours" in found.per_hour.reason


def test_no_work_is_no_pace():
    for rows in ([], [Worked(1, 5, 9, 0)], [Worked(1, 5, 9, 60_000)]):
        found = pace(rows)
        assert math.isnan(found.per_hour.value)
        assert math.isnan(found.seconds)
        assert "5 active minutes" in found.per_hour.reason


def test_each_has_their_own_pace_and_hours_are_of_all():
    rows = [Worked(2, 7, 60, HOUR_MS // 2), Worked(1, 7, 140, HOUR_MS), Worked(1, 9, 110, HOUR_MS)]
    found = by_annotator(rows)
    assert list(found) == [1, 2]
    assert (found[1].per_hour.value, found[2].per_hour.value) == (125.0, 120.0)
    last = hours(rows, first=8)
    assert [(hour.hour, hour.people, hour.answers) for hour in last] == [(9, 1, 110)]
    assert hours(rows, first=0)[0].people == 2


@pytest.mark.slow
@pytest.mark.parametrize("count", [12, 60])
def test_the_interval_holds_the_long_run_pace(count):
    """Hours of 10 to 60 active minutes at paces of 80 to 180; 2,000 samples."""
    random, hits = np.random.default_rng(count), 0
    for _ in range(2000):
        active = random.uniform(1 / 6, 1, count)
        answers = random.poisson(random.uniform(80, 180, count) * active)
        rows = [
            Worked(1, h, int(y), round(x * HOUR_MS))
            for h, (y, x) in enumerate(zip(answers, active, strict=True))
        ]
        found = pace(rows).per_hour
        hits += found.low <= 130 <= found.high
    assert 0.90 < hits / 2000 < 0.97
