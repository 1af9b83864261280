"""Scores by category equal scoring the labels of that category's queries alone, for every measure."""

import math

import numpy as np
import pytest
from evaluate.significance_worlds import encoders

from lookalike.core.errors import NotComparableError
from lookalike.evaluate.groups import NONE_COUNTS, by_group
from lookalike.evaluate.measures.table import evaluate
from lookalike.evaluate.significance.summary import Settings, significance


@pytest.mark.parametrize("seed", range(4))
def test_a_group_is_scored_as_if_its_queries_were_all(seed: int):
    one = encoders(seed, queries=40, count=1)[0]
    names, code = one.query_codes
    kind = np.random.default_rng(seed).choice(["chair", "lamp", "bed"], len(names))
    found = by_group(evaluate(one), dict(zip(names, kind, strict=True)))
    assert list(found) == ["bed", "chair", "lamp"]
    for name, scores in found.items():
        again = evaluate(one.only((kind == name)[code]))
        for measure, score in scores.scores.items():
            same = again[measure]
            assert score.value == pytest.approx(same.value, abs=1e-12, nan_ok=True), (name, measure)
            assert (score.queries, bool(score.reason)) == (same.queries, bool(same.reason))
            assert score.query.tolist() == same.query.tolist()
        settings = Settings(replicates=100, seed=3)
        intervals = [significance([each], settings).intervals["e0"] for each in (scores, again)]
        for measure in scores.scores:
            ends = [(one[measure].low, one[measure].high) for one in intervals]
            assert ends[0] == pytest.approx(ends[1], abs=1e-9, nan_ok=True)


def test_a_group_without_a_positive_is_undefined_with_a_reason():
    one = encoders(0, queries=30, count=1)[0]
    names, code = one.query_codes
    positives = np.bincount(code, weights=one.label)
    kind = {name: "with" if count else "none" for name, count in zip(names, positives, strict=True)}
    found = by_group(evaluate(one), kind)["none"]
    for measure in ("AUC_mic", "AUC_mac", "PR-AUC_mic", "PR-AUC_mac", "BPREF"):
        assert math.isnan(found[measure].value)
        assert found[measure].queries == 0
        assert found[measure].reason == NONE_COUNTS
    assert found["HR@5"].value == 0.0


def test_a_group_does_not_compare_with_another_or_with_all():
    scores = evaluate(encoders(0, count=1)[0])
    kind = {query: str(i % 2) for i, query in enumerate(scores["HR@5"].query)}
    odd, even = by_group(scores, kind).values()
    for one, other in ((odd, even), (scores, odd)):
        with pytest.raises(NotComparableError):
            one.basis.require_same(other.basis)
