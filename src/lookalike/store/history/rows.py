"""The whole history of the labelling as rows of one table: the same history gives the same rows in every workspace.

First every question, by its place in the queue; then everything that was done to them, in time order. Rows of one
kind stay in the order in which they were written, also where a clock was set back.
"""

from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from heapq import merge
from typing import Any, NamedTuple

from sqlalchemy import Column, ColumnElement, Connection, Select, case, literal, null, select

from lookalike.store.sql.labelling_schema import annotator, check, comment, gold, question, verdict, vote

QUESTION, VOTE, SKIP, UNDO = "question", "vote", "skip", "undo"
PROPOSAL, DECISION, COMMENT, CHECK, GOLD = "proposal", "decision", "comment", "check", "gold"
EVENTS = (QUESTION, VOTE, SKIP, UNDO, PROPOSAL, DECISION, COMMENT, CHECK, GOLD)
ROWS_AT_ONCE = 5_000
BEGAN = datetime(1970, 1, 1, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


class Row(NamedTuple):
    """One row; what an event has no use for is "" or None. `at` is in milliseconds here, and a time in a file.

    `place`: of a question in the queue, of a vote how many answers its annotator had given before, of a check
    after how many it was due. `kind`: of a question, and of a check (repeat, gold). `text`: a comment, the note
    of a gold pair.
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

    @property
    def pair(self) -> tuple[str, str]:
        """The two images in order: (a, b) and (b, a) are one question."""
        return (self.query, self.candidate) if self.query < self.candidate else (self.candidate, self.query)


COLUMNS = Row._fields
NUMBERS = ("needed", "both", "place", "side", "took", "turn", "label")


def stamp(at: int | None) -> str:
    """Milliseconds as a file has them.

    >>> stamp(1_760_000_000_123), milliseconds("2025-10-09T08:53:20.123Z")
    ('2025-10-09T08:53:20.123Z', 1760000000123)
    """
    time = "" if at is None else (BEGAN + at * MILLISECOND).isoformat(timespec="milliseconds")
    return time.replace("+00:00", "Z")


def milliseconds(time: str) -> int:
    """A time of a file, in milliseconds; ValueError for anything else. One without a zone is UTC."""
    found = datetime.fromisoformat(time)
    found = found if found.tzinfo else found.replace(tzinfo=UTC)
    return (found - BEGAN) // MILLISECOND


def history(connection: Connection) -> Iterator[Row]:
    """All rows, of the snapshot that a connection sees."""
    for row in _stream(connection, _questions(connection)):
        yield Row(QUESTION, None, "", **row)
    streams = (_votes(), _verdicts(), _comments(), _checks(connection), _golds(connection))
    timed = [_timed(Row(**row) for row in _stream(connection, asked)) for asked in streams]
    yield from (row for _, row in merge(*timed, key=lambda pair: pair[0]))


def _timed(rows: Iterable[Row]) -> Iterator[tuple[int, Row]]:
    """Each row with the latest time so far, which never falls."""
    latest = -(2**62)
    for row in rows:
        latest = max(latest, row.at or 0)
        yield latest, row


def _stream(connection: Connection, asked: Select[Any]) -> Iterator[Any]:
    streamed = {"stream_results": True, "yield_per": ROWS_AT_ONCE}  # of this statement, not of the connection
    found = connection.execute(asked, execution_options=streamed)
    yield from found.mappings()


def _questions(connection: Connection) -> Select[Any]:
    names = ("query", "candidate", "kind", "needed", "both", "item", "category", "place", "state", "label")
    low, high = (_by_bytes(connection, question.c[name]) for name in ("low", "high"))
    return select(*(question.c[name] for name in names)).order_by(question.c.place, low, high)


def _of(table: Any, *columns: ColumnElement[Any]) -> Select[Any]:  # noqa: ANN401
    """Rows of what one annotator did to one question."""
    return (
        select(table.c.at, annotator.c.name.label("who"), question.c.query, question.c.candidate, *columns)
        .join_from(table, question, question.c.id == table.c.question)
        .join(annotator, annotator.c.id == table.c.annotator)
    )


def _votes() -> Select[Any]:
    is_vote = vote.c.answer.not_in((SKIP, UNDO))
    event = case((is_vote, VOTE), else_=vote.c.answer).label("event")
    answer = case((is_vote, vote.c.answer), else_="").label("answer")
    return _of(vote, event, answer, vote.c.place, vote.c.side, vote.c.took, vote.c.token).order_by(vote.c.id)


def _verdicts() -> Select[Any]:
    return _of(verdict, verdict.c.kind.label("event"), verdict.c.verdict.label("answer")).order_by(
        verdict.c.id
    )


def _comments() -> Select[Any]:
    return _of(comment, literal(COMMENT).label("event"), comment.c.text, comment.c.token).order_by(
        comment.c.id
    )


def _checks(connection: Connection) -> Select[Any]:
    """Checks that were answered; which others are planned is nobody else's affair."""
    kept = (check.c.kind, check.c.turn, check.c.side, check.c.took, check.c.token, check.c.answer)
    columns = (literal(CHECK).label("event"), check.c.due.label("place"), *kept)
    return (
        _of(check, *columns)
        .where(check.c.answer != "")
        .order_by(check.c.at, _by_bytes(connection, check.c.token))
    )


def _golds(connection: Connection) -> Select[Any]:
    low, high = (_by_bytes(connection, question.c[name]) for name in ("low", "high"))
    who = case((annotator.c.name.is_(null()), ""), else_=annotator.c.name).label("who")
    columns = (
        gold.c.at,
        who,
        question.c.query,
        question.c.candidate,
        gold.c.answer,
        gold.c.note.label("text"),
    )
    return (
        select(literal(GOLD).label("event"), *columns)
        .join_from(gold, question, question.c.id == gold.c.question)
        .outerjoin(annotator, annotator.c.id == gold.c.by)
        .order_by(gold.c.at, low, high)
    )


def _by_bytes(connection: Connection, column: Column[Any]) -> ColumnElement[Any]:
    """Text ordered by its bytes, as SQLite does, whatever the language of a PostgreSQL database."""
    return column if connection.dialect.name == "sqlite" else column.collate("C")
