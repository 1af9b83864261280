"""Answers: taken once, kept for good, undone until their pair settles. The one door by which votes come in.

Each function runs on a unit of work in its caller's transaction. `now` is in milliseconds; `draw` makes every random
choice.
"""

import random
from dataclasses import dataclass
from typing import Any

from sqlalchemy import bindparam, select

from lookalike.annotate.pace import HOUR_MS
from lookalike.annotate.protocol import ANSWERS
from lookalike.annotate.question import LEASE, SKIP, Question, refused, skip, undo, vote
from lookalike.core.checks import one_of
from lookalike.core.errors import AccessError
from lookalike.store import votes_schema as schema
from lookalike.store.checks import answer_check, check_row, drop_repeats, plan_gold, plan_repeats, take_back
from lookalike.store.giving import Given, give
from lookalike.store.leases import Rules, Ticket, read_token, successor, token_of
from lookalike.store.prepared import Prepared, only
from lookalike.store.questions import Held
from lookalike.store.unit_of_work import Row, UnitOfWork

PAUSE = 120_000  # who answers later than this after their last answer was not at work all the time
LONGEST_TOOK = HOUR_MS
UNDO = "undo"


@dataclass(frozen=True)
class Receipt:
    """What was acknowledged. The same answer sent again gets the same receipt."""

    token: str
    answer: str
    at: int


_KEPT = Prepared(select(schema.vote.c.answer, schema.vote.c.at).where(schema.vote.c.token == bindparam("of")))


def answer(
    work: UnitOfWork,
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
    ticket, person = _checked(work, rules, who, token)
    took = min(max(took, 0), LONGEST_TOOK)
    if ticket.check:
        return _take_check(work, ticket.check, person, token, said, now, took)
    held = _held(work, ticket.question)
    mine = held.question.of(who)
    if mine is None or mine.token != token or mine.kind != LEASE:
        again = _known(work, token, said)
        if again is not None:
            return again
    after = _step(held.question, ticket, token, said, now, rules.campaign.grace)
    _keep(work, ticket, said, token, now, place=person["answers"], took=took)
    work.save(ticket.question, after, now)
    if said != SKIP:
        _count(work, person, now, took)
        _plan_checks(work, rules, person, ticket.question, draw)
    return Receipt(token, said, now)


def _keep(
    work: UnitOfWork, ticket: Ticket, said: str, token: str, now: int, *, place: int = 0, took: int = 0
) -> None:
    """Add to the history."""
    row = {"question": ticket.question, "annotator": ticket.annotator, "side": ticket.side}
    work.keep({**row, "answer": said, "token": token, "at": now, "place": place, "took": took})


def _step(before: Question, ticket: Ticket, token: str, said: str, now: int, grace: int) -> Question:
    if said == SKIP:
        return skip(before, ticket.annotator, token, now, ticket.side)
    return vote(before, ticket.annotator, token, said, now, grace, ticket.side)


def _checked(work: UnitOfWork, rules: Rules, who: int, token: str) -> tuple[Ticket, Row]:
    """What a token says, and the annotator it was given to, who must be this one and still be there."""
    ticket = read_token(token, rules.key)
    if ticket.annotator != who:
        raise refused("not-leased")
    return ticket, present(work, who)


def present(work: UnitOfWork, who: int) -> Row:
    """An annotator who has not been removed, held so that two of their requests take turns."""
    person = work.person(who)
    if person is None or person["removed"] is not None:
        raise AccessError(
            "This account was removed; answers it gave before are kept.", fix="Ask a lead.", code="removed"
        )
    return person


def _held(work: UnitOfWork, which: int) -> Held:
    found = work.question(which)
    if found is None:
        raise refused("unknown")
    return found


def _known(work: UnitOfWork, token: str, said: str) -> Receipt | None:
    """The receipt of an answer that came before under the same token; another answer does not replace it."""
    kept = only(_KEPT.rows(work.reading(), of=token))
    if kept is None:
        return None
    if kept[0] != said:
        raise refused("answered")
    return Receipt(token, said, kept[1])


def _take_check(
    work: UnitOfWork, which: int, person: Row, token: str, said: str, now: int, took: int
) -> Receipt:
    """Take the answer to a hidden check; it is no vote, whatever has become of its pair."""
    found = check_row(work.reading(), which)
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
    answer_check(work.writing(person["id"]), which, said, took, now)
    if said != SKIP:
        _count(work, person, now, took)
    return Receipt(token, said, now)


def _count(work: UnitOfWork, person: Row, now: int, took: int) -> None:
    """One more answer of an annotator, and the time they worked at it."""
    since = now - person["last"] if person["last"] is not None else took
    work.count(person, now, since if 0 <= since <= PAUSE else min(took, PAUSE))


def _plan_checks(work: UnitOfWork, rules: Rules, person: Row, which: int, draw: random.Random) -> None:
    answers, who = person["answers"] + 1, person["id"]
    if draw.random() < rules.repeat_share:
        work.check_is_due(who, plan_repeats(work.connection, rules.campaign, who, which, answers, draw))
    if rules.campaign.gold_every and answers % rules.campaign.gold_every == 0:
        plan_gold(work.writing(who), who, answers)


def take_answer_back(work: UnitOfWork, rules: Rules, who: int, token: str, now: int) -> Given:
    """Undo the answer that was given under a token, until its pair has settled: the pair is theirs to answer again.

    Asked a second time it gives the same pair and undoes nothing more.
    """
    ticket, _ = _checked(work, rules, who, token)
    fresh = token_of(successor(ticket, token, now), rules.key)
    until = now + rules.campaign.lease
    held = _held(work, ticket.question)
    if ticket.check:
        found = check_row(work.reading(), ticket.check)
        if found is not None and found["token"] != token and found["token"] and not found["answer"]:
            return _given(held, ticket, found["token"], until)
        if found is None or found["token"] != token or not _recent(dict(found), now, rules):
            raise refused("nothing-to-undo")
        take_back(work.writing(who), ticket.check, fresh, now)
        return _given(held, ticket, fresh, until)
    mine = held.question.of(who)
    if mine is not None and mine.kind != LEASE and mine.token == token:
        after = undo(held.question, who, fresh, now, until)
        _keep(work, ticket, UNDO, f"{UNDO}:{token}", now)
        work.save(ticket.question, after, now)
        drop_repeats(work.writing(who), who, ticket.question)
        return _given(held, ticket, fresh, until)
    undone = _KEPT.rows(work.reading(), of=f"{UNDO}:{token}")
    if not undone or mine is None or mine.kind != LEASE:
        raise refused("nothing-to-undo")
    return _given(held, ticket, mine.token, mine.until)


def _recent(found: dict[str, Any], now: int, rules: Rules) -> bool:
    """Whether a check was answered, and so lately that a vote could be undone as well."""
    return bool(found["answer"]) and now - found["at"] <= rules.campaign.grace


def _given(held: Held, ticket: Ticket, token: str, until: int) -> Given:
    return Given(token, ticket.question, held.query, held.candidate, ticket.side, until)


def next_pairs(work: UnitOfWork, rules: Rules, who: int, now: int, draw: random.Random) -> tuple[Given, ...]:
    """The pairs that are an annotator's to answer now; none where nothing is left for them."""
    return give(work, rules, present(work, who), now, draw)
