"""What time brings: leases that end, pairs that settle. A server sweeps every second, who reads labels before."""

from sqlalchemy import Connection, bindparam, delete, func, insert, select, text, union_all

from lookalike.annotate.protocol import OPEN
from lookalike.annotate.question import LEASE, SKEW, expire, settle
from lookalike.store.closing import close_all, tally_all
from lookalike.store.leases import Rules
from lookalike.store.prepared import Prepared
from lookalike.store.questions import hold, save_all
from lookalike.store.votes_schema import claim, progress, question

MANY = 500

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


def sweep(connection: Connection, rules: Rules, now: int, most: int = MANY) -> int:
    """End leases and settle pairs whose time has come, so many of each at most; returns how many."""
    return _expire(connection, now, most) + _settle(connection, rules, now, most)


def _expire(connection: Connection, now: int, most: int) -> int:
    ended = sorted({which for (which,) in _ENDED.rows(connection, now=now, soon=now + SKEW, most=most)})
    done = []
    for which, held in hold(connection, ended, wait=False).items():
        after = expire(held.question, now)
        if after != held.question:
            done.append((which, held.question, after, now))
    save_all(connection, done)
    return len(done)


def _settle(connection: Connection, rules: Rules, now: int, most: int) -> int:
    grace, protocol = rules.campaign.grace, rules.campaign.protocol
    due = sorted({which for (which,) in _DUE.rows(connection, now=now, latest=now + grace + SKEW, most=most)})
    done = []
    for which, held in sorted(hold(connection, due, wait=False).items()):
        after = settle(held.question, protocol, now, grace)
        if after.state != OPEN:
            done.append((which, held.question, after, now))
    if done:
        tally_all(connection, close_all(connection, done), done)
    return len(done)


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
