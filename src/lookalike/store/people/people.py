"""Who may label and who leads: names, passwords, roles. Nobody's row is ever deleted: their votes are theirs."""

import unicodedata
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select, update

from lookalike.core.checks import one_of
from lookalike.core.errors import AccessError, ArgumentError
from lookalike.store.people import passwords
from lookalike.store.sql.labelling_schema import annotator as people
from lookalike.store.sql.rows import insert_new

ANNOTATOR, LEAD = "annotator", "lead"
ROLES = (ANNOTATOR, LEAD)
LONGEST_NAME = 60


@dataclass(frozen=True)
class Person:
    """One who may label. `epoch` counts what ends their sessions: a new password, another role, removal."""

    id: int
    name: str
    role: str
    epoch: int
    created: int
    removed: int | None
    last: int | None
    has_password: bool

    @property
    def is_lead(self) -> bool:
        """Whether they lead."""
        return self.role == LEAD

    @property
    def reads_as(self) -> int | None:
        """As whom they read what was said of pairs: None for a lead, to whom no hidden check is kept secret."""
        return None if self.is_lead else self.id


@dataclass(frozen=True)
class Login:
    """A person and what is kept of their password."""

    person: Person
    kept: str

    @property
    def is_outdated(self) -> bool:
        """Whether the password was hashed with other parameters than are used today."""
        return passwords.outdated(self.kept)


_LEADS = (people.c.role == LEAD) & people.c.removed.is_(None) & (people.c.password != "")


def clean_name(name: str) -> str:
    """The name as it is kept: outer blanks off, inner ones single, composed characters.

    >>> clean_name("  Ann   Lee ")
    'Ann Lee'
    """
    cleaned = " ".join(unicodedata.normalize("NFC", name).split(" ")).strip()
    cleaned = " ".join(cleaned.split()) if cleaned.isprintable() else cleaned
    if not 1 <= len(cleaned) <= LONGEST_NAME or not cleaned.isprintable():
        raise ArgumentError(
            f"The name {name[: 2 * LONGEST_NAME]!r} cannot be used.",
            fix=f"A name has 1 to {LONGEST_NAME} printable characters.",
        )
    return cleaned


def folded(name: str) -> str:
    """What tells names apart: neither case nor the width or style of letters does.

    >>> folded("Ann") == folded("ANN")
    True
    """
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def add(connection: Connection, name: str, role: str, now: int, *, kept: str = "") -> Person:
    """Add a person; `kept` is of `passwords.hashed`, "" for one who sets their password by a link.

    Raises AccessError where the name is taken, also by somebody who was removed.
    """
    name, role = clean_name(name), one_of(role, ROLES, "role")
    row = {"name": name, "folded": folded(name), "role": role, "password": kept, "created": now}
    number = connection.execute(
        insert_new(connection, people).values(row).returning(people.c.id)
    ).scalar_one_or_none()
    if number is None:
        raise AccessError(
            f"The name {name!r} is taken.",
            fix="Choose another name. Upper and lower case count as equal.",
            code="name-taken",
        )
    return person(connection, number)


def person(connection: Connection, number: int) -> Person:
    """The person of an id.

    Raises AccessError for an id that is nobody's.
    """
    row = connection.execute(select(people).where(people.c.id == number)).mappings().first()
    if row is None:
        raise AccessError("This person does not exist.", fix="Go back to the list.", code="unknown-person")
    return person_of(row)


def named(connection: Connection, name: str) -> Person | None:
    """The person of a name, removed ones included; None where there is none."""
    found = connection.execute(select(people).where(people.c.folded == folded(name.strip())))
    row = found.mappings().first()
    return None if row is None else person_of(row)


def everyone(connection: Connection) -> list[Person]:
    """All people, those of imported votes left out, in the order of their names."""
    found = connection.execute(select(people).where(people.c.role.in_(ROLES)).order_by(people.c.folded))
    return [person_of(row) for row in found.mappings()]


def of_session(connection: Connection, number: int, epoch: int) -> Person | None:
    """Who a session of this epoch belongs to, None where it has ended."""
    row = connection.execute(select(people).where(people.c.id == number)).mappings().first()
    if row is None or row["removed"] is not None or row["epoch"] != epoch or row["role"] not in ROLES:
        return None
    return person_of(row)


def candidate(connection: Connection, name: str) -> Login | None:
    """Whose password is to be checked by `verified`, which takes its time and needs no connection."""
    found = connection.execute(select(people).where(people.c.folded == folded(name.strip())))
    row = found.mappings().first()
    if row is None or row["removed"] is not None or row["role"] not in ROLES:
        return None
    return Login(person_of(row), str(row["password"]))


def verified(login: Login | None, password: str) -> Login:
    """The login if this is its password.

    Raises AccessError, the same one and as late, whether the name or the password is wrong.
    """
    if not passwords.matches(login.kept if login else "", password) or login is None:
        raise AccessError(
            "The name or the password is wrong.",
            fix="Try again, or ask a lead for a link to set a new password.",
            code="password",
        )
    return login


def has_leader(connection: Connection) -> bool:
    """Whether there is a lead who can log in."""
    return connection.execute(select(people.c.id).where(_LEADS).limit(1)).first() is not None


def set_password(connection: Connection, number: int, kept: str) -> int:
    """Keep a new password (of `passwords.hashed`); all sessions end. Returns the new epoch."""
    _require_here(connection, number)
    _change(connection, number, password=kept, epoch=people.c.epoch + 1)
    return person(connection, number).epoch


def end_sessions(connection: Connection, number: int) -> int:
    """End all sessions of a person. Returns the new epoch."""
    _require_here(connection, number)
    _change(connection, number, epoch=people.c.epoch + 1)
    return person(connection, number).epoch


def keep_rehashed(connection: Connection, login: Login, kept: str) -> None:
    """Keep the same password hashed with today's parameters, unless it was changed meanwhile."""
    same = (people.c.id == login.person.id) & (people.c.password == login.kept)
    connection.execute(update(people).where(same).values(password=kept))


def set_role(connection: Connection, number: int, role: str) -> None:
    """Transition a role; their sessions end, so that no page of the former role stays open.

    Raises AccessError where nobody would be left to lead.
    """
    one_of(role, ROLES, "role")
    leaders = _leaders(connection)
    if _require_here(connection, number).role == role:
        return
    if role != LEAD:
        _require_other(leaders, number)
    _change(connection, number, role=role, epoch=people.c.epoch + 1)


def shut_out(connection: Connection, number: int, now: int) -> None:
    """Let a person in no more; `leaving.remove` also gives what they hold to others.

    Raises AccessError where nobody would be left to lead.
    """
    leaders = _leaders(connection)
    if _require_here(connection, number).is_lead:
        _require_other(leaders, number)
    _change(connection, number, removed=now, epoch=people.c.epoch + 1, password="")


def active(connection: Connection) -> int:
    """How many people have a password and were not removed."""
    here = (people.c.password != "") & people.c.removed.is_(None)
    return int(connection.execute(select(func.count()).select_from(people).where(here)).scalar_one())


def _leaders(connection: Connection) -> list[int]:
    """Leads who can log in, held until the transaction ends: two who demote each other take turns."""
    held = select(people.c.id).where(_LEADS).order_by(people.c.id).with_for_update()
    return [int(row[0]) for row in connection.execute(held)]


def _require_other(leaders: list[int], number: int) -> None:
    if leaders == [number]:
        raise AccessError(
            "This is the last lead who can log in. A team needs at least one lead.",
            fix="Make another person a lead first.",
            code="last-lead",
        )


def _require_here(connection: Connection, number: int) -> Person:
    found = person(connection, number)
    if found.removed is not None or found.role not in ROLES:
        raise AccessError(
            f"{found.name} was removed.", fix="Invite them under another name.", code="removed-person"
        )
    return found


def _change(connection: Connection, number: int, **values: Any) -> None:  # noqa: ANN401 - columns of all kinds
    connection.execute(update(people).where(people.c.id == number).values(**values))


def person_of(row: Any) -> Person:  # noqa: ANN401 - a row of the table
    """The person of a whole row."""
    plain = {name: row[name] for name in ("id", "name", "role", "epoch", "created", "removed", "last")}
    return Person(**plain, has_password=bool(row["password"]))
