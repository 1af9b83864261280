"""Calls that wait: taken in order, many at a time, by one thread unless it is at them for long."""

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor

from lookalike.store.lane import Call, Lane


def call(number):
    return Call(number, Future())


def numbers(taken):
    return [one.run for one in taken]


def test_calls_are_taken_in_their_order_so_many_at_a_time():
    lane = Lane(most=3)
    assert all(lane.put(call(n)) for n in range(7))
    assert [numbers(lane.take()) for _ in range(3)] == [[0, 1, 2], [3, 4, 5], [6]]


def test_a_closed_lane_gives_what_waits_and_then_nothing_and_takes_no_more():
    lane = Lane()
    lane.put(call(1))
    lane.close()
    assert not lane.put(call(2))
    assert numbers(lane.take()) == [1]
    assert lane.take() == []
    assert lane.take() == []


def test_who_waits_for_a_call_is_told_of_the_end():
    lane = Lane(most=5, patience=60.0)
    with ThreadPoolExecutor(3) as threads:
        taken = [threads.submit(lane.take) for _ in range(3)]
        lane.close()
        assert [one.result(timeout=60) for one in taken] == [[]] * 3


def test_while_one_is_at_its_batch_the_others_leave_what_comes_to_it():
    lane = Lane(most=10, patience=3600.0)
    lane.put(call(0))
    assert numbers(lane.take()) == [0]
    other = threading.Thread(target=lane.take)
    other.start()
    for n in range(1, 6):
        lane.put(call(n))
    other.join(timeout=0.2)
    assert other.is_alive()
    lane.done()
    assert numbers(lane.take()) == [1, 2, 3, 4, 5]
    lane.done()
    lane.close()
    other.join(timeout=60)
    assert not other.is_alive()


def test_one_that_is_at_its_batch_for_long_is_waited_for_no_longer():
    lane = Lane(most=10, patience=0.05)
    lane.put(call(0))
    assert numbers(lane.take()) == [0]
    lane.put(call(1))
    lane.put(call(2))
    assert numbers(lane.take()) == [1, 2]
    lane.done()
    lane.done()
    lane.put(call(3))
    assert numbers(lane.take()) == [3]


def test_calls_beyond_a_batch_are_taken_by_another_while_the_first_is_at_it():
    lane, seen, go = Lane(most=2, patience=0.05), [], threading.Event()
    for n in range(4):
        lane.put(call(n))

    def work():
        while taken := lane.take():
            seen.append(numbers(taken))
            if taken[0].run == 0:
                go.wait(60)
            else:
                go.set()
            lane.done()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert go.wait(60)
    lane.close()
    for thread in threads:
        thread.join(timeout=60)
    assert seen == [[0, 1], [2, 3]]


def test_while_one_is_stuck_another_goes_on_without_a_pause():
    lane = Lane(most=1, patience=0.05)
    lane.put(call(0))
    stuck = threading.Thread(target=lane.take)
    stuck.start()
    stuck.join(timeout=60)
    time.sleep(0.1)
    for n in range(1, 4):
        lane.put(call(n))
        assert lane._left() <= 0
        assert numbers(lane.take()) == [n]
        lane.done()


def test_many_threads_take_each_call_once():
    lane, seen, at_once = Lane(most=7, patience=3600.0), [], []

    def work():
        while taken := lane.take():
            at_once.append(1)
            assert len(at_once) == 1  # nobody else is at a batch
            seen.extend(numbers(taken))
            at_once.pop()
            lane.done()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for n in range(2000):
        lane.put(call(n))
    lane.close()
    for thread in threads:
        thread.join(timeout=60)
    assert seen == list(range(2000))
