"""Laws that the interval and the comparison of every measure obey, whatever it measures."""

from dataclasses import replace
from math import isnan
from random import Random

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.worlds import Ranking, candidates, judged_of, rows_of
from properties.table import EVERY, NEARLY

from lookalike.core.types import Scores
from lookalike.evaluate.measures.table import evaluate
from lookalike.evaluate.significance.compare import Comparison
from lookalike.evaluate.significance.intervals import METHODS, Interval
from lookalike.evaluate.significance.summary import Settings, significance

enough = st.lists(st.lists(candidates, min_size=2, max_size=9), min_size=12, max_size=16)
ways = st.sampled_from(METHODS)
REPLICATES = 150
OF_THREE = 180  # which three comparisons take: with fewer, more encoders make more swaps


def two(rankings: list[Ranking], seed: int) -> tuple[Scores, Scores]:
    """The same labels in two orders; every query has one, so that both are over the same queries."""
    rankings = [[ranking[0]._replace(label=ranking[0].label or 0), *ranking[1:]] for ranking in rankings]
    random = Random(seed)
    other = [random.sample(ranking, len(ranking)) for ranking in rankings]
    one, two = (evaluate(judged_of(rows_of(each)), EVERY) for each in (rankings, other))
    return replace(one, encoder="one"), replace(two, encoder="two")


def same(a: float, b: float) -> bool:
    return (isnan(a) and isnan(b)) or abs(a - b) <= NEARLY


def sound(found: Interval) -> bool:
    """Ordered ends within the range of values, or none and a reason."""
    if found.reason:
        return isnan(found.low) and isnan(found.high)
    return -NEARLY <= found.low <= found.high <= 1 + NEARLY


@settings(max_examples=15)
@given(enough, st.integers(0, 99), ways)
def test_ends_are_ordered_and_values_of_the_measure_or_there_is_a_reason(
    rankings: list[Ranking], seed: int, method: str
):
    given_ = Settings(replicates=REPLICATES, seed=seed, method=method)
    found = significance([two(rankings, seed)[0]], given_).intervals["one"]
    assert len(found) == len(set(found))
    assert [name for name, one in found.items() if not sound(one)] == []


@settings(max_examples=10)
@given(enough, st.integers(0, 99))
def test_more_confidence_is_never_narrower(rankings: list[Ranking], seed: int):
    scores = [two(rankings, seed)[0]]
    narrow, wide = (
        significance(
            scores, Settings(replicates=REPLICATES, seed=seed, level=level, method="percentile")
        ).intervals["one"]
        for level in (0.6, 0.9)
    )
    assert [m for m in narrow if narrow[m].low < wide[m].low or narrow[m].high > wide[m].high] == []


def mirrored(one: Comparison, other: Comparison) -> bool:
    """The same comparison the other way round."""
    back = other.swapped
    numbers = [
        (a, b)
        for field in ("difference", "p_t", "p_permutation", "p_bootstrap", "p_holm", "d_z", "won")
        for a, b in [(getattr(one, field), getattr(back, field))]
    ]
    ends = [(one.interval.low, back.interval.low), (one.interval.high, back.interval.high)]
    return one.encoders == back.encoders and all(same(a, b) for a, b in [*numbers, *ends])


@settings(max_examples=15)
@given(enough, st.integers(0, 99), ways)
def test_swapping_two_encoders_turns_the_sign_and_keeps_every_p(
    rankings: list[Ranking], seed: int, method: str
):
    a, b = two(rankings, seed)
    one, other = (
        significance(pair, Settings(replicates=REPLICATES, seed=seed, method=method)).comparisons
        for pair in ([a, b], [b, a])
    )
    assert [name for name in one if not mirrored(one[name][0], other[name][0])] == []


@settings(max_examples=10)
@given(enough, st.integers(0, 99))
def test_an_encoder_does_not_differ_from_itself(rankings: list[Ranking], seed: int):
    a, _ = two(rankings, seed)
    found = significance(
        [a, replace(a, encoder="twin")], Settings(replicates=REPLICATES, seed=seed)
    ).comparisons
    for family in found.values():
        one = family[0]
        assert one.difference == 0.0 or isnan(one.difference)
        assert all(p == 1.0 or isnan(p) for p in (one.p_t, one.p_permutation, one.p_bootstrap, one.p_holm))
        assert isnan(one.interval.low)


@settings(max_examples=10)
@given(enough, st.integers(0, 99))
def test_every_p_is_a_share_and_holm_never_lowers_it(rankings: list[Ranking], seed: int):
    a, b = two(rankings, seed)
    third = replace(two(rankings, seed + 1)[1], encoder="third")
    for family in significance(
        [a, b, third], Settings(replicates=REPLICATES, seed=seed)
    ).comparisons.values():
        for one in family:
            known = [p for p in (one.p_t, one.p_permutation, one.p_bootstrap) if not isnan(p)]
            assert all(0 <= p <= 1 for p in known)
            assert (isnan(one.p) and isnan(one.p_holm)) or one.p <= one.p_holm <= 1


@settings(max_examples=10)
@given(enough, st.integers(0, 99), st.integers(0, 99))
def test_other_encoders_change_neither_intervals_nor_single_comparisons(
    rankings: list[Ranking], seed: int, shuffle: int
):
    """Samples are shared, so the comparison of two encoders does not depend on other encoders, except by Holm."""
    a, b = two(rankings, seed)
    third = replace(two(rankings, shuffle)[1], encoder="third")
    few, many = (
        significance(scores, Settings(replicates=OF_THREE, seed=1)) for scores in ([a, b], [a, b, third])
    )
    for name, family in few.comparisons.items():
        alone, among = family[0], many.comparisons[name][0]
        assert mirrored(replace(alone, p_holm=0.0), replace(among, p_holm=0.0).swapped)
        ends = [(one.intervals["one"][name].low, one.intervals["one"][name].high) for one in (few, many)]
        assert np.array_equal(ends[0], ends[1], equal_nan=True)
