"""The progress of an annotator and of all, read from stored counts, so that the number of pairs does not matter."""

from collections.abc import Collection
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, func, insert, select

from lookalike.annotate.agreement.pace import HOUR_MS
from lookalike.annotate.protocol import DISCUSSION, EXCLUDED, OPEN, SETTLED
from lookalike.store.people import people
from lookalike.store.sql import schema
from lookalike.store.sql.labelling_schema import annotator, audit, pace, progress

PHOTO_MISSING = "photo missing"
LEAST = 60_000  # less work than this gives no pace
_ANSWERS = select(annotator.c.answers).where(annotator.c.id == bindparam("who"))
_TODAY = select(func.sum(pace.c.answers)).where(
    pace.c.annotator == bindparam("who"), pace.c.hour >= bindparam("first")
)
_LATELY = select(func.sum(pace.c.answers), func.sum(pace.c.active)).where(
    pace.c.annotator == bindparam("who"), pace.c.hour >= bindparam("first")
)
_STATES = (
    select(progress.c.state, func.sum(progress.c.questions))
    .where(progress.c.kind != "gold")
    .group_by(progress.c.state)
)


@dataclass(frozen=True)
class Waiting:
    """The number of open pairs, and of people who can log in."""

    questions: int
    people: int


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
    today = connection.execute(_TODAY, {"who": who, "first": first}).scalar() or 0
    lately, active = connection.execute(_LATELY, {"who": who, "first": now // HOUR_MS - 1}).one()
    per_hour = float(lately) * HOUR_MS / float(active) if active and active >= LEAST else None
    states = count_states(connection)
    counts = (states.get(state, 0) for state in (OPEN, DISCUSSION, SETTLED, EXCLUDED))
    return AnnotatorProgress(int(answered), int(today), per_hour, *counts)


def waiting(connection: Connection) -> Waiting:
    """The open pairs, and the people who can answer them."""
    return Waiting(count_states(connection).get(OPEN, 0), people.active(connection))


def count_states(connection: Connection) -> dict[str, int]:
    """The number of questions in each state, without gold pairs: these are hidden checks."""
    return {state: int(count) for state, count in connection.execute(_STATES)}


def digests(connection: Connection, images: Collection[str]) -> dict[str, str]:
    """The hash of each image's photo, without images that the catalog no longer has."""
    asked = select(schema.image.c.image, schema.image.c.digest).where(schema.image.c.image.in_(images))
    return {image: digest for image, digest in connection.execute(asked)}


def report_photo(connection: Connection, image: str, who: int, now: int, address: str) -> bool:
    """Report a missing photo in the audit log, once for each image. Returns whether the report is new."""
    row = {"action": PHOTO_MISSING, "subject": image[:200]}
    known = select(audit.c.id).where(audit.c.action == PHOTO_MISSING, audit.c.subject == row["subject"])
    if connection.execute(known.limit(1)).first() is not None:
        return False
    connection.execute(insert(audit), {**row, "at": now, "annotator": who, "address": address[:200]})
    return True
