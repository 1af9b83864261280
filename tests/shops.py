"""A database with some people and some pairs, and a clock that a test turns: what the tests of labelling work on."""

import contextlib
import random
from typing import NamedTuple

from sqlalchemy import insert, select

from lookalike.annotate.campaign import Campaign
from lookalike.store.labelling.campaigns import Rules
from lookalike.store.labelling.due import apply_due
from lookalike.store.labelling.giving import next_pairs
from lookalike.store.labelling.queue import NewPair, add_pairs
from lookalike.store.labelling.votes import answer, take_answer_back
from lookalike.store.sql import labelling_schema as tables
from lookalike.store.sql.database import Database

NOW = 1_700_000_000_000
MINUTE = 60_000


class Ticket(NamedTuple):
    """What the database knows of a token; `check` 0: an ordinary pair."""

    annotator: int
    question: int
    side: int
    check: int


def fill(connection, people, pairs, needed=2):
    """A shop with people and pairs; each pair needs `needed` votes."""
    connection.execute(
        insert(tables.annotator),
        [
            {"name": f"p{n}", "folded": f"p{n}", "role": "annotator", "created": NOW}
            for n in range(1, people + 1)
        ],
    )
    listed = [NewPair(f"q{n}", f"c{n}", f"i{n}", "chairs", "pool", n) for n in range(pairs)]
    add_pairs(connection, listed, needed, NOW)


class Shop:
    """People 1, 2, ... and pairs q0-c0, q1-c1, ..., each needing two votes."""

    def __init__(self, place, people=2, pairs=6, share=0.0, connections=0, **campaign):
        self.place, self.connection = place, None
        self.database = Database(place, connections=connections)
        self.database.migrate()
        self.now = NOW
        self.draw = random.Random(0)
        campaign = Campaign(**{"prefetch": 4} | campaign)
        with self.database.write() as connection:
            fill(connection, people, pairs, campaign.protocol.votes)
        self.rules = Rules(campaign, share)

    @contextlib.contextmanager
    def together(self):
        """What is given, said and undone in this block shares a transaction."""
        with self.database.write() as self.connection:
            yield
        self.connection = None

    def does(self, does, *given, **named):
        """What a labelling function does, in a transaction of its own or of the block."""
        if self.connection is not None:
            return does(self.connection, self.rules, *given, **named)
        with self.database.write() as connection:
            return does(connection, self.rules, *given, **named)

    def give(self, who):
        return self.does(next_pairs, who, self.now, self.draw)

    def give_answer(self, who, token, given_answer, took=0, reason=""):
        return self.does(answer, who, token, given_answer, self.now, self.draw, took=took, reason=reason)

    def undo(self, who, token):
        return self.does(take_answer_back, who, token, self.now)

    def ticket(self, token):
        (found,) = self.rows(select(tables.lease).where(tables.lease.c.token == token))
        return Ticket(found.annotator, found.question, found.side, found.hidden_check or 0)

    def sweep(self):
        with self.database.write() as connection:
            return apply_due(connection, self.rules, self.now)

    def wait(self, minutes):
        self.now += round(minutes * MINUTE)
        return self.sweep()

    def rows(self, statement):
        if self.connection is not None:
            return self.connection.execute(statement).all()
        with self.database.read() as connection:
            return connection.execute(statement).all()

    def states(self):
        return sorted(row.state for row in self.rows(select(tables.question.c.state)))
