"""The rows that a unit of work reads and writes, of many annotators and answers at a time."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Insert, insert, null, select, union_all, update
from sqlalchemy.sql.expression import ClauseElement

from lookalike.annotate.protocol import OPEN
from lookalike.annotate.question import LEASE
from lookalike.store.check_rows import SHOWN
from lookalike.store.listed import Dialect, all_of, as_list, as_rows, for_both, is_listed, listed
from lookalike.store.prepared import Later, Prepared
from lookalike.store.votes_schema import annotator, check, claim, pace, question, vote

Row = Mapping[str, Any]
Waiting = tuple[int, int, str, str, str, int, int | None]
"""Since when, a pair, its token, side, and until when; None: a hidden check."""
VOTE = ("question", "annotator", "answer", "place", "side", "at", "took", "token")
PERSON = ("answers", "last", "check_at")


def _votes(dialect: Dialect) -> Insert:
    given = listed(dialect, *(vote.c[name] for name in VOTE))
    return insert(vote).from_select(VOTE, all_of(dialect, given))


def _people(dialect: Dialect) -> ClauseElement:
    given = listed(dialect, *(annotator.c[name] for name in ("id", *PERSON)))
    noted = update(annotator).where(annotator.c.id == given.c.id)
    return noted.values({name: given.c[name] for name in PERSON})


def _pace(dialect: Dialect) -> ClauseElement:
    names = ("annotator", "hour", "answers", "active")
    new = dialect.insert(pace).from_select(
        names, all_of(dialect, listed(dialect, *(pace.c[name] for name in names)))
    )
    more = {name: pace.c[name] + new.excluded[name] for name in ("answers", "active")}
    return new.on_conflict_do_update(index_elements=["annotator", "hour"], set_=more)


def _waiting(dialect: Dialect) -> ClauseElement:
    pair = (question.c.id, question.c.query, question.c.candidate)
    leases = (
        select(
            claim.c.annotator,
            question.c.state,
            claim.c.since,
            *pair,
            claim.c.token,
            claim.c.side,
            claim.c.until,
        )
        .join(question, question.c.id == claim.c.question)
        .where(
            is_listed(dialect, claim.c.annotator), claim.c.kind == LEASE
        )  # not of which state: an index of states leads astray
    )
    checks = (
        select(check.c.annotator, question.c.state, check.c.since, *pair, check.c.token, check.c.side, null())
        .join(question, question.c.id == check.c.question)
        .where(is_listed(dialect, check.c.annotator), SHOWN)
    )
    return union_all(leases, checks)


_VOTES, _PEOPLE, _PACE, _WAITING = (for_both(make) for make in (_votes, _people, _pace, _waiting))


def ask_waiting(connection: Connection, numbers: Collection[int]) -> Later[dict[int, list[Waiting]]]:
    """What was given to each of these annotators and waits for their answer, in no order."""
    rows = _WAITING.ask(connection, rows=as_list(numbers))
    return lambda: _by_annotator(rows(), numbers)


def _by_annotator(rows: Sequence[Any], numbers: Collection[int]) -> dict[int, list[Waiting]]:
    found: dict[int, list[Waiting]] = {who: [] for who in numbers}
    for who, state, *row in rows:
        if state == OPEN or row[-1] is None:
            found[who].append(tuple(row))
    return found


def add_votes(connection: Connection, rows: Sequence[Sequence[object]]) -> None:
    """Add to the history: the columns of `VOTE` in each row."""
    _run(_VOTES, connection, rows)


def note_people(connection: Connection, rows: Sequence[Sequence[object]]) -> None:
    """Note how far annotators are: their id and the columns of `PERSON` in each row."""
    _run(_PEOPLE, connection, rows)


def add_pace(connection: Connection, rows: Sequence[Sequence[object]]) -> None:
    """So many more answers in an hour, and milliseconds at work: annotator, hour, answers, active."""
    _run(_PACE, connection, rows)


def _run(statement: Prepared, connection: Connection, rows: Sequence[Sequence[object]]) -> None:
    if rows:
        statement.run(connection, rows=as_rows(rows))
