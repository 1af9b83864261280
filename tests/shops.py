"""A database with some people and some pairs, and a clock that a test turns: what the tests of labelling work on."""

import random

from sqlalchemy import insert, select

from lookalike.annotate.campaign import Campaign
from lookalike.store import votes_schema as tables
from lookalike.store.database import Database
from lookalike.store.leases import Rules, lease_key
from lookalike.store.queue import Asked, ask
from lookalike.store.sweep import sweep
from lookalike.store.votes import answer, next_pairs, take_answer_back

NOW = 1_700_000_000_000
MINUTE = 60_000


def fill(connection, people, pairs, needed=2):
    """So many people and pairs, each needing so many votes; returns the key that signs tokens."""
    connection.execute(
        insert(tables.annotator),
        [
            {"name": f"p{n}", "folded": f"p{n}", "role": "annotator", "created": NOW}
            for n in range(1, people + 1)
        ],
    )
    listed = [Asked(f"q{n}", f"c{n}", f"i{n}", "chairs", "pool", n) for n in range(pairs)]
    ask(connection, listed, needed, NOW)
    return lease_key(connection)


class Shop:
    """People 1, 2, ... and pairs q0-c0, q1-c1, ..., each needing two votes."""

    def __init__(self, place, people=2, pairs=6, share=0.0, connections=0, **campaign):
        self.database = Database(place, connections=connections)
        self.database.migrate()
        self.now = NOW
        self.draw = random.Random(0)
        campaign = Campaign(**campaign)
        with self.database.write() as connection:
            key = fill(connection, people, pairs, campaign.protocol.votes)
        self.rules = Rules(campaign, key, share)

    def give(self, who):
        with self.database.write() as connection:
            return next_pairs(connection, self.rules, who, self.now, self.draw)

    def say(self, who, token, said, took=0):
        with self.database.write() as connection:
            return answer(connection, self.rules, who, token, said, self.now, self.draw, took=took)

    def undo(self, who, token):
        with self.database.write() as connection:
            return take_answer_back(connection, self.rules, who, token, self.now)

    def sweep(self):
        with self.database.write() as connection:
            return sweep(connection, self.rules, self.now)

    def wait(self, minutes):
        self.now += round(minutes * MINUTE)
        return self.sweep()

    def rows(self, statement):
        with self.database.read() as connection:
            return connection.execute(statement).all()

    def states(self):
        return sorted(row.state for row in self.rows(select(tables.question.c.state)))
