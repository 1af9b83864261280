"""The annotator's row at an answer: locked, so that two requests of one person take turns, and counted up."""

from sqlalchemy import Connection, RowMapping, bindparam, select, update

from lookalike.annotate.agreement.pace import HOUR_MS
from lookalike.core.errors import AccessError
from lookalike.store.sql.labelling_schema import annotator, pace
from lookalike.store.sql.rows import insert_or_add

PAUSE = 120_000  # a longer time since the last answer counts as a pause, not as work

Annotator = RowMapping


def present(connection: Connection, who: int) -> Annotator:
    """Lock and read an annotator. Raises AccessError for one who was removed."""
    found = connection.execute(_HOLD, {"who": who}).mappings().first()
    if found is None or found["removed"] is not None:
        raise AccessError(
            "This account was removed. Its earlier answers are kept.", fix="Ask a lead.", code="removed"
        )
    return found


def count_answer(connection: Connection, who: Annotator, now: int, took: int) -> None:
    """Count one more answer of an annotator, and the time they worked on it."""
    connection.execute(_COUNT, {"who": who["id"], "now": now})
    active = active_time(who["last"], now, took)
    row = {"annotator": who["id"], "hour": now // HOUR_MS, "answers": 1, "active": active}
    connection.execute(insert_or_add(connection, pace, "answers", "active"), row)


def uncount_answer(connection: Connection, who: int, at: int) -> None:
    """Count an answer that was given at a time no more. The working time stays, and so does the annotator's counter."""
    connection.execute(_UNCOUNT, {"who": who, "of": at // HOUR_MS})


def active_time(last: int | None, now: int, took: int) -> int:
    """The working time of an answer: since the last answer, or only what the answer itself took after a pause."""
    since = now - last if last is not None else took
    return since if 0 <= since <= PAUSE else min(took, PAUSE)


_UNCOUNT = (
    update(pace)
    .where(pace.c.annotator == bindparam("who"), pace.c.hour == bindparam("of"))
    .values(answers=pace.c.answers - 1)
)
_HOLD = select(annotator).where(annotator.c.id == bindparam("who")).with_for_update(key_share=True)
_COUNT = (
    update(annotator)
    .where(annotator.c.id == bindparam("who"))
    .values(answers=annotator.c.answers + 1, last=bindparam("now"))
)
