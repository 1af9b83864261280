"""Hidden checks: repeated pairs and gold pairs. They are never votes and have their own table."""

import random
from collections.abc import Sequence
from dataclasses import replace

from sqlalchemy import (
    ColumnElement,
    Connection,
    RowMapping,
    bindparam,
    delete,
    exists,
    insert,
    literal_column,
    select,
    update,
)

from lookalike.annotate.campaign import Campaign
from lookalike.annotate.protocol import OPEN
from lookalike.annotate.question import SKIP, VOTE, refused
from lookalike.store.labelling.annotators import uncount_answer
from lookalike.store.labelling.leases import Given, Lease, add_leases, find_lease, new_token
from lookalike.store.people.people import PRESENT
from lookalike.store.sql.labelling_schema import annotator, check, claim, gold, question

REPEAT, GOLD = "repeat", "gold"
NONE = ""  # not answered yet
FIRST_TURN = 2  # of a repeat: the vote itself was the first

Check = RowMapping  # with the query and the candidate of its pair


def waits_for_repeat() -> ColumnElement[bool]:
    """Whether one who voted on a question will get it again: the others do not discuss it until that is answered.

    Who left the team gets nothing again. The votes of the question lead to its checks, so no table is walked.
    """
    repeats = check.c.annotator == claim.c.annotator, check.c.question == claim.c.question
    return (
        exists()
        .where(claim.c.question == question.c.id, claim.c.kind == VOTE, *repeats)
        .where(check.c.kind == REPEAT, check.c.answer == NONE)
        .where(annotator.c.id == claim.c.annotator, PRESENT)
        .correlate(question)
    )


def planned_checks(connection: Connection, who: int, before: int, most: int) -> Sequence[Check]:
    """The next hidden checks that an annotator was not shown yet, of those due before a number of answers.

    A pair is not repeated again before its last repeat was answered.
    """
    return connection.execute(_PLANNED.limit(most), {"who": who, "before": before}).mappings().all()


def show_check(connection: Connection, shown: Lease, since: int) -> None:
    """Note that a hidden check is shown under a new lease. An earlier answer no longer counts."""
    add_leases(connection, [shown])
    empty = {"answer": NONE, "at": None, "took": 0, "reason": ""}
    new = {"token": shown.token, "side": shown.side, "since": since, **empty}
    connection.execute(update(check).where(check.c.id == shown.hidden_check).values(new))


def answer_check(
    connection: Connection, given: Lease, choice: str, now: int, took: int, reason: str
) -> tuple[int, bool]:
    """Take the answer to a hidden check; returns when it was taken, and whether it is new."""
    found = _check_of(connection, given)
    if found["token"] != given.token:  # a late copy of an answer that was undone changes nothing
        return found["since"], False
    if found["answer"]:
        if found["answer"] != choice:
            raise refused("answered")
        return found["at"], False
    new = {"answer": choice, "took": took, "at": now, "reason": reason}
    connection.execute(update(check).where(check.c.id == found["id"]).values(new))
    return now, True


def undo_check(connection: Connection, given: Lease, now: int, campaign: Campaign) -> Given:
    """Let a hidden check be answered again, as long as a pair would be.

    A second request gives the same pair again and undoes nothing more.
    """
    found = _check_of(connection, given)
    undone = found["token"] != given.token
    if undone == bool(found["answer"]):
        raise refused("nothing-to-undo")
    if undone:
        fresh = find_lease(connection, found["token"], given.annotator)
    elif not check_is_open(connection, given.annotator, found["at"], now, campaign.grace):
        raise refused("settled")
    else:
        fresh = replace(given, token=new_token(), at=now + campaign.lease)
        show_check(connection, fresh, now)
        if found["answer"] != SKIP:
            uncount_answer(connection, given.annotator, found["at"])
    pair = (found["question"], found["query"], found["candidate"])
    return Given(fresh.token, *pair, given.side, fresh.at)


def check_is_open(connection: Connection, who: int, at: int, now: int, grace: int) -> bool:
    """Whether the answer that an annotator gave to a check can be changed.

    Nothing may tell a check from a pair, so it is open as long as the pair that they voted on before it; and at least
    as long as any pair.
    """
    if now - at <= grace:
        return True
    before = connection.execute(_VOTED_BEFORE, {"who": who, "at": at}).first()
    return before is None or (
        before.state == OPEN and (before.resolves_at is None or now <= before.resolves_at)
    )


def plan_repeats(
    connection: Connection, campaign: Campaign, who: int, which: int, answers: int, draw: random.Random
) -> None:
    """Plan two repeats of a pair that was just answered, unless the annotator has enough repeats.

    A pair that was repeated before, and was answered again after an undo, is not repeated again.
    """
    repeated = set(connection.execute(_REPEATED, {"who": who}).scalars())
    if len(repeated) >= campaign.repeats or which in repeated:
        return
    first = answers + draw.randint(*campaign.gap)
    second = first + draw.randint(*campaign.gap)
    row = {"annotator": who, "question": which, "kind": REPEAT}
    turns = ({"turn": FIRST_TURN, "due": first}, {"turn": FIRST_TURN + 1, "due": second})
    connection.execute(insert(check), [row | turn for turn in turns])


def plan_gold(connection: Connection, who: int, answers: int) -> None:
    """Plan the oldest gold pair that an annotator has neither voted on nor seen, if there is one."""
    which = connection.execute(_UNSEEN_GOLD, {"who": who}).scalar()
    if which is not None:
        row = {"annotator": who, "question": which, "kind": GOLD, "turn": 1, "due": answers}
        connection.execute(insert(check), row)


def drop_repeats(connection: Connection, who: int, which: int) -> None:
    """Drop the unanswered repeats of a pair: the vote that they repeat was undone."""
    mine = (check.c.annotator == who, check.c.question == which)
    connection.execute(delete(check).where(*mine, check.c.kind == REPEAT, check.c.answer == NONE))


def _check_of(connection: Connection, given: Lease) -> Check:
    return connection.execute(_ONE, {"which": given.hidden_check}).mappings().one()


_WITH_PAIR = select(check, question.c.query, question.c.candidate).join(
    question, question.c.id == check.c.question
)
_ONE = _WITH_PAIR.where(check.c.id == bindparam("which"))
_other = check.alias()
_EARLIER = (
    _other.c.annotator == check.c.annotator,
    _other.c.question == check.c.question,
    _other.c.kind == check.c.kind,
    _other.c.turn < check.c.turn,
    _other.c.answer == NONE,
)
_PLANNED = (
    _WITH_PAIR.where(check.c.annotator == bindparam("who"), check.c.answer == NONE, check.c.token.is_(None))
    .where(check.c.due < bindparam("before"), ~exists().where(*_EARLIER))
    .order_by(check.c.due, check.c.id)
)
_VOTED_BEFORE = (
    select(question.c.state, question.c.resolves_at)
    .join(claim, claim.c.question == question.c.id)
    .where(claim.c.annotator == bindparam("who"), claim.c.kind == literal_column("'vote'"))
    .where(claim.c.since <= bindparam("at"))
    .order_by(claim.c.since.desc(), claim.c.question.desc())
    .limit(1)
)
_REPEATED = select(check.c.question).where(
    check.c.annotator == bindparam("who"), check.c.kind == REPEAT, check.c.turn == FIRST_TURN
)
_SEEN = select(check.c.question).where(check.c.annotator == bindparam("who"), check.c.kind == GOLD)
_VOTED = select(claim.c.question).where(claim.c.annotator == bindparam("who"))
_UNSEEN_GOLD = (
    select(gold.c.question)
    .where(gold.c.question.not_in(_SEEN), gold.c.question.not_in(_VOTED))
    .order_by(gold.c.at, gold.c.question)
    .limit(1)
)
