"""Waits that grow: how long, for whom, and what is forgotten."""

import pytest

from lookalike.web.access.throttle import FORGOTTEN, Throttle, ThrottledError


def wait(throttle, name, address, now) -> int:
    """Seconds to wait before an attempt that fails; 0: none."""
    try:
        throttle.attempt(name, address, now)
    except ThrottledError as error:
        return error.seconds
    return 0


def test_the_wait_for_a_name_doubles_up_to_a_minute():
    throttle, now, waits = Throttle(), 0, []
    for turn in range(13):
        waits.append(wait(throttle, "ann", f"192.0.2.{turn}", now))
        now += 1000 * waits[-1]
        if waits[-1]:
            assert wait(throttle, "ann", "198.51.100.1", now) == 0
    assert waits == [0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60, 60]


def test_an_address_has_more_tries_and_longer_waits():
    throttle = Throttle()
    assert [wait(throttle, f"name {n}", "192.0.2.1", 0) for n in range(21)] == [0] * 20 + [1]
    assert wait(throttle, "another", "192.0.2.2", 0) == 0
    now = 0
    for n in range(20):
        now += 1000 * wait(throttle, f"more {n}", "192.0.2.1", now)
        wait(throttle, f"more {n}", "192.0.2.1", now)
    assert wait(throttle, "last", "192.0.2.1", now) == 15 * 60


def test_addresses_of_one_ipv6_network_are_one():
    throttle = Throttle()
    for n in range(20):
        assert wait(throttle, f"name {n}", f"2001:db8::{n:x}", 0) == 0
    assert wait(throttle, "more", "2001:db8::ffff", 0) == 1
    assert wait(throttle, "more", "2001:db8:0:1::1", 0) == 0


def test_success_forgets_the_name_and_not_the_address():
    throttle = Throttle()
    for n in range(19):
        throttle.attempt(f"name {n}", "192.0.2.1", 0)
    for _ in range(3):
        throttle.attempt("mine", "192.0.2.1", 0)
        throttle.succeeded("mine", "192.0.2.1")
    throttle.attempt("name", "192.0.2.1", 0)
    with pytest.raises(ThrottledError) as refused:
        throttle.attempt("mine", "192.0.2.1", 0)
    assert refused.value.code == "throttled"
    assert f"{refused.value.seconds} second" in refused.value.fix


def test_an_hour_later_or_with_a_clock_set_back_it_is_forgotten():
    for later in (FORGOTTEN, -1):
        throttle = Throttle()
        for _ in range(5):
            throttle.attempt("ann", "192.0.2.1", 0)
        assert wait(throttle, "ann", "192.0.2.1", 0) == 1
        assert wait(throttle, "ann", "192.0.2.1", later) == 0


def test_it_keeps_so_many_and_forgets_the_oldest():
    throttle = Throttle(most=10)
    for n in range(1000):
        wait(throttle, f"name {n}", f"192.0.2.{n % 250}", 0)
    assert len(throttle._known) == 10
