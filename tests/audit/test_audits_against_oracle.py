"""Every audit equals the slow version written from the papers, ties and undefined scores included."""

from math import isnan

import numpy as np
import pytest
from audit_worlds import MEASURES, judged, two_generators, worlds
from hypothesis import given
from hypothesis import strategies as st
from oracles import auditing
from oracles.worlds import judged_of
from scipy import stats

from lookalike.audit.correlation import KINDS, Correlations, coefficients, correlate
from lookalike.audit.coverage_sweep import coverage_sweep, levels_of
from lookalike.audit.full_coverage import covered_queries, full_coverage
from lookalike.audit.leave_one_out import leave_one_out, subsets
from lookalike.audit.query_correlation import OverQueries
from lookalike.evaluate.measures.table import parse

NAMES = [measure.name for measure in MEASURES]
rules = st.sampled_from(["surfaced", "only"])
values = st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 0.75, 1.0]), min_size=3, max_size=7)


def three(found: Correlations) -> list[float]:
    return [getattr(found, kind).value for kind in KINDS]


def same(found: Correlations | list[float], expected: tuple[float, float, float]) -> None:
    listed = three(found) if isinstance(found, Correlations) else found
    np.testing.assert_allclose(listed, expected, atol=1e-9)


@given(worlds, rules)
def test_scores_on_fewer_labels_are_those_of_a_fresh_evaluation(world, rule):
    surfaced = two_generators(world)
    found = subsets(judged(world), MEASURES, surfaced, rule)
    for e, rows in enumerate(world):
        for generator in surfaced.generators:
            keep = ~surfaced.dropped(generator, rule)
            fresh = judged_of([row for row, stays in zip(rows, keep, strict=True) if stays])
            for name in NAMES:
                expected = parse(name)(fresh)
                got = found.scores[generator][f"e{e}"][name]
                assert (got.queries, got.reason) == (expected.queries, expected.reason)
                np.testing.assert_allclose(got.value, expected.value, atol=1e-12)
                assert got.query.tolist() == expected.query.tolist()


@given(worlds, rules)
def test_leave_one_out(world, rule):
    surfaced = two_generators(world)
    found = leave_one_out(subsets(judged(world), MEASURES, surfaced, rule))
    by = [auditing.surfaced_by(rows, 2) for rows in world[:2]]
    for g, omission in enumerate(found.omissions):
        stay = auditing.left(by, g, rule)
        assert (omission.left, omission.dropped) == (len(stay), len(world[0]) - len(stay))
        queries = {row.query for row in world[0]} - {world[0][place].query for place in stay}
        assert omission.queries_emptied == len(queries)
        for name in NAMES:
            got = found.agreement(name, omission.generator)
            same(got.correlations, auditing.bias(name, world, stay))
            for e, rows in enumerate(world):
                value = found.spread(name, f"e{e}").without[g]
                np.testing.assert_allclose(value, auditing.score(name, [rows[p] for p in stay]), atol=1e-9)
                assert isnan(value) <= (f"e{e}" in got.left_out)


@given(worlds, rules, st.sampled_from(["every", "each"]))
def test_full_coverage(world, rule, which):
    ranks, surfaced = judged(world), two_generators(world)
    found = full_coverage(
        subsets(ranks, MEASURES, surfaced, rule), ranks, covered_queries(ranks, ranks[:2], 2, which)
    )
    own = [auditing.covered(rows, 2) for rows in world]
    shared = own[0] & own[1]
    chosen = own if which == "each" else [shared if shared <= one else set() for one in own]
    assert [one.queries for one in found.covered] == [len(queries) for queries in chosen]
    by = [auditing.surfaced_by(rows, 2) for rows in world[:2]]
    stays = {"": list(range(len(world[0])))} | {f"e{g}": auditing.left(by, g, rule) for g in range(2)}
    for one in found.agreements:
        same(one.correlations, auditing.full_coverage(one.measure, world, chosen, stays[one.omitted], 2))


@given(worlds)
def test_coverage_sweep(world):
    ranks = judged(world)
    found = coverage_sweep(ranks, MEASURES, covered_queries(ranks, ranks[:2], 2, "each"))
    own = [auditing.covered(rows, 2) for rows in world]
    for level in levels_of(2):
        for name in NAMES:
            cell = found.cell(level, name)
            expected = [
                auditing.swept(name, rows, q, 2, level) for rows, q in zip(world, own, strict=True) if q
            ]
            if name == "AUC_mic":
                assert np.isnan(three(cell.over_queries)).all()
                assert cell.over_queries.reason
                continue
            for got, one in zip(cell.by_encoder, expected, strict=True):
                same([got.spearman, got.kendall, got.pearson], one)
            same(cell.over_queries, tuple(auditing.mean([one[i] for one in expected]) for i in range(3)))


@given(st.data(), values)
def test_correlations_and_their_p(data, x):
    y = data.draw(st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.7]), min_size=len(x), max_size=len(x)))
    found = correlate(np.array(x), np.array(y))
    same(found, auditing.correlations(x, y))
    if isnan(found.spearman.value):
        assert found.reason
        return
    if len(x) <= 5:
        assert found.spearman.test == "exact"
        assert found.spearman.p == pytest.approx(auditing.spearman_p(x, y))
    assert found.kendall.p == pytest.approx(stats.kendalltau(x, y).pvalue)
    if abs(found.pearson.value) < 1:
        assert found.pearson.p == pytest.approx(stats.pearsonr(x, y).pvalue, abs=1e-9)


def test_p_of_spearman_by_t_beyond_eight_points():
    x, y = np.arange(10.0), np.array([3.0, 1, 2, 5, 4, 7, 6, 10, 8, 9])
    found = correlate(x, y).spearman
    assert (found.test, found.n) == ("t", 10)
    assert found.p == pytest.approx(stats.spearmanr(x, y).pvalue)


def test_the_p_of_eds_table_3():
    """The paper's p of an SC of .83 over six encoders, .042, is by t; over all orders it is .058."""
    x, y = np.arange(6.0), np.array([1.0, 2, 0, 3, 4, 5])
    found = correlate(x, y).spearman
    assert found.value == pytest.approx(0.83, abs=5e-3)
    assert stats.spearmanr(x, y).pvalue == pytest.approx(0.042, abs=5e-4)
    assert found.p == pytest.approx(42 / 720)


@given(st.data(), st.integers(1, 12))
def test_correlations_over_weighted_queries(data, n):
    numbers = st.sampled_from([0.0, 0.2, 0.4, 1.0, float("nan")])
    x, y = (np.array(data.draw(st.lists(numbers, min_size=n, max_size=n))) for _ in range(2))
    weights = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    found = OverQueries(x, y).of(weights[None].astype(float))[0]
    same(
        found.tolist(), auditing.correlations(np.repeat(x, weights).tolist(), np.repeat(y, weights).tolist())
    )


@given(st.lists(st.tuples(*[st.sampled_from([0.0, 0.3, 0.5, 1.0])] * 4), min_size=1, max_size=6))
def test_coefficients_row_by_row(rows):
    x = np.array(rows)
    for got, a in zip(coefficients(x, x[:, ::-1]), x, strict=True):
        same(got.tolist(), auditing.correlations(a.tolist(), a[::-1].tolist()))
