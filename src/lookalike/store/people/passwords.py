"""Password hashes of argon2. Hashing takes about 0.1 s, so never do it inside a transaction."""

import threading
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from lookalike.core.errors import ArgumentError

LEAST, MOST = 10, 1000
HASHER = PasswordHasher()
_at_once = threading.BoundedSemaphore(2)  # each takes 64 MiB, so other logins wait


def hashed(password: str, hasher: PasswordHasher | None = None) -> str:
    """The hash of a password.

    Raises ArgumentError if it is too short or too long.
    """
    if len(password) < LEAST:
        raise ArgumentError(
            f"The password has {len(password)} characters. It needs at least {LEAST}.",
            fix="Use a few unrelated words, or a password manager.",
        )
    if len(password) > MOST:
        raise ArgumentError(
            f"The password has {len(password):,} characters. It can have at most {MOST:,}.",
            fix="Use a shorter password.",
        )
    with _at_once:
        return (hasher or HASHER).hash(password.encode("utf-8", "surrogatepass"))


def matches(kept: str, password: str) -> bool:
    """Whether the password is right. Takes the same time for an empty hash, so that names cannot be guessed."""
    with _at_once:
        try:
            HASHER.verify(kept or _nobody(HASHER), password[: MOST + 1].encode("utf-8", "surrogatepass"))
        except (VerificationError, InvalidHashError):
            return False
    return bool(kept)


def outdated(kept: str) -> bool:
    """Whether a hash has older parameters than new hashes."""
    return HASHER.check_needs_rehash(kept)


@cache
def _nobody(hasher: PasswordHasher) -> str:
    return hasher.hash(b"the password of nobody")
