"""Rules as a database has them, and what is due brought up to date before labels are read."""

import time

from sqlalchemy import Connection, func, select

from lookalike.store.campaigns import read_campaign
from lookalike.store.database import Database
from lookalike.store.leases import Rules, lease_key
from lookalike.store.sweep import MANY, sweep
from lookalike.store.votes_schema import annotator, progress, question

MOST_REPEATED = 0.05  # of an annotator's answers: a small campaign is not made of repeats


def now_ms() -> int:
    """The time, in milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def rules_of(connection: Connection) -> Rules:
    """What a server needs to know to give and take pairs; it changes when a lead changes the campaign."""
    campaign = read_campaign(connection)
    questions = connection.execute(select(func.sum(progress.c.questions))).scalar() or 0
    people = connection.execute(select(func.count()).where(annotator.c.removed.is_(None))).scalar_one()
    answers = questions * campaign.protocol.votes / max(people, 1)
    share = min(MOST_REPEATED, campaign.repeats / answers) if answers else 0.0
    return Rules(campaign, lease_key(connection), share)


def settle_due(database: Database) -> int:
    """Settle all pairs whose time has come, as a running server does every second; returns how many."""
    now = now_ms()
    due = select(question.c.id).where(question.c.settles.is_not(None), question.c.settles <= now).limit(1)
    total = 0
    while True:
        with database.read() as connection:
            if connection.execute(due).first() is None:
                return total
        with database.write() as connection:
            done = sweep(connection, rules_of(connection), now)
        total += done
        if done < MANY:
            return total
