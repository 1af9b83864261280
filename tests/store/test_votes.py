"""Giving pairs and taking answers, on SQLite and PostgreSQL."""

import random

import pytest
from sqlalchemy import insert, select

from lookalike.annotate.campaign import Campaign
from lookalike.core.errors import VoteError
from lookalike.store import schema
from lookalike.store import votes_schema as tables
from lookalike.store.database import Database
from lookalike.store.leases import Rules, lease_key
from lookalike.store.queue import Asked, ask
from lookalike.store.sweep import sweep
from lookalike.store.votes import answer, next_pairs, take_answer_back

DRAW = random.Random(0)
NOW = 1_700_000_000_000
MINUTE = 60_000


class Shop:
    """A database with some people and some pairs, and the clock."""

    def __init__(self, place, people=2, pairs=6, **campaign):
        self.database = Database(place)
        self.database.migrate()
        self.now = NOW
        listed = [Asked(f"q{n}", f"c{n}", f"i{n}", "chairs", "pool", n) for n in range(pairs)]
        with self.database.write() as connection:
            names = [
                {"name": f"p{n}", "folded": f"p{n}", "role": "annotator", "created": NOW}
                for n in range(1, people + 1)
            ]
            connection.execute(insert(tables.annotator), names)
            ask(connection, listed, 2, NOW)
            self.rules = Rules(Campaign(**campaign), lease_key(connection))

    def give(self, who):
        with self.database.write() as connection:
            return next_pairs(connection, self.rules, who, self.now, DRAW)

    def say(self, who, token, said):
        with self.database.write() as connection:
            return answer(connection, self.rules, who, token, said, self.now, DRAW)

    def undo(self, who, token):
        with self.database.write() as connection:
            return take_answer_back(connection, self.rules, who, token, self.now)

    def wait(self, minutes):
        self.now += round(minutes * MINUTE)
        with self.database.write() as connection:
            return sweep(connection, self.rules, self.now)

    def rows(self, statement):
        with self.database.read() as connection:
            return connection.execute(statement).all()

    def states(self):
        return sorted(row.state for row in self.rows(select(tables.question.c.state)))


@pytest.fixture
def shop(database_place):
    return Shop(database_place)


def test_two_people_answer_all_pairs_and_agreement_becomes_labels(shop):
    for _ in range(6):
        for who in (1, 2):
            shop.now += 1_000
            given = shop.give(who)[0]
            shop.say(who, given.token, "similar" if given.query != "q0" or who == 1 else "dissimilar")
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
    receipt = shop.say(1, given.token, "similar")
    shop.now += 5_000
    assert shop.say(1, given.token, "similar") == receipt
    with pytest.raises(VoteError) as refusal:
        shop.say(1, given.token, "dissimilar")
    assert refusal.value.code == "answered"
    assert len(shop.rows(select(tables.vote))) == 1


def test_nobody_votes_with_anothers_token_or_a_forged_one(shop):
    given = shop.give(1)[0]
    for who, token in (
        (2, given.token),
        (1, given.token[:-1] + "x"),
        (1, ""),
        (1, "a.b.c.d.e"),
        (1, "é" * 50),
    ):
        with pytest.raises(VoteError) as refusal:
            shop.say(who, token, "similar")
        assert refusal.value.code == "not-leased"


def test_a_late_answer_counts_as_long_as_nobody_took_the_seat(shop):
    given = shop.give(1)[0]
    shop.wait(11)
    shop.say(1, given.token, "similar")
    assert len(shop.rows(select(tables.claim).where(tables.claim.c.kind == "vote"))) == 1


def test_a_late_answer_to_a_pair_that_others_have_answered_is_refused_in_words(database_place):
    shop = Shop(database_place, people=3, pairs=1)
    late = shop.give(1)[0]
    shop.wait(11)
    for who in (2, 3):
        shop.say(who, shop.give(who)[0].token, "similar")
    with pytest.raises(VoteError, match="ran out"):
        shop.say(1, late.token, "similar")


def test_an_undone_vote_is_asked_again_and_undoing_twice_undoes_once(shop):
    given = shop.give(1)[0]
    shop.say(1, given.token, "similar")
    shop.now += 1_000
    back = shop.undo(1, given.token)
    assert (back.question, shop.undo(1, given.token).token) == (given.question, back.token)
    assert (
        shop.say(1, given.token, "similar").token == given.token
    )  # a late copy of the first answer changes nothing
    shop.say(1, back.token, "dissimilar")
    claims = shop.rows(select(tables.claim.c.answer).where(tables.claim.c.kind == "vote"))
    assert [claim.answer for claim in claims] == ["dissimilar"]
    history = shop.rows(select(tables.vote.c.answer).order_by(tables.vote.c.id))
    assert [vote.answer for vote in history] == ["similar", "undo", "dissimilar"]


def test_a_settled_vote_cannot_be_undone(database_place):
    shop = Shop(database_place, pairs=1)
    tokens = [shop.give(who)[0].token for who in (1, 2)]
    for who, token in enumerate(tokens, 1):
        shop.say(who, token, "similar")
    shop.wait(1)
    with pytest.raises(VoteError) as refusal:
        shop.undo(2, tokens[1])
    assert refusal.value.code == "settled"


def test_a_skipped_pair_comes_back_when_nothing_else_is_left(database_place):
    shop = Shop(database_place, people=1, pairs=5)
    first = shop.give(1)[0]
    shop.say(1, first.token, "skip")
    seen = []
    while given := shop.give(1):
        shop.now += 1_000
        seen.append(given[0].query)
        shop.say(1, given[0].token, "similar")
    assert sorted(seen) == [f"q{n}" for n in range(5)]
    assert seen[-1] == first.query


def test_a_clock_set_back_frees_leases_at_once(shop):
    held = shop.give(1)
    shop.now -= 100 * MINUTE
    with shop.database.write() as connection:
        sweep(connection, shop.rules, shop.now)
    assert shop.rows(select(tables.claim)) == []
    assert len(held) == 4
