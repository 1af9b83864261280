"""What a database complains of, in the user's words."""

from sqlalchemy.exc import DatabaseError

from lookalike.core.errors import LookalikeError, StorageError, WorkspaceError

BUSY_MS = 30_000
LOCK_TIMEOUT, DEADLOCK, NOT_SERIAL, SHUT_DOWN, DISK_FULL = "55P03", "40P01", "40001", "57P01", "53100"
_WORDS = {  # a server says them in its own language
    LOCK_TIMEOUT: "lock timeout",
    DEADLOCK: "deadlock",
    SHUT_DOWN: "terminating connection",
    DISK_FULL: "the disk is full",
}


def state_of(error: DatabaseError) -> str:
    """PostgreSQL's code of what went wrong; "" for SQLite."""
    return getattr(error.orig, "sqlstate", None) or ""


def database_error(error: DatabaseError, doing: str, name: str) -> LookalikeError:
    """The error for a database's complaint; `name` is its file or its address without the password."""
    said = str(error.orig).strip().splitlines()[0] if str(error.orig).strip() else type(error.orig).__name__
    said = _WORDS.get(state_of(error), said)
    for refusal in (_full, _busy, _closed, _server):
        found = refusal(said, doing, name)
        if found is not None:
            return found
    return StorageError(
        f"{name} is damaged or no Lookalike database: {said}.",
        fix="Restore it from a backup (lookalike restore FILE), or make the workspace again with `lookalike init`.",
    )


def _full(said: str, doing: str, name: str) -> LookalikeError | None:
    if not any(word in said for word in ("full", "disk I/O", "No space left", "File too large")):
        return None
    return StorageError(
        f"The disk is full or failing: {doing} {name} stopped, and what was there before is unchanged.",
        fix="Free some space and run the same command again.",
    )


def _busy(said: str, doing: str, name: str) -> LookalikeError | None:
    if not any(word in said for word in ("locked", "busy", "deadlock", "lock timeout")):
        return None
    return WorkspaceError(
        f"Another program has been writing {name} for a long time.",
        fix="Wait until it ends, or stop it, and run this command again.",
    )


def _closed(said: str, doing: str, name: str) -> LookalikeError | None:
    if not any(word in said for word in ("readonly", "read-only", "unable to open", "permission denied")):
        return None
    return StorageError(
        f"{doing} {name} failed: {said}.",
        fix="Check that it exists and that you may write to it.",
    )


def _server(said: str, doing: str, name: str) -> LookalikeError | None:
    words = ("connection", "could not translate host", "password", "role", "does not exist", "terminating")
    if not name.startswith("postgresql") or not any(word in said for word in words):
        return None
    return WorkspaceError(
        f"{doing} {name} failed: {said}.",
        fix="Check that PostgreSQL runs there, and the address in lookalike.toml (password: ~/.pgpass or PGPASSWORD).",
    )
