"""A lease's token: what was given to whom, when and on which side, signed so that nobody can make one up.

It outlives the lease's row: a vote that comes late, because its sender was offline, can still say what it is on.
"""

import hmac
from dataclasses import dataclass
from hashlib import blake2b

from sqlalchemy import Connection

from lookalike.annotate.campaign import Campaign
from lookalike.annotate.question import refused
from lookalike.store.access import new_secret, signing_key


@dataclass(frozen=True)
class Rules:
    """What a server needs to give and take: the campaign, the key that signs, the share of votes that are repeated."""

    campaign: Campaign
    key: bytes
    repeat_share: float = 0.0


@dataclass(frozen=True)
class Ticket:
    """What a token says."""

    question: int
    annotator: int
    since: int
    side: int


def lease_key(connection: Connection) -> bytes:
    """The key that signs tokens: the database's own, made into another one than sessions are signed with."""
    return blake2b(signing_key(connection, new_secret()).encode(), person=b"leases").digest()


def token_of(ticket: Ticket, key: bytes) -> str:
    """The signed token.

    >>> read_token(token_of(Ticket(7, 3, 1_000, 1), b"key"), b"key")
    Ticket(question=7, annotator=3, since=1000, side=1)
    """
    said = f"{ticket.question:x}.{ticket.annotator:x}.{ticket.since:x}.{ticket.side:x}"
    return f"{said}.{_seal(said, key)}"


def read_token(token: str, key: bytes) -> Ticket:
    """What a token says; one that was not signed here was never given to anybody."""
    said, _, seal = token.rpartition(".")
    if len(token) > 200 or not hmac.compare_digest(seal.encode(), _seal(said, key).encode()):
        raise refused("not-leased")
    return Ticket(*(int(part, 16) for part in said.split(".")))


def _seal(said: str, key: bytes) -> str:
    return blake2b(said.encode("utf-8", "surrogatepass"), key=key[:64], digest_size=12).hexdigest()
