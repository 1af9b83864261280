"""Sessions of browsers, one row each. When a session ends, copies of its cookie stop working, too.

The database has the digest of a session's nonce, so reading the database is not enough to forge a session.
"""

from sqlalchemy import Connection, delete, insert, select

from lookalike.store.people.access import digest
from lookalike.store.people.people import PERSON, PRESENT, Person
from lookalike.store.sql.labelling_schema import annotator, session

LONGEST_SESSION = 7 * 24 * 3600 * 1000


def begin_session(connection: Connection, who: int, nonce: str, now: int) -> None:
    """Begin a session, and forget those that are too old."""
    connection.execute(delete(session).where(session.c.began < now - LONGEST_SESSION))
    connection.execute(insert(session).values(digest=digest(nonce), annotator=who, began=now))


def session_owner(connection: Connection, who: int, nonce: str) -> Person | None:
    """The person of a session; None if it has ended, or never was theirs."""
    own = (session.c.digest == digest(nonce)) & (session.c.annotator == who) & PRESENT
    joined = select(*PERSON).join(session, session.c.annotator == annotator.c.id)
    row = connection.execute(joined.where(own)).first()
    return None if row is None else Person(*row)


def end_session(connection: Connection, nonce: str) -> None:
    """End one session."""
    connection.execute(delete(session).where(session.c.digest == digest(nonce)))


def end_other_sessions(connection: Connection, who: int, nonce: str) -> None:
    """End all sessions of a person but one."""
    others = (session.c.annotator == who) & (session.c.digest != digest(nonce))
    connection.execute(delete(session).where(others))
