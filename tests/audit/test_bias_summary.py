"""From pools to figures: pairs, bands, bias, places and intervals, on pools small enough to count by hand."""

import tomllib
from dataclasses import replace

import numpy as np
import pytest
from audit.complete_worlds import world
from scipy.stats import spearmanr

from lookalike.audit.trust import KINDS, wilson
from lookalike.core.errors import MeasureError
from lookalike.research.bias.calibrate import as_toml, calibrated, first_pool, held
from lookalike.research.bias.encoder_pairs import bands, pairs
from lookalike.research.bias.simulate import SimulatedPools, simulate
from lookalike.research.bias.statistics import pooled_mean, spearman, summary


def outcome(value, generator, coverage, truth, z=3.0) -> SimulatedPools:
    """Pools of one measure, EHR@5; every pair is separated or none."""
    value = np.array(value, float)[:, None]
    pools, _, encoders = value.shape
    truth = np.array(truth, float)
    return SimulatedPools(
        encoders=tuple("abcd"[:encoders]),
        measures=("EHR@5",),
        value=value,
        z=np.full((pools, 1, encoders, encoders), z),
        ends=np.stack([[value[:, 0] - half, value[:, 0] + half] for half in (0.05, 0.15)]).transpose(
            2, 0, 1, 3
        ),
        held=np.full((pools, encoders, encoders), 1.0),
        generator=np.array(generator, bool),
        coverage=np.array(coverage, float),
        true_same=np.tile(truth, (pools, 1)),
        true_z=np.full((pools, encoders, encoders), 5.0),
        true_all=truth,
        true_10=truth,
        positive_rate=np.full(pools, 0.5),
        top=np.full(pools, 5),
        queries=np.full(pools, 10),
        labels=np.full(pools, 50),
        random_pairs=np.zeros(pools, int),
        answers=("truth",) * pools,
    )


ONE = outcome([[0.5, 0.6, 0.55]], [[True, False, False]], [[1.0, 0.5, 0.1]], [0.5, 0.4, 0.3])


def found(cells, figure, where):
    return next(c for c in cells if c.figure == figure and c.where == where)


def test_pairs_know_their_kind_their_coverage_and_whether_they_are_right():
    flat = pairs(ONE, "EHR@5")  # (a, b), (a, c), (b, c)
    assert [KINDS[kind] for kind in flat.kind] == ["one outside", "one outside", "both outside"]
    assert flat.band.tolist() == [2, 0, 0]
    assert flat.right.tolist() == [0.0, 0.0, 1.0]
    assert flat.separated.tolist() == [True] * 3


def test_an_interval_holds_the_truth_or_not():
    """Outside the pool .6 and .55 were found where .5 and .3 are true: within .05 none is right, within .15 one."""
    cells = summary([replace(ONE, true_all=np.array([0.5, 0.5, 0.3]))])
    by_name = {(one.figure, one.where): one.value for one in cells if one.measure == "HR@5 corrected"}
    assert by_name["interval of the draw of queries holds the truth", "outside"] == 0.0
    assert by_name["interval holds the truth", "outside"] == 0.5
    assert by_name["interval holds the truth", "generators"] == 1.0
    assert by_name["width of the interval", "outside"] == pytest.approx(0.3)
    assert by_name["interval of a difference holds the truth", "one outside"] == 1.0


def test_equal_truths_and_undefined_scores_are_left_out_and_ties_count_half():
    tied = outcome([[0.5, 0.5, np.nan, 0.1]], [[True] * 4], [[1.0] * 4], [0.5, 0.4, 0.3, 0.4])
    flat = pairs(tied, "EHR@5")  # ab tied; ac, bc, cd undefined; ad right; bd equal in truth
    assert flat.right.tolist() == [0.5, 1.0]
    assert flat.undefined == 3


def test_bias_is_of_outside_and_by_their_coverage():
    cells = summary([ONE])
    assert found(cells, "bias", "outside").value == pytest.approx((0.2 + 0.25) / 2)
    assert found(cells, "bias", "generators").value == pytest.approx(0.0)
    assert found(cells, "RMSE", "outside").value == pytest.approx(np.sqrt((0.2**2 + 0.25**2) / 2))
    assert found(cells, "bias", "outside, coverage@5 0 to .2").value == pytest.approx(0.25)
    assert found(cells, "bias", "outside, coverage@5 .4 to .6").value == pytest.approx(0.2)
    assert found(cells, "bias", "outside, coverage@5 .8 to 1").n == 0
    assert found(cells, "bias", "outside, 40% to 60% of the pool similar").n == 2


def test_places_gained_are_against_the_truth():
    cells = summary([ONE])  # by truth a b c, by measure b c a: b and c up one place of two, a down two
    assert found(cells, "places gained", "outside").value == pytest.approx(0.5)
    assert found(cells, "places gained", "generators").value == pytest.approx(-1.0)


def test_bands_hold_their_lower_edge():
    assert bands(np.array([0.0, 0.19, 0.2, 0.6, 1.0])).tolist() == [0, 0, 1, 3, 4]


def test_the_interval_resamples_whole_pools():
    """Two pools that say 0 and 1 on many pairs: nothing narrower than 0 to 1 would be honest."""
    wide = pooled_mean(np.repeat([0.0, 1.0], 500), np.repeat([0, 1], 500), 2)
    assert (wide.value, wide.low, wide.high, wide.n, wide.pools) == (0.5, 0.0, 1.0, 1000, 2)
    narrow = pooled_mean(np.tile([0.0, 1.0], 500), np.repeat(np.arange(500), 2), 500)
    assert narrow.high - narrow.low < 1e-9


def test_spearman_is_scipy_s_over_what_is_known():
    random = np.random.default_rng(0)
    a, b = random.standard_normal((2, 9)).round(1)
    a[3] = np.nan
    keep = np.arange(9) != 3
    assert spearman(a, b) == pytest.approx(spearmanr(a[keep], b[keep]).statistic)
    assert np.isnan(spearman(np.ones(5), np.arange(5.0)))
    assert np.isnan(spearman(np.arange(2.0), np.arange(2.0)))


def test_a_measure_that_was_not_scored_is_named():
    with pytest.raises(MeasureError, match="XYZ"):
        pairs(ONE, "XYZ")


def test_a_cell_s_bound_takes_pools_for_its_trials_where_all_agree():
    many = outcome([[0.1, 0.6]] * 40, [[True, False]] * 40, [[1.0, 0.5]] * 40, [0.2, 0.4])
    cell = calibrated([many])["EHR@5"]["one outside"]["separated"][2]
    assert (cell["share"], cell["pairs"], cell["pools"]) == (1.0, 40, 40)
    assert cell["low"] == pytest.approx(wilson(1.0, 40.0)[0], abs=1e-4)


def test_pairs_that_hang_together_widen_the_bound():
    values = [[0.1, 0.5, 0.6, 0.7]] * 20 + [[0.9, 0.5, 0.4, 0.3]] * 5
    all_or_none = outcome(values, [[True] * 4] * 25, [[1.0] * 4] * 25, [0.1, 0.2, 0.3, 0.4])
    cell = calibrated([all_or_none])["EHR@5"]["both generators"]["separated"][4]
    assert (cell["share"], cell["pairs"]) == (0.8, 150)
    assert cell["low"] == pytest.approx(wilson(0.8, 25.0)[0], abs=1e-4)


def test_the_file_reads_back_and_a_calibration_holds_on_what_it_was_made_from():
    complete = simulate(world(encoders=8, queries=60), 25, 0)
    table = tomllib.loads(as_toml([complete], {"seed": 0, "encoders": list(complete.encoders)}, complete))
    assert table["made"] == {"seed": 0, "encoders": list(complete.encoders)}
    assert {name: tuple(counts) for name, counts in table["check"].items()} == first_pool(complete)
    for one in held([complete], table):
        if one.word != "unknown":
            assert one.share == pytest.approx(one.promised, abs=1e-3)
    words = {one.word for one in held([complete], table)}
    assert words & {"trusted", "with care", "not to be trusted"}


def test_figures_of_two_worlds_join():
    other = replace(ONE, value=ONE.value - 0.4)
    cells = summary([ONE, other])
    assert found(cells, "bias", "outside").value == pytest.approx(0.225 - 0.2)
    assert found(cells, "bias", "outside").pools == 2
