"""The whole history of the labelling as rows of one table. The same history gives the same rows in every workspace.

The questions come first, by their place in the queue, then the designs of drawn pairs, then the events in time
order. Rows of one kind keep the order in which they were written, also if a clock was set back.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from heapq import merge
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Connection, Select, Table, and_, case, func, literal, select

from lookalike.store.formats.designs import DESIGN, DesignOfPair
from lookalike.store.sql.labelling_schema import annotator, check, comment, gold, question, verdict, vote
from lookalike.store.sql.schema import sample, sample_pair

QUESTION, DRAWN, VOTE, SKIP, UNDO = "question", "drawn", "vote", "skip", "undo"
PROPOSAL, DECISION, COMMENT, CHECK, GOLD = "proposal", "decision", "comment", "check", "gold"
EVENTS = (QUESTION, DRAWN, VOTE, SKIP, UNDO, PROPOSAL, DECISION, COMMENT, CHECK, GOLD)
ROWS_AT_ONCE = 5_000
BEGAN = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


class Row(NamedTuple):
    """One row. Columns that an event does not have are "" or None. `at` is in milliseconds; a file has a time.

    `place` is the place of a question in the queue, that of a drawn pair in its sample, the number of earlier answers
    of the annotator for a vote, and the number of answers after which a check is due. Questions and checks (repeat,
    gold) have a `kind`. `text` is a comment, the note of a gold pair or the design of a drawn pair. Votes and checks
    can have a `reason`.
    """

    event: str
    at: int | None
    who: str
    query: str
    candidate: str
    answer: str = ""
    kind: str = ""
    needed: int | None = None
    both: int | None = None
    item: str = ""
    category: str = ""
    place: int | None = None
    side: int | None = None
    took: int | None = None
    turn: int | None = None
    token: str = ""
    state: str = ""
    label: int | None = None
    text: str = ""
    reason: str = ""

    @property
    def pair(self) -> tuple[str, str]:
        """The two images in alphabetical order: (a, b) and (b, a) are one question."""
        return (self.query, self.candidate) if self.query < self.candidate else (self.candidate, self.query)


COLUMNS = Row._fields
NUMBERS = ("needed", "both", "place", "side", "took", "turn", "label")


def stamp(at: int | None) -> str:
    """Milliseconds as the time in a file.

    >>> stamp(1_760_000_000_123), milliseconds("2025-10-09T08:53:20.123Z")
    ('2025-10-09T08:53:20.123Z', 1760000000123)
    """
    time = "" if at is None else (BEGAN + at * MILLISECOND).isoformat(timespec="milliseconds")
    return time.replace("+00:00", "Z")


def milliseconds(time: str) -> int:
    """The time in a file as milliseconds. A time without a zone is UTC. Raises ValueError for other text."""
    found = datetime.fromisoformat(time)
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    return (found - BEGAN) // MILLISECOND


def history(connection: Connection) -> Iterator[Row]:
    """All rows in the snapshot of a connection. Planned checks stay secret, so only answered ones are included."""

    def text(column: Column[Any]) -> ColumnElement[Any]:
        """Text ordered by bytes, as in SQLite, in a PostgreSQL database of any language."""
        return column if connection.dialect.name == "sqlite" else column.collate("C")

    pair = (text(question.c.low), text(question.c.high))
    names = ("query", "candidate", "kind", "needed", "both", "item", "category", "place", "state", "label")
    listed = select(*(question.c[name] for name in names)).order_by(question.c.place, *pair)
    for row in _stream(connection, listed):
        yield Row(QUESTION, None, "", **row)
    yield from _drawn(connection, (text(sample.c.name), sample_pair.c.place))
    is_vote = vote.c.answer.not_in((SKIP, UNDO))
    event = case((is_vote, VOTE), else_=vote.c.answer).label("event")
    answer = case((is_vote, vote.c.answer), else_="").label("answer")
    voted = ("place", "side", "took", "token", "reason")
    checked = (
        check.c.kind,
        check.c.turn,
        check.c.side,
        check.c.took,
        check.c.token,
        check.c.answer,
        check.c.reason,
    )
    streams = (
        _of(vote, event, answer, *(vote.c[name] for name in voted)).order_by(vote.c.id),
        _of(verdict, verdict.c.kind.label("event"), verdict.c.verdict.label("answer")).order_by(verdict.c.id),
        _of(comment, literal(COMMENT).label("event"), comment.c.text, comment.c.token).order_by(comment.c.id),
        _of(check, literal(CHECK).label("event"), check.c.due.label("place"), *checked)
        .where(check.c.answer != "")
        .order_by(check.c.at, text(check.c.token)),
        _of(gold, literal(GOLD).label("event"), gold.c.answer, gold.c.note.label("text")).order_by(
            gold.c.at, *pair
        ),
    )
    timed = [_timed(Row(**row) for row in _stream(connection, statement)) for statement in streams]
    yield from (row for _, row in merge(*timed, key=lambda pair: pair[0]))


def _drawn(connection: Connection, order: Sequence[ColumnElement[Any]]) -> Iterator[Row]:
    """The designs of drawn pairs that are in the queue, each sample by its places."""
    own, same = sample_pair.c, (question.c.low == sample_pair.c.low, question.c.high == sample_pair.c.high)
    design = (sample.c.name.label("sample"), own.stratum, own.probability, sample.c.seed)
    listed = select(own.query, own.candidate, own.item, *design).join_from(sample_pair, sample)
    places: Counter[str] = Counter()
    for row in _stream(connection, listed.join(question, and_(*same)).order_by(*order)):
        found = DesignOfPair(*(row[name] for name in DESIGN))
        pair = {name: row[name] for name in ("query", "candidate", "item")}
        yield Row(DRAWN, None, "", **pair, place=places[found.sample], text=found.text)
        places[found.sample] += 1


def _timed(rows: Iterable[Row]) -> Iterator[tuple[int, Row]]:
    """Each row with the latest time so far, which never decreases."""
    latest = -(2**62)
    for row in rows:
        latest = max(latest, row.at or 0)
        yield latest, row


def _stream(connection: Connection, statement: Select[Any]) -> Iterator[Any]:
    streamed = {"stream_results": True, "yield_per": ROWS_AT_ONCE}  # of this statement, not of the connection
    found = connection.execute(statement, execution_options=streamed)
    yield from found.mappings()


def _of(table: Table, *columns: ColumnElement[Any]) -> Select[Any]:
    """The actions of annotators on questions. A gold pair can have no annotator."""
    by = table.c.by if table is gold else table.c.annotator
    who = func.coalesce(annotator.c.name, "").label("who")
    return (
        select(table.c.at, who, question.c.query, question.c.candidate, *columns)
        .join_from(table, question, question.c.id == table.c.question)
        .join(annotator, annotator.c.id == by, isouter=table is gold)
    )
