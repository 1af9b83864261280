"""Leases: which pair was given to which annotator under which token.

A token is random: only its row shows whether the lease is for a hidden check. Rows are kept after the lease ends, so
that a late answer finds its pair.
"""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, fields

from sqlalchemy import Connection, bindparam, insert, literal_column, select

from lookalike.annotate.question import refused
from lookalike.store.sql.labelling_schema import check, claim, lease, question

LEASED = claim.c.kind == literal_column("'lease'")  # a literal: a partial index is not used for a parameter


@dataclass(frozen=True)
class Lease:
    """A pair that an annotator was given. `side` 1: the query is on the right. `hidden_check`: its id, if it is one."""

    token: str
    annotator: int
    question: int
    side: int
    at: int
    hidden_check: int | None = None


@dataclass(frozen=True)
class Unanswered:
    """A pair that an annotator was given and has not answered. `until` None: a hidden check, which has no end."""

    since: int
    question: int
    query: str
    candidate: str
    token: str
    side: int
    until: int | None


@dataclass(frozen=True)
class Given:
    """A pair that an annotator can answer until a time. `side` 1 shows the query on the right."""

    token: str
    question: int
    query: str
    candidate: str
    side: int
    until: int


def new_token() -> str:
    """A token that nobody can guess."""
    return secrets.token_urlsafe(18)


def add_leases(connection: Connection, leases: Sequence[Lease]) -> None:
    """Keep leases."""
    if leases:
        connection.execute(insert(lease), [vars(one) for one in leases])


def find_lease(connection: Connection, token: str, who: int) -> Lease:
    """The lease of a token. Raises VoteError where this annotator was never given it."""
    asked = token if token.isascii() and token.isprintable() else ""  # a database may refuse other text
    found = connection.execute(_OF_TOKEN, {"token": asked}).first()
    if found is None or found.annotator != who:
        raise refused("not-leased")
    return Lease(*found)


def unanswered(connection: Connection, who: int) -> list[Unanswered]:
    """What an annotator was given and has not answered, the oldest first."""
    leases = (Unanswered(*row) for row in connection.execute(_MY_LEASES, {"who": who}))
    checks = (Unanswered(*row, None) for row in connection.execute(_MY_CHECKS, {"who": who}))
    return sorted([*leases, *checks], key=lambda one: (one.since, one.question))


_OF_TOKEN = select(*(lease.c[field.name] for field in fields(Lease))).where(
    lease.c.token == bindparam("token")
)
_PAIR = (question.c.id, question.c.query, question.c.candidate)
_MY_LEASES = (
    select(claim.c.since, *_PAIR, claim.c.token, claim.c.side, claim.c.until)
    .join(question, question.c.id == claim.c.question)
    .where(claim.c.annotator == bindparam("who"), claim.c.kind == "lease")
)
_MY_CHECKS = (
    select(check.c.since, *_PAIR, check.c.token, check.c.side)
    .join(question, question.c.id == check.c.question)
    .where(check.c.annotator == bindparam("who"), check.c.answer == "", check.c.token.is_not(None))
)
