"""A lease's token: what was given to whom, when and on which side, signed so that nobody can make one up.

It outlives the lease's row: a vote that comes late, because its sender was offline, can still say what it is on.
"""

import hmac
import struct
from dataclasses import dataclass, fields, replace
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
    """What a token says. `salt` keeps two of one millisecond apart; `check` is the hidden check's id, 0: a lease."""

    question: int
    annotator: int
    since: int
    side: int
    salt: int = 0
    check: int = 0


def lease_key(connection: Connection) -> bytes:
    """The key that signs tokens: the database's own, made into another one than sessions are signed with."""
    return blake2b(signing_key(connection, new_secret()).encode(), person=b"leases").digest()


def token_of(ticket: Ticket, key: bytes) -> str:
    """The signed token. It says nothing to who has no key: a hidden check's looks like any other.

    >>> read_token(token_of(Ticket(7, 3, 1_000, 1), b"key"), b"key")
    Ticket(question=7, annotator=3, since=1000, side=1, salt=0, check=0)
    """
    said = _PACKED.pack(*(getattr(ticket, name) for name in _FIELDS))
    seal = _seal(said, key)
    return (seal + _veiled(said, seal, key)).hex()


def successor(ticket: Ticket, token: str, now: int) -> Ticket:
    """The ticket of a pair that is given back by undoing what was answered under a token.

    >>> successor(Ticket(7, 3, 1_000, 1), "anything", 2_000) != successor(Ticket(7, 3, 1_000, 1), "else", 2_000)
    True
    """
    salt = int.from_bytes(blake2b(token.encode(), digest_size=4).digest(), "big")
    return replace(ticket, since=now, salt=salt)


def read_token(token: str, key: bytes) -> Ticket:
    """What a token says; one that was not signed here was never given to anybody."""
    try:
        whole = bytes.fromhex(token)
    except ValueError:
        whole = b""
    seal, veiled = whole[:SEAL], whole[SEAL:]
    if whole.hex() != token or len(veiled) != _PACKED.size:
        raise refused("not-leased")
    said = _veiled(veiled, seal, key)
    if not hmac.compare_digest(seal, _seal(said, key)):
        raise refused("not-leased")
    return Ticket(*_PACKED.unpack(said))


_FIELDS = tuple(field.name for field in fields(Ticket))
_PACKED = struct.Struct(">QQQBIQ")  # of these
SEAL = 12


def _seal(said: bytes, key: bytes) -> bytes:
    return blake2b(said, key=key[:64], digest_size=SEAL).digest()


def _veiled(said: bytes, seal: bytes, key: bytes) -> bytes:
    """A text added to a stream that only the key gives; done twice it is the text again."""
    stream = blake2b(seal, key=key[:64], digest_size=_PACKED.size).digest()
    added = int.from_bytes(said, "big") ^ int.from_bytes(stream, "big")
    return added.to_bytes(_PACKED.size, "big")
