"""Secrets and their digests, tokens of programs, the audit log, the key that signs sessions."""

import hashlib
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from sqlalchemy import ColumnElement, Connection, func, insert, select, update

from lookalike.core.checks import one_of
from lookalike.core.errors import AccessError, ArgumentError
from lookalike.store.people.people import ANNOTATOR, LEAD, PERSON, Person
from lookalike.store.sql.labelling_schema import annotator, api_token, audit, campaign
from lookalike.store.sql.rows import insert_new

TOKEN = "lk_"
TOKENS_EACH = 50
SEARCH, READ, LABEL, CATALOG = "search", "read", "label", "catalog"
SCOPES: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        SEARCH: frozenset({SEARCH}),
        READ: frozenset({SEARCH, READ}),
        LABEL: frozenset({SEARCH, READ, LABEL}),
        CATALOG: frozenset({SEARCH, CATALOG}),
        LEAD: frozenset({SEARCH, READ, LABEL, CATALOG, LEAD}),
    }
)
"""The scopes that a token of each scope includes."""

OF_LEADS = (CATALOG, LEAD)
"""The scopes that only leads can give to a token."""

DAYS, MOST_DAYS = 90, 365
DAY_MS = 24 * 3600 * 1000
LONGEST_ADDRESS = 200
SECRET = "secret"


def new_secret() -> str:
    """256 random bits as text that fits into an address."""
    return secrets.token_urlsafe(32)


def new_token() -> str:
    """A secret with a prefix by which a leaked token is recognised."""
    return TOKEN + new_secret()


def digest(secret: str) -> str:
    """The digest of a secret of 256 bits, which needs no salt and no slow hash."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


def signing_key(connection: Connection, made: str) -> str:
    """The key that signs sessions. If there is none yet, `made` is stored as the key."""
    asked = select(campaign.c.value).where(campaign.c.name == SECRET)
    kept = connection.execute(asked).scalar()
    if kept is None:
        connection.execute(insert_new(connection, campaign).values(name=SECRET, value=json.dumps(made)))
        kept = connection.execute(asked).scalar_one()
    return str(json.loads(kept))


def create_token(
    connection: Connection,
    owner: int,
    name: str,
    token: str,
    now: int,
    *,
    scope: str = READ,
    days: int = DAYS,
) -> None:
    """Add a token for a program of its owner.

    Raises ArgumentError for an empty or long name, an unknown scope or duration, or for too many tokens.
    """
    one_of(scope, tuple(SCOPES), "scope")
    if not 1 <= days <= MOST_DAYS:
        raise ArgumentError(f"A token cannot be valid for {days} days.", fix=f"Use 1 to {MOST_DAYS} days.")
    name = name.strip()
    if not 1 <= len(name) <= 60 or not name.isprintable():
        raise ArgumentError(
            "A token needs a name of 1 to 60 printable characters.", fix="Name the program that uses it."
        )
    if live_tokens(connection, owner, now) >= TOKENS_EACH:
        raise ArgumentError(
            f"You have {TOKENS_EACH} tokens, which is the maximum.", fix="Revoke tokens that you do not use."
        )
    row = {"annotator": owner, "digest": digest(token), "name": name, "at": now, "scope": scope}
    connection.execute(insert(api_token).values(**row, until=now + days * DAY_MS))


def tokens(connection: Connection, owner: int) -> Sequence[Any]:
    """A person's tokens (id, name, scope, at, until, revoked), the newest first."""
    columns = (api_token.c[name] for name in ("id", "name", "scope", "at", "until", "revoked"))
    mine = select(*columns).where(api_token.c.annotator == owner).order_by(api_token.c.id.desc())
    return connection.execute(mine).all()


def live_tokens(connection: Connection, owner: int, now: int) -> int:
    """The number of a person's tokens that are valid."""
    mine = select(func.count()).select_from(api_token).where(api_token.c.annotator == owner, _live(now))
    return int(connection.execute(mine).scalar_one())


def revoke_token(connection: Connection, owner: int, number: int, now: int) -> None:
    """Revoke a token of its owner. A revoked token stays as it is.

    Raises AccessError for the token of another person.
    """
    mine = (api_token.c.id == number) & (api_token.c.annotator == owner)
    if connection.execute(select(api_token.c.id).where(mine)).first() is None:
        raise AccessError(
            "You do not have this token.", fix="Go back to the list of your tokens.", code="unknown-token"
        )
    connection.execute(update(api_token).where(mine & api_token.c.revoked.is_(None)).values(revoked=now))


def revoke_tokens(connection: Connection, owner: int, now: int) -> int:
    """Revoke all tokens of a person. Returns the number of those that were valid."""
    mine = update(api_token).where(api_token.c.annotator == owner, _live(now))
    return connection.execute(mine.values(revoked=now)).rowcount


def token_owner(connection: Connection, token: str, now: int, needs: str = READ) -> Person | None:
    """The owner of a token. A lead has an annotator's rights unless the token has the scope `lead`.

    To change the catalog, the scope `catalog` is enough.

    None if the token is unknown, revoked or expired, or its owner was removed. Raises AccessError if its scope does
    not include `needs`.
    """
    owner = select(*PERSON, api_token.c.scope).join(api_token, api_token.c.annotator == annotator.c.id)
    found = (api_token.c.digest == digest(token)) & _live(now) & annotator.c.removed.is_(None)
    row = connection.execute(owner.where(found)).first()
    if row is None:
        return None
    person, scope = Person(*row[:-1]), row.scope
    if needs not in SCOPES[scope]:
        raise AccessError(
            f'This request needs the scope "{needs}". The token has the scope "{scope}".',
            fix="Create a token with that scope on your account page.",
            code="scope",
        )
    return person if scope == LEAD or needs == CATALOG else replace(person, role=ANNOTATOR)


def _live(now: int) -> ColumnElement[bool]:
    return api_token.c.revoked.is_(None) & (api_token.c.until > now)


def record(
    connection: Connection, now: int, who: int | None, action: str, subject: str = "", address: str = ""
) -> None:
    """Write a line into the audit log, in the transaction of the action itself."""
    subject, address = subject[:LONGEST_ADDRESS], address[:LONGEST_ADDRESS]
    row = {"at": now, "annotator": who, "action": action, "subject": subject, "address": address}
    connection.execute(insert(audit).values(row))


def audit_log(connection: Connection, *, before: int | None = None, most: int = 100) -> Sequence[Any]:
    """Lines of the audit log (id, at, who, action, subject, address) before the line `before`, the newest first.

    `who` is "" for the command line and for unknown people.
    """
    who = func.coalesce(annotator.c.name, "").label("who")
    lines = select(audit.c.id, audit.c.at, who, audit.c.action, audit.c.subject, audit.c.address)
    lines = lines.outerjoin(annotator, annotator.c.id == audit.c.annotator)
    if before is not None:
        lines = lines.where(audit.c.id < before)
    return connection.execute(lines.order_by(audit.c.id.desc()).limit(most)).all()
