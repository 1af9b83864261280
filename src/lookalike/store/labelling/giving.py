"""The next pairs of an annotator: those they hold, a hidden check that is due, then what most needs an answer."""

import operator
import random
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection, Select, bindparam, func, literal_column, select

from lookalike.annotate.question import SKIP, lease, renew
from lookalike.core.errors import VoteError
from lookalike.store.labelling.annotators import Annotator, present
from lookalike.store.labelling.campaigns import Rules
from lookalike.store.labelling.checks import Check, planned_checks, show_check
from lookalike.store.labelling.leases import Given, Lease, add_leases, new_token, renew_checks, unanswered
from lookalike.store.labelling.progress import count_open
from lookalike.store.labelling.questions import FREE, Held, Transition, hold, save
from lookalike.store.sql.labelling_schema import claim, question

WINDOW = 48  # pairs are drawn from the first 48, so the order differs between annotators
SETS = 64  # sets of takers read together
NEAREST = 4  # the sets among them whose pairs are read
STEP = 8  # pairs that are added at once where many are reserved
NO_END = (1 << 31) - 1  # the largest number of answers

Placed = tuple[
    int, Given
]  # when a pair was given, and the pair; those of one time are in the order of their tokens


def next_pairs(
    connection: Connection, rules: Rules, who: int, now: int, draw: random.Random
) -> tuple[Given, ...]:
    """The pairs that an annotator can answer now, oldest first; none if nothing is left for them.

    A second request gives the same pairs and renews leases that have ended.
    """
    annotator = present(connection, who)
    found = _held_already(connection, rules, who, now)
    room = _room(connection, rules, len(found))
    if room:
        found += _new_pairs(connection, rules, annotator, now, draw, len(found), room)
    if not found:  # a hidden check that is not due yet, because nothing else is left
        early = planned_checks(connection, who, NO_END, 1)
        found = [_show(connection, rules, one, new_token(), now, draw) for one in early]
    return tuple(given for _, given in sorted(found, key=lambda one: (one[0], one[1].token)))


def _room(connection: Connection, rules: Rules, held: int) -> int:
    """How many pairs to reserve beside those held: none until several are missing.

    At most the campaign's `prefetch` pairs are reserved, and never more than a fair share of the open pairs.
    """
    most = rules.campaign.prefetch
    if held > _low(most):
        return 0
    share = count_open(connection) // rules.people
    most = min(most, max(share, 1))
    return most - held if held <= _low(most) else 0


def _low(most: int) -> int:
    """The number of reserved pairs at which pairs are added."""
    return max(most // 2, most - STEP)


def _held_already(connection: Connection, rules: Rules, who: int, now: int) -> list[Placed]:
    """What the annotator was given and has not answered. Hidden checks are renewed like leases."""
    rows, until = unanswered(connection, who), now + rules.campaign.lease
    late = [one for one in rows if one.since > now or one.until - now < rules.campaign.lease // 2]
    renewed = {one.token for one in late if one.hidden_check is not None}
    renew_checks(connection, renewed, until)
    renewed |= _renew(connection, [one.question for one in late if one.hidden_check is None], who, now, until)
    gone = {one.token for one in late} - renewed
    left = [(one, until if one.token in renewed else one.until) for one in rows if one.token not in gone]
    return [
        (one.since, Given(one.token, one.question, one.query, one.candidate, one.side, end))
        for one, end in left
    ]


def _renew(connection: Connection, which: Sequence[int], who: int, now: int, until: int) -> set[str]:
    """Start the time of leases again. Returns the tokens of those that are not gone."""
    changes = []
    for held in hold(connection, which):
        with suppress(VoteError):
            changes.append(Transition(held, renew(held.question, who, now, until)))
    save(connection, changes, now)
    return {one.token for change in changes for one in change.after.claims if one.annotator == who}


def _new_pairs(
    connection: Connection, rules: Rules, annotator: Annotator, now: int, draw: random.Random, held: int, room: int
) -> list[Placed]:  # fmt: skip
    """Newly leased pairs and, at chance places among them, the hidden checks that are due while they are answered."""
    answers, tokens = annotator["answers"] + held, sorted(new_token() for _ in range(room))
    checks: dict[str, Check] = {}
    for one in planned_checks(connection, annotator["id"], answers + room, room):
        if late := [token for token in tokens[max(one["due"] - answers, 0) :] if token not in checks]:
            checks[draw.choice(late)] = one
    idle = not held and all(one["due"] > answers for one in checks.values())
    others = [token for token in tokens if token not in checks]
    pairs = _take(connection, rules, annotator["id"], now, draw, others, idle=idle)
    shown = {token: one for token, one in checks.items() if one["due"] <= answers + len(pairs)}
    return pairs + [_show(connection, rules, one, token, now, draw) for token, one in shown.items()]


def _show(
    connection: Connection, rules: Rules, found: Check, token: str, now: int, draw: random.Random
) -> Placed:
    """Give a hidden check as a pair is given."""
    who, which, until = found["annotator"], found["question"], now + rules.campaign.lease
    shown = Lease(token, who, which, draw.randrange(2), until, found["id"])
    show_check(connection, shown, now)
    return now, Given(token, which, found["query"], found["candidate"], shown.side, until)


def _take(
    connection: Connection, rules: Rules, who: int, now: int, draw: random.Random, tokens: Sequence[str], *, idle: bool
) -> list[Placed]:  # fmt: skip
    """Lease a new pair for each token. An `idle` annotator has nothing else to answer and also gets skipped pairs.

    Pairs that another transaction holds are left out, unless an idle annotator would get nothing.
    """
    taken: list[Placed] = []
    tried: set[int] = set()
    for find in (_first_open, _any_open, _skipped):
        if not tokens or (find is _skipped and (taken or not idle)):
            break
        left = [which for which in find(connection, who) if which not in tried]
        tried.update(left)
        draw.shuffle(left)
        while left and tokens:
            some, left = left[: len(tokens)], left[len(tokens) :]
            new = _lease(connection, rules, hold(connection, some, wait=False), who, now, draw, tokens)
            taken, tokens = taken + new, tokens[len(new) :]
    if idle and tried and not taken:
        return _wait_for_one(connection, rules, who, now, draw)
    return taken


def _wait_for_one(
    connection: Connection, rules: Rules, who: int, now: int, draw: random.Random
) -> list[Placed]:
    """Lease one pair where other transactions hold all of them: wait for one after another."""
    for _ in range(WINDOW):
        left = _any_open(connection, who) or _skipped(connection, who)
        taken = _lease(connection, rules, hold(connection, left[:1]), who, now, draw, [new_token()])
        if taken or not left:
            return taken
    return []


def _lease(
    connection: Connection, rules: Rules, found: Iterable[Held], who: int, now: int, draw: random.Random,
    tokens: Sequence[str],
) -> list[Placed]:  # fmt: skip
    """Lease those of these pairs that still have a free seat, under these tokens."""
    until, changes = now + rules.campaign.lease, []
    given: list[Placed] = []
    for held in found:
        one = Given(tokens[len(given)], held.which, held.query, held.candidate, draw.randrange(2), until)
        try:
            after = lease(held.question, who, one.token, now, until, one.side)
        except VoteError:
            continue
        changes.append(Transition(held, after))
        given.append((now, one))
    add_leases(connection, [Lease(one.token, who, one.question, one.side, now) for _, one in given])
    save(connection, changes, now)
    return given


def _first_open(connection: Connection, who: int) -> list[int]:
    """The first open pairs, without those on which the annotator has a claim."""
    mine = f",{who},"
    return [which for which, takers in connection.execute(_FIRST) if mine not in takers]


def _any_open(connection: Connection, who: int) -> list[int]:
    """Open pairs on which the annotator has no claim, whatever comes before them in the queue.

    Pairs with the same takers are interchangeable, so this looks at the first pair of each set of takers instead of
    walking over all pairs that the annotator has voted on. On PostgreSQL other transactions can end between reading
    the sets and reading their pairs; where each of these sets has changed, the sets are read again.
    """
    while others := _nearest_sets(connection, who):
        pairs = [connection.execute(_OF_TAKERS, {"takers": takers}) for takers in others]
        if found := sorted(tuple(row) for rows in pairs for row in rows):
            return [which for _, which in found[:WINDOW]]
    return []


def _nearest_sets(connection: Connection, who: int) -> list[str]:
    """The sets of takers without the annotator whose first pairs come first in the queue, some of them."""
    mine, sets = f",{who},", connection.execute(_SETS, {"takers": ""}).all()
    while sets:
        if others := sorted((place, takers) for takers, place in sets if mine not in takers):
            return [takers for _, takers in others[:NEAREST]]
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
