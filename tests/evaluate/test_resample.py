"""Replicates and leave-one-out values equal scoring the rows of the sampled queries, for every measure."""

from dataclasses import replace

import numpy as np
import pytest
from evaluate.significance_worlds import repeated

from lookalike.core.checks import strings
from lookalike.core.types import Basis, JudgedRanks, Rule, Score
from lookalike.evaluate.measures.table import DEFAULT, evaluate
from lookalike.evaluate.significance.bootstrap import Resampling, replicates, without_each
from lookalike.evaluate.significance.intervals import acceleration


def world(seed: int, queries: int = 12) -> JudgedRanks:
    random = np.random.default_rng(seed)
    size = random.integers(1, 9, queries)
    query = np.repeat(np.arange(queries), size)
    rows = len(query)
    return JudgedRanks(
        encoder="e",
        query=strings(f"q{q}" for q in query),
        candidate=strings(f"c{i}" for i in range(rows)),
        label=random.integers(0, 2, rows),
        above=random.integers(0, 12, rows),
        tied=random.integers(0, 3, rows),
        score=random.choice([0.1, 0.3, 0.5, 0.7], rows).astype(np.float32),
        candidates=np.full(rows, 20),
        basis=Basis("c", "l", Rule()),
    )


@pytest.mark.parametrize("seed", range(5))
def test_a_replicate_is_the_score_of_the_sampled_queries(seed):
    judged = world(seed)
    found = evaluate(judged)
    asked = [found[name] for name in found.scores]
    resampling = Resampling(judged.query_codes[0], replicates=70, seed=seed)
    got = replicates(asked, resampling)
    sampled = np.concatenate(list(resampling.weights()))
    assert got.shape == (70, len(DEFAULT))
    assert (sampled.sum(axis=1) == 12).all()
    for b in (0, 1, 63, 64, 69):
        again = evaluate(repeated(judged, sampled[b]))
        np.testing.assert_allclose(got[b], [again[name].value for name in found.scores], atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_without_each_leaves_one_query_out(seed):
    judged = world(seed)
    found = evaluate(judged)
    got = without_each([found[name] for name in found.scores], judged.query_codes[0])
    for i in range(12):
        again = evaluate(judged.only(judged.query_codes[1] != i))
        np.testing.assert_allclose(got[i], [again[name].value for name in found.scores], atol=1e-12)


def test_replicates_repeat_by_seed_and_do_not_depend_on_how_many_are_held_at_once():
    queries = strings(range(9))
    few = np.concatenate(list(Resampling(queries, 10, 4).weights()))
    many = np.concatenate(list(Resampling(queries, 130, 4).weights()))
    assert (many[:10] == few).all()
    assert (np.concatenate(list(Resampling(queries, 10, 5).weights())) != few).any()


def test_rows_of_a_mask_keep_queries_in_their_order_and_have_another_basis():
    judged = world(1)
    which = np.arange(len(judged)) % 3 != 0
    part = judged.only(which)
    names, code = part.query_codes
    fresh = JudgedRanks(
        encoder="e",
        basis=judged.basis,
        **{
            name: getattr(part, name)
            for name in ("query", "candidate", "label", "above", "tied", "score", "candidates")
        },
    )
    assert names.tolist() == fresh.query_codes[0].tolist()
    assert code.tolist() == fresh.query_codes[1].tolist()
    assert part.basis.labels not in (judged.basis.labels, judged.only(~which).basis.labels)
    assert judged.only(np.ones(len(judged), bool)) is judged


def test_more_queries_than_rows_are_left_out_in_sets():
    judged = world(4, queries=11)
    found = evaluate(judged)
    got = without_each([found[name] for name in found.scores], judged.query_codes[0], most=4)
    assert got.shape == (4, len(DEFAULT))
    for i in range(4):
        again = evaluate(judged.only(judged.query_codes[1] % 4 != i))
        np.testing.assert_allclose(got[i], [again[name].value for name in found.scores], atol=1e-12)


def test_leaving_out_sets_estimates_the_same_acceleration():
    values = np.random.default_rng(0).exponential(size=40_000)
    names = strings(range(len(values)))
    one = Score("m", float(values.mean()), len(values), names, values, np.ones(len(values)))
    every, sets = (acceleration(without_each([one], names, most=most)[:, 0]) for most in (None, 4096))
    assert every == pytest.approx(2 / 6 / 200, rel=0.1)
    assert sets == pytest.approx(every, rel=0.2)


@pytest.mark.parametrize("seed", range(4))
def test_a_part_of_rows_in_any_order_scores_as_if_it_had_just_been_ranked(seed):
    """What a part takes over from the whole (codes, orders) is what it would find itself."""
    random = np.random.default_rng(seed)
    judged = world(seed)
    names = ("query", "candidate", "label", "above", "tied", "score", "candidates", "drawn")
    mixed = random.permutation(len(judged))
    whole = replace(judged, **{name: getattr(judged, name)[mixed] for name in names})
    measures = [*DEFAULT, "MRR@5", "EMRR@5", "RR", "NDCG@5", "ENDCG@5", "BPREF(depth=4)"]
    evaluate(whole, measures)
    for share in (0.1, 0.5, 0.9):
        which = random.random(len(whole)) < share
        part = whole.only(which)
        fresh = replace(part, **{name: getattr(whole, name)[which] for name in names})
        assert part.query_codes[0].tolist() == fresh.query_codes[0].tolist()
        found, again = evaluate(part, measures), evaluate(fresh, measures)
        for name, score in found.scores.items():
            assert score.value == pytest.approx(again[name].value, nan_ok=True, abs=1e-12), name
