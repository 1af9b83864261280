"""LabelPlan: which pairs separate encoders, what labelling them gives, and how often the decision is wrong."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lookalike.audit.next_pairs import TopLabels, next_pairs, order, plan, standings
from lookalike.core.checks import strings
from lookalike.core.errors import ArgumentError


def lists_of(item, label, names=None):
    item, label = np.asarray(item, np.int64), np.asarray(label, np.int8)
    names = names or tuple("abcdefgh"[: len(item)])
    return TopLabels(names, strings(range(item.shape[1])), item, label)


def world(random, *, queries=400, k=5, quality=(0.6, 0.6), known=1.0, encoders=2, items=30):
    """Lists of few items, so that they share some; an item has one label in all lists."""
    chance = random.random((queries, items))
    item = np.stack(
        [np.stack([random.permutation(items)[:k] for _ in range(queries)]) for _ in range(encoders)]
    )
    label = np.empty(item.shape, np.int8)
    for e in range(encoders):
        got = np.take_along_axis(chance, item[e], axis=1) < quality[e % len(quality)]
        label[e] = got if encoders > 2 or quality[0] == quality[1] else random.random(got.shape) < quality[e]
    judged = random.random((queries, items)) < known
    for e in range(encoders):
        label[e][~np.take_along_axis(judged, item[e], axis=1)] = -1
    return lists_of(item, label)


def distinguishing_by_sets(lists):
    """(query, item) pairs that not every list has, from the definition."""
    found = set()
    for q in range(len(lists.query)):
        tops = [{i for i in lists.item[e, q].tolist() if i >= 0} for e in range(len(lists.encoders))]
        found |= {(q, i) for i in set.union(*tops) - set.intersection(*tops)}
    return found


@given(st.integers(0, 10_000), st.integers(2, 4))
def test_open_pairs_are_the_unjudged_ones_that_some_list_lacks(seed, encoders):
    lists = world(
        np.random.default_rng(seed), queries=6, k=3, quality=(0.5, 0.5), known=0.5, encoders=encoders, items=6
    )
    unjudged = {(q, int(lists.item[e, q, i])) for e, q, i in zip(*np.nonzero(lists.label == -1), strict=True)}
    expected = distinguishing_by_sets(lists) & unjudged
    assert set(next_pairs(lists, 6)) == expected
    assert len(next_pairs(lists, 6)) == len(expected)
    assert lists.pairs(lists.open).sum() == len(expected)
    assert lists.pairs(lists.distinguishing).sum() == len(distinguishing_by_sets(lists))


def test_difference_and_bounds_by_hand():
    # One query repeated: a lists 1 2 3, b lists 3 4 5. 1 similar, 2 unjudged; 4 dissimilar, 5 unjudged; 3 cancels.
    lists = lists_of([[[1, 2, 3]] * 30, [[3, 4, 5]] * 30], [[[1, -1, 1]] * 30, [[1, 0, -1]] * 30])
    one = standings(lists)[0]
    assert (one.queries, one.decision) == (0, "open")
    assert np.isnan([one.difference, one.low, one.high]).all()
    assert one.least == pytest.approx((1 - 1) / 3)
    assert one.most == pytest.approx((2 - 0) / 3)
    assert len(next_pairs(lists, 25)) == 50


def test_open_pairs_widen_the_interval_and_an_unjudged_batch_ends_the_run():
    random = np.random.default_rng(3)
    whole = world(random, queries=200, quality=(0.7, 0.4))
    label = whole.label.copy()
    label[0, 10, 0] = label[1, 40, 2] = -1
    full, part = standings(whole)[0], standings(lists_of(whole.item, label))[0]
    assert (full.queries, part.queries) == (200, 200)
    assert (full.left_open, part.left_open) == (0, 2)
    assert part.low < full.low < full.high
    assert part.high >= full.high
    assert part.least < full.least == full.difference == full.most < part.most
    label[:, 75:100] = -1
    assert standings(lists_of(whole.item, label))[0].queries == 75


def test_pairs_left_open_for_a_reason_decide_nothing():
    """Equal encoders; what stays open is the second's and rarely similar: the judged rest speaks for it, wrongly."""
    random = np.random.default_rng(7)
    for _ in range(20):
        whole = world(random, queries=400, quality=(0.5, 0.5), items=200)
        label = whole.label.copy()
        dull = (label[1] == 0) & (random.random(label[1].shape) < 0.18)
        label[1][dull] = -1
        one = standings(lists_of(whole.item, label))[0]
        assert one.queries == 400
        assert one.decision == "open"


def test_the_plan_foresees_the_interval_that_comes():
    """Half the labels hidden: the half-width foreseen for all queries is the one that judging them gives."""
    random = np.random.default_rng(8)
    foreseen, came = [], []
    for _ in range(20):
        whole = world(random, quality=(0.65, 0.45))
        hidden = np.where(random.random(whole.label.shape) < 0.5, whole.label, -1)
        foreseen.append(plan(lists_of(whole.item, hidden), 0.05).steps[-1].half_width)
        one = standings(whole)[0]
        came.append((one.high - one.low) / 2)
    assert np.mean(foreseen) == pytest.approx(np.mean(came), rel=0.05)


def test_wider_intervals_take_fewer_labels_and_what_cannot_be_reached_is_none():
    lists = world(np.random.default_rng(5), known=0.3)
    plans = plan(lists, 0.3), plan(lists, 0.2)
    assert plans[0].wanted.queries < plans[1].wanted.queries
    assert plans[0].wanted.labels < plans[1].wanted.labels
    assert plan(lists, 0.001).wanted is None
    assert [step.queries for step in plans[0].steps] == [25, 50, 100, 200, 400]
    with pytest.raises(ArgumentError, match="width"):
        plan(lists, 0.0)
    for margin in (-1.0, float("nan")):
        with pytest.raises(ArgumentError, match="margin"):
            standings(lists, margin=margin)
    with pytest.raises(ArgumentError, match="seed"):
        order(["a", "b"], -1)


@pytest.mark.slow
@pytest.mark.parametrize("encoders", [2, 3])
def test_five_interim_looks_with_early_stopping_err_at_most_one_time_in_twenty(encoders):
    """Encoders that are equally good: a decision that one is better is wrong."""
    random = np.random.default_rng(11)
    wrong, runs = 0, 250
    for _ in range(runs):
        whole = world(random, queries=400, quality=(0.5, 0.5), encoders=encoders)
        for n in (25, 50, 100, 200, 400):
            seen = lists_of(whole.item[:, :n], whole.label[:, :n])
            if any(one.decision in ("better", "worse") for one in standings(seen, interim_looks=5)):
                wrong += 1
                break
    assert wrong / runs <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / runs)


def test_equal_only_if_the_whole_interval_is_within_the_margin():
    random = np.random.default_rng(2)
    lists = world(random, queries=3000, quality=(0.5, 0.5))
    one = standings(lists, margin=0.05)[0]
    assert one.decision == "alike"
    assert -0.05 <= one.low <= one.high <= 0.05
    assert standings(lists, margin=0.001)[0].decision == "open"


@given(st.permutations(["q1", "q2", "q3", "q10", "é"]))
def test_the_order_of_queries_depends_on_their_names_and_the_seed(queries):
    assert [queries[i] for i in order(queries, 4)] == [
        ["q1", "q10", "q2", "q3", "é"][i] for i in order(["q1", "q10", "q2", "q3", "é"], 4)
    ]


@pytest.mark.parametrize("queries", [0, 1])
def test_too_few_queries_decide_nothing(queries):
    lists = world(np.random.default_rng(1), queries=1)
    lists = lists_of(lists.item[:, :queries], lists.label[:, :queries])
    one = standings(lists)[0]
    assert one.decision == "open"
    assert np.isnan(one.low)
    assert plan(lists, 0.1).wanted is None
    assert next_pairs(lists, 5) == []
