"""A database with some people and some pairs, and a clock that a test turns: what the tests of labelling work on."""

import contextlib
import random

from sqlalchemy import insert, select

from lookalike.annotate.campaign import Campaign
from lookalike.core.errors import LookalikeError
from lookalike.store import votes_schema as tables
from lookalike.store.database import Database
from lookalike.store.leases import Rules, lease_key
from lookalike.store.queue import Asked, ask
from lookalike.store.sweep import sweep
from lookalike.store.unit_of_work import Foreseen, UnitOfWork
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


def on(connection, does, *given, **named):
    """What a labelling function does, on a unit of work of its own."""
    with UnitOfWork(connection) as work:
        return does(work, *given, **named)


class Shop:
    """People 1, 2, ... and pairs q0-c0, q1-c1, ..., each needing two votes."""

    def __init__(self, place, people=2, pairs=6, share=0.0, connections=0, **campaign):
        self.place, self.work = place, None
        self.database = Database(place, connections=connections)
        self.database.migrate()
        self.now = NOW
        self.draw = random.Random(0)
        campaign = Campaign(**campaign)
        with self.database.write() as connection:
            key = fill(connection, people, pairs, campaign.protocol.votes)
        self.rules = Rules(campaign, key, share)

    @contextlib.contextmanager
    def together(self):
        """What is given, said and undone in this block shares a unit of work."""
        foreseen = [Foreseen(1, question=1), Foreseen(2), Foreseen(99, "lk_nobody", 99)]
        with self.database.write() as connection, UnitOfWork(connection, foreseen) as self.work:
            yield
        self.work = None

    def does(self, does, *given, **named):
        """What a labelling function does, on a unit of work of its own or of the block."""
        if self.work is None:
            with self.database.write() as connection:
                return on(connection, does, self.rules, *given, **named)
        before = self.work.writes
        try:
            return does(self.work, self.rules, *given, **named)
        except LookalikeError:
            assert self.work.writes == before  # who is refused has changed nothing: others' work stands
            raise

    def give(self, who):
        return self.does(next_pairs, who, self.now, self.draw)

    def say(self, who, token, said, took=0):
        return self.does(answer, who, token, said, self.now, self.draw, took=took)

    def undo(self, who, token):
        return self.does(take_answer_back, who, token, self.now)

    def sweep(self):
        with self.database.write() as connection:
            return sweep(connection, self.rules, self.now)

    def wait(self, minutes):
        self.now += round(minutes * MINUTE)
        return self.sweep()

    def rows(self, statement):
        if self.work is not None:
            return self.work.reading().execute(statement).all()
        with self.database.read() as connection:
            return connection.execute(statement).all()

    def states(self):
        return sorted(row.state for row in self.rows(select(tables.question.c.state)))
