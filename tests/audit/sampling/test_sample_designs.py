"""Designs: sizes of strata, probabilities that are those of the draw, and first parts that are samples too."""

from collections import Counter

import numpy as np
import pytest

from lookalike.audit.sampling.design import Units, draw, filled, probability, shared, sizes
from lookalike.core.errors import ArgumentError


def units(*strata: tuple[int, float]) -> Units:
    """(how many units, the weight of each) of every stratum."""
    count, weight = zip(*strata, strict=True)
    return Units(np.repeat(weight, count), np.repeat(np.arange(len(count)), count))


def test_strata_give_labels_by_size_and_weight():
    assert sizes(units((100, 0.1), (100, -0.1)), 40).tolist() == [20, 20]
    assert sizes(units((100, 0.1), (100, 0.3)), 40).tolist() == [10, 30]
    assert sizes(units((150, 0.1), (50, 0.1)), 40).tolist() == [30, 10]


def test_a_stratum_gives_two_labels_at_least_and_no_more_than_it_has():
    assert sizes(units((1000, 0.1), (3, 0.1)), 40).tolist() == [38, 2]
    assert sizes(units((1000, 0.1), (1, 0.1)), 40).tolist() == [39, 1]
    assert sizes(units((100, 0.001), (10, 0.5)), 40).tolist() == [30, 10]


@pytest.mark.parametrize(("labels", "all_of_them"), [(43, False), (44, True), (90, True)])
def test_all_are_labelled_where_little_more_is_open_than_asked_for(labels, all_of_them):
    found = sizes(units((30, 0.1), (20, -0.1)), labels)
    assert (found.tolist() == [30, 20]) == all_of_them
    assert found.sum() == (50 if all_of_them else labels)


def test_probabilities_are_how_often_a_unit_is_drawn():
    some = units((6, 0.1), (4, -0.2))
    times, found = Counter[int](), {}
    for seed in range(4000):
        design = draw(some, 5, seed)
        times.update(design.tolist())
        found |= dict(zip(design.tolist(), probability(some, design).tolist(), strict=True))
    for unit, p in found.items():
        assert times[unit] / 4000 == pytest.approx(p, abs=5 * np.sqrt(p * (1 - p) / 4000))
    assert sum(found.values()) == pytest.approx(5)


def test_the_seed_alone_decides_and_no_unit_comes_twice():
    some = units((40, 0.1), (30, -0.1))
    one, again, other = draw(some, 20, 1), draw(some, 20, 1), draw(some, 20, 2)
    assert np.array_equal(one, again)
    assert not np.array_equal(np.sort(one), np.sort(other))
    assert len(set(one.tolist())) == len(one) == 20


def test_the_first_part_of_a_design_is_a_simple_random_sample_of_each_stratum():
    """Each unit of a stratum is as often among the first five labels as any other."""
    some = units((10, 0.1), (6, -0.1))
    first = Counter(unit for seed in range(3000) for unit in draw(some, 12, seed)[:5].tolist())
    for stratum in (0, 1):
        seen = np.array([first[unit] for unit in np.flatnonzero(some.stratum == stratum)])
        assert np.abs(seen - seen.mean()).max() < 5 * np.sqrt(seen.mean())


@pytest.mark.parametrize("weight", [0.0, np.nan, np.inf])
def test_units_that_do_not_count_are_not_drawn(weight):
    with pytest.raises(ArgumentError):
        draw(Units(np.array([0.1, weight]), np.zeros(2, int)), 1, 0)


def test_one_draw_for_several_values_takes_units_by_the_root_of_how_many_need_them():
    needed = np.array([[True] * 400, [True] * 100 + [False] * 300, [True] * 100 + [False] * 300])
    of_all = shared(needed)
    design = draw(of_all, 80, 3)
    p = np.zeros(400)
    p[design] = probability(of_all, design)
    assert p[p > 0].min() * np.sqrt(3) == pytest.approx(p.max(), rel=0.03)
    assert (p[:100] > 0).sum() / 100 == pytest.approx(p[:100].max())


def test_a_covariate_of_a_part_of_the_units_is_filled_with_its_stratum_s_mean():
    guess = np.array([0.1, 0.3, np.nan, np.nan, np.nan, 0.8])
    assert filled(guess, np.array([0, 0, 0, 1, 2, 2])).tolist() == pytest.approx(
        [0.1, 0.3, 0.2, 0.4, 0.8, 0.8]
    )
    assert filled(np.full(2, np.nan), np.zeros(2, int)).tolist() == [0.5, 0.5]
