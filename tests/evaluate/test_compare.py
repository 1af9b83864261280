"""Comparisons of two encoders against their definitions and against scipy."""

import math
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from evaluate.significance_worlds import encoders
from oracles import significance as slowly
from scipy.stats import ttest_rel

from lookalike.core.errors import ArgumentError, NotComparableError
from lookalike.core.types import Basis, Rule, Score, Scores
from lookalike.evaluate.measures.table import DEFAULT, evaluate
from lookalike.evaluate.significance.bootstrap import Resampling, replicates
from lookalike.evaluate.significance.compare import Comparison, holm, on_both, t_test
from lookalike.evaluate.significance.sentence import is_significant, sentence
from lookalike.evaluate.significance.summary import Settings, significance

MANY = (*DEFAULT, "DCS(average=macro)", "HR@3", "EHR@3")
MEANS = {"HR@5", "EHR@5", "coverage@5", "AUC_mac", "PR-AUC_mac", "BPREF", "DCS(alpha=10,average=macro)"}


def measured(seed: int, **world: int) -> list[Scores]:
    return [evaluate(one, MANY) for one in encoders(seed, **world)]


def both(a: Score, b: Score) -> np.ndarray:
    return (a.denominator > 0) & (b.denominator > 0)


@pytest.mark.parametrize("seed", range(3))
def test_t_is_scipys_on_the_queries_that_count_for_both(seed: int):
    scores = measured(seed)
    for name, family in significance(scores, Settings(replicates=100)).comparisons.items():
        for one, (a, b) in zip(family, combinations([s[name] for s in scores], 2), strict=True):
            if name not in MEANS | {"HR@3", "EHR@3"}:
                assert math.isnan(one.p_t)
                assert math.isnan(one.d_z)
                continue
            common = both(a, b)
            x, y = a.numerator[common], b.numerator[common]
            assert one.p_t == pytest.approx(ttest_rel(x, y).pvalue, rel=1e-9), name
            assert one.d_z == pytest.approx(np.mean(x - y) / np.std(x - y, ddof=1))
            assert one.difference == pytest.approx(x.mean() - y.mean())
            assert one.won == pytest.approx(np.mean((np.sign(np.round(x - y, 12)) + 1) / 2))
            assert one.queries == common.sum()
            assert one.left_out == (a.denominator > 0).sum() + (b.denominator > 0).sum() - 2 * common.sum()


def ratio(parts: list[tuple[float, float]]) -> float:
    return sum(n for n, _ in parts) / sum(d for _, d in parts)


@pytest.mark.parametrize("seed", range(3))
def test_few_queries_are_permuted_in_every_way(seed: int):
    """Means and ratios: the parts of each query change encoders."""
    scores = measured(seed, queries=8, count=2)
    found = significance(scores, Settings(replicates=1000))
    seen = 0
    for name in found.comparisons:
        a, b = scores[0][name], scores[1][name]
        if a.pooled is not None or not both(a, b).any():
            continue
        common = both(a, b)
        one, other = (list(zip(s.numerator[common], s.denominator[common], strict=True)) for s in (a, b))
        slow = slowly.every_swap(one, other, lambda x, y: ratio(x) - ratio(y))
        assert found.comparisons[name][0].p_permutation == pytest.approx(slow), name
        seen += 1
    assert seen > 8


def test_random_swaps_come_near_every_swap():
    scores = measured(1, queries=13, count=2)
    few = significance(scores, Settings(replicates=4000)).comparisons
    every = significance(scores, Settings(replicates=2**13)).comparisons
    for name in ("DCS(alpha=10)", "coverage@5", "BPREF"):
        assert few[name][0].p_permutation == pytest.approx(every[name][0].p_permutation, abs=0.04)


def test_where_denominators_differ_a_swap_moves_them_too():
    """DCS micro of encoders that lack a percentile on different pairs."""
    numerators = np.array([[3.0, 1.0, 2.0, 0.5], [1.0, 1.5, 0.5, 2.5]])
    denominators = np.array([[3.0, 2.0, 5.0, 1.0], [2.0, 4.0, 1.0, 3.0]])
    queries = np.array(list("abcd"), object)
    made = [
        Score("DCS(alpha=10)", float(n.sum() / d.sum()), 4, queries, n, d)
        for n, d in zip(numerators, denominators, strict=True)
    ]
    basis = Basis("c", "l", Rule())
    scores = [Scores(name, basis, {one.measure: one}) for name, one in zip("xy", made, strict=True)]
    found = significance(scores, Settings(replicates=100)).comparisons["DCS(alpha=10)"][0]
    one, other = (list(zip(s.numerator, s.denominator, strict=True)) for s in made)
    assert found.p_permutation == slowly.every_swap(one, other, lambda x, y: ratio(x) - ratio(y))


@pytest.mark.parametrize("name", MANY)
def test_bootstrap_p_counts_replicates_as_far_from_the_difference_as_it_is_from_0(name: str):
    a, b = (evaluate(one, [name]) for one in encoders(5, count=2))
    (measure,) = a.scores
    found = significance([a, b], Settings(replicates=300, seed=7)).comparisons[measure][0]
    scores = on_both(a[measure], b[measure])
    sampled = replicates(scores, Resampling(a[measure].query, 300, 7))
    d = scores[0].value - scores[1].value
    far = sum(abs((x - y) - d) >= abs(d) - 1e-12 for x, y in sampled)
    assert found.p_bootstrap == (far + 1) / 301
    assert found.difference == d


@pytest.mark.parametrize("seed", range(5))
def test_holm_is_the_step_down_procedure(seed: int):
    p = np.random.default_rng(seed).choice([0.001, 0.01, 0.02, 0.02, 0.3, 0.9], 7)
    np.testing.assert_allclose(holm(p), slowly.holm(p.tolist()))


def test_holm_by_hand_and_with_an_undefined_one():
    adjusted = holm(np.array([0.01, np.nan, 0.04, 0.03, 0.005]))
    np.testing.assert_allclose(adjusted, [0.03, np.nan, 0.06, 0.06, 0.02])


def test_the_family_is_all_pairs_of_one_measure():
    found = significance(measured(2, count=4), Settings(replicates=200)).comparisons
    for family in found.values():
        assert len(family) == 6
        assert {one.family for one in family} == {6}
        np.testing.assert_allclose([one.p_holm for one in family], slowly.holm([one.p for one in family]))


def test_identical_encoders_do_not_differ():
    scores = measured(4, count=1)[0]
    for family in significance([scores, replace(scores, encoder="twin")]).comparisons.values():
        one = family[0]
        assert (one.difference, one.p_bootstrap, one.p_holm) == (0.0, 1.0, 1.0)
        assert one.interval.reason
        if not math.isnan(one.p_permutation):
            assert one.p_permutation == 1.0
            assert one.won == 0.5


def test_queries_that_count_for_one_only_never_enter():
    """EHR: where an encoder has nothing labelled in its top, no imputed value replaces it."""
    a, b = measured(6, count=2)
    changed = replace(
        a["EHR@3"], numerator=np.where(both(a["EHR@3"], b["EHR@3"]), a["EHR@3"].numerator, 99.0)
    )
    other = replace(a, scores={**a.scores, "EHR@3": changed})
    plain, odd = (significance([one, b], Settings(replicates=100)).comparisons["EHR@3"] for one in (a, other))
    assert plain[0].left_out > 0
    assert repr(plain) == repr(odd)


def test_one_query_proves_nothing():
    for family in significance(measured(1, queries=1, count=2)).comparisons.values():
        assert not family[0].p_holm < 0.5
        assert math.isnan(family[0].p_bootstrap)
        assert math.isnan(family[0].interval.low)


def test_no_query_in_common():
    a, b = measured(6, count=2)
    half = np.arange(len(a["HR@5"].query)) % 2 == 0
    one = replace(a["EHR@5"], denominator=half.astype(float), numerator=0.5 * half)
    two = replace(a["EHR@5"], denominator=1.0 - half, numerator=0.5 * ~half)
    found = significance([replace(a, scores={"EHR@5": one}), replace(b, scores={"EHR@5": two})]).comparisons[
        "EHR@5"
    ][0]
    assert math.isnan(found.difference)
    assert math.isnan(found.p_holm)
    assert found.queries == 0


@pytest.mark.parametrize(
    "other",
    [Basis("x", "labels", Rule()), Basis("catalog", "x", Rule()), Basis("catalog", "labels", Rule("image"))],
)
def test_results_on_another_basis_are_refused(other: Basis):
    a, b = measured(0, count=2)
    with pytest.raises(NotComparableError) as caught:
        significance([a, replace(b, basis=other)])
    assert "different" in caught.value.problem


def test_two_encoders_of_one_name_are_refused():
    a, b = measured(0, count=2)
    with pytest.raises(ArgumentError):
        significance([a, replace(b, encoder="e0")])


def test_scores_over_other_queries_are_refused():
    a, b = measured(0, count=2)
    with pytest.raises(NotComparableError):
        on_both(a["HR@5"], replace(b["HR@5"], query=b["HR@5"].query[::-1]))


def test_t_without_spread():
    assert t_test(np.zeros(5)) == 1.0
    assert math.isnan(t_test(np.full(5, 0.2)))
    assert math.isnan(t_test(np.array([0.2])))


def clear(count: int) -> list[Scores]:
    """Many encoders, each far better than the one before on nearly every one of 60 queries."""
    random = np.random.default_rng(0)
    queries = np.array([f"q{q}" for q in range(60)], object)
    made = []
    for at in range(count):
        parts = np.clip(random.normal(at / count, 0.02, 60), 0, 1)
        mean = Score("AUC_mac", float(parts.mean()), 60, queries, parts, np.ones(60))
        made.append(Scores(f"e{at}", Basis("c", "l", Rule()), {"AUC_mac": mean}))
    return made


@pytest.mark.parametrize("given", [Settings(), Settings(replicates=100)])
def test_fifteen_very_different_encoders_are_separated(given: Settings):
    """105 pairs: the least p of 2,000 swaps is 1/2001, times 105 more than 0.05."""
    family = significance(clear(15), given).comparisons
    assert len(family["AUC_mac"]) == 105
    assert all(is_significant(one) for one in family["AUC_mac"])


def apart_by_bootstrap(replicates: int) -> tuple[Comparison, ...]:
    """Eight encoders by a pooled measure; the later far the better."""
    made = [replace(one, encoder=f"{at}") for at, one in enumerate(encoders(3, queries=60, count=8))]
    scores = [
        evaluate(replace(one, score=one.score + np.float32(at) * one.label), ["AUC_mic"])
        for at, one in enumerate(made)
    ]
    return significance(scores, Settings(replicates=replicates)).comparisons["AUC_mic"]


def test_too_few_replicates_of_a_pooled_measure_are_reported_and_enough_decide():
    few = apart_by_bootstrap(100)
    first = next(one for one in few if one.encoders == ("0", "7"))
    assert (first.p, first.replicates_needed) == (1 / 101, 560)
    assert first.drawn_too_few
    assert not any(is_significant(one) for one in few)
    assert "560 replicates" in sentence(first)
    near = max(few, key=lambda one: one.p)
    assert not near.drawn_too_few
    assert "cannot separate" in sentence(near)
    again = apart_by_bootstrap(560)
    assert is_significant(next(one for one in again if one.encoders == ("0", "7")))
