"""`serve`: whether a workspace may be served at an address, and what there is to do in it."""

import ipaddress
import socket
from collections.abc import Sequence
from dataclasses import dataclass

from lookalike.core.errors import ArgumentError, WorkspaceError
from lookalike.recipes.queue import queue_pairs
from lookalike.store import people
from lookalike.store.serving import waiting
from lookalike.store.workspace import Workspace

LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
EVERYWHERE = ("0.0.0.0", "::", "")


@dataclass(frozen=True)
class Ready:
    """What is there: open questions, people who can log in, whether one of them leads; pairs that have just joined."""

    questions: int
    people: int
    has_lead: bool
    new: int = 0


def look(workspace: Workspace) -> Ready:
    """Take new pairs of the pool into the queue, and say what there is to do.

    Raises WorkspaceError for a catalog without photos: there is nothing to show.
    """
    if workspace.photos is None:
        raise WorkspaceError(
            "This workspace has vectors only and no photos: there is nothing to show to experts.",
            fix="Make a workspace from the photos: lookalike init PHOTOS --workspace FOLDER",
        )
    new = queue_pairs(workspace).new
    with workspace.database.read() as connection:
        there = waiting(connection)
        return Ready(there.questions, there.people, people.has_leader(connection), new)


def allowed_hosts(host: str, more: Sequence[str], ready: Ready) -> tuple[str, ...]:
    """The names that browsers may know the server by, where it listens at `host`.

    Raises ArgumentError for an address that others can reach while nobody has a password.
    """
    if is_loopback(host):
        return (*LOOPBACK, *map(_bracketed, more))
    if not ready.people:
        raise ArgumentError(
            f"{host or 'This'} is an address that other machines can reach, and nobody has a password yet.",
            fix="Make a lead first: lookalike users add NAME --role lead. Or leave --host out.",
        )
    if host in EVERYWHERE and not more:
        raise ArgumentError(
            f"{host!r} means every address of this machine; by which name will people open it?",
            fix="Say so: --allow-host shop.example or --allow-host 192.0.2.7 (once for each name).",
        )
    own = () if host in EVERYWHERE else (_bracketed(host),)
    return (*LOOPBACK, *own, *map(_bracketed, more))


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0"), is_loopback("shop.example")
    (True, True, False, False)
    """
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; 0 is any free port.

    Raises ArgumentError where that cannot be.
    """
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, number, _, place = found[0]
        made = socket.socket(family, kind, number)
    except (OSError, UnicodeError) as error:
        raise ArgumentError(
            f"--host {host!r} is no address of this machine.",
            fix="Use 127.0.0.1, or one that `ip addr` lists.",
        ) from error
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(place)
        made.listen(2048)
    except OSError as error:
        made.close()
        raise ArgumentError(
            f"Cannot listen on port {port} of {host}: {(error.strerror or str(error)).lower()}.",
            fix=f"Stop what listens there, or use another port: --port {port + 1 if port >= 1024 else 8321}",
        ) from error
    return made


def _bracketed(host: str) -> str:
    """A host as it stands in a Host header."""
    name = host.strip().strip("[]").casefold()
    return f"[{name}]" if ":" in name else name
