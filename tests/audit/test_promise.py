"""A threshold that keeps a promise: its p-value, the labels it needs, and how often the promise holds."""

import math

import numpy as np
import pytest

from lookalike.audit.promise import (
    LOWER,
    UPPER,
    DrawnPlaces,
    PromiseTerms,
    draw_places,
    p_value,
    promised_threshold,
)
from lookalike.core.errors import ArgumentError

TERMS = PromiseTerms()


def slow_p_value(dissimilar, labels, most):
    """The formula, term by term."""
    if labels == 0:
        return 1.0
    terms = (math.comb(labels, i) * most**i * (1 - most) ** (labels - i) for i in range(dissimilar + 1))
    return sum(terms)


def slow_threshold(drawn, label, terms):
    """One threshold after another, until one is not rejected."""
    last = math.nan
    for threshold in drawn.thresholds.tolist():
        seen = [y for s, y in zip(drawn.score.tolist(), label.tolist(), strict=True) if s >= threshold]
        wrong = sum(y != 1.0 for y in seen)
        if slow_p_value(wrong, len(seen), terms.dissimilar) > 1 - terms.confidence:
            break
        last = threshold
    return last


@pytest.mark.parametrize("most", [0.05, 0.1, 0.3])
def test_the_p_value_is_the_sum_of_the_binomial(most):
    pairs = [(x, n) for n in (0, 1, 28, 29, 61, 200) for x in (0, 1, 2, 7) if x <= n]
    dissimilar, labels = np.array(pairs).T
    expected = [slow_p_value(x, n, most) for x, n in pairs]
    np.testing.assert_allclose(p_value(dissimilar, labels, most), expected, rtol=1e-9)


def one_threshold(labels):
    """Places above one threshold."""
    score = np.ones(labels)
    return DrawnPlaces(np.arange(labels), np.zeros(labels, int), score, np.array([0.5]), np.array([1.0]), 1.0)


def test_without_an_error_one_threshold_needs_29_labels():
    assert TERMS.fewest_labels == 29
    assert promised_threshold(one_threshold(29), np.ones(29), TERMS).threshold == 0.5
    few = promised_threshold(one_threshold(28), np.ones(28), TERMS)
    assert math.isnan(few.threshold)
    assert few.reason == "28 labels are too few: even without a dissimilar result, 29 are needed"
    assert PromiseTerms(0.05, 0.95).fewest_labels == 59
    assert PromiseTerms(0.1, 0.99).fewest_labels == 44


def test_a_missing_answer_counts_as_dissimilar():
    label = np.ones(29)
    label[3] = np.nan
    found = promised_threshold(one_threshold(29), label, TERMS)
    assert math.isnan(found.threshold)
    assert found.dissimilar == 1


@pytest.mark.parametrize("seed", range(20))
def test_the_threshold_is_that_of_the_slow_sequence(seed):
    random = np.random.default_rng(seed)
    drawn = draw_places(random.random((900, 5)), 400, seed)
    label = (random.random(len(drawn.score)) < 0.9 * drawn.score + 0.12).astype(float)
    found = promised_threshold(drawn, label, TERMS)
    np.testing.assert_equal(found.threshold, slow_threshold(drawn, label, TERMS))


def test_of_each_query_at_most_one_place_is_drawn_and_no_empty_one():
    score = np.random.default_rng(0).random((1000, 6))
    score[::3, 2:] = np.nan
    drawn = draw_places(score, 200, seed=4)
    assert len(np.unique(drawn.query)) == len(drawn.query) == 200
    np.testing.assert_array_equal(drawn.score, score[drawn.query, drawn.place])
    assert np.bincount(drawn.stratum).tolist() == [40, 160]
    again = draw_places(score, 200, seed=4)
    np.testing.assert_array_equal(again.query, drawn.query)
    other = draw_places(score, 200, seed=5)
    assert not np.array_equal(other.query, drawn.query)


def test_thresholds_fall_and_show_the_share_that_they_say():
    score = np.random.default_rng(1).random((1000, 5))
    drawn = draw_places(score, 300, seed=0)
    assert (np.diff(drawn.thresholds) < 0).all()
    np.testing.assert_allclose(drawn.shown, [(score >= t).mean() for t in drawn.thresholds])
    assert drawn.upper == drawn.shown[-1] == pytest.approx(0.5)


def test_where_queries_are_few_all_of_them_are_used():
    drawn = draw_places(np.random.default_rng(2).random((50, 5)), 300, seed=0)
    assert sorted(drawn.query.tolist()) == list(range(50))
    assert drawn.upper == 1.0


def test_empty_lists_are_refused():
    with pytest.raises(ArgumentError, match="empty"):
        draw_places(np.full((3, 5), np.nan), 10, seed=0)


@pytest.mark.parametrize("steep", [6.0, 15.0])
def test_the_promise_is_broken_in_at_most_5_percent_of_draws_and_the_naive_one_in_more(steep):
    """Answers of one query hang together; the population is all places of many queries."""
    random = np.random.default_rng(int(steep))
    queries, k, draws = 3000, 5, 600
    quality = random.standard_normal((queries, 1))
    strength = quality + random.standard_normal((queries, k))
    score = np.sort(strength + 0.5 * random.standard_normal((queries, k)), axis=1)[:, ::-1]
    chance = 1 / (1 + np.exp(-(score * steep / 6 + 0.8 * quality)))
    similar = (random.random((queries, k)) < chance).astype(float)
    broken = naive = kept = 0
    for seed in range(draws):
        drawn = draw_places(score, 300, seed)
        label = similar[drawn.query, drawn.place]
        found = promised_threshold(drawn, label, TERMS)
        above = drawn.score >= drawn.thresholds[:, None]
        error = 1 - (above * label).sum(axis=1) / np.maximum(above.sum(axis=1), 1)
        fitting = drawn.thresholds[(error <= 0.1) & (above.sum(axis=1) > 0)]
        if len(fitting):
            naive += 1 - similar[score >= fitting.min()].mean() > 0.1
        if not math.isnan(found.threshold):
            kept += 1
            broken += 1 - similar[score >= found.threshold].mean() > 0.1
    assert kept > 0.3 * draws
    assert broken <= 0.05 * draws
    assert naive > 0.2 * draws


def test_what_a_threshold_keeps_is_estimated_without_bias():
    random = np.random.default_rng(3)
    score = np.sort(random.random((3000, 5)), axis=1)[:, ::-1]
    similar = (random.random(score.shape) < np.clip(1.6 * score - 0.3, 0, 0.99)).astype(float)
    ratios = []
    for seed in range(300):
        drawn = draw_places(score, 400, seed)
        found = promised_threshold(drawn, similar[drawn.query, drawn.place], TERMS)
        if not math.isnan(found.threshold):
            ratios.append(found.kept / (similar[score >= found.threshold].sum() / similar.sum()))
    assert len(ratios) > 100
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.03)


def test_terms_outside_0_to_1_are_refused():
    with pytest.raises(ArgumentError, match=r"dissimilar is 1\.0"):
        PromiseTerms(dissimilar=1.0)
    with pytest.raises(ArgumentError, match=r"confidence is 0\.0"):
        PromiseTerms(confidence=0.0)


def test_strata_are_those_of_the_loosest_threshold():
    drawn = DrawnPlaces(
        np.arange(3),
        np.zeros(3, int),
        np.array([0.9, 0.5, 0.1]),
        np.array([0.8, 0.5]),
        np.array([0.2, 0.5]),
        0.5,
    )
    assert drawn.stratum.tolist() == [UPPER, UPPER, LOWER]
