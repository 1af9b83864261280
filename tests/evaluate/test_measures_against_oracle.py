"""Every measure equals its slow definition: with ties, missing labels, one-sided queries, several photos per item."""

from collections.abc import Callable, Mapping
from math import inf, isnan, nan

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from oracles import ranking, scoring
from oracles.ranking import Rules
from oracles.scoring import Rows
from oracles.worlds import (
    Ranking,
    World,
    catalog_of,
    embeddings_of,
    judged_of,
    labelled,
    labels_of,
    rankings,
    rows_from,
    rows_of,
    rule_of,
    rules,
    worlds,
)

from lookalike.core.types import JudgedRanks
from lookalike.evaluate.measures.table import FAMILIES, parse
from lookalike.rank.judged import judged_ranks

Oracle = Callable[[Rows], float | None]

ORACLES: dict[str, Oracle] = {
    "DCS": scoring.dcs,
    "DCS(alpha=0)": lambda rows: scoring.dcs(rows, 0),
    "DCS(alpha=-3)": lambda rows: scoring.dcs(rows, -3),
    "DCS(alpha=inf)": lambda rows: scoring.dcs(rows, inf),
    "DCS(alpha=-inf)": lambda rows: scoring.dcs(rows, -inf),
    "DCS(alpha=1e6)": lambda rows: scoring.dcs(rows, 1e6),
    "DCS(alpha=1e-7)": lambda rows: scoring.dcs(rows, 1e-7),
    "DCS(alpha=1e-300)": lambda rows: scoring.dcs(rows, 1e-300),
    "DCS(alpha=20,alpha_negative=2)": lambda rows: scoring.dcs(rows, 20, 2),
    "DCS(alpha=10,alpha_negative=0)": lambda rows: scoring.dcs(rows, 10, 0),
    "DCS(alpha=10,average=macro)": lambda rows: scoring.dcs(rows, 10, average="macro"),
    "DCS(half=1)": lambda rows: scoring.dcs_of_half(rows, 1),
    "DCS(half=2.5)": lambda rows: scoring.dcs_of_half(rows, 2.5),
    "DCS(half=70)": lambda rows: scoring.dcs_of_half(rows, 70),
    "HR@1": lambda rows: scoring.hr(rows, 1),
    "HR@3": lambda rows: scoring.hr(rows, 3),
    "HR@50": lambda rows: scoring.hr(rows, 50),
    "Recall@1": lambda rows: scoring.recall(rows, 1),
    "Recall@3": lambda rows: scoring.recall(rows, 3),
    "Recall@50": lambda rows: scoring.recall(rows, 50),
    "Recall@3(average=macro)": lambda rows: scoring.recall_of_queries(rows, 3),
    "EHR@1": lambda rows: scoring.ehr(rows, 1),
    "EHR@3": lambda rows: scoring.ehr(rows, 3),
    "EHR@50": lambda rows: scoring.ehr(rows, 50),
    "coverage@1": lambda rows: scoring.coverage(rows, 1),
    "coverage@3": lambda rows: scoring.coverage(rows, 3),
    "coverage@50": lambda rows: scoring.coverage(rows, 50),
    "AUC_mic": scoring.auc_mic,
    "AUC_mac": scoring.auc_mac,
    "PR-AUC_mic": scoring.pr_auc_mic,
    "PR-AUC_mac": scoring.pr_auc_mac,
    "BPREF": scoring.bpref,
    "BPREF(depth=1)": lambda rows: scoring.bpref(rows, 1),
    "BPREF(depth=4)": lambda rows: scoring.bpref(rows, 4),
    "BPREF(depth=1000)": lambda rows: scoring.bpref(rows, 1000),
    "HR@3(of=possible)": lambda rows: scoring.hr_of_possible(rows, 3),
    "MRR@1": lambda rows: scoring.mrr(rows, 1),
    "MRR@3": lambda rows: scoring.mrr(rows, 3),
    "MRR@50": lambda rows: scoring.mrr(rows, 50),
    "MRR@3(of=possible)": lambda rows: scoring.mrr_of_possible(rows, 3),
    "EMRR@1": lambda rows: scoring.emrr(rows, 1),
    "EMRR@3": lambda rows: scoring.emrr(rows, 3),
    "EMRR@50": lambda rows: scoring.emrr(rows, 50),
    "NDCG@1": lambda rows: scoring.ndcg(rows, 1),
    "NDCG@3": lambda rows: scoring.ndcg(rows, 3),
    "NDCG@50": lambda rows: scoring.ndcg(rows, 50),
    "ENDCG@3": lambda rows: scoring.endcg(rows, 3),
    "ENDCG@50": lambda rows: scoring.endcg(rows, 50),
    "RR": scoring.rr,
    "RR@2": lambda rows: scoring.rr(rows, 2),
    "RR@50": lambda rows: scoring.rr(rows, 50),
}


def agrees(value: float, exact: float | None) -> bool:
    """As good as equal; NaN where the definition has no value."""
    return isnan(value) if exact is None else value == pytest.approx(exact, rel=1e-9, abs=1e-12)


def that_disagree(oracles: Mapping[str, Oracle], judged: JudgedRanks) -> list[str]:
    """Measures that are not what their definitions say."""
    rows = rows_from(judged)
    return [name for name, oracle in oracles.items() if not agrees(parse(name)(judged).value, oracle(rows))]


def test_every_family_has_an_oracle():
    assert {parse(measure).family for measure in ORACLES} == set(FAMILIES)


@settings(max_examples=4 * settings().max_examples)
@given(rankings.filter(labelled))
def test_measures_equal_their_definitions(ranked: list[Ranking]):
    """What no label at all gives is tested with the undefined cases."""
    assert that_disagree(ORACLES, judged_of(rows_of(ranked))) == []


@given(rankings.filter(labelled), st.lists(st.integers(-3, 3), min_size=5, max_size=5), st.booleans())
def test_scores_of_different_queries_are_compared(ranked: list[Ranking], scores: list[int], near: bool):
    """Queries a whole tie group apart, or about a millionth, where ties begin."""
    rows = rows_of(ranked, [score * (2**-21 if near else 2**-4) for score in scores])
    assert that_disagree(ORACLES, judged_of(rows)) == []


@given(w=worlds, r=rules)
def test_measures_of_engine_ranks_equal_their_definitions(w: World, r: Rules):
    assume(any(ranking.may_be_found(photo, r.split) for photo in w.photos))
    catalog = catalog_of(w.photos)
    found = judged_ranks(catalog, embeddings_of(catalog, w.vectors), labels_of(w.votes), rule_of(r))
    assume(len(found))
    in_tolerance: dict[str, Oracle] = {
        "AUC_mic": lambda rows: scoring.auc_mic(rows, found.tolerance),
        "PR-AUC_mic": lambda rows: scoring.pr_auc_mic(rows, found.tolerance),
    }
    assert that_disagree(ORACLES | in_tolerance, found) == []


MICRO = "AUC_mic", "PR-AUC_mic", "DCS"
OF_QUERIES = [name for name in ORACLES if not (name.startswith(MICRO) and "macro" not in name)]


@given(rankings.filter(labelled))
def test_parts_are_the_values_of_single_queries(ranked: list[Ranking]):
    """numerator / denominator of a query is the oracle on its rows alone."""
    rows = rows_of(ranked)
    judged = judged_of(rows)
    for measure in OF_QUERIES:
        score = parse(measure)(judged)
        assert score.query.tolist() == [query[0].query for query in scoring.by_query(rows)]
        for query, top, bottom in zip(
            scoring.by_query(rows), score.numerator, score.denominator, strict=True
        ):
            assert agrees(top / bottom if bottom else nan, ORACLES[measure](query)), measure
