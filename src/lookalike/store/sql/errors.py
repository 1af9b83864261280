"""Errors of a database, translated for the user."""

from sqlalchemy.exc import DatabaseError

from lookalike.core.errors import LookalikeError, StorageError, WorkspaceError, first_line

BUSY_MS = 30_000
LOCK_TIMEOUT, DEADLOCK, NOT_SERIAL, SHUT_DOWN, DISK_FULL = "55P03", "40P01", "40001", "57P01", "53100"
_IN_ENGLISH = {  # a server words them in its own language
    LOCK_TIMEOUT: "lock timeout",
    DEADLOCK: "deadlock",
    SHUT_DOWN: "terminating connection",
    DISK_FULL: "the disk is full",
}
_SERVER = ("connection", "could not translate host", "password", "role", "does not exist", "terminating")
_KINDS = (  # phrases that identify an error, its class, the problem, what to do
    (
        ("full", "disk I/O", "No space left", "File too large"),
        StorageError,
        "The disk is full or failing: {doing} {name} stopped, and nothing was changed.",
        "Free some space and run the same command again.",
    ),
    (
        ("locked", "busy", "deadlock", "lock timeout"),
        WorkspaceError,
        "Another program has been writing {name} for a long time.",
        "Wait until it ends, or stop it, and run this command again.",
    ),
    (
        ("readonly", "read-only", "unable to open", "permission denied"),
        StorageError,
        "{doing} {name} failed: {detail}.",
        "Check that it exists and that you may write to it.",
    ),
    (
        _SERVER,
        WorkspaceError,
        "{doing} {name} failed: {detail}.",
        "Check that PostgreSQL runs there, and the address in lookalike.toml (password: ~/.pgpass or PGPASSWORD).",
    ),
)


def state_of(error: DatabaseError) -> str:
    """PostgreSQL's code of an error; "" for SQLite."""
    return getattr(error.orig, "sqlstate", None) or ""


def database_error(error: DatabaseError, doing: str, name: str) -> LookalikeError:
    """The error for the user. `name` is the file of the database, or its address without the password."""
    detail = _IN_ENGLISH.get(state_of(error)) or first_line(error.orig or error)
    for phrases, kind, problem, fix in _KINDS:
        if phrases is _SERVER and not name.startswith("postgresql"):
            continue
        if any(phrase in detail for phrase in phrases):
            return kind(problem.format(doing=doing, name=name, detail=detail), fix=fix)
    return StorageError(
        f"{name} is damaged or not a Lookalike database: {detail}.",
        fix="Restore it from a backup (lookalike restore FILE), or make the workspace again with `lookalike init`.",
    )
