import itertools

import numpy as np
import pytest

from lookalike.catalog.studio import (
    THRESHOLD,
    consensus,
    experts,
    positives,
    similarity,
    studio,
    true_labels,
    vote,
)
from lookalike.catalog.studio.truth import differences
from lookalike.core.errors import ArgumentError


def all_pairs(items):
    return np.triu_indices(items, 1)


def likely_pairs(small, queries, seed=0):
    """What a pool holds: each query's family, and the ten others of its kind that are most alike."""
    a, b = [], []
    for query in np.random.default_rng(seed).choice(small.items, queries, replace=False):
        same = np.flatnonzero((small.of.kind == small.of.kind[query]) & (np.arange(small.items) != query))
        alike = similarity(small, np.full(len(same), query), same)
        kin = same[small.of.family[same] == small.of.family[query]]
        rest = same[np.argsort(-alike, kind="stable")][: len(kin) + 10]
        found = np.union1d(kin, rest)
        a.append(np.full(len(found), query))
        b.append(found)
    return np.concatenate(a), np.concatenate(b)


def kappa(a, b):
    chance = a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean())
    return (np.mean(a == b) - chance) / (1 - chance)


@pytest.fixture(scope="module")
def small():
    return studio(2_400, seed=6)


def test_similarity_is_symmetric_bounded_and_1_with_itself(small):
    rng = np.random.default_rng(0)
    a, b = rng.integers(small.items, size=(2, 20_000))
    alike = similarity(small, a, b)
    assert np.array_equal(alike, similarity(small, b, a))
    assert 0.0 <= alike.min() <= alike.max() <= 1.0
    everyone = np.arange(small.items)
    assert np.all(similarity(small, everyone, everyone) == 1.0)
    assert true_labels(small, everyone, everyone).all()


def test_positives_are_those_of_all_pairs(small):
    a, b = all_pairs(small.items)
    alike = true_labels(small, a, b) == 1
    found = np.zeros((small.items, small.items), dtype=bool)
    for item in range(small.items):
        found[item, positives(small, item)] = True
    assert np.array_equal(found, found.T)
    assert np.array_equal(found[a, b], alike)


def test_no_two_families_come_near_the_threshold(small):
    a, b = all_pairs(small.items)
    apart = small.of.family[a] != small.of.family[b]
    assert similarity(small, a[apart], b[apart]).max() < THRESHOLD - 0.03


@pytest.mark.parametrize("images", [200, 2_000, 50_000, 1_000_000])
def test_an_item_has_6_to_15_positives_at_every_size(images):
    one = studio(images)
    sample = np.unique(np.linspace(0, one.items - 1, 1_500).astype(int))
    counts = np.array([len(positives(one, item)) for item in sample])
    assert 8.0 < counts.mean() < 10.0
    assert np.mean(counts == 0) < 0.03
    assert np.mean((counts >= 6) & (counts <= 15)) > 0.8
    assert counts.max() <= 17


def test_items_of_a_family_are_alike_by_degrees(small):
    order, starts = small.members
    pairs = [itertools.combinations(order[low:high], 2) for low, high in itertools.pairwise(starts)]
    a, b = np.array([pair for family in pairs for pair in family]).T
    alike = similarity(small, a, b)
    assert 0.7 < np.mean(alike >= THRESHOLD) < 0.9
    assert len(np.unique(alike.round(2))) > 40


def test_each_respect_alone_tells_some_families_apart(small):
    of, trio_mate = small.of, {}
    a, b = all_pairs(small.items)
    same_kind = of.kind[a] == of.kind[b]
    a, b = a[same_kind], b[same_kind]
    apart = differences(type(of)(*(c[a] for c in of)), type(of)(*(c[b] for c in of)))
    for respect, difference in enumerate(apart):
        others = np.max([other for place, other in enumerate(apart) if place != respect], axis=0)
        trio_mate[respect] = int(np.sum((difference > 0.6) & (others < 0.55)))
    assert min(trio_mate.values()) > 100


def test_votes_do_not_depend_on_the_order_or_on_the_company_of_pairs(small):
    expert = experts(1, seed=0)[0]
    a, b = likely_pairs(small, 50)
    votes = vote(small, expert, a, b)
    assert votes.dtype == np.int8
    assert np.array_equal(votes, vote(small, expert, b, a))
    assert np.array_equal(votes[::7], vote(small, expert, a[::7], b[::7]))


def test_experts_agree_as_people_do(small):
    a, b = likely_pairs(small, 250)
    truth = true_labels(small, a, b)
    votes = [vote(small, expert, a, b) for expert in experts(5, seed=1)]
    agreement = [np.mean(one == other) for one, other in itertools.combinations(votes, 2)]
    kappas = [kappa(one, other) for one, other in itertools.combinations(votes, 2)]
    assert 0.80 < np.mean(agreement) < 0.92
    assert 0.55 < np.mean(kappas) < 0.80
    assert np.std([one.mean() for one in votes]) > 0.01  # some are lenient, some strict
    settled = consensus(votes[0], votes[1])
    kept = settled >= 0
    assert np.mean(settled[kept] == truth[kept]) > max(np.mean(one == truth) for one in votes[:2])
    assert 0.05 < np.mean(~kept) < 0.25


def test_experts_slip_on_clear_pairs_too(small):
    expert = experts(3, seed=2)[2]
    rng = np.random.default_rng(1)
    a, b = rng.integers(small.items, size=(2, 20_000))
    clear = similarity(small, a, b) < 0.2
    assert np.mean(vote(small, expert, a[clear], b[clear])) == pytest.approx(expert.lapse, abs=0.005)


def test_disagreement_is_excluded():
    assert consensus(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])).tolist() == [0, -1, -1, 1]


def test_no_experts_are_refused():
    with pytest.raises(ArgumentError, match="n is 0"):
        experts(0, seed=0)
