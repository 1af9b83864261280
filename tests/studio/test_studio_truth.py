import itertools

import numpy as np
import pytest

from lookalike.core.errors import ArgumentError
from lookalike.studio import THRESHOLD, consensus, experts, positives, similarity, studio, true_labels, vote
from lookalike.studio.truth import IMPORTANCE, differences


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
    assert similarity(small, a[apart], b[apart]).max() < THRESHOLD - 0.1


def test_items_of_a_family_are_alike_by_degrees(small):
    order, starts = small.members
    pairs = [itertools.combinations(order[low:high], 2) for low, high in itertools.pairwise(starts)]
    a, b = np.array([pair for family in pairs for pair in family]).T
    alike = similarity(small, a, b)
    assert 0.98 < np.mean(alike >= THRESHOLD) < 1.0
    assert np.quantile(alike, 0.1) < 0.7
    assert len(np.unique(alike.round(2))) > 60


def test_every_respect_alone_makes_two_items_unlike(small):
    """One respect at its largest, the others equal: below the threshold, and by a margin."""
    assert (1.0 - IMPORTANCE).max() <= THRESHOLD - 0.15


def test_every_aspect_but_the_outline_separates_some_families_alone(small):
    a, b = all_pairs(small.items)
    of = small.of
    use = (of.kind[a] == of.kind[b]) & (of.family[a] != of.family[b])
    a, b = a[use], b[use]
    apart = differences(type(of)(*(c[a] for c in of)), type(of)(*(c[b] for c in of)))
    for respect in range(1, len(apart)):
        others = np.max([other for place, other in enumerate(apart) if place != respect], axis=0)
        assert np.sum((apart[respect] > 0.75) & (others < 0.65)) > 20


def test_votes_do_not_depend_on_the_order_or_on_the_company_of_pairs(small):
    expert = experts(1, seed=0)[0]
    a, b = likely_pairs(small, 50)
    votes = vote(small, expert, a, b)
    assert votes.dtype == np.int8
    assert np.array_equal(votes, vote(small, expert, b, a))
    assert np.array_equal(votes[::7], vote(small, expert, a[::7], b[::7]))


def test_experts_slip_on_clear_pairs_too(small):
    expert = experts(3, seed=2)[2]
    rng = np.random.default_rng(1)
    a, b = rng.integers(small.items, size=(2, 20_000))
    clear = similarity(small, a, b) < 0.02
    assert np.mean(vote(small, expert, a[clear], b[clear])) == pytest.approx(expert.lapse, abs=0.003)


def test_disagreement_is_excluded():
    assert consensus(np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])).tolist() == [0, -1, -1, 1]


def test_an_expert_mostly_repeats_an_answer(small):
    expert = experts(1, seed=0)[0]
    a, b = likely_pairs(small, 200)
    first, second = (vote(small, expert, a, b, time=time) for time in (0, 1))
    assert 0.9 < np.mean(first == second) < 0.99
    assert np.array_equal(first, vote(small, expert, a, b))


def test_no_experts_are_refused():
    with pytest.raises(ArgumentError, match="n is 0"):
        experts(0, seed=0)
