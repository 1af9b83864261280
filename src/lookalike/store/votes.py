"""Answers: taken once, kept for good, undone until their pair settles. The one door by which votes come in.

Each function runs in a transaction of its caller. `now` is in milliseconds; `draw` makes every random choice.
"""

import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from lookalike.annotate.pace import HOUR_MS
from lookalike.annotate.protocol import ANSWERS
from lookalike.annotate.question import LEASE, SKIP, Question, refused, skip, undo, vote
from lookalike.core.checks import one_of
from lookalike.core.errors import AccessError
from lookalike.store import votes_schema as schema
from lookalike.store.checks import answer_check, check_row, drop_repeats, plan_gold, plan_repeats, take_back
from lookalike.store.giving import Given, annotator_row, give
from lookalike.store.leases import Rules, Ticket, read_token, successor, token_of
from lookalike.store.prepared import Prepared, only
from lookalike.store.questions import load, save

PAUSE = 120_000  # who answers later than this after their last answer was not at work all the time
LONGEST_TOOK = HOUR_MS
UNDO = "undo"
Person = Mapping[str, Any]  # an annotator's row


@dataclass(frozen=True)
class Receipt:
    """What was acknowledged. The same answer sent again gets the same receipt."""

    token: str
    answer: str
    at: int


_NEW = ("question", "annotator", "answer", "place", "side", "at", "took", "token")
_KEPT = Prepared(select(schema.vote.c.answer, schema.vote.c.at).where(schema.vote.c.token == bindparam("of")))
_KEEP = Prepared(insert(schema.vote).values({name: bindparam(name) for name in _NEW}).inline())
_COUNT = Prepared(
    update(schema.annotator)
    .where(schema.annotator.c.id == bindparam("who"))
    .values(answers=schema.annotator.c.answers + 1, last=bindparam("now"))
)


def answer(
    connection: Connection,
    rules: Rules,
    who: int,
    token: str,
    said: str,
    now: int,
    draw: random.Random,
    *,
    took: int = 0,
) -> Receipt:
    """Take an annotator's answer to a pair they were given: similar, dissimilar, unsure, or skip."""
    one_of(said, (*ANSWERS, SKIP), "answer")
    ticket, person = _checked(connection, rules, who, token)
    took = min(max(took, 0), LONGEST_TOOK)
    if ticket.check:
        return _take_check(connection, ticket.check, person, token, said, now, took)
    before = _held(connection, ticket.question)
    mine = before.of(who)
    if mine is None or mine.token != token or mine.kind != LEASE:
        again = _known(connection, token, said)
        if again is not None:
            return again
    after = _step(before, ticket, token, said, now, rules.campaign.grace)
    _keep(connection, ticket, said, token, now, place=person["answers"], took=took)
    save(connection, ticket.question, before, after, now)
    if said != SKIP:
        _count(connection, person, now, took)
        _plan_checks(connection, rules, person, ticket.question, draw)
    return Receipt(token, said, now)


def _keep(
    connection: Connection, ticket: Ticket, said: str, token: str, now: int, *, place: int = 0, took: int = 0
) -> None:
    """Add to the history."""
    row = {"question": ticket.question, "annotator": ticket.annotator, "side": ticket.side}
    _KEEP.run(connection, **row, answer=said, token=token, at=now, place=place, took=took)


def _step(before: Question, ticket: Ticket, token: str, said: str, now: int, grace: int) -> Question:
    if said == SKIP:
        return skip(before, ticket.annotator, token, now, ticket.side)
    return vote(before, ticket.annotator, token, said, now, grace, ticket.side)


def _checked(connection: Connection, rules: Rules, who: int, token: str) -> tuple[Ticket, Person]:
    """What a token says, and the annotator it was given to, who must be this one and still be there."""
    ticket = read_token(token, rules.key)
    if ticket.annotator != who:
        raise refused("not-leased")
    return ticket, present(connection, who)


def present(connection: Connection, who: int) -> Person:
    """An annotator who has not been removed, held so that two of their requests take turns."""
    person = annotator_row(connection, who)
    if person is None or person["removed"] is not None:
        raise AccessError(
            "This account was removed; answers it gave before are kept.", fix="Ask a lead.", code="removed"
        )
    return person


def _held(connection: Connection, which: int) -> Question:
    found = load(connection, which)
    if found is None:
        raise refused("unknown")
    return found


def _known(connection: Connection, token: str, said: str) -> Receipt | None:
    """The receipt of an answer that came before under the same token; another answer does not replace it."""
    kept = only(_KEPT.rows(connection, of=token))
    if kept is None:
        return None
    if kept[0] != said:
        raise refused("answered")
    return Receipt(token, said, kept[1])


def _take_check(
    connection: Connection, which: int, person: Person, token: str, said: str, now: int, took: int
) -> Receipt:
    """Take the answer to a hidden check; it is no vote, whatever has become of its pair."""
    found = check_row(connection, which)
    if found is None:
        raise refused("not-leased")
    if found["token"] != token:
        return Receipt(
            token, said, found["since"]
        )  # a late copy of an answer that was undone changes nothing
    if found["answer"]:
        if found["answer"] != said:
            raise refused("answered")
        return Receipt(token, said, found["at"])
    answer_check(connection, which, said, took, now)
    if said != SKIP:
        _count(connection, person, now, took)
    return Receipt(token, said, now)


def _count(connection: Connection, person: Person, now: int, took: int) -> None:
    """One more answer of an annotator, and the time they worked at it."""
    _COUNT.run(connection, who=person["id"], now=now)
    since = now - person["last"] if person["last"] is not None else took
    active = since if 0 <= since <= PAUSE else min(took, PAUSE)
    _PACE.run(connection, annotator=person["id"], hour=now // HOUR_MS, answers=1, active=active)


def _pace(dialect: Any) -> Any:  # noqa: ANN401 - both dialects' own classes
    own, names = schema.pace, ("annotator", "hour", "answers", "active")
    new = dialect.insert(own).values({name: bindparam(name) for name in names})
    more = {name: own.c[name] + new.excluded[name] for name in ("answers", "active")}
    return new.on_conflict_do_update(index_elements=["annotator", "hour"], set_=more)


_PACE = Prepared({"sqlite": _pace(sqlite), "postgresql": _pace(postgresql)})


def _plan_checks(
    connection: Connection, rules: Rules, person: Person, which: int, draw: random.Random
) -> None:
    answers = person["answers"] + 1
    if draw.random() < rules.repeat_share:
        plan_repeats(connection, rules.campaign, person["id"], which, answers, draw)
    if rules.campaign.gold_every and answers % rules.campaign.gold_every == 0:
        plan_gold(connection, person["id"], answers)


def take_answer_back(connection: Connection, rules: Rules, who: int, token: str, now: int) -> Given:
    """Undo the answer that was given under a token, until its pair has settled: the pair is theirs to answer again.

    Asked a second time it gives the same pair and undoes nothing more.
    """
    ticket, _ = _checked(connection, rules, who, token)
    fresh = token_of(successor(ticket, token, now), rules.key)
    until = now + rules.campaign.lease
    if ticket.check:
        found = check_row(connection, ticket.check)
        if found is not None and found["token"] != token and found["token"] and not found["answer"]:
            return _given(connection, ticket, found["token"], until)
        if found is None or found["token"] != token or not _recent(dict(found), now, rules):
            raise refused("nothing-to-undo")
        take_back(connection, ticket.check, fresh, now)
        return _given(connection, ticket, fresh, until)
    before = _held(connection, ticket.question)
    mine = before.of(who)
    if mine is not None and mine.kind != LEASE and mine.token == token:
        after = undo(before, who, fresh, now, until)
        _keep(connection, ticket, UNDO, f"{UNDO}:{token}", now)
        save(connection, ticket.question, before, after, now)
        drop_repeats(connection, who, ticket.question)
        return _given(connection, ticket, fresh, until)
    undone = _KEPT.rows(connection, of=f"{UNDO}:{token}")
    if not undone or mine is None or mine.kind != LEASE:
        raise refused("nothing-to-undo")
    return _given(connection, ticket, mine.token, mine.until)


def _recent(found: dict[str, Any], now: int, rules: Rules) -> bool:
    """Whether a check was answered, and so lately that a vote could be undone as well."""
    return bool(found["answer"]) and now - found["at"] <= rules.campaign.grace


def _given(connection: Connection, ticket: Ticket, token: str, until: int) -> Given:
    pair = select(schema.question.c.query, schema.question.c.candidate).where(
        schema.question.c.id == ticket.question
    )
    query, candidate = connection.execute(pair).one()
    return Given(token, ticket.question, query, candidate, ticket.side, until)


def next_pairs(
    connection: Connection, rules: Rules, who: int, now: int, draw: random.Random
) -> tuple[Given, ...]:
    """The pairs that are an annotator's to answer now; none where nothing is left for them."""
    return give(connection, rules, present(connection, who), now, draw)
