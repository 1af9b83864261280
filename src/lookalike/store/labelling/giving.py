"""The next pairs of an annotator: those they hold, a hidden check that is due, then what most needs an answer."""

import operator
import random
from collections.abc import Callable, Iterable
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, literal_column, select

from lookalike.annotate.question import SKIP, lease, renew
from lookalike.core.errors import VoteError
from lookalike.store.labelling.annotators import Annotator, present
from lookalike.store.labelling.campaigns import Rules
from lookalike.store.labelling.checks import next_check, show_check
from lookalike.store.labelling.leases import Given, Lease, add_leases, new_token, unanswered
from lookalike.store.labelling.questions import FREE, Held, Transition, hold, save
from lookalike.store.sql.labelling_schema import claim, question

WINDOW = 48  # pairs are drawn from the first 48, so the order differs between annotators
SETS = 64  # sets of takers read together
NEAREST = 4  # the sets among them whose pairs are read


def next_pairs(
    connection: Connection, rules: Rules, who: int, now: int, draw: random.Random
) -> tuple[Given, ...]:
    """The pairs that an annotator can answer now, oldest first; none if nothing is left for them.

    New pairs are added once half of the `prefetch` of the campaign or less is left. A second request gives the same
    pairs and renews leases that have ended.
    """
    annotator, want = present(connection, who), rules.campaign.prefetch
    given = _held_already(connection, rules, who, now)
    if len(given) <= want // 2:
        new = _due_check(connection, rules, annotator, now, draw)
        left, idle = want - len(given) - len(new), not (given or new)
        new += _take(connection, rules, who, now, draw, left, idle=idle)
        given += sorted(new, key=lambda one: one.question)  # the order in which a second request gives them
    return tuple(given or _due_check(connection, rules, annotator, now, draw, early=True))


def _held_already(connection: Connection, rules: Rules, who: int, now: int) -> list[Given]:
    """What the annotator was given and has not answered. A hidden check gets the times that a lease would get."""
    found, half = [], rules.campaign.lease // 2
    for one in unanswered(connection, who):
        until = now + rules.campaign.lease
        if one.until is None:
            until -= max(now - one.since, 0) % max(half, 1)
        elif one.since <= now and one.until - now >= half:
            until = one.until
        elif not _renew(connection, one.question, who, now, until):
            continue
        found.append(Given(one.token, one.question, one.query, one.candidate, one.side, until))
    return found


def _renew(connection: Connection, which: int, who: int, now: int, until: int) -> bool:
    """Start the time of a lease again, unless it is gone."""
    for held in hold(connection, [which]):
        try:
            after = renew(held.question, who, now, until)
        except VoteError:
            return False
        save(connection, [Transition(held, after)], now)
        return True
    return False


def _due_check(
    connection: Connection,
    rules: Rules,
    annotator: Annotator,
    now: int,
    draw: random.Random,
    *,
    early: bool = False,
) -> list[Given]:
    """A hidden check that is due; `early`, because nothing else is left: also one that is not due yet."""
    found = next_check(connection, annotator["id"])
    if found is None or not (early or found["due"] <= annotator["answers"]):
        return []
    shown = Lease(new_token(), annotator["id"], found["question"], draw.randrange(2), now, found["id"])
    add_leases(connection, [shown])
    show_check(connection, shown)
    pair = (found["question"], found["query"], found["candidate"])
    return [Given(shown.token, *pair, shown.side, now + rules.campaign.lease)]


def _take(
    connection: Connection, rules: Rules, who: int, now: int, draw: random.Random, want: int, *, idle: bool
) -> list[Given]:
    """Lease new pairs. An annotator who is `idle`, with nothing else to answer, also gets pairs that they skipped.

    Pairs that another transaction holds are left out, unless an idle annotator would get nothing.
    """
    taken: list[Given] = []
    tried: set[int] = set()
    for find in (_first_open, _any_open, _skipped):
        if len(taken) >= want or (find is _skipped and (taken or not idle)):
            break
        left = [which for which in find(connection, who) if which not in tried]
        tried.update(left)
        draw.shuffle(left)
        while left and len(taken) < want:
            some, left = left[: want - len(taken)], left[want - len(taken) :]
            taken += _lease(connection, rules, hold(connection, some, wait=False), who, now, draw)
    if idle and tried and not taken:
        return _wait_for_one(connection, rules, who, now, draw)
    return taken


def _wait_for_one(
    connection: Connection, rules: Rules, who: int, now: int, draw: random.Random
) -> list[Given]:
    """Lease one pair where other transactions hold all of them: wait for one after another."""
    for _ in range(WINDOW):
        left = _any_open(connection, who) or _skipped(connection, who)
        taken = _lease(connection, rules, hold(connection, left[:1]), who, now, draw)
        if taken or not left:
            return taken
    return []


def _lease(
    connection: Connection, rules: Rules, found: Iterable[Held], who: int, now: int, draw: random.Random
) -> list[Given]:
    """Lease those of these pairs that still have a free seat."""
    until, given, changes = now + rules.campaign.lease, [], []
    for held in found:
        one = Given(new_token(), held.which, held.query, held.candidate, draw.randrange(2), until)
        try:
            after = lease(held.question, who, one.token, now, until, one.side)
        except VoteError:
            continue
        changes.append(Transition(held, after))
        given.append(one)
    add_leases(connection, [Lease(one.token, who, one.question, one.side, now) for one in given])
    save(connection, changes, now)
    return given


def _first_open(connection: Connection, who: int) -> list[int]:
    """The first open pairs, without those on which the annotator has a claim."""
    mine = f",{who},"
    return [which for which, takers in connection.execute(_FIRST) if mine not in takers]


def _any_open(connection: Connection, who: int) -> list[int]:
    """Open pairs on which the annotator has no claim, whatever comes before them in the queue.

    Pairs with the same takers are interchangeable, so this looks at the first pair of each set of takers instead of
    walking over all pairs that the annotator has voted on.
    """
    mine, sets = f",{who},", connection.execute(_SETS, {"takers": ""}).all()
    while sets:
        others = sorted((place, takers) for takers, place in sets if mine not in takers)
        if others:
            found = [
                tuple(row)
                for _, takers in others[:NEAREST]
                for row in connection.execute(_OF_TAKERS, {"takers": takers})
            ]
            return [which for _, which in sorted(found)[:WINDOW]]
        more = len(sets) == SETS
        sets = connection.execute(_MORE_SETS, {"takers": sets[-1].takers}).all() if more else []
    return []


def _skipped(connection: Connection, who: int) -> list[int]:
    """Open pairs that the annotator skipped, the oldest skip first."""
    return list(connection.execute(_SKIPPED, {"who": who}).scalars())


def _sets_from(comparison: Callable[..., Any]) -> Select[Any]:
    """The next sets of takers, each with the place of its first pair.

    This is a loose index scan: each step of the recursion jumps to the next set in the index `question_takers`. The
    ranges stand for "equal" where PostgreSQL would otherwise walk along another index.
    """
    takers, place = question.c.takers, question.c.place
    first: Any = select(func.min(takers).label("takers"), literal_column("1").label("turn")).where(FREE)
    seen = first.where(comparison(takers, bindparam("takers"))).cte("seen", recursive=True)
    following = select(func.min(takers)).where(FREE, takers > seen.c.takers).scalar_subquery()
    step = select(following, seen.c.turn + literal_column("1"))
    seen = seen.union_all(step.where(seen.c.takers.is_not(None), seen.c.turn < literal_column(str(SETS))))
    same = (FREE, takers >= seen.c.takers, takers <= seen.c.takers)
    nearest = select(place).where(*same).order_by(takers, place).limit(1).scalar_subquery()
    return select(seen.c.takers, nearest).where(seen.c.takers.is_not(None))


_FIRST = select(question.c.id, question.c.takers).where(FREE).order_by(question.c.place).limit(WINDOW)
_SETS, _MORE_SETS = _sets_from(operator.ge), _sets_from(operator.gt)
_OF_TAKERS = (
    select(question.c.place, question.c.id)
    .where(FREE, question.c.takers >= bindparam("takers"), question.c.takers <= bindparam("takers"))
    .order_by(question.c.takers, question.c.place)
    .limit(WINDOW)
)
_SKIPPED = (
    select(question.c.id)
    .join(claim, claim.c.question == question.c.id)
    .where(claim.c.annotator == bindparam("who"), claim.c.kind == SKIP, FREE)
    .order_by(claim.c.since)
    .limit(WINDOW)
)
