"""Calls that share a unit of work cost hardly more statements than one of them, hidden checks included."""

from dataclasses import replace

import pytest
from shops import Shop
from sqlalchemy import select

from lookalike.store import votes_schema as tables
from lookalike.store.leases import read_token
from lookalike.store.prepared import Prepared
from lookalike.store.unit_of_work import UnitOfWork
from lookalike.store.votes import answer, foresee, next_pairs

PEOPLE = 9


@pytest.fixture
def shop(database_place):
    """Everybody has answered twice, and a hidden check of the first answer has come to each."""
    shop = Shop(database_place, people=PEOPLE, pairs=60, share=1.0, repeats=20, gap=(1, 1), ahead=2)
    for _ in range(2):
        for who in range(1, PEOPLE + 1):
            shop.say(who, shop.give(who)[0].token, "similar")
    shop.rules = replace(shop.rules, repeat_share=0.0)
    return shop


@pytest.fixture
def sent(monkeypatch):
    """The statements that are sent."""
    statements, send = [], Prepared._send

    def counted(self, connection, **values):
        statements.append(self)
        return send(self, connection, **values)

    monkeypatch.setattr(Prepared, "_send", counted)
    return statements


def check_of(shop, who):
    """The hidden check among what is given."""
    (token,) = [one.token for one in shop.give(who) if read_token(one.token, shop.rules.key).check]
    return token


def answer_all(shop, tokens):
    """Answer each of these and give the next, on one unit of work."""
    with (
        shop.database.write() as connection,
        UnitOfWork(connection, [foresee(shop.rules, who, token) for who, token in tokens]) as work,
    ):
        for who, token in tokens:
            answer(work, shop.rules, who, token, "similar", shop.now, shop.draw)
            next_pairs(work, shop.rules, who, shop.now, shop.draw)


def answers_of_many_cost_hardly_more(shop, sent, tokens):
    sent.clear()
    answer_all(shop, tokens[:1])
    alone = len(sent)
    sent.clear()
    answer_all(shop, tokens[1:])
    assert len(sent) <= alone + 2


def test_answers_to_hidden_checks_and_the_next_pairs_are_read_and_written_together(shop, sent):
    tokens = [(who, check_of(shop, who)) for who in range(1, PEOPLE + 1)]
    answers_of_many_cost_hardly_more(shop, sent, tokens)
    shown = (tables.check.c.answer == "similar",)
    assert len(shop.rows(select(tables.check.c.id).where(*shown))) == PEOPLE
    assert {row.answers for row in shop.rows(select(tables.annotator.c.answers))} == {3}


def test_votes_and_the_next_pairs_are_read_and_written_together(shop, sent):
    def token(who):
        return next(one.token for one in shop.give(who) if not read_token(one.token, shop.rules.key).check)

    tokens = [(who, token(who)) for who in range(1, PEOPLE + 1)]
    answers_of_many_cost_hardly_more(shop, sent, tokens)
    assert len(shop.rows(select(tables.vote.c.id))) == 3 * PEOPLE


def test_a_check_that_was_planned_in_a_unit_of_work_is_shown_in_it(shop):
    """A repeat that is due at once, planned and shown before anything was written."""
    shop.rules = replace(shop.rules, repeat_share=1.0)
    fresh = [one for one in shop.give(1) if not read_token(one.token, shop.rules.key).check]
    with shop.together():
        shop.say(1, fresh[0].token, "dissimilar")
        for _ in range(12):
            given = shop.give(1)
            which = [read_token(one.token, shop.rules.key) for one in given]
            if any(one.check and one.question == fresh[0].question for one in which):
                break
            shop.say(1, given[0].token, "similar")
    again = next(
        one.token
        for one, ticket in zip(given, which, strict=True)
        if ticket.check and ticket.question == fresh[0].question
    )
    shop.say(1, again, "similar")
    found = shop.rows(select(tables.check.c.answer).where(tables.check.c.token == again))
    assert found == [("similar",)]
