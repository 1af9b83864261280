"""What waits for experts, and who may answer: what `lookalike serve` and `lookalike status` say."""

from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from lookalike.annotate.protocol import OPEN
from lookalike.store import people
from lookalike.store.votes_schema import progress


@dataclass(frozen=True)
class Waiting:
    """Open pairs of the queue, and people who can log in."""

    questions: int
    people: int


def waiting(connection: Connection) -> Waiting:
    """Read from kept counts: a million pairs cost nothing."""
    found = select(func.sum(progress.c.questions)).where(progress.c.state == OPEN)
    return Waiting(int(connection.execute(found).scalar() or 0), people.active(connection))
