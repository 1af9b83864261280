"""Giving pairs and taking answers, on SQLite and PostgreSQL."""

import pytest
from shops import MINUTE, Shop
from sqlalchemy import select

from lookalike.core.errors import VoteError
from lookalike.store.labelling.due import apply_due
from lookalike.store.labelling.statistics import read_answers, read_worked
from lookalike.store.sql import labelling_schema as tables
from lookalike.store.sql import schema


@pytest.fixture
def shop(database_place):
    return Shop(database_place)


def test_two_people_answer_all_pairs_and_agreement_becomes_labels(shop):
    for _ in range(6):
        for who in (1, 2):
            shop.now += 1_000
            given = shop.give(who)[0]
            shop.give_answer(who, given.token, "similar" if given.query != "q0" or who == 1 else "dissimilar")
    assert shop.give(1) == shop.give(2) == ()
    shop.wait(1)
    assert shop.states() == ["discussion"] + ["settled"] * 5
    labels = shop.rows(select(schema.label.c.query, schema.label.c.candidate, schema.label.c.label))
    assert sorted(labels) == [(f"q{n}", f"c{n}", 1) for n in range(1, 6)]
    tally = shop.rows(select(tables.tally.c.pattern, tables.tally.c.questions))
    assert sorted(tally) == [("1+ 2+", 5), ("1+ 2-", 1)]


def test_asking_again_gives_the_same_pairs(shop):
    assert shop.give(1) == shop.give(1)


def test_the_same_answer_twice_gives_the_same_receipt_and_another_is_refused(shop):
    given = shop.give(1)[0]
    receipt = shop.give_answer(1, given.token, "similar")
    shop.now += 5_000
    assert shop.give_answer(1, given.token, "similar") == receipt
    with pytest.raises(VoteError) as refusal:
        shop.give_answer(1, given.token, "dissimilar")
    assert refusal.value.code == "answered"
    assert len(shop.rows(select(tables.vote))) == 1


def test_tokens_of_others_and_forged_tokens_are_refused(shop):
    given = shop.give(1)[0]
    for who, token in (
        (2, given.token),
        (1, given.token[:-1] + ("y" if given.token.endswith("x") else "x")),
        (1, ""),
        (1, "a.b.c.d.e"),
        (1, "é" * 50),
    ):
        with pytest.raises(VoteError) as refusal:
            shop.give_answer(who, token, "similar")
        assert refusal.value.code == "not-leased"


def test_a_late_answer_counts_while_the_pair_needs_votes(shop):
    given = shop.give(1)[0]
    shop.wait(11)
    shop.give_answer(1, given.token, "similar")
    assert len(shop.rows(select(tables.claim).where(tables.claim.c.kind == "vote"))) == 1


def test_a_late_answer_to_a_pair_that_others_have_answered_is_refused_in_words(database_place):
    shop = Shop(database_place, people=3, pairs=1)
    late = shop.give(1)[0]
    shop.wait(11)
    for who in (2, 3):
        shop.give_answer(who, shop.give(who)[0].token, "similar")
    with pytest.raises(VoteError, match="reservation"):
        shop.give_answer(1, late.token, "similar")


def test_an_undone_pair_is_shown_again_and_undoing_twice_undoes_once(shop):
    given = shop.give(1)[0]
    shop.give_answer(1, given.token, "similar")
    shop.now += 1_000
    back = shop.undo(1, given.token)
    assert (back.question, shop.undo(1, given.token).token) == (given.question, back.token)
    assert (
        shop.give_answer(1, given.token, "similar").token == given.token
    )  # a late copy of the first answer changes nothing
    shop.give_answer(1, back.token, "dissimilar")
    claims = shop.rows(select(tables.claim.c.answer).where(tables.claim.c.kind == "vote"))
    assert [claim.answer for claim in claims] == ["dissimilar"]
    history = shop.rows(select(tables.vote.c.answer).order_by(tables.vote.c.id))
    assert [vote.answer for vote in history] == ["similar", "undo", "dissimilar"]


def test_undone_answers_are_in_no_hour_and_the_counter_keeps_them(database_place):
    shop = Shop(database_place, people=1, pairs=3, share=1.0, repeats=1, gap_least=1, gap_most=1)
    first, skipped, last = shop.give(1)
    shop.give_answer(1, first.token, "similar", took=4_000)
    shop.give_answer(1, skipped.token, "skip")
    shop.undo(1, skipped.token)
    shop.wait(60)
    again = shop.undo(1, first.token)
    shop.give_answer(1, again.token, "similar", took=3_000)
    shop.give_answer(1, last.token, "unsure")
    check = next(one for one in shop.give(1) if shop.ticket(one.token).check)
    shop.give_answer(1, check.token, "similar")
    shop.undo(1, check.token)
    with shop.database.read() as connection:
        assert [(row.answers, row.active) for row in read_worked(connection)] == [(0, 4_000), (2, 3_000)]
        assert read_answers(connection) == {1: 2}
    assert shop.rows(select(tables.annotator.c.answers)) == [(4,)]


def test_a_vote_on_a_resolved_pair_cannot_be_undone(database_place):
    shop = Shop(database_place, pairs=1)
    tokens = [shop.give(who)[0].token for who in (1, 2)]
    for who, token in enumerate(tokens, 1):
        shop.give_answer(who, token, "similar")
    shop.wait(1)
    with pytest.raises(VoteError) as refusal:
        shop.undo(2, tokens[1])
    assert refusal.value.code == "settled"


def test_a_skipped_pair_comes_back_when_nothing_else_is_left(database_place):
    shop = Shop(database_place, people=1, pairs=5)
    first = shop.give(1)[0]
    shop.give_answer(1, first.token, "skip")
    seen = []
    while given := shop.give(1):
        shop.now += 1_000
        seen.append(given[0].query)
        shop.give_answer(1, given[0].token, "similar")
    assert sorted(seen) == [f"q{n}" for n in range(5)]
    assert seen[-1] == first.query


def test_a_clock_set_back_frees_leases_at_once(shop):
    held = shop.give(1)
    shop.now -= 100 * MINUTE
    with shop.database.write() as connection:
        apply_due(connection, shop.rules, shop.now)
    assert shop.rows(select(tables.claim)) == []
    assert len(held) == 4


def test_a_pair_skipped_and_given_again_in_the_same_millisecond_can_be_answered(database_place):
    shop = Shop(database_place, people=1, pairs=1)
    tokens = []
    for _ in range(6):
        tokens.append(shop.give(1)[0].token)
        shop.give_answer(1, tokens[-1], "skip")
    shop.give_answer(1, shop.give(1)[0].token, "similar")
    assert len(set(tokens)) == 6
    assert len(shop.rows(select(tables.vote))) == 7


def test_a_clock_set_back_to_the_millisecond_of_an_earlier_lease_makes_no_second_token(shop):
    first = shop.give(1)[0]
    shop.give_answer(1, first.token, "similar")
    back = shop.undo(1, first.token)
    assert back.token != first.token
    assert shop.give_answer(1, back.token, "dissimilar").token == back.token


def test_skipping_a_closed_pair_is_refused_in_words(database_place):
    shop = Shop(database_place, people=3, pairs=1)
    late = shop.give(1)[0]
    shop.wait(11)
    for who in (2, 3):
        shop.give_answer(who, shop.give(who)[0].token, "similar")
    shop.wait(1)
    with pytest.raises(VoteError) as refusal:
        shop.give_answer(1, late.token, "skip")
    assert refusal.value.code == "closed"


def test_a_hidden_check_never_becomes_a_vote_even_with_late_copies(database_place):
    shop = Shop(database_place, people=1, pairs=3, share=1.0, repeats=10, gap_least=1, gap_most=1)
    checks = 0
    for _ in range(30):
        given = shop.give(1)
        if not given:
            break
        shop.now += 1_000
        token = given[0].token
        receipt = shop.give_answer(1, token, "similar")
        if not shop.rows(select(tables.vote.c.id).where(tables.vote.c.token == token)):
            checks += 1
            again = shop.undo(1, token)
            assert (again.question, again.token) == (given[0].question, shop.undo(1, token).token)
            assert again.token != token
            shop.give_answer(1, token, "similar")  # a late copy
            receipt = shop.give_answer(1, again.token, "unsure")
            shop.now += 5_000
            assert shop.give_answer(1, again.token, "unsure") == receipt
    votes = shop.rows(select(tables.claim.c.question).where(tables.claim.c.kind == "vote"))
    assert (checks, len(votes), len(shop.rows(select(tables.vote)))) == (6, 3, 3)


def test_a_skip_can_be_undone_as_long_as_a_seat_is_free(shop):
    first = shop.give(1)[0]
    shop.give_answer(1, first.token, "skip")
    shop.now += 1_000
    back = shop.undo(1, first.token)
    assert back.question == first.question
    shop.give_answer(1, back.token, "similar")
    assert len(shop.rows(select(tables.claim).where(tables.claim.c.kind == "vote"))) == 1


def test_a_late_answer_keeps_the_side_on_which_its_pair_was_shown(shop):
    given = next(pair for pair in shop.give(1) if pair.side == 1)
    shop.wait(11)
    shop.give_answer(1, given.token, "similar")
    assert shop.undo(1, given.token).side == 1
    (side,) = shop.rows(select(tables.claim.c.side).where(tables.claim.c.kind == "lease"))
    assert side == (1,)


def test_clocks_read_at_different_times_end_no_lease_and_resolve_no_pair(database_place):
    shop = Shop(database_place, pairs=2)
    for who in (1, 2):
        shop.give_answer(who, shop.give(who)[0].token, "similar")
    before = shop.rows(select(tables.claim)), shop.states()
    shop.now -= 1_000
    shop.sweep()
    assert (shop.rows(select(tables.claim)), shop.states()) == before


def test_a_token_does_not_show_what_it_is_for(shop):
    tokens = [pair.token for pair in shop.give(1)]
    assert len({len(token) for token in tokens}) == 1
    assert all(token[:4] != other[:4] for token in tokens for other in tokens if token != other)
