"""Pairs in discussion: comments, proposals of annotators who voted, verdicts of a lead. History is append-only."""

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, ColumnElement, Connection, Select, bindparam, insert, literal, select

from lookalike.annotate.question import decide, propose
from lookalike.store.labelling.annotators import Annotator, present
from lookalike.store.labelling.closing import close
from lookalike.store.labelling.discussion.lists import discussed
from lookalike.store.labelling.questions import Transition, hold_one, save, with_proposals
from lookalike.store.people.people import LEAD
from lookalike.store.sql.labelling_schema import annotator, claim, comment, verdict
from lookalike.store.sql.rows import insert_new

AGAIN = 10_000  # milliseconds within which the same verdict of the same person is a button pressed twice


def reader_of(person: Annotator) -> int | None:
    """The reader that the functions below ask for: None for a lead, who sees every pair that is not open."""
    return None if person["role"] == LEAD else int(person["id"])


@dataclass(frozen=True)
class DiscussionEntry:
    """A vote, proposal, decision or comment of an annotator on a pair, and its time. A vote can have a `reason`."""

    kind: str
    annotator: int
    name: str
    text: str
    at: int
    reason: str = ""


def thread(connection: Connection, which: int, reader: int | None = None) -> tuple[DiscussionEntry, ...]:
    """The history of a pair that is no longer open: votes first, then comments and verdicts by time."""
    discussed(connection, which, reader)
    votes, comments, verdicts = (
        [DiscussionEntry(*row) for row in connection.execute(statement, {"which": which})]
        for statement in _ENTRIES
    )
    return (*votes, *sorted(comments + verdicts, key=lambda entry: entry.at))


def _entries(
    kind: ColumnElement[Any], words: Column[Any], at: Column[Any], *more: Column[Any]
) -> Select[Any]:
    """The rows of a table on one pair, as entries of a discussion."""
    of = words.table
    return (
        select(kind, annotator.c.id, annotator.c.name, words, at, *more)
        .join(annotator, annotator.c.id == of.c.annotator)
        .where(of.c.question == bindparam("which"))
    )


_ENTRIES = (
    _entries(literal("vote"), claim.c.answer, claim.c.since, claim.c.reason)
    .where(claim.c.kind == "vote")
    .order_by(annotator.c.id),
    _entries(literal("comment"), comment.c.text, comment.c.at).order_by(comment.c.id),
    _entries(verdict.c.kind, verdict.c.verdict, verdict.c.at).order_by(verdict.c.id),
)


def add_comment(connection: Connection, which: int, who: int, text: str, token: str, now: int) -> None:
    """Add a comment to a pair. A form that is sent twice adds one comment."""
    discussed(connection, which, reader_of(present(connection, who)))
    row = {"question": which, "annotator": who, "text": text, "at": now, "token": token}
    connection.execute(insert_new(connection, comment), row)


def add_proposal(connection: Connection, which: int, who: int, choice: str, now: int) -> None:
    """Propose a verdict as one of those who voted. If all of them propose the same, the pair is resolved."""
    reader = reader_of(present(connection, who))
    if _is_repeated(connection, which, who, "proposal", choice, now):
        return
    discussed(connection, which, reader)
    held = hold_one(connection, which)
    after = propose(with_proposals(connection, which, held.question), who, choice)
    row = {"question": which, "annotator": who, "kind": "proposal", "verdict": choice, "at": now}
    connection.execute(insert(verdict), row)
    _write(connection, Transition(held, after), now)


def add_decision(connection: Connection, which: int, lead: int, choice: str, now: int) -> None:
    """Decide as a lead: similar, dissimilar, exclude; or reopen, which brings a closed pair back to discussion."""
    present(connection, lead)
    if _is_repeated(connection, which, lead, "decision", choice, now):
        return
    discussed(connection, which)
    held = hold_one(connection, which)
    after = decide(held.question, choice)
    row = {"question": which, "annotator": lead, "kind": "decision", "verdict": choice, "at": now}
    connection.execute(insert(verdict), row)
    _write(connection, Transition(held, after), now)


def _is_repeated(connection: Connection, which: int, who: int, kind: str, choice: str, now: int) -> bool:
    """Whether the last verdict on a pair is the same one, given a moment ago: a button was pressed twice."""
    columns = (verdict.c.annotator, verdict.c.kind, verdict.c.verdict, verdict.c.at)
    statement = select(*columns).where(verdict.c.question == which).order_by(verdict.c.id.desc()).limit(1)
    last = connection.execute(statement).first()
    return last is not None and last[:3] == (who, kind, choice) and 0 <= now - last.at <= AGAIN


def _write(connection: Connection, change: Transition, now: int) -> None:
    write = save if change.after.state == change.held.question.state else close
    write(connection, [change], now)
