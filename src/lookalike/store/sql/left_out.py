"""The photos that the catalog leaves out, page by page."""

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from sqlalchemy import Connection, func, or_, select

from lookalike.core.types import LeftOut
from lookalike.store.sql.schema import left_out as table


class LeftOutPage(NamedTuple):
    """Some of the photos, in the order of the source. `after` is the position where the next page goes on, if any."""

    photos: tuple[LeftOut, ...]
    after: int | None


def count_left_out(connection: Connection) -> int:
    """How many photos are left out."""
    return int(connection.execute(select(func.count()).select_from(table)).scalar_one())


def left_out_kinds(connection: Connection) -> Mapping[str, int]:
    """How many photos are left out for each kind of reason (the words before its colon), the most frequent first."""
    reasons = connection.execute(select(table.c.reason).order_by(table.c.position)).scalars()
    return dict(Counter(reason.partition(":")[0] for reason in reasons).most_common())


def left_out_page(connection: Connection, kind: str, after: int, most: int) -> LeftOutPage:
    """The photos after a position, of one kind of reason or ("") of all."""
    columns = (table.c[name] for name in LeftOut._fields)
    asked = select(*columns).where(table.c.position > after).order_by(table.c.position).limit(most + 1)
    if kind:
        of_kind = or_(table.c.reason == kind, table.c.reason.startswith(f"{kind}:", autoescape=True))
        asked = asked.where(of_kind)
    found = [LeftOut(*row) for row in connection.execute(asked)]
    return LeftOutPage(tuple(found[:most]), found[most - 1].position if len(found) > most else None)
