"""Which pairs an annotator gets next: their leases, a hidden check that is due, then what most needs an answer.

Pairs with the same takers are interchangeable, so a million of them need no walk: the first few open ones are looked
at, and where all of these are the annotator's own, the first of each other set of takers.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BindParameter, Connection, bindparam, null, select, text, union_all

from lookalike.annotate.protocol import OPEN
from lookalike.annotate.question import LEASE, SKIP, lease, renew
from lookalike.core.errors import VoteError
from lookalike.store.checks import SHOWN, due_check, show_check
from lookalike.store.leases import Rules, Ticket, token_of
from lookalike.store.prepared import Prepared, only
from lookalike.store.questions import load, save
from lookalike.store.votes_schema import annotator, check, claim, question

WINDOW = 48  # of the first open pairs one is drawn: the order differs from annotator to annotator
SETS = 64  # sets of takers looked at together
NEAREST = 4  # of these, whose pairs are looked at
FREE = text("free > 0")  # spelled out: the partial indexes are found by these words

_PAIR = (question.c.id, question.c.query, question.c.candidate)
_WHO: BindParameter[int] = bindparam("who")
_MINE = Prepared(
    union_all(
        select(claim.c.since, *_PAIR, claim.c.token, claim.c.side, claim.c.until)
        .join(question, question.c.id == claim.c.question)
        .where(claim.c.annotator == _WHO, claim.c.kind == LEASE, question.c.state == OPEN),
        select(check.c.since, *_PAIR, check.c.token, check.c.side, null())
        .join(question, question.c.id == check.c.question)
        .where(check.c.annotator == _WHO, SHOWN),
    )
)
_FIRST = Prepared(select(*_PAIR, question.c.takers).where(FREE).order_by(question.c.place).limit(WINDOW))
_WALK = (
    "WITH RECURSIVE seen(takers, turn) AS (SELECT MIN(takers), 1 FROM question WHERE free > 0 AND takers {} :after "
    "UNION ALL SELECT (SELECT MIN(takers) FROM question WHERE free > 0 AND takers > seen.takers), turn + 1 FROM seen "
    f"WHERE seen.takers IS NOT NULL AND turn < {SETS}) SELECT takers, (SELECT MIN(place) FROM question "
    "WHERE free > 0 AND takers = seen.takers) FROM seen WHERE takers IS NOT NULL"
)
_SETS, _MORE_SETS = Prepared(text(_WALK.format(">="))), Prepared(text(_WALK.format(">")))
_OF_TAKERS = Prepared(
    select(question.c.place, *_PAIR)
    .where(FREE, question.c.takers == bindparam("takers"))
    .order_by(question.c.place)
    .limit(WINDOW)
)
_SKIPPED = Prepared(
    select(*_PAIR)
    .join(claim, claim.c.question == question.c.id)
    .where(claim.c.annotator == _WHO, claim.c.kind == SKIP, FREE)
    .order_by(claim.c.since)
    .limit(WINDOW)
)

Pair = tuple[int, str, str]  # of an open question: its id, query and candidate


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
    connection: Connection,
    rules: Rules,
    who: Mapping[str, Any],
    now: int,
    draw: random.Random,
    *,
    want: int = 0,
) -> tuple[Given, ...]:
    """The pairs that are an annotator's to answer now, oldest first; none: nothing is left.

    Once half of `ahead` or less is left it is filled up. Asking again gives the same pairs again, with the time of
    those that had ended begun anew.
    """
    want = want or rules.campaign.ahead
    mine = _held(connection, rules, who["id"], now)
    if len(mine) <= want // 2:
        new = _check(connection, rules, who, now, draw)
        left = want - len(mine) - len(new)
        new += _take(connection, rules, who["id"], now, draw, left, idle=not (mine or new))
        mine += sorted(new, key=_place)  # as they stand when they are asked for again
    if not mine:
        mine += _check(connection, rules, who, now, draw, early=True)
    return tuple(mine)


def _held(connection: Connection, rules: Rules, who: int, now: int) -> list[Given]:
    """What was given before and waits for an answer, in the order it was given; a hidden check looks like a lease."""
    found, half = [], rules.campaign.lease // 2
    for since, which, query, candidate, token, side, until in sorted(_MINE.rows(connection, who=who)):
        end = now + rules.campaign.lease
        if until is None:  # a check, whose time never ends: it is begun anew as a lease's is
            end -= max(now - since, 0) % max(half, 1)
        elif since <= now and until - now >= half:
            end = until
        elif not _renew(connection, which, who, now, end):
            continue
        found.append(Given(token, which, query, candidate, side, end))
    return found


def _place(given: Given) -> int:
    return given.question


def _renew(connection: Connection, which: int, who: int, now: int, until: int) -> bool:
    """Begin a lease anew that has ended or is about to; not where somebody was faster."""
    before = load(connection, which)
    try:
        after = renew(before, who, now, until) if before is not None else None
    except VoteError:
        return False
    if before is None or after is None:
        return False
    save(connection, which, before, after, now)
    return True


def _check(
    connection: Connection,
    rules: Rules,
    who: Mapping[str, Any],
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
    ticket = Ticket(found["question"], who["id"], now, side, draw.getrandbits(32), found["id"])
    token = token_of(ticket, rules.key)
    show_check(connection, found["id"], who["id"], token, side, now)
    until = now + rules.campaign.lease
    return [Given(token, found["question"], found["query"], found["candidate"], side, until)]


def _take(
    connection: Connection, rules: Rules, who: int, now: int, draw: random.Random, want: int, *, idle: bool
) -> list[Given]:
    """New leases; where an annotator is `idle`, with nothing else to answer, also of pairs that they skipped."""
    taken: list[Given] = []
    tried: set[int] = set()
    for find in (_first_open, _any_open, _skipped):
        if len(taken) < want and (find is not _skipped or (idle and not taken)):
            found = [pair for pair in find(connection, who) if pair[0] not in tried]
            for pair in _in_turn(found, draw):
                tried.add(pair[0])
                taken += _lease(connection, rules, pair, who, now, draw)
                if len(taken) == want:
                    break
    if idle and tried and not taken:
        taken += _wait_for_one(connection, rules, who, now, draw)
    return taken


def _in_turn(pairs: list[Pair], draw: random.Random) -> Iterator[Pair]:
    """The pairs in random order, drawn as they are asked for: a few of many are enough."""
    for left in range(len(pairs), 0, -1):
        at = draw.randrange(left)
        pairs[at], pairs[left - 1] = pairs[left - 1], pairs[at]
        yield pairs[left - 1]


def _wait_for_one(
    connection: Connection, rules: Rules, who: int, now: int, draw: random.Random
) -> list[Given]:
    """A pair where others were at all that were looked at: wait for one after another until they let go."""
    for _ in range(WINDOW):
        left = (*_any_open(connection, who), *_skipped(connection, who))
        if not left:
            break
        found = _lease(connection, rules, left[0], who, now, draw, wait=True)
        if found:
            return found
    return []


def _first_open(connection: Connection, who: int) -> Sequence[Pair]:
    return [pair for *pair, takers in _FIRST.rows(connection) if f",{who}," not in takers]


def _any_open(connection: Connection, who: int) -> Sequence[Pair]:
    """Open pairs that the annotator has no claim on, whatever stands before them."""
    sets = _SETS.rows(connection, after="")
    while sets:
        others = sorted((place, takers) for takers, place in sets if f",{who}," not in takers)
        if others:
            found = [
                row for _, takers in others[:NEAREST] for row in _OF_TAKERS.rows(connection, takers=takers)
            ]
            return [pair for _, *pair in sorted(found)[:WINDOW]]
        sets = _MORE_SETS.rows(connection, after=sets[-1][0]) if len(sets) == SETS else []
    return []


def _skipped(connection: Connection, who: int) -> Sequence[Pair]:
    return _SKIPPED.rows(connection, who=who)


def _lease(
    connection: Connection,
    rules: Rules,
    pair: Pair,
    who: int,
    now: int,
    draw: random.Random,
    *,
    wait: bool = False,
) -> list[Given]:
    """Lease one pair, or nothing where somebody was faster."""
    which, query, candidate = pair
    before = load(connection, which, wait=wait)
    if before is None:
        return []
    side, until = draw.randrange(2), now + rules.campaign.lease
    token = token_of(Ticket(which, who, now, side, draw.getrandbits(32)), rules.key)
    try:
        after = lease(before, who, token, now, until, side)
    except VoteError:
        return []
    save(connection, which, before, after, now)
    return [Given(token, which, query, candidate, side, until)]


_NAMES = [column.name for column in annotator.columns]
_PERSON = Prepared(select(annotator).where(annotator.c.id == _WHO).with_for_update(key_share=True))


def annotator_row(connection: Connection, who: int) -> Mapping[str, Any] | None:
    """An annotator, held so that two of their requests take turns."""
    found = only(_PERSON.rows(connection, who=who))
    return None if found is None else dict(zip(_NAMES, found, strict=True))
