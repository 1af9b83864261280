"""The lookup behind the verdict's words, and the table that it reads."""

import math

import pytest
from scipy.stats import binomtest

from lookalike.audit.trust import BANDS, KINDS, calibration, trust, wilson, word
from lookalike.core.errors import ArgumentError
from lookalike.evaluate.measures.table import parse


def cell(share: float, low: float, pairs: int) -> dict[str, float]:
    return {"share": share, "low": low, "pairs": pairs, "pools": 17}


TABLE = {
    "cells": {
        "EHR@5": {
            "one outside": {
                "separated": [cell(0.99, 0.96, 300), cell(0.9, 0.85, 300), *[cell(0.5, 0.4, 50)] * 3],
                "open": [cell(0.6, 0.55, 100), cell(0.0, 0.0, 0), *[cell(0.5, 0.4, 50)] * 3],
            }
        }
    }
}


def test_a_cell_is_found_by_kind_coverage_and_whether_the_test_separates():
    found = trust("EHR@5", "one outside", 0.1, True, TABLE)
    assert (found.word, found.share, found.pairs, found.pools) == ("trusted", 0.99, 300, 17)
    assert found.separates == pytest.approx(300 / 400)
    assert trust("EHR@5", "one outside", 0.2, True, TABLE).word == "with care"
    assert trust("EHR@5", "one outside", 1.0, True, TABLE).word == "not to be trusted"
    assert trust("EHR@5", "one outside", 0.1, False, TABLE).word == "not to be trusted"
    empty = trust("EHR@5", "one outside", 0.3, False, TABLE)
    assert (empty.word, empty.pairs, empty.separates) == ("unknown", 0, 1.0)
    assert math.isnan(empty.share)


@pytest.mark.parametrize(("measure", "kind"), [("new@5", "one outside"), ("EHR@5", "both generators")])
def test_what_was_not_calibrated_is_unknown(measure, kind):
    assert trust(measure, kind, 0.5, True, TABLE).word == "unknown"


def test_few_pairs_or_pools_are_unknown_at_any_share():
    assert word(0.99, 29, 20) == "unknown"
    assert word(0.99, 300, 9) == "unknown"
    assert word(0.99, 30, 10) == "trusted"


@pytest.mark.parametrize("coverage", [-0.1, 1.1, math.nan])
def test_a_coverage_outside_0_to_1_is_refused(coverage):
    with pytest.raises(ArgumentError, match="coverage is"):
        trust("EHR@5", "one outside", coverage, True, TABLE)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ArgumentError, match="kind is 'any'"):
        trust("EHR@5", "any", 0.5, True, TABLE)


@pytest.mark.parametrize(("right", "n"), [(0, 10), (7, 10), (95, 100), (1000, 1000)])
def test_wilson_s_interval_is_scipy_s(right, n):
    expected = binomtest(right, n).proportion_ci(method="wilson")
    assert wilson(right / n, float(n)) == pytest.approx((expected.low, expected.high))


def test_the_shipped_table_is_whole():
    table = calibration()
    made = table["made"]
    assert made["pools"] >= 500
    assert made["studios"] >= 4
    assert len(made["encoders"]) >= 16
    for measure, kinds in table["cells"].items():
        if "corrected" not in measure and "labels" not in measure:
            assert parse(measure).name == measure
        assert set(kinds) == set(KINDS)
        for states in kinds.values():
            assert set(states) == {"separated", "open"}
            for cells in states.values():
                assert len(cells) == len(BANDS) - 1
                for one in cells:
                    assert one["low"] <= one["share"] <= 1
                    assert one["pools"] <= one["pairs"]
    assert {"DCS(alpha=10)", "EHR@5", "AUC_mic", "HR@5 corrected"} <= set(table["cells"])


def test_where_both_fed_the_pool_a_test_that_separates_is_right_more_often():
    for kinds in calibration()["cells"].values():
        states = kinds["both generators"]
        for apart, other in zip(states["separated"], states["open"], strict=True):
            if min(apart["pairs"], other["pairs"]) > 200:
                assert apart["share"] > other["share"] + 0.1


def test_a_biased_measure_that_separates_can_be_wrong_more_often_than_a_coin():
    found = trust("EHR@5", "one outside", 0.1, True)
    assert found.share < 0.5
    assert found.word == "not to be trusted"
