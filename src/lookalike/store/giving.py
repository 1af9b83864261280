"""Which pairs an annotator gets next: their leases, a hidden check that is due, then what most needs an answer.

Pairs with the same takers are interchangeable, so a million of them need no walk: the first few open ones are looked
at, and where all of these are the annotator's own, the first of each other set of takers.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from sqlalchemy import bindparam, select, text

from lookalike.annotate.question import SKIP, lease, renew
from lookalike.core.errors import VoteError
from lookalike.store.leases import Rules, Ticket, token_of
from lookalike.store.prepared import Prepared
from lookalike.store.questions import FREE
from lookalike.store.unit_of_work import UnitOfWork
from lookalike.store.votes_schema import claim, question
from lookalike.store.window import WINDOW, Pair
from lookalike.store.work_rows import Row

SETS = 64  # sets of takers looked at together
NEAREST = 4  # of these, whose pairs are looked at

_PAIR = (question.c.id, question.c.query, question.c.candidate)
_WALK = (
    "WITH RECURSIVE seen(takers, turn) AS (SELECT MIN(takers), 1 FROM question WHERE free > 0 AND takers {} :after "
    "UNION ALL SELECT (SELECT MIN(takers) FROM question WHERE free > 0 AND takers > seen.takers), turn + 1 FROM seen "
    f"WHERE seen.takers IS NOT NULL AND turn < {SETS}) SELECT takers, (SELECT place FROM question WHERE free > 0 "
    "AND takers >= seen.takers AND takers <= seen.takers ORDER BY takers, place LIMIT 1) FROM seen "
    "WHERE takers IS NOT NULL"
)  # a range and an order, not "=" and MIN(place): else PostgreSQL walks the places until it meets a set far behind
_SETS, _MORE_SETS = Prepared(text(_WALK.format(">="))), Prepared(text(_WALK.format(">")))
_OF_TAKERS = Prepared(
    select(question.c.place, *_PAIR)
    .where(FREE, question.c.takers >= bindparam("takers"), question.c.takers <= bindparam("takers"))
    .order_by(question.c.takers, question.c.place)
    .limit(WINDOW)
)
_SKIPPED = Prepared(
    select(*_PAIR)
    .join(claim, claim.c.question == question.c.id)
    .where(claim.c.annotator == bindparam("who"), claim.c.kind == SKIP, FREE)
    .order_by(claim.c.since)
    .limit(WINDOW)
)


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
    work: UnitOfWork, rules: Rules, who: Row, now: int, draw: random.Random, *, want: int = 0
) -> tuple[Given, ...]:
    """The pairs that are an annotator's to answer now, oldest first; none: nothing is left.

    Once half of `ahead` or less is left it is filled up. Asking again gives the same pairs again, with the time of
    those that had ended begun anew.
    """
    want = want or rules.campaign.ahead
    mine = _kept(work, rules, who["id"], now)
    if len(mine) <= want // 2:
        new = _check(work, rules, who, now, draw)
        left = want - len(mine) - len(new)
        new += _take(work, rules, who["id"], now, draw, left, idle=not (mine or new))
        mine += sorted(new, key=_place)  # as they stand when they are asked for again
    if not mine:
        mine += _check(work, rules, who, now, draw, early=True)
    return tuple(mine)


def _kept(work: UnitOfWork, rules: Rules, who: int, now: int) -> list[Given]:
    """What was given before and waits for an answer, in the order it was given; a hidden check looks like a lease."""
    found, half = [], rules.campaign.lease // 2
    for since, which, query, candidate, token, side, until in work.waiting(who):
        end = now + rules.campaign.lease
        if until is None:  # a check, whose time never ends: it is begun anew as a lease's is
            end -= max(now - since, 0) % max(half, 1)
        elif since <= now and until - now >= half:
            end = until
        elif not _renew(work, which, who, now, end):
            continue
        found.append(Given(token, which, query, candidate, side, end))
    return found


def _place(given: Given) -> int:
    return given.question


def _renew(work: UnitOfWork, which: int, who: int, now: int, until: int) -> bool:
    """Begin a lease anew that has ended or is about to; not where somebody was faster."""
    held = work.question(which)
    if held is None:
        return False
    try:
        after = renew(held.question, who, now, until)
    except VoteError:
        return False
    work.save(which, after, now)
    return True


def _check(
    work: UnitOfWork, rules: Rules, who: Row, now: int, draw: random.Random, *, early: bool = False
) -> list[Given]:
    """A hidden check that is due; `early`, where nothing else is left, one that is not due yet."""
    if who["check_at"] is None or not (early or who["check_at"] <= who["answers"]):
        return []
    found = work.checks.next(who["id"])
    if found is None or not (early or found.due <= who["answers"]):
        work.note_due(who["id"], work.checks.due(who["id"]))  # what was planned was taken out meanwhile
        return []
    side = draw.randrange(2)
    ticket = Ticket(found.question, who["id"], now, side, draw.getrandbits(32), found.id)
    token = token_of(ticket, rules.key)
    work.save_check(replace(found, token=token, side=side, since=now))
    work.note_due(who["id"], work.checks.due(who["id"]))
    return [Given(token, found.question, found.query, found.candidate, side, now + rules.campaign.lease)]


def _take(
    work: UnitOfWork, rules: Rules, who: int, now: int, draw: random.Random, want: int, *, idle: bool
) -> list[Given]:
    """New leases; where an annotator is `idle`, with nothing else to answer, also of pairs that they skipped."""
    taken: list[Given] = []
    tried: set[int] = set()
    for find in (_first_open, _any_open, _skipped):
        if len(taken) < want and (find is not _skipped or (idle and not taken)):
            found = [pair for pair in find(work, who) if pair[0] not in tried]
            tried.update(pair[0] for pair in found)
            for which in _in_turn(work, found, draw, want):
                taken += _lease(work, rules, which, who, now, draw)
                if len(taken) == want:
                    break
    if idle and tried and not taken:
        taken += _wait_for_one(work, rules, who, now, draw)
    return taken


def _in_turn(work: UnitOfWork, pairs: Sequence[Pair], draw: random.Random, want: int) -> Iterator[int]:
    """The questions of pairs in random order: first those that are held already, then the others, held a few at a time.

    As many as all calls of the unit of work may want are held at once: the next calls find them held.
    """
    ready = [which for which, *_ in pairs if work.holds(which)]
    others = [which for which, *_ in pairs if not work.holds(which)]
    yield from _drawn(ready, draw)
    mixed, few = _drawn(others, draw), want * work.calls
    while some := list(islice(mixed, few)):
        work.hold(some, wait=False)
        yield from filter(work.holds, some)


def _drawn(questions: list[int], draw: random.Random) -> Iterator[int]:
    """Questions in random order, drawn as they are asked for: a few of many are enough."""
    for left in range(len(questions), 0, -1):
        at = draw.randrange(left)
        questions[at], questions[left - 1] = questions[left - 1], questions[at]
        yield questions[left - 1]


def _wait_for_one(work: UnitOfWork, rules: Rules, who: int, now: int, draw: random.Random) -> list[Given]:
    """A pair where others were at all that were looked at: wait for one after another until they let go."""
    for _ in range(WINDOW):
        left = (*_any_open(work, who), *_skipped(work, who))
        if not left:
            break
        found = _lease(work, rules, left[0][0], who, now, draw)
        if found:
            return found
    return []


def _first_open(work: UnitOfWork, who: int) -> Sequence[Pair]:
    return work.window.of(who)


def _any_open(work: UnitOfWork, who: int) -> Sequence[Pair]:
    """Open pairs that the annotator has no claim on, whatever stands before them."""
    if work.window.sees_all:
        return work.window.of(who)
    connection, mine = work.reading(), f",{who},"
    sets = _SETS.rows(connection, after="")
    while sets:
        others = sorted((place, takers) for takers, place in sets if mine not in takers)
        if others:
            found = [
                row for _, takers in others[:NEAREST] for row in _OF_TAKERS.rows(connection, takers=takers)
            ]
            return [pair for _, *pair in sorted(found)[:WINDOW]]
        sets = _MORE_SETS.rows(connection, after=sets[-1][0]) if len(sets) == SETS else []
    return []


def _skipped(work: UnitOfWork, who: int) -> Sequence[Pair]:
    """Open pairs that the annotator skipped, the first one first; as the calls have left them."""
    found = {which: (which, *pair) for which, *pair in _SKIPPED.rows(work.connection, who=who)}
    for held in work.changed():
        mine = held.question.of(who)
        if mine is not None and mine.kind == SKIP and held.question.free > 0:
            found.setdefault(held.which, (held.which, held.query, held.candidate))
        else:
            found.pop(held.which, None)
    return list(found.values())


def _lease(
    work: UnitOfWork, rules: Rules, which: int, who: int, now: int, draw: random.Random
) -> list[Given]:
    """Lease one pair, or nothing where somebody was faster."""
    held = work.question(which)
    if held is None:
        return []
    side, until = draw.randrange(2), now + rules.campaign.lease
    token = token_of(Ticket(which, who, now, side, draw.getrandbits(32)), rules.key)
    try:
        after = lease(held.question, who, token, now, until, side)
    except VoteError:
        return []
    work.save(which, after, now)
    return [Given(token, which, held.query, held.candidate, side, until)]
