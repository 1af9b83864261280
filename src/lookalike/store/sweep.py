"""What time brings: leases that end, pairs that settle. A server sweeps every second, who reads labels before."""

from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, func, insert, select, text, union_all
from sqlalchemy.dialects import postgresql, sqlite

from lookalike.annotate.protocol import DISSIMILAR, OPEN, SETTLED, SIMILAR
from lookalike.annotate.question import LEASE, SKEW, Question, expire, settle
from lookalike.store import schema
from lookalike.store.leases import Rules
from lookalike.store.prepared import Prepared, only
from lookalike.store.questions import load, save
from lookalike.store.votes_schema import claim, progress, question, tally

MANY = 500
SOURCE = "votes"  # of labels that votes have settled to
SIGNS = {SIMILAR: "+", DISSIMILAR: "-"}

_LEASED = text(f"kind = '{LEASE}'")  # spelled out: the partial index is found by these words
_ENDED = Prepared(  # two ranges each: an index serves them, and a million pairs cost nothing
    union_all(
        select(claim.c.question).where(_LEASED, claim.c.until < bindparam("now")),
        select(claim.c.question).where(_LEASED, claim.c.until >= 0, claim.c.since > bindparam("soon")),
    ).limit(bindparam("most"))
)
_DUE = Prepared(
    union_all(
        select(question.c.id).where(question.c.settles <= bindparam("now")),
        select(question.c.id).where(question.c.settles > bindparam("latest")),
    ).limit(bindparam("most"))
)
_PAIR = Prepared(
    select(question.c.query, question.c.candidate, question.c.both, question.c.kind).where(
        question.c.id == bindparam("which")
    )
)
_CATEGORY = Prepared(select(question.c.category).where(question.c.id == bindparam("which")))


def _new_label(dialect: Any) -> Any:  # noqa: ANN401 - both dialects' own classes
    values = {**{name: bindparam(name) for name in ("query", "candidate", "label")}, "source": SOURCE}
    return dialect.insert(schema.label).values(values).on_conflict_do_nothing()


def _more(dialect: Any, table: Table, *key: str) -> Any:  # noqa: ANN401
    """So many more questions under a key."""
    new = dialect.insert(table).values({name: bindparam(name) for name in (*key, "questions")})
    total = table.c.questions + new.excluded.questions
    return new.on_conflict_do_update(index_elements=key, set_={"questions": total})


_LABEL = Prepared({"sqlite": _new_label(sqlite), "postgresql": _new_label(postgresql)})
_UNLABEL = Prepared(
    delete(schema.label).where(
        schema.label.c.query == bindparam("query"),
        schema.label.c.candidate == bindparam("candidate"),
        schema.label.c.source == SOURCE,
    )
)
_PROGRESS, _TALLY = (
    Prepared({"sqlite": _more(sqlite, *given), "postgresql": _more(postgresql, *given)})
    for given in ((progress, "kind", "state"), (tally, "category", "pattern"))
)


def sweep(connection: Connection, rules: Rules, now: int, most: int = MANY) -> int:
    """End leases and settle pairs whose time has come, so many of each at most; returns how many."""
    return _expire(connection, now, most) + _settle(connection, rules, now, most)


def _expire(connection: Connection, now: int, most: int) -> int:
    ended = sorted({which for (which,) in _ENDED.rows(connection, now=now, soon=now + SKEW, most=most)})
    done = 0
    for which in ended:
        before = load(connection, which, wait=False)
        after = expire(before, now) if before is not None else None
        if before is not None and after is not None and after != before:
            save(connection, which, before, after, now)
            done += 1
    return done


def _settle(connection: Connection, rules: Rules, now: int, most: int) -> int:
    grace = rules.campaign.grace
    due = sorted({which for (which,) in _DUE.rows(connection, now=now, latest=now + grace + SKEW, most=most)})
    done = 0
    for which in due:
        before = load(connection, which, wait=False)
        if before is None:
            continue
        after = settle(before, rules.campaign.protocol, now, grace)
        if after.state != OPEN:
            close(connection, which, before, after, now)
            _tally(connection, which, before)
            done += 1
    return done


def close(connection: Connection, which: int, before: Question, after: Question, now: int) -> None:
    """Write a question that changes its state: its label, and the count of each state."""
    save(connection, which, before, after, now)
    query, candidate, both, kind = only(_PAIR.rows(connection, which=which))
    for one, other in ((query, candidate), (candidate, query))[: 1 + both]:
        if before.state == SETTLED:
            _UNLABEL.run(connection, query=one, candidate=other)
        if after.state == SETTLED:
            _LABEL.run(connection, query=one, candidate=other, label=after.label)
    if before.state != after.state:
        _PROGRESS.run(connection, kind=kind, state=before.state, questions=-1)
        _PROGRESS.run(connection, kind=kind, state=after.state, questions=1)


def _tally(connection: Connection, which: int, voted: Question) -> None:
    """Count the blind votes of a question, as they were before anybody saw another's."""
    (category,) = only(_CATEGORY.rows(connection, which=which))
    _TALLY.run(connection, category=category, pattern=pattern(voted), questions=1)


def pattern(voted: Question) -> str:
    """Who voted what: "3+ 7-" is 3 similar, 7 dissimilar; ? is unsure.

    >>> from lookalike.annotate.question import Claim
    >>> votes = Claim(7, "vote", "t", 0, answer="unsure"), Claim(3, "vote", "u", 0, answer="similar")
    >>> pattern(Question(2, claims=votes))
    '3+ 7?'
    """
    votes = sorted(voted.votes, key=lambda one: one.annotator)
    return " ".join(f"{one.annotator}{SIGNS.get(one.answer, '?')}" for one in votes)


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
