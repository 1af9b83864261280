"""The served encoder: which one customers see, since when, and the history of promotions.

The newest row of the history is served, so a promotion is one insertion: whoever reads sees the old encoder or the new
one. A running server compares `Promoted.id`, which each promotion and each rollback increases.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from sqlalchemy import Connection, Row, insert, select

from lookalike.core.clock import now_ms
from lookalike.core.errors import ArgumentError
from lookalike.core.types import Origin
from lookalike.store.sql.schema import promotion

Action = Literal["first", "promote", "rollback"]


@dataclass(frozen=True)
class Promoted:
    """A promotion. `origin` made the vectors, `gate` is what the gate found, `since` are milliseconds since 1970.

    `index` names the search index; "" is exact search. `action` is "first" for an encoder that was served before the
    first promotion, because it was embedded first. `returns` is the promotion that a rollback returns to; None:
    there is none.
    """

    id: int
    encoder: str
    origin: Origin
    index: str
    action: Action
    returns: int | None
    gate: Mapping[str, Any]
    since: int


def promoted(connection: Connection) -> Promoted | None:
    """The newest promotion or rollback; None before the first promotion."""
    found = history(connection, most=1)
    return found[0] if found else None


def history(connection: Connection, most: int = 1000) -> tuple[Promoted, ...]:
    """The promotions and rollbacks, newest first."""
    newest = select(promotion).order_by(promotion.c.id.desc()).limit(most)
    return tuple(map(_promoted, connection.execute(newest)))


def promote(
    connection: Connection,
    encoder: str,
    origin: Origin,
    *,
    index: str = "",
    gate: Mapping[str, Any],
    action: Action = "promote",
) -> Promoted:
    """Serve an encoder, from the end of the transaction on. A rollback returns to another encoder than this one."""
    now = promoted(connection)
    returns = None if now is None else now.returns if now.encoder == encoder else now.id
    return _add(connection, encoder, origin, index, action, returns, gate)


def earlier(connection: Connection) -> Promoted:
    """What was served before the newest promotion that is not rolled back."""
    now = promoted(connection)
    if now is None or now.returns is None:
        what = "No encoder was promoted yet" if now is None else f"No encoder was served before {now.encoder}"
        raise ArgumentError(
            f"{what}, so there is nothing to return to.", fix="See: lookalike promote --history"
        )
    row = connection.execute(select(promotion).where(promotion.c.id == now.returns)).one()
    return _promoted(row)


def rollback(connection: Connection, *, index: str = "") -> Promoted:
    """Serve what was served before the newest promotion that is not rolled back, with its index as it is now."""
    then = earlier(connection)
    return _add(connection, then.encoder, then.origin, index, "rollback", then.returns, then.gate)


def _add(
    connection: Connection,
    encoder: str,
    origin: Origin,
    index: str,
    action: Action,
    returns: int | None,
    gate: Mapping[str, Any],
) -> Promoted:
    row = {
        "encoder": encoder,
        "origin": json.dumps(asdict(origin)),
        "search_index": index,
        "action": action,
        "returns": returns,
        "gate": json.dumps(gate),
        "made": now_ms(),
    }
    return _promoted(connection.execute(insert(promotion).values(row).returning(promotion)).one())


def _promoted(row: Row[Any]) -> Promoted:
    origin, gate = Origin(**json.loads(row.origin)), json.loads(row.gate)
    return Promoted(row.id, row.encoder, origin, row.search_index, row.action, row.returns, gate, row.made)
