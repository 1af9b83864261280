"""A person's own answers, and their corrections. Hidden checks are listed and corrected like pairs."""

import random
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, bindparam, literal_column, null, select

from lookalike.annotate.protocol import ANSWERS, OPEN
from lookalike.annotate.question import VOTE
from lookalike.core.checks import one_of
from lookalike.store.labelling.campaigns import Rules
from lookalike.store.labelling.checks import check_is_open
from lookalike.store.labelling.leases import find_lease
from lookalike.store.labelling.votes import Receipt, answer, take_answer_back
from lookalike.store.sql.labelling_schema import check, claim, lease, question

LISTED = 100


@dataclass(frozen=True)
class OwnAnswer:
    """An own answer, with the images as they were shown. One that is not correctable any more needs a lead."""

    token: str
    left: str
    right: str
    answer: str
    reason: str
    at: int
    correctable: bool


@dataclass(frozen=True)
class Correction:
    """What was acknowledged, and for the audit log what changed; "" if the correction was sent again."""

    receipt: Receipt
    change: str


def own_answers(connection: Connection, rules: Rules, who: int, now: int) -> tuple[OwnAnswer, ...]:
    """The last live answers of an annotator, the newest first; skips are none."""
    asked = {"who": who}
    rows = [*connection.execute(_VOTES, asked), *connection.execute(_CHECKS, asked)]
    newest = sorted(rows, key=lambda row: (-row.at, row.token))[:LISTED]
    return tuple(_own(connection, rules, who, now, row) for row in newest)


def correct(
    connection: Connection, rules: Rules, who: int, token: str, choice: str, now: int, draw: random.Random,
    *, reason: str = "",
) -> Correction:  # fmt: skip
    """Undo an own answer and give another one, while its pair is open. The history keeps both.

    The same correction sent again changes nothing.
    """
    one_of(choice, ANSWERS, "answer")
    given = find_lease(connection, token, who)
    live = _LIVE_VOTE if given.hidden_check is None else _LIVE_CHECK
    was = connection.execute(live, {"who": who, "which": given.hidden_check or given.question}).first()
    if was is not None and was.token != token and was.answer == choice:
        return Correction(Receipt(was.token, choice, was.at), "")
    back = take_answer_back(connection, rules, who, token, now)
    receipt = answer(connection, rules, who, back.token, choice, now, draw, reason=reason)
    before = was.answer if was is not None else ""
    return Correction(receipt, f"{back.query} · {back.candidate}: {before} → {choice}")


def _own(connection: Connection, rules: Rules, who: int, now: int, row: Any) -> OwnAnswer:  # noqa: ANN401 - a row
    left, right = (row.candidate, row.query) if row.side else (row.query, row.candidate)
    is_open = row.leased is not None and (
        check_is_open(connection, who, row.at, now, rules.campaign.grace)
        if row.state is None
        else row.state == OPEN and (row.resolves_at is None or now <= row.resolves_at)
    )
    return OwnAnswer(row.token, left, right, row.answer, row.reason, row.at, is_open)


_SHOWN = (question.c.query, question.c.candidate, lease.c.token.label("leased"))
_VOTES = (
    select(claim.c.token, claim.c.side, claim.c.answer, claim.c.reason, claim.c.since.label("at"), *_SHOWN)
    .add_columns(question.c.state, question.c.resolves_at)
    .join(question, question.c.id == claim.c.question)
    .outerjoin(lease, lease.c.token == claim.c.token)
    .where(claim.c.annotator == bindparam("who"), claim.c.kind == literal_column("'vote'"))
    .order_by(claim.c.since.desc())
    .limit(LISTED)
)
_CHECKS = (
    select(check.c.token, check.c.side, check.c.answer, check.c.reason, check.c.at, *_SHOWN)
    .add_columns(null().label("state"), null().label("resolves_at"))
    .join(question, question.c.id == check.c.question)
    .outerjoin(lease, lease.c.token == check.c.token)
    .where(check.c.annotator == bindparam("who"), check.c.answer.in_(ANSWERS))
    .order_by(check.c.at.desc())
    .limit(LISTED)
)
_LIVE_VOTE = select(claim.c.token, claim.c.answer, claim.c.since.label("at")).where(
    claim.c.annotator == bindparam("who"), claim.c.question == bindparam("which"), claim.c.kind == VOTE
)
_LIVE_CHECK = select(check.c.token, check.c.answer, check.c.at).where(
    check.c.annotator == bindparam("who"), check.c.id == bindparam("which"), check.c.answer.in_(ANSWERS)
)
