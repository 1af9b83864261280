"""Leases: which pair was given to which annotator under which token.

A token is random: only its row shows whether the lease is for a hidden check. Rows are kept after the lease ends, so
that a late answer finds its pair.
"""

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import Connection, bindparam, insert, literal_column, null, select, union_all, update

from lookalike.annotate.question import refused
from lookalike.store.sql.labelling_schema import check, claim, lease, question

LEASED = claim.c.kind == literal_column("'lease'")  # a literal: a partial index is not used for a parameter


@dataclass(frozen=True)
class Lease:
    """A pair that an annotator was given. `side` 1: the query is on the right. `hidden_check`: its id, if it is one.

    `at` is the time when an ordinary pair was given, and the time until which a hidden check is reserved.
    """

    token: str
    annotator: int
    question: int
    side: int
    at: int
    hidden_check: int | None = None


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
    plain = token if token.isascii() and token.isprintable() else ""  # a database may refuse other text
    found = connection.execute(_OF_TOKEN, {"token": plain}).first()
    if found is None or found.annotator != who:
        raise refused("not-leased")
    return Lease(*found)


def unanswered(connection: Connection, who: int) -> Sequence[Any]:
    """What an annotator was given and has not answered: the columns of `Given`, `since`, and `hidden_check` or None."""
    return connection.execute(_UNANSWERED, {"who": who}).all()


def renew_checks(connection: Connection, tokens: Collection[str], until: int) -> None:
    """Start the time of hidden checks again."""
    if tokens:
        connection.execute(_RENEW, [{"which": token, "until": until} for token in tokens])


_OF_TOKEN = select(*(lease.c[field.name] for field in fields(Lease))).where(
    lease.c.token == bindparam("token")
)
_RENEW = update(lease).where(lease.c.token == bindparam("which")).values(at=bindparam("until"))
_PAIR = (question.c.id.label("question"), question.c.query, question.c.candidate)
_UNANSWERED = union_all(
    select(claim.c.token, *_PAIR, claim.c.side, claim.c.until, claim.c.since, null().label("hidden_check"))
    .join(question, question.c.id == claim.c.question)
    .where(claim.c.annotator == bindparam("who"), claim.c.kind == "lease"),
    select(check.c.token, *_PAIR, check.c.side, lease.c.at.label("until"), check.c.since, check.c.id)
    .join(question, question.c.id == check.c.question)
    .join(lease, lease.c.token == check.c.token)
    .where(check.c.annotator == bindparam("who"), check.c.answer == "", check.c.token.is_not(None)),
)
