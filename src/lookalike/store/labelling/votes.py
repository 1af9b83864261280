"""Answers: each is taken once, kept in the history, and can be undone until its pair is resolved.

Each function works in its caller's transaction. `now` is in milliseconds; `draw` makes every random choice.
"""

import random
from dataclasses import dataclass, replace

from sqlalchemy import Connection, bindparam, insert, select

from lookalike.annotate.agreement.pace import HOUR_MS
from lookalike.annotate.protocol import ANSWERS, reason_of
from lookalike.annotate.question import LEASE, SKIP, VOTE, Question, refused, skip, undo, vote
from lookalike.core.checks import one_of
from lookalike.store.labelling.annotators import Annotator, count_answer, present, uncount_answer
from lookalike.store.labelling.campaigns import Rules
from lookalike.store.labelling.checks import (
    answer_check,
    drop_repeats,
    plan_gold,
    plan_repeats,
    undo_check,
)
from lookalike.store.labelling.leases import Given, Lease, add_leases, find_lease, new_token
from lookalike.store.labelling.questions import Transition, hold_one, save
from lookalike.store.sql import labelling_schema as schema

LONGEST_TOOK = HOUR_MS
UNDO = "undo"


@dataclass(frozen=True)
class Receipt:
    """What was acknowledged. The same answer sent again gets the same receipt."""

    token: str
    answer: str
    at: int


def answer(
    connection: Connection,
    rules: Rules,
    who: int,
    token: str,
    choice: str,
    now: int,
    draw: random.Random,
    *,
    took: int = 0,
    reason: str = "",
) -> Receipt:
    """Take an annotator's answer to a pair they were given: similar, dissimilar, unsure, or skip.

    The same answer sent again keeps the first reason.
    """
    one_of(choice, (*ANSWERS, SKIP), "answer")
    given = find_lease(connection, token, who)
    annotator = present(connection, who)
    took, reason = min(max(took, 0), LONGEST_TOOK), "" if choice == SKIP else reason_of(reason)
    if given.hidden_check is not None:
        at, is_new = answer_check(connection, given, choice, now, took, reason)
        if is_new and choice != SKIP:
            count_answer(connection, annotator, now, took)
        return Receipt(token, choice, at)
    held = hold_one(connection, given.question)
    mine = held.question.of(who)
    if mine is None or mine.token != token or mine.kind != LEASE:
        again = _receipt(connection, token, choice)
        if again is not None:
            return again
    after = _step(held.question, given, choice, now, rules.campaign.grace, reason)
    counted = {"place": annotator["answers"], "took": took, "reason": reason}
    _record(connection, given, choice, token, now, **counted)
    save(connection, [Transition(held, after)], now)
    if choice != SKIP:
        count_answer(connection, annotator, now, took)
        _plan_checks(connection, rules, annotator, given.question, draw)
    return Receipt(token, choice, now)


def take_answer_back(connection: Connection, rules: Rules, who: int, token: str, now: int) -> Given:
    """Undo the answer that was given under a token, until its pair is resolved: the annotator answers the pair again.

    A second request gives the same pair and undoes nothing more.
    """
    given = find_lease(connection, token, who)
    present(connection, who)
    if given.hidden_check is not None:
        return undo_check(connection, given, now, rules.campaign)
    held = hold_one(connection, given.question)
    mine = held.question.of(who)
    if mine is not None and mine.kind != LEASE and mine.token == token:
        fresh = replace(given, token=new_token(), at=now)
        until = now + rules.campaign.lease
        after = undo(held.question, who, fresh.token, now, until)
        add_leases(connection, [fresh])
        _record(connection, given, UNDO, f"{UNDO}:{token}", now)
        save(connection, [Transition(held, after)], now)
        drop_repeats(connection, who, held.which)
        if mine.kind == VOTE:
            uncount_answer(connection, who, mine.since)
    else:
        undone = connection.execute(_RECORDED, {"token": f"{UNDO}:{token}"}).first()
        if undone is None or mine is None or mine.kind != LEASE:
            raise refused("nothing-to-undo")
        fresh, until = replace(given, token=mine.token), mine.until
    return Given(fresh.token, held.which, held.query, held.candidate, given.side, until)


def _step(before: Question, given: Lease, choice: str, now: int, grace: int, reason: str) -> Question:
    if choice == SKIP:
        return skip(before, given.annotator, given.token, now, given.side)
    return vote(before, given.annotator, given.token, choice, now, grace, given.side, reason)


def _receipt(connection: Connection, token: str, choice: str) -> Receipt | None:
    """The receipt of an earlier answer under the same token. A different answer does not replace it."""
    kept = connection.execute(_RECORDED, {"token": token}).first()
    if kept is None:
        return None
    if kept.answer != choice:
        raise refused("answered")
    return Receipt(token, choice, kept.at)


def _record(
    connection: Connection, given: Lease, choice: str, token: str, now: int, *, place: int = 0, took: int = 0,
    reason: str = "",
) -> None:  # fmt: skip
    """Add to the history."""
    row = {"question": given.question, "annotator": given.annotator, "side": given.side}
    what = {"answer": choice, "token": token, "at": now, "place": place, "took": took, "reason": reason}
    connection.execute(insert(schema.vote), {**row, **what})


def _plan_checks(
    connection: Connection, rules: Rules, annotator: Annotator, which: int, draw: random.Random
) -> None:
    answers, campaign = annotator["answers"] + 1, rules.campaign
    if draw.random() < rules.repeat_share:
        plan_repeats(connection, campaign, annotator["id"], which, answers, draw)
    if campaign.gold_every and answers % campaign.gold_every == 0:
        plan_gold(connection, annotator["id"], answers)


_RECORDED = select(schema.vote.c.answer, schema.vote.c.at).where(schema.vote.c.token == bindparam("token"))
