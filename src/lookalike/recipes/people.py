"""`users`: people as the command line manages them; who did it is then the command line itself."""

from sqlalchemy import Connection

from lookalike.core.errors import AccessError
from lookalike.store import access, invites, leaving, passwords, people
from lookalike.store.people import Person
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
    """Add a person who sets their password by a link; returns the link's path as well."""
    secret = access.new_secret()
    with workspace.database.write() as connection:
        made = people.add(connection, name, role, now)
        invites.reset(connection, made.id, secret, now)
        access.record(connection, now, None, f"added {role}", made.name)
    return made, path_of(secret)


def reset_person(workspace: Workspace, name: str, now: int) -> tuple[Person, str]:
    """Make a link by which a person sets a new password; returns its path."""
    secret = access.new_secret()
    with workspace.database.write() as connection:
        found = _known(connection, name)
        invites.reset(connection, found.id, secret, now)
        access.record(connection, now, None, "password link", found.name)
    return found, path_of(secret)


def remove_person(workspace: Workspace, name: str, now: int) -> Person:
    """Shut a person out."""
    with workspace.database.write() as connection:
        found = _known(connection, name)
        leaving.remove(connection, found.id, now)
        access.record(connection, now, None, "removed", found.name)
    return found


def everyone(workspace: Workspace) -> list[Person]:
    """All people."""
    with workspace.database.read() as connection:
        return people.everyone(connection)


def path_of(secret: str) -> str:
    """What comes after the server's address in a link."""
    return f"/invite/{secret}"


def _known(connection: Connection, name: str) -> Person:
    found = people.named(connection, name)
    if found is None or found.role not in people.ROLES:
        raise AccessError(
            f"There is nobody of the name {name!r}.", fix="See: lookalike users list", code="unknown-person"
        )
    return found
