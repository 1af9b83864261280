"""Whole queries as units, and queries as a sample: every sample counted, and the variance of fresh queries."""

from itertools import combinations

import numpy as np
import pytest

from lookalike.audit.sampling.design import Units, draw
from lookalike.audit.sampling.estimate import Estimate, estimate
from lookalike.audit.sampling.queries import ByQuery, between_queries, with_queries_drawn

QUERY = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4])
QUESTION = np.array([0, 1, 1, 2, 3, 4, 5, 6, 6, 7])
"""Questions 1 and 6 serve two queries each."""
WEIGHT = np.array([0.1, 0.1, 0.1, -0.1, 0.1, 0.1, 0.1, 0.1, -0.1, 0.1])
LABEL = np.array([1.0, 0, 1, 1, 0, 1, 1, 0])
ROWS = ByQuery(QUERY, QUESTION, WEIGHT, np.array([0.2, 0.0, 0.0, 0.1, 0.0, 0.1]))
TRUTH = 0.4 + float(WEIGHT @ LABEL[QUESTION])


def test_whole_queries_have_no_bias_and_the_variance_is_that_of_all_samples():
    units, which = ROWS.units()
    assert which.tolist() == [0, 1, 2, 3, 4]
    found = []
    for three in combinations(range(5), 3):
        design = np.array(three)
        asked = np.isin(QUERY, which[list(three)])
        label = np.full(8, np.nan)
        label[QUESTION[asked]] = LABEL[QUESTION[asked]]
        found.append(estimate(units, design, ROWS.answers(which[list(three)], label)))
    assert np.mean([one.value for one in found]) == pytest.approx(TRUTH)
    least, spread = [], []
    for three in combinations(range(5), 3):
        e = units.weight[0] * ROWS.answers(which[list(three)], LABEL)[0]
        more = [*(e - e.mean()), units.weight[0] / 4, -units.weight[0] / 4]
        least.append(25 * 0.4 / 3 * np.var(e, ddof=1))
        spread.append(max(least[-1], 25 * 0.4 / 3 * np.var(more, ddof=1)))
    assert np.mean(least) == pytest.approx(np.var([one.value for one in found]))
    assert [one.error**2 for one in found] == pytest.approx(spread)
    assert {one.method for one in found} == {"t+"}


def test_whole_queries_of_one_encoder_have_wilson_s_interval():
    rows = ByQuery(np.repeat(np.arange(40), 5), np.arange(200), np.full(200, 0.005), np.zeros(40))
    units, which = rows.units()
    design = draw(units, 15, 0)
    every = estimate(units, design, rows.answers(which[design], np.ones(200)))
    assert (every.method, every.value, every.high) == ("Wilson", pytest.approx(1.0), pytest.approx(1.0))
    assert 0.75 < every.low < 0.95


def test_a_covariate_of_whole_queries_is_that_of_their_places():
    guess = np.linspace(0.1, 0.8, 8)
    units, which = ROWS.units(guess)
    assert units.weight * units.covariate == pytest.approx([
        sum(w * guess[j] for q, j, w in zip(QUERY, QUESTION, WEIGHT, strict=True) if q == query)
        for query in which
    ])  # fmt: skip
    everything = np.arange(5)
    assert estimate(units, everything, ROWS.answers(which, LABEL)).value == pytest.approx(TRUTH)


def test_a_question_without_an_answer_moves_the_ends_of_the_queries_it_serves_alone():
    label = LABEL.copy()
    label[6] = np.nan
    least, most = ROWS.answers(np.arange(5), label)
    assert (most - least).tolist() == pytest.approx([0, 0, 0, 0.5, 0.5])


def test_all_answers_given_the_variance_between_queries_is_that_of_their_parts():
    units = Units(np.bincount(QUESTION, WEIGHT), np.zeros(8, int), 0.4)
    everything = np.arange(8)
    parts = [
        known + sum(w * LABEL[j] for q, j, w in zip(QUERY, QUESTION, WEIGHT, strict=True) if q == query)
        for query, known in enumerate(ROWS.known)
    ]
    assert between_queries(ROWS, units, everything, LABEL, 0.0) == pytest.approx(6 * np.var(parts, ddof=1))


@pytest.mark.slow
@pytest.mark.parametrize("with_guess", [False, True])
def test_fresh_queries_and_fresh_pairs_vary_as_much_as_the_variance_says(with_guess):
    """Catalogs of 60 queries are drawn, then pairs: the variance of the estimates is design + between queries."""
    random = np.random.default_rng(5)
    values, errors, between = [], [], []
    for seed in range(1500):
        rate = random.choice([0.1, 0.5, 0.9], 60)
        label = (random.uniform(size=300) < np.repeat(rate, 5)).astype(float)
        guess = np.clip(0.5 * label + random.uniform(0, 0.5, 300), 0, 1) if with_guess else None
        weight = np.full(300, 1 / 300)
        units = Units(weight, np.zeros(300, int), 0.0, guess)
        rows = ByQuery(np.repeat(np.arange(60), 5), np.arange(300), weight, np.zeros(60))
        design = draw(units, 60, seed)
        found = estimate(units, design, label[design])
        between.append(between_queries(rows, units, design, label[design], found.coefficient))
        values.append(found.value)
        errors.append(found.error)
    assert np.mean(np.square(errors)) + np.mean(between) == pytest.approx(np.var(values), rel=0.12)
    assert np.mean(np.square(errors)) < 0.8 * np.var(values)


def test_an_answer_that_serves_two_queries_counts_in_both_parts():
    rows = ByQuery(np.array([0, 1]), np.array([0, 0]), np.array([0.5, 0.5]), np.zeros(2))
    units = Units(np.array([1.0]), np.zeros(1, int))
    assert between_queries(rows, units, np.array([0]), np.ones(1), 0.0) == 0.0


def test_half_widths_join_by_squares():
    fixed = Estimate(0.5, 0.41, 0.60, "MOVER", 50, 0, 0.7, 0.04)
    found = with_queries_drawn(fixed, 0.0009, 2000)
    half = 1.961149 * 0.03
    assert [found.low, found.high] == pytest.approx(
        [0.5 - np.hypot(0.09, half), 0.5 + np.hypot(0.1, half)], abs=1e-6
    )
    assert (found.error, found.coefficient) == (pytest.approx(0.05), 0.7)
    looked = with_queries_drawn(fixed, 0.0009, 2000, looks=3)
    assert looked.low < found.low


def test_one_query_shows_no_variance():
    rows = ByQuery(np.zeros(2, int), np.arange(2), np.ones(2), np.zeros(1))
    units = Units(np.ones(2), np.zeros(2, int))
    assert np.isnan(between_queries(rows, units, np.arange(2), np.ones(2), 0.0))


def test_labels_of_drawn_queries_count_a_shared_question_once():
    """The mean over all draws of as many queries."""
    for m, labels in enumerate(ROWS.labels_of()):
        asked = [len({*QUESTION[np.isin(QUERY, some)]}) for some in combinations(range(5), m)]
        assert labels == pytest.approx(np.mean(asked))
