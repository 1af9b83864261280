"""Links that work once: invitations, and links to set a new password. Only their digests are stored."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, Connection, insert, select, update

from lookalike.core.checks import one_of
from lookalike.core.errors import AccessError
from lookalike.store.people.access import digest, revoke_tokens
from lookalike.store.people.people import ROLES, Person, add, person, require_present, set_password
from lookalike.store.sql.labelling_schema import invite as links

INVITE, RESET = "invite", "reset"
LASTS = 7 * 24 * 3600 * 1000


@dataclass(frozen=True)
class Link:
    """What a link is for: a new person with a role, or a new password for `person`."""

    role: str
    person: Person | None
    until: int


def invite(connection: Connection, role: str, secret: str, now: int, *, by: int | None = None) -> None:
    """Create an invitation: its secret lets one person choose a name and a password within 7 days."""
    one_of(role, ROLES, "role")
    row = {"digest": digest(secret), "purpose": INVITE, "role": role, "by": by, "at": now}
    connection.execute(insert(links).values(**row, until=now + LASTS))


def reset(connection: Connection, number: int, secret: str, now: int, *, by: int | None = None) -> None:
    """Create a link that sets the password of a person once within 7 days. Earlier links of theirs end."""
    whose = require_present(connection, number)
    connection.execute(update(links).where(_unused(number)).values(used=now))
    row = {"digest": digest(secret), "purpose": RESET, "role": whose.role, "annotator": number, "by": by}
    connection.execute(insert(links).values(**row, at=now, until=now + LASTS))


def look(connection: Connection, secret: str, now: int) -> Link:
    """What a link is for.

    Raises the same AccessError for a link that does not exist, was used or has ended.
    """
    row = connection.execute(select(links).where(_live(secret, now))).mappings().first()
    whose = None if row is None or row["annotator"] is None else person(connection, row["annotator"])
    if row is None or (whose is not None and whose.removed is not None):
        raise AccessError(
            "This link does not work. It was used, is older than 7 days, or never existed.",
            fix="Ask a lead for a new link.",
            code="link-ended",
        )
    return Link(row["role"], whose, row["until"])


def redeem(connection: Connection, secret: str, name: str, kept: str, now: int) -> Person:
    """Use a link: add the person, or set the password (`kept` comes from `passwords.hashed`). It works once.

    A password set by a link ends the person's sessions and tokens: somebody else may know the old password.
    """
    link = look(connection, secret, now)
    if connection.execute(update(links).where(_live(secret, now)).values(used=now)).rowcount != 1:
        look(connection, secret, now)  # raises: another request was faster
    if link.person is None:
        return add(connection, name, link.role, now, kept=kept)
    set_password(connection, link.person.id, kept)
    revoke_tokens(connection, link.person.id, now)
    connection.execute(update(links).where(_unused(link.person.id)).values(used=now))
    return person(connection, link.person.id)


def _live(secret: str, now: int) -> ColumnElement[bool]:
    return (links.c.digest == digest(secret)) & links.c.used.is_(None) & (links.c.until >= now)


def _unused(number: int) -> ColumnElement[bool]:
    return (links.c.annotator == number) & links.c.used.is_(None)
