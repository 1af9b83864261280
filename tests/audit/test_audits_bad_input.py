"""Labels, encoders and generators that leave nothing to say: NaN with a reason and a count, never a wrong number."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from audit_worlds import MEASURES, Encoders, encoders, judged
from oracles.scoring import Row

from lookalike.audit.audits import Audits, AuditSettings, audits
from lookalike.audit.correlation import CONSTANT, TOO_FEW
from lookalike.audit.full_coverage import NONE_COVERED
from lookalike.audit.surfaced import Surfaced, rebuilt, recorded
from lookalike.core.checks import strings
from lookalike.core.errors import ArgumentError, EncoderError, LabelsError, NotComparableError, PoolError
from lookalike.core.types import Pool, Rule
from lookalike.evaluate.measures.table import parse_list

WORLD = encoders(seed=4, count=4, queries=6, candidates=8, steps=40, labelled=0.8)


def check(world: Encoders, **options) -> Audits:
    """All audits, the first two encoders as generators unless others are given."""
    ranks = judged(world)
    surfaced = options.pop("surfaced", None) or rebuilt(ranks[:2], 2)
    ranked = options.pop("ranked", ranks[:2])
    settings = AuditSettings(**{"k": 2, "replicates": 100, **options})
    found = audits(ranks, ranked, surfaced, MEASURES, settings)
    _nothing_is_undefined_without_a_reason(found)
    return found


def _nothing_is_undefined_without_a_reason(found: Audits) -> None:
    agreements = [*found.leave_one_out.bias, *found.full_coverage.agreements]
    every = [one.correlations for one in agreements]
    every += [side for cell in found.coverage_sweep.cells for side in (cell.over_queries, cell.over_encoders)]
    for three in every:
        for one in (three.spearman, three.kendall, three.pearson):
            assert np.isnan(one.value) == bool(one.reason)
            assert np.isnan(one.value) or -1 <= one.value <= 1
            assert np.isnan(one.p) or 0 < one.p <= 1
    for spread in found.leave_one_out.spreads:
        assert spread.n == np.isfinite(spread.without).sum()
        assert (spread.n < len(spread.without)) == bool(spread.reasons)


def relabelled(label) -> Encoders:
    return [[row._replace(label=label(row)) for row in rows] for rows in WORLD]


@pytest.mark.parametrize("label", [0, 1])
def test_labels_of_one_kind(label):
    found = check(relabelled(lambda row: label))
    for measure in ("AUC_mic", "AUC_mac"):
        for one in found.leave_one_out.encoders:
            assert np.isnan(found.leave_one_out.spread(measure, one).full)
        agreement = found.leave_one_out.agreement(measure, "e0")
        assert (agreement.correlations.spearman.n, agreement.correlations.reason) == (0, TOO_FEW)
        assert agreement.left_out == found.leave_one_out.encoders
    assert any("AUC_mic of e0" in caution for caution in found.cautions)


def test_one_query():
    found = check([[row for row in rows if row.query == "q0"] for rows in WORLD])
    assert found.queries == 1
    for cell in found.coverage_sweep.cells:
        assert np.isnan(cell.over_queries.spearman.value)


def test_encoders_that_all_tie_are_constant_and_not_perfect():
    tied = [[row._replace(above=0, tied=7, score=0.5) for row in rows] for rows in WORLD]
    found = check(tied, surfaced=rebuilt(judged(tied)[:2], 4))
    for one in found.leave_one_out.bias:
        assert one.correlations.reason in (CONSTANT, TOO_FEW)


def test_a_generator_whose_removal_empties_everything():
    every = Surfaced(("all",), np.ones((len(WORLD[0]), 1), bool), recorded=True, top=5)
    found = check(WORLD, surfaced=every)
    assert found.leave_one_out.omissions[0].left == 0
    assert found.leave_one_out.omissions[0].queries_emptied == 6
    assert all(spread.n == 0 and spread.reasons for spread in found.leave_one_out.spreads)
    assert any("no label remains" in caution for caution in found.cautions)
    assert any("only one generator" in caution for caution in found.cautions)


def test_a_generator_whose_removal_empties_one_query():
    by = (judged(WORLD)[0].query == "q1")[:, None]
    found = check(WORLD, surfaced=Surfaced(("g",), by, recorded=True, top=5))
    assert found.leave_one_out.omissions[0].queries_emptied == 1


def test_a_list_longer_than_the_catalog_is_never_fully_covered():
    found = check(WORLD, k=50)
    assert found.full_coverage.reason == found.coverage_sweep.reason == NONE_COVERED
    assert found.coverage_sweep.encoders == ()
    assert all(one.queries == 0 and np.isnan(one.hit_rate) for one in found.full_coverage.covered)
    assert any("--full-coverage each" in caution and "--top 50" in caution for caution in found.cautions)


@pytest.mark.parametrize("count", [1, 2])
def test_too_few_encoders(count):
    found = check(WORLD[:count])
    assert all(one.correlations.reason == TOO_FEW for one in found.leave_one_out.bias)
    assert any("cannot be correlated" in caution for caution in found.cautions)


def test_few_encoders_are_called_a_hint():
    assert any("at most 11 values" in caution and "0.083" in caution for caution in check(WORLD).cautions)
    assert any("at most 4 values" in caution and "0.333" in caution for caution in check(WORLD[:3]).cautions)
    six = encoders(seed=1, count=6, queries=3, candidates=6, steps=40, labelled=1.0)
    assert not any("at most" in caution for caution in check(six).cautions)


def test_no_generator_among_the_encoders():
    by = np.zeros((len(WORLD[0]), 1), bool)
    by[::2] = True
    found = check(WORLD, surfaced=Surfaced(("gone",), by, recorded=True, top=5), ranked=[])
    assert found.leave_one_out.agreement("DCS(alpha=10)", "gone").correlations.spearman.n == 4
    assert any("'gone'" in caution for caution in found.cautions)


@pytest.mark.parametrize(
    "text", ["DCS(alpha=0)", "DCS(alpha=-3)", "DCS(alpha=inf)", "DCS(alpha=1000000)", "HR@99"]
)
def test_any_parameter(text):
    ranks, settings = judged(WORLD), AuditSettings(k=2, replicates=0)
    _nothing_is_undefined_without_a_reason(
        audits(ranks, ranks, rebuilt(ranks, 2), parse_list(text), settings)
    )


def test_what_is_refused_names_the_way_out():
    ranks, measures = judged(WORLD), parse_list("DCS")
    surfaced = rebuilt(ranks[:2], 2)
    other = replace(ranks[1], basis=replace(ranks[1].basis, labels="others"))
    none = [one.only(np.zeros(len(one), bool)) for one in ranks]
    image = [replace(one, basis=replace(one.basis, rule=Rule(level="image"))) for one in ranks]
    for wrong, error in (
        (lambda: audits([], [], surfaced, measures, AuditSettings()), EncoderError),
        (lambda: audits([ranks[0], ranks[0]], [], surfaced, measures, AuditSettings()), EncoderError),
        (lambda: audits([ranks[0], other], [], surfaced, measures, AuditSettings()), NotComparableError),
        (lambda: audits(none, [], rebuilt(none[:1], 2), measures, AuditSettings()), LabelsError),
        (lambda: rebuilt([], 5), PoolError),
        (lambda: rebuilt(image, 5), PoolError),
        (lambda: rebuilt(ranks, 0), ArgumentError),
        (lambda: surfaced.dropped("nobody"), ArgumentError),
        (lambda: surfaced.dropped("e0", "mine"), ArgumentError),
        (lambda: audits(ranks, [], surfaced, measures, AuditSettings(full_coverage="some")), ArgumentError),
        (lambda: audits(ranks, [], surfaced, measures, AuditSettings(k=0)), ArgumentError),
        (lambda: audits(ranks, [], surfaced, measures, AuditSettings(replicates=-1)), ArgumentError),
        (lambda: audits(ranks, [], surfaced, measures, AuditSettings(replicates=99)), ArgumentError),
    ):
        with pytest.raises(error) as refused:
            wrong()
        assert refused.value.fix


def test_recorded_provenance_is_the_pools_and_other_labels_are_counted():
    rows = [Row("q", name, 1, at, 0, 1 - at / 8, 9) for at, name in enumerate("abcd")]
    pool = Pool(
        strings("qqq"), strings("bca"), strings("BCA"), np.array([0, 1, 1, 2]), np.array([0, 0, 1, 1]),
        np.array([0, 1, 0, 1]), np.zeros(4), ("x", "y"), 2, strings("q"),
    )  # fmt: skip
    found = recorded(pool, judged([rows])[0])
    assert found.by.tolist() == [[False, True], [True, False], [True, True], [False, False]]
    assert (found.generators, found.of_none, found.recorded) == (("x", "y"), 1, True)
    assert found.dropped("x").tolist() == [False, True, True, False]
    assert found.dropped("x", "only").tolist() == [False, True, False, False]


def test_the_sweep_by_hand():
    """Four queries, the two best of each labelled 11, 10, 00, 01: HR@2 is 1, .5, 0, .5.

    At coverage .5 the best label is gone and EHR@2 is that of the second: 1, 0, 0, 1. Its r with HR@2 is
    .5 / sqrt(1 * .5), SC 3 / sqrt(4 * 4.5), KT 3 / sqrt(4 * 5).
    """
    heads = ((1, 1), (1, 0), (0, 0), (0, 1))
    rows = [
        Row(f"q{q}", f"c{at}", label, at, 0, 1 - at / 8, 4)
        for q, head in enumerate(heads)
        for at, label in enumerate((*head, 1, 0))
    ]
    found = check([rows, rows, rows], full_coverage="each").coverage_sweep
    assert found.queries == (4, 4, 4)
    half = found.cell(0.5, "EHR@2").over_queries
    assert half.pearson.value == pytest.approx(0.5**0.5)
    assert half.spearman.value == pytest.approx(0.5**0.5)
    assert half.kendall.value == pytest.approx(3 / 20**0.5)
    assert found.cell(1.0, "EHR@2").over_queries.kendall.value == pytest.approx(1)
    assert found.cell(0.0, "EHR@2").over_queries.reason


def test_results_can_be_json():
    assert json.loads(json.dumps(asdict(check(WORLD)))).keys() >= {"leave_one_out", "cautions", "basis"}
