"""The positive rate where the truth of every pair is known: the interval holds it, the budget keeps its promise."""

import numpy as np
import pytest
from scipy.stats import binom

import lookalike
from lookalike.core.types import Labels, Pool
from lookalike.discover.pool import pool
from lookalike.discover.prevalence import chebyshev_budget, credible_interval, map_estimate
from lookalike.discover.random_pairs import all_pairs, random_pairs
from lookalike.studio import positives, studio, true_labels

STUDIO = studio(2_400, photos_per_item=2, seed=4)
CATALOG = STUDIO.catalog()
ROWS = np.arange(0, 2_400, 6)  # 400 queries
NAMES, CODE = CATALOG.item_codes


def true_rate() -> float:
    """Positive items of all queries over all pairs, counted by family."""
    found = sum(len(positives(STUDIO, int(CODE[row]))) for row in ROWS)
    return found / len(all_pairs(CATALOG, ROWS))


def sampled(count: int, seed: int) -> int:
    """How many of `count` random pairs are truly similar."""
    sample = random_pairs(CATALOG, ROWS, count, seed)
    place = {name: code for code, name in enumerate(NAMES)}
    a = np.array([CODE[CATALOG.row[query]] for query in sample.query])
    b = np.array([place[item] for item in sample.item])
    return int(true_labels(STUDIO, a, b).sum())


def test_the_interval_covers_the_true_rate_at_its_level():
    rate = true_rate()
    assert 0.005 < rate < 0.02
    intervals = [credible_interval(300, found, 0.2 * rate, 0.9) for found in range(60)]
    holds = np.array([low <= rate <= high for low, high in intervals])
    claimed = (
        binom.pmf(np.arange(60), 300, rate) * holds
    ).sum()  # .96: counts are whole, so it cannot be just .9
    assert claimed > 0.9
    right = np.mean([holds[sampled(300, seed)] for seed in range(400)])
    assert abs(right - claimed) < 4 * (claimed * (1 - claimed) / 400) ** 0.5


def test_the_error_stays_below_the_precision_as_often_as_the_budget_promises():
    rate, precision, risk = true_rate(), 0.012, 0.3
    budget = chebyshev_budget(precision, risk, rate)
    assert rate < precision
    errors = [abs(map_estimate(budget, sampled(budget, seed), 0.2 * rate) - rate) for seed in range(300)]
    missed = np.mean(np.array(errors) >= precision)
    assert missed <= risk
    assert missed < 0.1  # Chebyshev's inequality is loose: far fewer pairs would have done


def truth_pool() -> Pool:
    """A pool of one generator that puts forward, for each query, the five items after its own."""
    first = np.unique(CODE, return_index=True)[1]
    found = first[(CODE[ROWS][:, None] + np.arange(1, 6)) % len(NAMES)]
    return pool(CATALOG, ROWS, {"next": (found, np.zeros(found.shape, np.float32))}, 5)


def test_the_rate_from_python():
    """Pool and random pairs with their true labels; random pairs that are in the pool count with its label."""
    put_forward = truth_pool()
    sample = lookalike.random_pairs(CATALOG, put_forward, 3_000, seed=2)
    pooled = set(zip(put_forward.query, put_forward.item, strict=True))
    both = [pair for pair in zip(sample.query, sample.item, strict=True) if pair in pooled]
    assert both
    place = {name: code for code, name in enumerate(NAMES)}
    pairs = {
        (query, candidate)
        for source in (put_forward, sample)
        for query, item, candidate in zip(source.query, source.item, source.candidate, strict=True)
        if source is put_forward or (query, item) not in pooled
    }
    query, candidate = zip(*sorted(pairs), strict=True)
    ends = (
        np.array([place[CATALOG.item[CATALOG.row[image]]] for image in side]) for side in (query, candidate)
    )
    labels = Labels.of(query, candidate, true_labels(STUDIO, *ends))
    found = lookalike.positive_rate(CATALOG, put_forward, sample, labels)
    assert (found.drawn, found.labelled) == (3_000, 3_000)
    assert found.pairs == len(ROWS) * (len(NAMES) - 1)
    assert found.known == labels.label.sum()
    assert found.low <= true_rate() <= found.high
    assert found.rate == found.positives / 3_000
    in_pool = [
        label for q, c, label in zip(query, candidate, labels.label, strict=True)
        if (q, CATALOG.item[CATALOG.row[c]]) in pooled
    ]  # fmt: skip
    assert found.pool_rate == pytest.approx(np.mean(in_pool))
    assert found.gain == pytest.approx(found.pool_rate / found.rate)


def test_the_rate_is_undefined_while_only_pooled_ones_of_the_random_pairs_are_labelled():
    """Those that were labelled before come from the pool: their rate of similar pairs is not that of all pairs."""
    put_forward = truth_pool()
    sample = lookalike.random_pairs(CATALOG, put_forward, 3_000, seed=2)
    labels = Labels.of(put_forward.query, put_forward.candidate, np.ones(len(put_forward), np.int8))
    found = lookalike.positive_rate(CATALOG, put_forward, sample, labels)
    assert 0 < found.labelled < 100
    assert np.isnan(found.rate)
    assert f"{found.labelled} of 3,000 random pairs" in found.reason
