"""Which pairs an annotator gets next: their leases, a hidden check that is due, then what most needs an answer.

Pairs with the same takers are interchangeable, so a million of them need no walk: the first few open ones are looked
at, and where all of these are the annotator's own, the first of each other set of takers.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, RowMapping, bindparam, select, text, update

from lookalike.annotate.question import LEASE, SKIP, lease
from lookalike.core.errors import VoteError
from lookalike.store.checks import due_check, show_check, shown_checks
from lookalike.store.leases import Rules, Ticket, token_of
from lookalike.store.questions import load, save
from lookalike.store.votes_schema import annotator, claim, question

WINDOW = 48  # of the first open pairs one is drawn: the order differs from annotator to annotator
FREE = text("free > 0")  # spelled out: the partial indexes are found by these words

_MINE = (
    select(
        claim.c.token,
        claim.c.question,
        claim.c.side,
        claim.c.until,
        claim.c.since,
        question.c.query,
        question.c.candidate,
    )
    .join(question, question.c.id == claim.c.question)
    .where(claim.c.annotator == bindparam("who"), claim.c.kind == LEASE)
    .order_by(claim.c.since, claim.c.question)
)
_FIRST = select(question.c.id, question.c.takers).where(FREE).order_by(question.c.place).limit(WINDOW)
_TAKERS = text(
    "WITH RECURSIVE seen(takers) AS (SELECT MIN(takers) FROM question WHERE free > 0 UNION ALL "
    "SELECT (SELECT MIN(takers) FROM question WHERE free > 0 AND takers > seen.takers) FROM seen "
    "WHERE seen.takers IS NOT NULL) SELECT takers FROM seen WHERE takers IS NOT NULL"
)
_OF_TAKERS = (
    select(question.c.place, question.c.id)
    .where(FREE, question.c.takers == bindparam("takers"))
    .order_by(question.c.place)
    .limit(WINDOW)
)
_SKIPPED = (
    select(question.c.id)
    .join(claim, claim.c.question == question.c.id)
    .where(claim.c.annotator == bindparam("who"), claim.c.kind == SKIP, FREE)
    .order_by(claim.c.since)
    .limit(WINDOW)
)
_PAIR = select(question.c.query, question.c.candidate).where(question.c.id == bindparam("which"))


@dataclass(frozen=True)
class Given:
    """A pair that an annotator is to answer. `side` 1 shows the query on the right; until when it is theirs."""

    token: str
    question: int
    query: str
    candidate: str
    side: int
    until: int


def give(
    connection: Connection, rules: Rules, who: RowMapping, now: int, draw: random.Random, *, want: int = 0
) -> tuple[Given, ...]:
    """The pairs that are an annotator's to answer now, oldest first, filled up to `ahead`; none: nothing is left.

    Asking again gives the same pairs again, with the time of those that had ended begun anew.
    """
    want = want or rules.campaign.ahead
    mine = [
        _renewed(connection, rules, row, who["id"], now)
        for row in connection.execute(_MINE, {"who": who["id"]}).mappings()
    ]
    mine += [Given(**row) for row in shown_checks(connection, who["id"], now + rules.campaign.lease)]
    if len(mine) < want:
        mine += _check(connection, rules, who, now, draw)
    if len(mine) < want:
        mine += _take(connection, rules, who["id"], now, draw, want - len(mine))
    if not mine:
        mine += _check(connection, rules, who, now, draw, early=True)
    return tuple(mine)


def _renewed(connection: Connection, rules: Rules, row: RowMapping, who: int, now: int) -> Given:
    """A lease that this annotator holds; one whose end has come or that is about to end is begun anew."""
    until = int(row["until"])
    if until - now < rules.campaign.lease // 2 or row["since"] > now:
        until = now + rules.campaign.lease
        mine = (claim.c.question == row["question"], claim.c.annotator == who)
        connection.execute(update(claim).where(*mine).values(until=until, since=min(int(row["since"]), now)))
    return Given(row["token"], row["question"], row["query"], row["candidate"], row["side"], until)


def _check(
    connection: Connection,
    rules: Rules,
    who: RowMapping,
    now: int,
    draw: random.Random,
    *,
    early: bool = False,
) -> list[Given]:
    """A hidden check that is due; `early`, where nothing else is left, one that is not due yet."""
    if who["check_at"] is None or not (early or who["check_at"] <= who["answers"]):
        return []
    found = due_check(connection, who["id"])
    if found is None:
        return []
    side = draw.randrange(2)
    token = token_of(Ticket(found["question"], who["id"], now, side), rules.key)
    show_check(connection, found["id"], who["id"], token, side, now)
    until = now + rules.campaign.lease
    return [Given(token, found["question"], found["query"], found["candidate"], side, until)]


def _take(
    connection: Connection, rules: Rules, who: int, now: int, draw: random.Random, want: int
) -> list[Given]:
    taken: list[Given] = []
    tried: set[int] = set()
    for find in (_first_open, _any_open, _skipped):
        if len(taken) < want:
            found = [which for which in find(connection, who) if which not in tried]
            draw.shuffle(found)
            for which in found:
                tried.add(which)
                taken += _lease(connection, rules, which, who, now, draw)
                if len(taken) == want:
                    break
    return sorted(taken, key=lambda given: given.question)  # as they stand when they are asked for again


def _first_open(connection: Connection, who: int) -> Sequence[int]:
    return [which for which, takers in connection.execute(_FIRST) if f",{who}," not in takers]


def _any_open(connection: Connection, who: int) -> Sequence[int]:
    """The first open pairs of all that the annotator has no claim on."""
    found: list[tuple[int, int]] = []
    for takers in connection.execute(_TAKERS).scalars().all():
        if f",{who}," not in takers:
            found += [(row.place, row.id) for row in connection.execute(_OF_TAKERS, {"takers": takers})]
    return [which for _, which in sorted(found)[:WINDOW]]


def _skipped(connection: Connection, who: int) -> Sequence[int]:
    return connection.execute(_SKIPPED, {"who": who}).scalars().all()


def _lease(
    connection: Connection, rules: Rules, which: int, who: int, now: int, draw: random.Random
) -> list[Given]:
    """Lease one pair, or nothing where somebody was faster."""
    before = load(connection, which, wait=False)
    if before is None:
        return []
    side, until = draw.randrange(2), now + rules.campaign.lease
    token = token_of(Ticket(which, who, now, side), rules.key)
    try:
        after = lease(before, who, token, now, until, side)
    except VoteError:
        return []
    save(connection, which, before, after, now)
    query, candidate = connection.execute(_PAIR, {"which": which}).one()
    return [Given(token, which, query, candidate, side, until)]


_WHO = select(annotator).where(annotator.c.id == bindparam("who")).with_for_update(key_share=True)


def annotator_row(connection: Connection, who: int) -> RowMapping | None:
    """An annotator, held so that two of their requests take turns."""
    return connection.execute(_WHO, {"who": who}).mappings().first()
