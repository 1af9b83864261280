"""Laws of the audits: what must hold whatever the labels and encoders are."""

from dataclasses import replace

import numpy as np
import pytest
from audit_worlds import MEASURES, judged, two_generators, worlds
from hypothesis import given
from oracles.scoring import Row
from oracles.worlds import judged_of

from lookalike.audit.correlation import KINDS
from lookalike.audit.coverage_sweep import coverage_sweep, kept_at, levels_of
from lookalike.audit.full_coverage import covered_queries, full_coverage
from lookalike.audit.leave_one_out import leave_one_out, subsets
from lookalike.audit.surfaced import Surfaced
from lookalike.evaluate.measures.table import parse
from lookalike.evaluate.significance.bootstrap import Resampling


@given(worlds)
def test_the_rule_only_drops_a_part_of_what_surfaced_drops(world):
    surfaced = two_generators(world)
    for generator in surfaced.generators:
        alone, every = (surfaced.dropped(generator, rule) for rule in ("only", "surfaced"))
        assert not (alone & ~every).any()


@given(worlds)
def test_a_generator_that_surfaced_nothing_changes_nothing(world):
    rows = len(world[0])
    idle = Surfaced(("nobody",), np.zeros((rows, 1), bool), recorded=True, top=5)
    found = leave_one_out(subsets(judged(world), MEASURES, idle))
    assert found.omissions[0].dropped == 0
    assert idle.of_none == rows
    for agreement in found.bias:
        for kind in KINDS:
            one = getattr(agreement.correlations, kind)
            assert one.value == pytest.approx(1) or (np.isnan(one.value) and one.reason)
    for spread in found.spreads:
        np.testing.assert_equal(spread.without, (spread.full,))


@given(worlds)
def test_the_order_of_encoders_does_not_matter(world):
    surfaced, ranks = two_generators(world), judged(world)
    one, other = (leave_one_out(subsets(part, MEASURES, surfaced)) for part in (ranks, ranks[::-1]))
    for agreement in one.bias:
        turned = other.agreement(agreement.measure, agreement.omitted)
        for kind in KINDS:
            a, b = (getattr(side.correlations, kind) for side in (agreement, turned))
            np.testing.assert_allclose((a.value, a.p), (b.value, b.p), atol=1e-9)
            assert (a.n, a.reason) == (b.n, b.reason)


@given(worlds)
def test_at_full_coverage_ehr_follows_hr_exactly(world):
    ranks = judged(world)
    found = coverage_sweep(ranks, MEASURES, covered_queries(ranks, ranks[:2], 2, "each"))
    cell = found.cell(1.0, "EHR@2")
    for kind in KINDS:
        for side in (cell.over_queries, cell.over_encoders):
            one = getattr(side, kind)
            assert one.value == pytest.approx(1) or (np.isnan(one.value) and one.reason)


@given(worlds)
def test_what_is_left_at_a_coverage(world):
    for one in judged(world):
        before = None
        for level in levels_of(2)[::-1]:
            keep = kept_at(one, 2, level)
            assert before is None or not (keep & ~before).any()
            before = keep
            left = parse("coverage@2")(one.only(keep)).numerator if keep.any() else np.zeros(1)
            assert (left <= level + 1e-9).all()


@given(worlds)
def test_the_same_samples_give_the_same_intervals_and_cover_a_self_correlation(world):
    ranks, surfaced = judged(world), two_generators(world)
    resampling = Resampling(ranks[0].query_codes[0], 70, seed=3)
    found = [leave_one_out(subsets(ranks, MEASURES, surfaced), resampling) for _ in range(2)]
    for a, b in zip(found[0].bias, found[1].bias, strict=True):
        for kind in KINDS:
            x, y = getattr(a.correlations, kind), getattr(b.correlations, kind)
            np.testing.assert_equal((x.low, x.high, x.undefined), (y.low, y.high, y.undefined))
            assert 0 <= x.undefined <= 70
            assert np.isnan(x.low) or x.low <= x.high


def test_replicates_of_every_audit_equal_scoring_the_sampled_queries_again():
    """One replicate by hand: the rows of the sampled queries, as often as sampled, scored as new queries."""
    rows = [[_row(q, c, e) for q in range(4) for c in range(5)] for e in range(4)]
    ranks = [replace(judged_of(part), encoder=f"e{e}") for e, part in enumerate(rows)]
    resampling = Resampling(ranks[0].query_codes[0], 1, seed=5)
    count = next(iter(resampling.weights()))[0].astype(int)
    again = [
        [
            row._replace(query=f"{row.query}-{copy}")
            for row in part
            for copy in range(count[int(row.query[1:])])
        ]
        for part in rows
    ]
    new = [replace(judged_of(part), encoder=f"e{e}") for e, part in enumerate(again)]
    surfaced, resurfaced = (
        Surfaced(("g",), np.isin(one[0].candidate, ["c0", "c1"])[:, None], recorded=True, top=2)
        for one in (ranks, new)
    )
    covered = covered_queries(ranks, ranks, 2, "each")
    sampled = full_coverage(subsets(ranks, MEASURES, surfaced), ranks, covered, resampling)
    plain = full_coverage(subsets(new, MEASURES, resurfaced), new, covered_queries(new, new, 2, "each"))
    swept = coverage_sweep(ranks, MEASURES, covered, resampling)
    resweep = coverage_sweep(new, MEASURES, covered_queries(new, new, 2, "each"))
    checked = 0
    for a, b in zip(sampled.agreements, plain.agreements, strict=True):
        checked += _low_is(a.correlations, b.correlations)
    for a, b in zip(swept.cells, resweep.cells, strict=True):
        checked += _low_is(a.over_queries, b.over_queries) + _low_is(a.over_encoders, b.over_encoders)
    assert checked > 30


def _row(q: int, c: int, e: int) -> Row:
    """Five labelled candidates, ranked in an order of its own for each encoder and query."""
    place = (c * (e + 1) + q * e) % 5
    return Row(f"q{q}", f"c{c}", (q * c + c // 2) % 2, place, 0, (q % 2 - place) / 16, 9)


def _low_is(sampled, plain) -> int:
    """Of one replicate the interval is its value."""
    checked = 0
    for kind in KINDS:
        a, b = getattr(sampled, kind), getattr(plain, kind)
        if np.isfinite(a.low):
            assert a.low == pytest.approx(b.value, abs=1e-9)
            checked += 1
        elif np.isfinite(a.value):
            assert a.undefined == 1
            assert np.isnan(b.value)
    return checked
