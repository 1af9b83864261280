"""One pair under random histories: whatever people, clocks and late requests do, the rules hold."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lookalike.annotate import question as rules
from lookalike.annotate.protocol import (
    ANSWERS,
    DISCUSSION,
    EXCLUDED,
    OPEN,
    PROTOCOLS,
    SETTLED,
    Outcome,
    Protocol,
)
from lookalike.annotate.question import LEASE, REOPEN, SKEW, SKIP, VERDICTS, VOTE, Question
from lookalike.core.errors import VoteError

LASTS, GRACE = 600_000, 30_000
PEOPLE = st.integers(1, 5)
EDGES = {
    (OPEN, SETTLED),
    (OPEN, DISCUSSION),
    (OPEN, EXCLUDED),
    (DISCUSSION, SETTLED),
    (DISCUSSION, EXCLUDED),
    (SETTLED, DISCUSSION),
    (EXCLUDED, DISCUSSION),
}

steps = st.one_of(
    st.tuples(st.just("lease"), PEOPLE),
    st.tuples(st.just("vote"), PEOPLE, st.sampled_from(ANSWERS)),
    st.tuples(st.just("skip"), PEOPLE),
    st.tuples(st.just("undo"), PEOPLE),
    st.tuples(st.just("renew"), PEOPLE),
    st.tuples(st.just("release"), PEOPLE),
    st.tuples(st.just("expire")),
    st.tuples(st.just("resolve")),
    st.tuples(st.just("propose"), PEOPLE, st.sampled_from(VERDICTS)),
    st.tuples(st.just("decide"), st.sampled_from((*VERDICTS, REOPEN))),
    st.tuples(st.just("clock"), st.sampled_from((1, 20_000, 40_000, 700_000, -1, -50_000, -(10**9), 10**9))),
)


def step(question: Question, protocol: Protocol, now: int, number: int, what: tuple) -> Question:
    """Do what a request or the clock does; what the rules refuse leaves the pair as it is."""
    name, *rest = what
    token = f"t{number}"
    does = {
        "lease": lambda who: rules.lease(question, who, token, now, now + LASTS, number % 2),
        "vote": lambda who, answer: rules.vote(question, who, token, answer, now, GRACE),
        "skip": lambda who: rules.skip(question, who, token, now),
        "undo": lambda who: rules.undo(question, who, token, now, now + LASTS),
        "renew": lambda who: rules.renew(question, who, now, now + LASTS),
        "release": lambda who: rules.release(question, who),
        "expire": lambda: rules.expire(question, now),
        "resolve": lambda: rules.resolve(question, protocol, now, GRACE),
        "propose": lambda who, answer: rules.propose(question, who, answer),
        "decide": lambda answer: rules.decide(question, answer),
    }
    try:
        return does[name](*rest)
    except VoteError:
        return question


def expected(name: str, answers: list[str]) -> Outcome:
    """The result of some answers, slowly: from the papers' sentences, by counting shares."""
    definite = [answer for answer in answers if answer != "unsure"]
    if name == "consensus":
        if definite == answers and all(one == answers[0] for one in answers):
            return Outcome(SETTLED, int(answers[0] == "similar"))
        return Outcome(DISCUSSION)
    if not definite:
        return Outcome(EXCLUDED)
    share = Fraction(sum(answer == "similar" for answer in definite), len(definite))
    return Outcome(SETTLED, 1 if share > Fraction(1, 2) else 0)


def histories(test):
    return settings(max_examples=200)(
        given(st.sampled_from(PROTOCOLS), st.integers(1, 4), st.lists(steps, max_size=60))(test)
    )


def walk(name, needed, history):
    """Each step of a history: the pair before and after, what was done, and the time."""
    protocol, question, now = Protocol(name, needed), Question(needed), 1_700_000_000_000
    for number, what in enumerate(history):
        if what[0] == "clock":
            now += what[1]
            continue
        after = step(question, protocol, now, number, what)
        yield question, after, what, now
        question = after


@histories
def test_leases_and_votes_never_exceed_what_a_pair_needs_and_no_annotator_has_two_claims(
    name, needed, history
):
    for _, after, _, now in walk(name, needed, history):
        live = [claim for claim in after.claims if claim.kind == VOTE or claim.is_live(now)]
        held = [claim for claim in after.claims if claim.kind != SKIP]
        assert len(live) <= len(held) <= needed
        assert len({claim.annotator for claim in after.claims}) == len(after.claims)
        assert 0 <= after.free <= needed


@histories
def test_states_change_along_the_documented_edges_only(name, needed, history):
    for before, after, _, _ in walk(name, needed, history):
        assert before.state == after.state or (before.state, after.state) in EDGES
        assert (after.label is not None) == (after.state == SETTLED)
        assert after.state == OPEN or (after.resolves_at is None and len(after.votes) == len(after.claims))


@histories
def test_a_label_comes_from_all_votes_from_agreement_in_discussion_or_from_a_lead(name, needed, history):
    for before, after, what, _ in walk(name, needed, history):
        if before.state == after.state:
            continue
        if before.state == OPEN:
            answers = [claim.answer for claim in after.votes]
            assert (what[0], len(answers)) == ("resolve", needed)
            assert Outcome(after.state, after.label) == expected(name, answers)
        elif after.state == DISCUSSION:
            assert what == ("decide", REOPEN)
        elif what[0] == "propose":
            assert {who for who, _ in after.proposals} == {claim.annotator for claim in after.votes}
            assert {answer for _, answer in after.proposals} == {what[2]}
        else:
            assert what[0] == "decide"
        if after.state == SETTLED and what[0] != "resolve":
            assert after.label == int(what[-1] == "similar")


@histories
def test_only_its_annotator_can_undo_a_vote_and_only_before_the_pair_is_resolved(name, needed, history):
    for before, after, what, now in walk(name, needed, history):
        gone = set(before.votes) - set(after.votes)
        if gone:
            assert [claim.annotator for claim in gone] == [what[1]]
            assert (what[0], before.state) == ("undo", OPEN)
            assert before.resolves_at is None or now <= before.resolves_at


@histories
def test_only_a_lapsed_lease_lets_go_by_itself(name, needed, history):
    for before, after, what, now in walk(name, needed, history):
        for claim in set(before.claims) - set(after.claims):
            if claim.kind == LEASE and claim.is_live(now):
                assert what[0] in ("vote", "skip", "release", "renew")
                assert what[1] == claim.annotator


@histories
def test_nobody_waits_longer_than_the_time_to_undo_whatever_the_clock_does(name, needed, history):
    for _, after, _, now in walk(name, needed, history):
        if after.state == OPEN and len(after.votes) == needed:
            for later in (now + GRACE, now + 10**9, now - GRACE - SKEW, now - 10**9):
                outlived = rules.resolve(after, Protocol(name, needed), later, GRACE)
                waits = after.resolves_at is not None and 0 < after.resolves_at - later <= GRACE + SKEW
                assert (outlived.state == OPEN) == waits
        for claim in after.claims:
            assert not claim.is_live(now + LASTS + 10**10)
            assert not claim.is_live(claim.since - SKEW - 1)


@pytest.mark.parametrize("name", PROTOCOLS)
@given(answers=st.lists(st.sampled_from(ANSWERS), min_size=1, max_size=9))
def test_outcomes_are_those_of_the_slow_count(name, answers):
    assert Protocol(name, len(answers)).outcome(answers) == expected(name, answers)


def test_majority_ties_are_negative_and_unjudged_pairs_are_excluded():
    assert Protocol("majority", 4).outcome(["similar", "dissimilar", "unsure", "unsure"]) == Outcome(
        SETTLED, 0
    )
    assert Protocol("majority", 3).outcome(["similar", "unsure", "unsure"]) == Outcome(SETTLED, 1)
    assert Protocol("majority", 2).outcome(["unsure", "unsure"]) == Outcome(EXCLUDED)


def test_an_offline_annotator_loses_no_answer_while_the_pair_needs_votes():
    held = rules.lease(Question(1), 1, "t", 0, LASTS, 0)
    gone = rules.expire(held, LASTS + 1)
    assert gone.claims == ()
    assert rules.vote(gone, 1, "t", "similar", LASTS + 2, GRACE).votes[0].answer == "similar"
    taken = rules.lease(gone, 2, "u", LASTS + 2, 2 * LASTS, 0)
    with pytest.raises(VoteError) as refusal:
        rules.vote(taken, 1, "t", "similar", LASTS + 3, GRACE)
    assert refusal.value.code == "full"


def test_a_vote_can_be_undone_until_the_last_moment_and_not_after_it():
    voted = rules.vote(rules.lease(Question(1), 1, "t", 0, LASTS, 1), 1, "t", "similar", 10, GRACE)
    back = rules.undo(voted, 1, "u", 10 + GRACE, 10 + GRACE + LASTS)
    assert (back.resolves_at, back.claims[0].kind, back.claims[0].side) == (None, LEASE, 1)
    with pytest.raises(VoteError) as refusal:
        rules.undo(voted, 1, "u", 11 + GRACE, LASTS)
    assert refusal.value.code == "settled"


def test_a_closed_pair_takes_no_lease_vote_or_skip():
    voted = rules.vote(rules.lease(Question(1), 1, "t", 0, LASTS, 1), 1, "t", "similar", 10, GRACE)
    closed = rules.resolve(voted, Protocol("consensus", 1), 10 + GRACE, GRACE)
    assert closed.state == SETTLED
    for refused in (
        lambda: rules.lease(closed, 2, "u", 0, 1, 0),
        lambda: rules.vote(closed, 2, "u", "similar", 0, GRACE),
        lambda: rules.skip(closed, 2, "u", 0),
        lambda: rules.renew(closed, 2, 0, 1),
    ):
        with pytest.raises(VoteError):
            refused()
