"""Hidden checks: pairs that come back to the one who answered them, and gold pairs. Never votes; they live apart."""

import random

from sqlalchemy import Connection, RowMapping, and_, bindparam, delete, func, insert, select, update

from lookalike.annotate.campaign import Campaign
from lookalike.store.listed import all_of, as_rows, for_both, listed
from lookalike.store.prepared import Prepared
from lookalike.store.votes_schema import annotator, check, claim, gold, question

REPEAT, GOLD = "repeat", "gold"
NONE = ""
TURNS = (2, 3)  # the vote itself was the first

_WAITING = check.c.answer == NONE
_OF = check.c.annotator == bindparam("who")
_DUE = (
    select(check.c.id, check.c.question, question.c.query, question.c.candidate)
    .join(question, question.c.id == check.c.question)
    .where(_OF, _WAITING, check.c.token.is_(None))
    .order_by(check.c.due, check.c.id)
    .limit(1)
)
SHOWN = and_(_WAITING, check.c.token.is_not(None))  # and waits for the answer
_PLANNED = Prepared(select(func.count()).where(_OF, check.c.kind == REPEAT, check.c.turn == TURNS[0]))
_NEW = ("annotator", "question", "kind", "turn", "due")
_PLAN = for_both(
    lambda dialect: insert(check).from_select(
        _NEW, all_of(dialect, listed(dialect, *(check.c[name] for name in _NEW)))
    )
)
_NOTE = Prepared(
    update(annotator)
    .where(annotator.c.id == bindparam("who"))
    .values(
        check_at=select(func.min(check.c.due)).where(_OF, _WAITING, check.c.token.is_(None)).scalar_subquery()
    )
    .returning(annotator.c.check_at)
)
_ONE = select(check).where(check.c.id == bindparam("which"))


def due_check(connection: Connection, who: int) -> RowMapping | None:
    """The next check of an annotator that was not shown yet."""
    return connection.execute(_DUE, {"who": who}).mappings().first()


def show_check(connection: Connection, which: int, who: int, token: str, side: int, now: int) -> None:
    """Note that a check is shown."""
    connection.execute(update(check).where(check.c.id == which).values(token=token, side=side, since=now))
    _note_next(connection, who)


def check_row(connection: Connection, which: int) -> RowMapping | None:
    """A check, by its id."""
    return connection.execute(_ONE, {"which": which}).mappings().first()


def answer_check(connection: Connection, which: int, answer: str, took: int, now: int) -> None:
    """Keep the answer to a check."""
    connection.execute(update(check).where(check.c.id == which).values(answer=answer, took=took, at=now))


def take_back(connection: Connection, which: int, token: str, now: int) -> None:
    """Ask a check again, as if it had not been answered."""
    fresh = {"answer": NONE, "at": None, "took": 0, "token": token, "since": now}
    connection.execute(update(check).where(check.c.id == which).values(**fresh))


def plan_repeats(
    connection: Connection, campaign: Campaign, who: int, which: int, answers: int, draw: random.Random
) -> int | None:
    """Let a pair that was just answered come back twice, as long as the annotator has fewer than the campaign's.

    Returns after how many answers their next check is due.
    """
    ((planned,),) = _PLANNED.rows(connection, who=who)
    if planned < campaign.repeats:
        due, rows = answers, []
        for turn in TURNS:
            due += draw.randint(*campaign.gap)
            rows.append((who, which, REPEAT, turn, due))
        _PLAN.run(connection, rows=as_rows(rows))
    return _note_next(connection, who)


def drop_repeats(connection: Connection, who: int, which: int) -> None:
    """Forget repeats that were not answered: the vote they would have been compared with was undone."""
    mine = (check.c.annotator == who, check.c.question == which, check.c.kind == REPEAT, _WAITING)
    if connection.execute(delete(check).where(*mine)).rowcount:
        _note_next(connection, who)


def plan_gold(connection: Connection, who: int, answers: int) -> None:
    """Let the next gold pair that this annotator has neither voted on nor been checked with come soon."""
    seen = select(check.c.question).where(check.c.annotator == who, check.c.kind == GOLD)
    voted = select(claim.c.question).where(claim.c.annotator == who)
    left = select(gold.c.question).where(gold.c.question.not_in(seen), gold.c.question.not_in(voted))
    which = connection.execute(left.order_by(gold.c.at, gold.c.question).limit(1)).scalar()
    if which is not None:
        row = {"annotator": who, "question": which, "kind": GOLD, "turn": 1, "due": answers}
        connection.execute(insert(check), [row])
        _note_next(connection, who)


def _note_next(connection: Connection, who: int) -> int | None:
    """Keep beside the annotator when their next check is due, so that giving a pair needs no look for it."""
    ((due,),) = _NOTE.rows(connection, who=who)
    return None if due is None else int(due)
