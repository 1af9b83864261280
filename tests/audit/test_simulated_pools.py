"""Simulated pools: what a pool holds, and that it says what evaluating it would."""

from dataclasses import replace

import numpy as np
import pytest
from audit.complete_worlds import judged, world

from lookalike.core.errors import LabelsError, NotComparableError
from lookalike.evaluate.measures.table import evaluate
from lookalike.research.bias.ground_truths import as_if_encoders, own_queries, studio_ground_truth
from lookalike.research.bias.pools import LEAST_SHARE, TRUTH, GroundTruth, draw
from lookalike.research.bias.simulate import K, simulate
from lookalike.studio import studio


def test_a_pool_holds_what_its_generators_rank_below_the_top_and_nothing_else():
    complete = world()
    for number in range(20):
        sample = draw(complete, 3, number)
        if sample.random_pairs:
            continue
        query, place = complete.query, complete.place
        expected = [
            q in sample.queries and any(place[g, row] < sample.top for g in sample.generators)
            for row, q in enumerate(query)
        ]
        assert sample.labelled.tolist() == expected
        assert 3 <= sample.top <= 8
        assert 2 <= len(set(sample.generators)) <= 5
        assert len(sample.queries) >= LEAST_SHARE * complete.queries
        assert np.array_equal(sample.surfaced.any(axis=0), sample.labelled)


def test_random_pairs_come_on_top_and_belong_to_no_generator():
    complete = world()
    sample = next(one for number in range(50) if (one := draw(complete, 0, number)).random_pairs > 30)
    only_random = sample.labelled & ~sample.surfaced.any(axis=0)
    assert 0 < only_random.sum() <= sample.random_pairs
    assert np.isin(complete.query[only_random], sample.queries).all()


def test_a_pair_without_a_result_stays_open():
    complete = world()
    label = complete.answers[TRUTH].copy()
    label[::3] = -1
    doubtful = GroundTruth(complete.ranks, {"doubtful": label}, complete.random, complete.depth)
    sample = draw(doubtful, 0, 0)
    assert not sample.labelled[::3].any()
    assert sample.labelled.any()


def test_a_pool_depends_on_its_seed_and_number_alone():
    complete = world()
    again, other = draw(complete, 5, 7), draw(complete, 6, 7)
    assert np.array_equal(draw(complete, 5, 7).labelled, again.labelled)
    assert not np.array_equal(again.labelled, other.labelled)
    some = simulate(complete, 3, 5, first=2)
    all_of_them = simulate(complete, 5, 5)
    assert np.array_equal(all_of_them.value[2:], some.value, equal_nan=True)
    assert np.array_equal(all_of_them.z[2:], some.z, equal_nan=True)


def test_scores_are_those_of_the_measures_on_the_pool_s_labels():
    complete = world()
    found = simulate(complete, 2, 1)
    sample = draw(complete, 1, 1)
    scores = evaluate(complete.ranks[2].only(sample.labelled))
    for name, score in scores.scores.items():
        if name in found.measures:
            assert found.value[1, found.measures.index(name), 2] == pytest.approx(score.value)
    inside = scores["coverage@5"].value
    assert found.coverage[1, 2] == pytest.approx(inside)


def test_generators_whose_top_is_all_labelled_are_scored_at_their_true_hit_rate():
    complete = world()
    found = simulate(complete, 30, 0)
    hr, ehr = (found.value[:, found.measures.index(name)] for name in ("HR@5", "EHR@5"))
    deep = (found.top >= K)[:, None] & found.generator
    assert deep.sum() > 10
    assert np.allclose(hr[deep], found.true_same[deep])
    assert np.allclose(ehr[deep], found.true_same[deep])
    assert np.allclose(found.coverage[deep], 1.0)
    assert (hr <= found.true_same + 1e-12).all()


def test_true_values_are_counted_over_the_labels():
    complete = world(queries=12)
    place, label = complete.place[3].reshape(12, -1), complete.answers[TRUTH].reshape(12, -1)
    expected = np.mean([label[q][place[q] < 5].sum() / 5 for q in range(12)])
    assert simulate(complete, 1, 0).true_all[3] == pytest.approx(expected)


def test_the_test_of_complete_labels_is_the_paired_one():
    complete = world()
    found = simulate(complete, 1, 0)
    hits = complete.hits(K)[:, draw(complete, 0, 0).queries]
    apart = hits[0] - hits[4]
    expected = apart.mean() / (apart.std(ddof=1) / np.sqrt(len(apart)))
    assert found.true_z[0, 0, 4] == pytest.approx(expected)
    assert found.true_z[0, 4, 0] == pytest.approx(-expected)


def test_a_bootstrap_difference_is_close_to_the_paired_test_of_a_mean():
    complete = world(queries=150)
    found = simulate(complete, 6, 0)
    m = found.measures.index("HR@5")
    for p in range(6):
        sample = draw(complete, 0, p)
        scores = [evaluate(complete.ranks[e].only(sample.labelled), ["HR@5"])["HR@5"] for e in (0, 5)]
        apart = scores[0].numerator - scores[1].numerator
        assert found.z[p, m, 0, 5] == pytest.approx(
            apart.mean() / (apart.std(ddof=1) / np.sqrt(len(apart))), rel=0.25
        )


def test_labels_with_a_gap_in_a_top_are_refused():
    complete = world()
    gap = ~((complete.place[4] == 3) & (complete.query == 0))
    ranks = tuple(one.only(gap) for one in complete.ranks)
    with pytest.raises(LabelsError, match="top 10 of e"):
        GroundTruth(ranks, {TRUTH: ranks[0].label}, np.ones(int(gap.sum()), bool), 10)


def test_one_encoder_or_other_pairs_are_refused():
    complete = world()
    with pytest.raises(LabelsError, match="1 encoder"):
        GroundTruth(complete.ranks[:1], complete.answers, complete.random, 10)
    other = replace(complete.ranks[1], candidate=complete.ranks[1].candidate[::-1])
    with pytest.raises(NotComparableError, match="different pairs"):
        GroundTruth((complete.ranks[0], other), complete.answers, complete.random, 10)


def test_a_list_shorter_than_the_depth_is_complete():
    random = np.random.default_rng(0)
    label = random.integers(0, 2, (5, 4))
    ranks = tuple(judged(name, random.standard_normal((5, 4)), label) for name in "ab")
    assert GroundTruth(ranks, {TRUTH: ranks[0].label}, np.ones(20, bool), 10).queries == 5


def test_a_query_whose_candidates_all_tie_is_left_out_of_the_truth():
    drawn_studio = studio(400, seed=1)
    one, other = as_if_encoders(drawn_studio)[:2]
    vectors = np.pad(one.vectors, ((0, 0), (0, 1)))
    query = own_queries(drawn_studio, np.random.Generator(np.random.PCG64(1)), 40).row[7]
    vectors[query] = np.arange(vectors.shape[1]) == vectors.shape[1] - 1  # at right angles to all others
    blind = replace(one, vectors=vectors)
    whole, left = (studio_ground_truth(drawn_studio, [first, other], queries=40) for first in (one, blind))
    image = drawn_studio.catalog().image[query]
    assert set(whole.ranks[0].query) - set(left.ranks[1].query) == {image}
