"""`users`: people are managed from the command line, which the audit log then names."""

from sqlalchemy import Connection

from lookalike.core.errors import AccessError
from lookalike.store.people import access, invites, passwords, people
from lookalike.store.people.people import Person
from lookalike.store.workspace import Workspace


def add_person(workspace: Workspace, name: str, role: str, password: str, now: int) -> Person:
    """Add a person with a password."""
    people.clean_name(name)
    kept = passwords.hashed(password)
    with workspace.database.write() as connection:
        made = people.add(connection, name, role, now, kept=kept)
        access.record(connection, now, None, f"added {role}", made.name)
    return made


def invite_person(workspace: Workspace, name: str, role: str, now: int) -> tuple[Person, str]:
    """Add a person who sets a password with a link. Returns the path of the link as well."""
    secret = access.new_secret()
    with workspace.database.write() as connection:
        made = people.add(connection, name, role, now)
        invites.reset(connection, made.id, secret, now)
        access.record(connection, now, None, f"added {role}", made.name)
    return made, path_of(secret)


def reset_person(workspace: Workspace, name: str, now: int) -> tuple[Person, str]:
    """Create a link with which a person sets a new password. Returns its path as well."""
    secret = access.new_secret()
    with workspace.database.write() as connection:
        found = _known(connection, name)
        invites.reset(connection, found.id, secret, now)
        access.record(connection, now, None, "created password link", found.name)
    return found, path_of(secret)


def remove_person(workspace: Workspace, name: str, now: int) -> Person:
    """Remove a person, who can no longer log in."""
    with workspace.database.write() as connection:
        found = _known(connection, name)
        people.remove(connection, found.id, now)
        access.record(connection, now, None, "removed person", found.name)
    return found


def everyone(workspace: Workspace) -> list[Person]:
    """All people."""
    return workspace.database.fetch(people.everyone)


def path_of(secret: str) -> str:
    """The path of a link, after the address of the server."""
    return f"/invite/{secret}"


def _known(connection: Connection, name: str) -> Person:
    found = people.named(connection, name)
    if found is None or found.role not in people.ROLES:
        raise AccessError(
            f"There is no person named {name!r}.",
            fix="List them with `lookalike users list`.",
            code="unknown-person",
        )
    return found
