"""Who leaves the team: shut out at once, and what they hold goes to others."""

from sqlalchemy import Connection, select

from lookalike.annotate.question import LEASE, SKIP, release
from lookalike.store.labelling.questions import Transition, hold, save
from lookalike.store.people import people
from lookalike.store.sql.labelling_schema import claim


def remove(connection: Connection, number: int, now: int) -> None:
    """Shut a person out; their votes, comments and name stay.

    Raises AccessError where nobody would be left to lead.
    """
    people.shut_out(connection, number, now)
    release_all(connection, number, now)


def release_all(connection: Connection, who: int, now: int) -> int:
    """Give back what an annotator holds but has not answered; returns how many pairs."""
    mine = select(claim.c.question).where(claim.c.annotator == who, claim.c.kind.in_((LEASE, SKIP)))
    held = hold(connection, connection.execute(mine).scalars().all())
    save(connection, [Transition(one, release(one.question, who)) for one in held], now)
    return len(held)
