"""The progress of an annotator and of all, read from stored counts, so that the number of pairs does not matter."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, func, select

from lookalike.annotate.agreement.pace import HOUR_MS
from lookalike.annotate.protocol import STATES
from lookalike.store.people.access import LONGEST_ADDRESS, record
from lookalike.store.sql import schema
from lookalike.store.sql.labelling_schema import annotator, audit, pace, progress

PHOTO_MISSING = "photo missing"
LEAST = 60_000  # less work than this gives no pace
_ANSWERS = select(annotator.c.answers).where(annotator.c.id == bindparam("who"))
_SINCE = select(func.sum(pace.c.answers), func.sum(pace.c.active)).where(
    pace.c.annotator == bindparam("who"), pace.c.hour >= bindparam("first")
)
_STATES = (
    select(progress.c.state, func.sum(progress.c.questions))
    .where(progress.c.kind != "gold")
    .group_by(progress.c.state)
)


@dataclass(frozen=True)
class AnnotatorProgress:
    """Answers of an annotator in total and since their midnight; `per_hour` of recent work, None if too little.

    The others count the pairs of each state: open ones still need somebody's answer.
    """

    answered: int
    today: int
    per_hour: float | None
    open: int
    discussion: int
    settled: int
    excluded: int


def annotator_progress(connection: Connection, who: int, now: int, midnight: int) -> AnnotatorProgress:
    """The progress of an annotator. `midnight` is rounded down to a full hour, because hours are counted."""
    answered = connection.execute(_ANSWERS, {"who": who}).scalar() or 0
    first = min(max(midnight, 0), now) // HOUR_MS
    today = connection.execute(_SINCE, {"who": who, "first": first}).scalar() or 0
    lately, active = connection.execute(_SINCE, {"who": who, "first": now // HOUR_MS - 1}).one()
    per_hour = float(lately) * HOUR_MS / float(active) if active and active >= LEAST else None
    states = count_states(connection)
    return AnnotatorProgress(int(answered), int(today), per_hour, *(states[state] for state in STATES))


def count_states(connection: Connection) -> Counter[str]:
    """The number of questions in each state, without gold pairs: these are hidden checks."""
    return Counter({state: int(count) for state, count in connection.execute(_STATES)})


def digests(connection: Connection, images: Collection[str]) -> dict[str, str]:
    """The hash of each image's photo, without images that the catalog no longer has."""
    statement = select(schema.image.c.image, schema.image.c.digest).where(schema.image.c.image.in_(images))
    return {image: digest for image, digest in connection.execute(statement)}


def report_photo(connection: Connection, image: str, who: int, now: int, address: str) -> bool:
    """Report a missing photo in the audit log, once for each image. Returns whether the report is new."""
    same = (audit.c.action == PHOTO_MISSING, audit.c.subject == image[:LONGEST_ADDRESS])
    if connection.execute(select(audit.c.id).where(*same).limit(1)).first() is not None:
        return False
    record(connection, now, who, PHOTO_MISSING, image, address)
    return True
