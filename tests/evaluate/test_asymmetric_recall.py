"""aR@k against an oracle that goes through every order of ties."""

import math

import numpy as np
import pytest
from oracles.pairing import recall, tables

from lookalike.core.errors import LookalikeError
from lookalike.evaluate.measures.asymmetric_recall import asymmetric_recall, pair_places, recall_curve


@pytest.mark.parametrize("k", [1, 2, 3, 7, 20])
def test_recall_is_that_of_every_tie_order(k):
    for table in tables(range(6), pairs=5):
        assert asymmetric_recall(pair_places(table), k) == pytest.approx(recall(table, k), abs=1e-12)


def test_places_are_counted_over_several_blocks():
    table = np.random.default_rng(0).integers(-3, 4, (150, 150)) / 4.0
    places = pair_places(table)
    for pair in (0, 63, 64, 149):
        lists = table[pair], table[:, pair]
        assert places.above[:, pair].tolist() == [int((one > table[pair, pair]).sum()) for one in lists]
        assert places.tied[:, pair].tolist() == [int((one == table[pair, pair]).sum()) - 1 for one in lists]


def test_a_tensor_has_the_places_of_its_array():
    torch = pytest.importorskip("torch")
    table = np.random.default_rng(1).uniform(-1, 1, (70, 70)).astype(np.float32)
    of_array, of_tensor = pair_places(table), pair_places(torch.from_numpy(table))
    assert (of_array.above == of_tensor.above).all()
    assert (of_array.tied == of_tensor.tied).all()


def test_either_direction_is_enough():
    table = np.array([[0.5, 0.9], [0.1, 0.05]])  # left 0 prefers right 1; right 0 prefers left 0
    assert asymmetric_recall(pair_places(table), 1) == 0.5


def test_a_scorer_that_knows_nothing_has_what_chance_gives():
    n, k = 20, 3
    missed = 1 - k / n
    assert asymmetric_recall(pair_places(np.zeros((n, n))), k) == pytest.approx(1 - missed * missed)


def test_recall_never_falls_and_ends_at_1():
    curve = recall_curve(pair_places(np.random.default_rng(2).uniform(size=(30, 30))), range(1, 31))
    assert curve == sorted(curve)
    assert curve[-1] == 1.0


def test_no_pairs_and_nan_are_undefined():
    assert math.isnan(asymmetric_recall(pair_places(np.zeros((0, 0))), 1))
    broken = np.eye(3)
    broken[1] = np.nan
    assert math.isnan(asymmetric_recall(pair_places(broken), 1))


def test_k_is_checked():
    with pytest.raises(LookalikeError):
        asymmetric_recall(pair_places(np.eye(2)), 0)
