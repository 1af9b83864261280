"""scikit-learn and trec_eval (through ir_measures, which VSD F used) give the same numbers."""

from math import isnan
from random import Random

import ir_measures
import numpy as np
import pytest
from ir_measures import AP, RR, Bpref, Judged, P, R, nDCG
from oracles.scoring import Row, by_query
from oracles.worlds import judged_of
from sklearn.metrics import average_precision_score, roc_auc_score

from lookalike.evaluate.measures.table import parse

SEEDS = range(12)


def labelled(seed: int, *, ties: bool) -> list[Row]:
    """Five queries with 30 candidates, some two thirds labelled, positives and negatives in any proportion."""
    random = Random(seed)
    rows = []
    for q in range(5):
        share = random.choice([0.1, 0.5, 0.9])
        scores = [round(random.random(), 1 if ties else 9) for _ in range(30)]
        for c, score in enumerate(scores):
            if random.random() < 0.66:
                above, tied = sum(s > score for s in scores), sum(s == score for s in scores) - 1
                rows.append(Row(f"q{q}", f"c{c}", int(random.random() < share), above, tied, score, 30))
    return rows


def columns(rows: list[Row]) -> tuple[np.ndarray, np.ndarray]:
    return np.array([row.label for row in rows]), np.array([row.score for row in rows])


def value(measure: str, rows: list[Row]) -> float:
    return parse(measure)(judged_of(rows)).value


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_micro_areas_equal_scikit_learn(seed: int, ties: bool):
    rows = labelled(seed, ties=ties)
    label, score = columns(rows)
    assert value("AUC_mic", rows) == pytest.approx(roc_auc_score(label, score))
    assert value("PR-AUC_mic", rows) == pytest.approx(average_precision_score(label, score))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("seed", SEEDS)
def test_macro_areas_equal_the_mean_of_scikit_learn_over_queries(seed: int, ties: bool):
    rows = labelled(seed, ties=ties)
    queries = [columns(query) for query in by_query(rows)]
    areas = [roc_auc_score(label, score) for label, score in queries if 0 < label.sum() < len(label)]
    precisions = [average_precision_score(label, score) for label, score in queries if label.any()]
    assert value("AUC_mac", rows) == pytest.approx(np.mean(areas))
    assert value("PR-AUC_mac", rows) == pytest.approx(np.mean(precisions))


def with_ir_measures(measure: object, query: list[Row], depth: int | None = None) -> float:
    """One query's value; the whole ranking as the run, or its first `depth`, unjudged candidates included."""
    by_place = {row.above: row for row in query}
    run = [
        ir_measures.ScoredDoc(
            "q", by_place[place].candidate if place in by_place else f"unjudged {place}", -place
        )
        for place in range(depth or query[0].candidates)
    ]
    qrels = [ir_measures.Qrel("q", row.candidate, row.label) for row in query]
    return ir_measures.calc_aggregate([measure], qrels, run)[measure]


@pytest.mark.parametrize("seed", SEEDS)
def test_bpref_equals_trec_eval_where_positives_and_negatives_differ_in_number(seed: int):
    queries = by_query(labelled(seed, ties=False))
    for query in queries:
        ours = value("BPREF", query)
        if isnan(ours):
            assert not any(row.label for row in query)
        else:
            assert ours == pytest.approx(with_ir_measures(Bpref, query), abs=1e-6)
    assert any(sum(row.label for row in query) * 2 != len(query) for query in queries)


@pytest.mark.parametrize(("positives", "negatives"), [(1, 5), (5, 1), (3, 0), (2, 2), (1, 0)])
def test_bpref_equals_trec_eval_for_every_proportion(positives: int, negatives: int):
    for seed in range(5):
        places = Random(seed).sample(range(12), positives + negatives)
        query = [Row("q", f"c{at}", int(i < positives), at, 0, -at, 12) for i, at in enumerate(places)]
        assert value("BPREF", query) == pytest.approx(with_ir_measures(Bpref, query), abs=1e-6)


@pytest.mark.parametrize("k", [1, 5, 20, 30, 40])
@pytest.mark.parametrize("seed", SEEDS[:4])
def test_hit_rate_is_precision_at_k(seed: int, k: int):
    for query in by_query(labelled(seed, ties=False)):
        assert value(f"HR@{k}", query) == pytest.approx(with_ir_measures(P @ k, query), abs=1e-6)


@pytest.mark.parametrize("k", [1, 5, 20, 30, 40])
@pytest.mark.parametrize("seed", SEEDS[:4])
def test_macro_recall_is_that_of_ir_measures_where_a_query_has_a_positive(seed: int, k: int):
    for query in by_query(labelled(seed, ties=False)):
        ours = value(f"Recall@{k}(average=macro)", query)
        if isnan(ours):
            assert not any(row.label for row in query)
        else:
            assert ours == pytest.approx(with_ir_measures(R @ k, query), abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_means_over_queries_are_those_of_ir_measures(seed: int):
    rows = labelled(seed, ties=False)
    each = [with_ir_measures(P @ 5, query) for query in by_query(rows)]
    assert value("HR@5", rows) == pytest.approx(np.mean(each), abs=1e-6)


SAME = [
    Bpref,
    nDCG @ 5,
    nDCG @ 40,
    nDCG(judged_only=True) @ 5,
    RR,
    RR @ 3,
    P @ 5,
    Judged @ 5,
    AP(judged_only=True),
]


@pytest.mark.parametrize("measure", SAME, ids=str)
@pytest.mark.parametrize("seed", SEEDS[:6])
def test_names_of_ir_measures_give_the_same_numbers(seed: int, measure: object):
    """Without ties; a query without positives, where ours may be undefined, aside."""
    for query in by_query(labelled(seed, ties=False)):
        if any(row.label for row in query):
            ours, theirs = value(str(measure), query), with_ir_measures(measure, query)
            assert ours == pytest.approx(theirs, abs=1e-6), str(measure)


@pytest.mark.parametrize("depth", [1, 4, 12, 29])
@pytest.mark.parametrize("seed", SEEDS[:6])
def test_bpref_of_a_run_that_ends_early(seed: int, depth: int):
    for query in by_query(labelled(seed, ties=False)):
        if any(row.label for row in query):
            theirs = with_ir_measures(Bpref, query, depth)
            assert value(f"BPREF(depth={depth})", query) == pytest.approx(theirs, abs=1e-6)


@pytest.mark.parametrize("seed", SEEDS[:4])
def test_reciprocal_ranks_of_queries_without_positives_count_as_zero_in_both(seed: int):
    rows = [row._replace(label=int(row.label and row.query != "q0")) for row in labelled(seed, ties=False)]
    each = [with_ir_measures(RR, query) for query in by_query(rows)]
    assert value("RR", rows) == pytest.approx(np.mean(each), abs=1e-6)
