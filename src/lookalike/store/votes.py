"""Answers: taken once, kept for good, undone until their pair settles. The one door by which votes come in.

Each function runs on a unit of work in its caller's transaction. `now` is in milliseconds; `draw` makes every random
choice.
"""

import random
from dataclasses import dataclass, replace

from sqlalchemy import bindparam, select

from lookalike.annotate.pace import HOUR_MS
from lookalike.annotate.protocol import ANSWERS
from lookalike.annotate.question import LEASE, SKIP, Question, refused, skip, undo, vote
from lookalike.core.checks import one_of
from lookalike.core.errors import AccessError, VoteError
from lookalike.store import votes_schema as schema
from lookalike.store.check_rows import NONE, Check, drop_repeats
from lookalike.store.giving import Given, give
from lookalike.store.leases import Rules, Ticket, read_token, successor, token_of
from lookalike.store.prepared import Prepared, only
from lookalike.store.questions import Held
from lookalike.store.unit_of_work import Foreseen, UnitOfWork
from lookalike.store.work_rows import Row

PAUSE = 120_000  # who answers later than this after their last answer was not at work all the time
LONGEST_TOOK = HOUR_MS
UNDO = "undo"


@dataclass(frozen=True)
class Receipt:
    """What was acknowledged. The same answer sent again gets the same receipt."""

    token: str
    answer: str
    at: int


def foresee(rules: Rules, annotator: int, token: str, program: str = "") -> Foreseen:
    """What a call about the pair of a token will ask for; `program` is the token of one that is not signed in."""
    try:
        ticket = read_token(token, rules.key)
    except VoteError:
        return Foreseen(annotator, program)
    if ticket.check:
        return Foreseen(annotator, program, check=ticket.check)
    return Foreseen(annotator, program, question=ticket.question)


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
    found = work.checks.one(which)
    if found is None:
        raise refused("not-leased")
    if found.token != token:  # a late copy of an answer that was undone changes nothing
        return Receipt(token, said, found.since or 0)
    if found.answer:
        if found.answer != said:
            raise refused("answered")
        return Receipt(token, said, found.at or 0)
    work.save_check(replace(found, answer=said, took=took, at=now))
    if said != SKIP:
        _count(work, person, now, took)
    return Receipt(token, said, now)


def _count(work: UnitOfWork, person: Row, now: int, took: int) -> None:
    """One more answer of an annotator, and the time they worked at it."""
    since = now - person["last"] if person["last"] is not None else took
    work.count(person, now, since if 0 <= since <= PAUSE else min(took, PAUSE))


def _plan_checks(work: UnitOfWork, rules: Rules, person: Row, which: int, draw: random.Random) -> None:
    answers, who, campaign = person["answers"] + 1, person["id"], rules.campaign
    due = [person["check_at"]]
    if draw.random() < rules.repeat_share:
        due.append(work.checks.plan_repeats(campaign, who, which, answers, draw))
    if campaign.gold_every and answers % campaign.gold_every == 0:
        due.append(work.checks.plan_gold(who, answers))
    work.note_due(who, min((one for one in due if one is not None), default=None))


def take_answer_back(work: UnitOfWork, rules: Rules, who: int, token: str, now: int) -> Given:
    """Undo the answer that was given under a token, until its pair has settled: the pair is theirs to answer again.

    Asked a second time it gives the same pair and undoes nothing more.
    """
    ticket, _ = _checked(work, rules, who, token)
    fresh = token_of(successor(ticket, token, now), rules.key)
    until = now + rules.campaign.lease
    if ticket.check:
        check = _check_taken_back(work, rules, ticket.check, token, fresh, now)
        pair = (check.query, check.candidate)
        return Given(check.token or fresh, ticket.question, *pair, ticket.side, until)
    held = _held(work, ticket.question)
    mine = held.question.of(who)
    if mine is not None and mine.kind != LEASE and mine.token == token:
        after = undo(held.question, who, fresh, now, until)
        _keep(work, ticket, UNDO, f"{UNDO}:{token}", now)
        work.save(ticket.question, after, now)
        _drop_repeats(work, who, ticket.question)
        return _given(held, ticket, fresh, until)
    undone = _KEPT.rows(work.reading(), of=f"{UNDO}:{token}")
    if not undone or mine is None or mine.kind != LEASE:
        raise refused("nothing-to-undo")
    return _given(held, ticket, mine.token, mine.until)


def _check_taken_back(work: UnitOfWork, rules: Rules, which: int, token: str, fresh: str, now: int) -> Check:
    """A hidden check to be answered again: as lately as a vote could be undone, and as often as that."""
    found = work.checks.one(which)
    if found is not None and found.token and found.token != token and not found.answer:
        return found
    answered = found is not None and found.token == token and found.at is not None
    if found is None or not answered or now - (found.at or 0) > rules.campaign.grace:
        raise refused("nothing-to-undo")
    after = replace(found, token=fresh, since=now, answer=NONE, at=None, took=0)
    work.save_check(after)
    return after


def _drop_repeats(work: UnitOfWork, who: int, which: int) -> None:
    """Forget the repeats of a pair that were not answered: the vote they would be compared with was undone."""
    drop_repeats(work.writing(who), who, which)
    work.note_due(who, work.checks.due(who))


def _given(held: Held, ticket: Ticket, token: str, until: int) -> Given:
    return Given(token, ticket.question, held.query, held.candidate, ticket.side, until)


def next_pairs(work: UnitOfWork, rules: Rules, who: int, now: int, draw: random.Random) -> tuple[Given, ...]:
    """The pairs that are an annotator's to answer now; none where nothing is left for them."""
    return give(work, rules, present(work, who), now, draw)
