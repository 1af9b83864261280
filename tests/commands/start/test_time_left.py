"""The time left of long work: nothing before it is measured, and then by the pace after the start."""

import pytest

from lookalike.cli import console
from lookalike.core.progress import TimeLeft
from lookalike.core.text import duration


class Clock:
    """A clock that is moved by hand."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def times(clock, told, *, start: float, pace: float, total: int, known: int = 0):
    """The times told and the true ones of work whose first step comes after `start` seconds."""
    clock.now += start
    for done in range(known + 1, total + 1):
        yield told(done, total), (total - done) * pace
        clock.now += pace


@pytest.mark.parametrize("start", [0.1, 30.0])
@pytest.mark.parametrize("known", [0, 600])
def test_a_slow_start_and_work_of_an_earlier_run_do_not_count(start, known):
    clock = Clock()
    left = TimeLeft(clock)
    shown = list(times(clock, left.seconds, start=start, pace=0.05, total=1000, known=known))
    before = [estimate for estimate, _ in shown[: int((left.WARM_UP + left.MEASURED) / 0.05) - 1]]
    assert before == [None] * len(before)
    after = [(estimate, true) for estimate, true in shown if estimate is not None]
    assert len(after) > 100
    for estimate, true in after:
        assert estimate == pytest.approx(true, abs=0.01)


def test_short_work_and_work_that_stands_still_have_no_estimate():
    clock = Clock()
    left = TimeLeft(clock)
    assert {told for told, _ in times(clock, left.seconds, start=9, pace=0.1, total=40)} == {None}
    clock = Clock()
    still = TimeLeft(clock)
    told = []
    for _ in range(20):
        told.append(still.seconds(5, 10))
        clock.now += 1
    assert set(told) == {None}


def test_lines_of_progress_have_the_time_left_once_it_is_known(lookalike, monkeypatch):
    import io

    out, clock = io.StringIO(), Clock()
    monkeypatch.setattr(console.err, "file", out, raising=False)
    report = console._line_every_few_seconds("Embedding", clock)
    for done in range(1, 101):
        clock.now += 0.5
        report(done, 100)
    lines = out.getvalue().splitlines()
    assert len(lines) > 5
    assert lines[0] == "Embedding: 11 of 100 (about 44 s left)"
    assert all("left)" in line for line in lines)
    short = io.StringIO()
    monkeypatch.setattr(console.err, "file", short, raising=False)
    clock = Clock()
    report = console._line_every_few_seconds("Embedding", clock)
    clock.now += 60
    report(1, 100)
    assert short.getvalue() == "Embedding: 1 of 100\n"


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [(0.2, "1 s"), (99, "99 s"), (101, "2 min"), (3599, "1 h 0 min"), (9000, "2 h 30 min")],
)
def test_durations_in_words(seconds, expected):
    assert duration(seconds) == expected
