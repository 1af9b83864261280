"""What time brings: leases that end, pairs that settle. A server sweeps every second, who reads labels before."""

from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, insert, select, text
from sqlalchemy.dialects import postgresql, sqlite

from lookalike.annotate.protocol import DISSIMILAR, OPEN, SETTLED, SIMILAR
from lookalike.annotate.question import LEASE, SKEW, Question, expire, settle
from lookalike.store import schema
from lookalike.store.leases import Rules
from lookalike.store.questions import load, save
from lookalike.store.rows import insert_new
from lookalike.store.votes_schema import claim, progress, question, tally

MANY = 500
SOURCE = "votes"  # of labels that votes have settled to
SIGNS = {SIMILAR: "+", DISSIMILAR: "-"}

_ENDED = (
    select(claim.c.question)
    .where(claim.c.kind == LEASE, (claim.c.until < bindparam("now")) | (claim.c.since > bindparam("soon")))
    .order_by(claim.c.question)
    .limit(MANY)
)
_DUE = (
    select(question.c.id)
    .where(
        question.c.settles.is_not(None),
        (question.c.settles <= bindparam("now")) | (question.c.settles > bindparam("latest")),
    )
    .order_by(question.c.id)
    .limit(MANY)
)
_PAIR = select(
    question.c.query, question.c.candidate, question.c.both, question.c.category, question.c.kind
).where(question.c.id == bindparam("which"))


def sweep(connection: Connection, rules: Rules, now: int) -> int:
    """End leases and settle pairs whose time has come, some hundreds at most; returns how many."""
    return _expire(connection, now) + _settle(connection, rules, now)


def _expire(connection: Connection, now: int) -> int:
    ended = sorted(set(connection.execute(_ENDED, {"now": now, "soon": now + SKEW}).scalars()))
    for which in ended:
        before = load(connection, which, wait=False)
        if before is not None:
            save(connection, which, before, expire(before, now), now)
    return len(ended)


def _settle(connection: Connection, rules: Rules, now: int) -> int:
    grace = rules.campaign.grace
    due = connection.execute(_DUE, {"now": now, "latest": now + grace + SKEW}).scalars().all()
    for which in due:
        before = load(connection, which, wait=False)
        if before is None:
            continue
        after = settle(before, rules.campaign.protocol, now, grace)
        if after.state != OPEN:
            close(connection, which, before, after, now)
            _tally(connection, which, before)
    return len(due)


def close(connection: Connection, which: int, before: Question, after: Question, now: int) -> None:
    """Write a question that changes its state: its label, and the count of each state."""
    save(connection, which, before, after, now)
    pair = connection.execute(_PAIR, {"which": which}).one()
    ends = [(pair.query, pair.candidate), (pair.candidate, pair.query)][: 1 + pair.both]
    if before.state == SETTLED:
        for query, candidate in ends:
            connection.execute(
                delete(schema.label).where(
                    schema.label.c.query == query,
                    schema.label.c.candidate == candidate,
                    schema.label.c.source == SOURCE,
                )
            )
    if after.state == SETTLED:
        rows = [
            {"query": query, "candidate": candidate, "label": after.label, "source": SOURCE}
            for query, candidate in ends
        ]
        connection.execute(insert_new(connection, schema.label), rows)
    if before.state != after.state:
        _add(connection, progress, {"kind": pair.kind, "state": before.state}, -1)
        _add(connection, progress, {"kind": pair.kind, "state": after.state}, 1)


def _tally(connection: Connection, which: int, voted: Question) -> None:
    """Count the blind votes of a question, as they were before anybody saw another's."""
    category = connection.execute(_PAIR, {"which": which}).one().category
    _add(connection, tally, {"category": category, "pattern": pattern(voted)}, 1)


def pattern(voted: Question) -> str:
    """Who voted what: "3+ 7-" is 3 similar, 7 dissimilar; ? is unsure.

    >>> from lookalike.annotate.question import Claim
    >>> votes = Claim(7, "vote", "t", 0, answer="unsure"), Claim(3, "vote", "u", 0, answer="similar")
    >>> pattern(Question(2, claims=votes))
    '3+ 7?'
    """
    votes = sorted(voted.votes, key=lambda one: one.annotator)
    return " ".join(f"{one.annotator}{SIGNS.get(one.answer, '?')}" for one in votes)


def _add(connection: Connection, table: Any, key: dict[str, str], more: int) -> None:  # noqa: ANN401
    dialect: Any = sqlite if connection.dialect.name == "sqlite" else postgresql
    new = dialect.insert(table).values(**key, questions=more)
    total = table.c.questions + new.excluded.questions
    connection.execute(new.on_conflict_do_update(index_elements=list(key), set_={"questions": total}))


def recount(connection: Connection) -> None:
    """Count the questions of each state anew, after many were added at once."""
    if connection.dialect.name != "sqlite":  # who closes a question meanwhile waits, or is waited for
        connection.execute(text("LOCK TABLE progress IN EXCLUSIVE MODE"))
    found = connection.execute(
        select(question.c.kind, question.c.state, func.count()).group_by(question.c.kind, question.c.state)
    ).all()
    connection.execute(delete(progress))
    if found:
        connection.execute(
            insert(progress),
            [{"kind": kind, "state": state, "questions": count} for kind, state, count in found],
        )
