"""Gold pairs: pairs whose answer is known, and how often annotators give it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, case, delete, func, select

from lookalike.core.errors import ArgumentError, VoteError
from lookalike.store.labelling.checks import GOLD as GOLD_CHECK
from lookalike.store.labelling.guidelines import known_images
from lookalike.store.labelling.queue import GOLD, NewPair, add_gold
from lookalike.store.people.people import ROLES
from lookalike.store.sql.labelling_schema import annotator, check, claim, gold, question


@dataclass(frozen=True)
class Gold:
    """A gold pair with its answer, the numbers of given and correct answers, and of annotators who can still get it."""

    question: int
    query: str
    candidate: str
    answer: str
    note: str
    answers: int
    correct: int
    left: int


_other, _person = check.alias(), annotator.alias()
_ANSWERED = (check.c.kind == GOLD_CHECK) & check.c.answer.not_in(("", "skip"))
_ANSWERS = func.sum(case((_ANSWERED, 1), else_=0))
_CORRECT = func.sum(case((_ANSWERED & (check.c.answer == gold.c.answer), 1), else_=0))
_VOTED = select(claim.c.annotator).where(claim.c.question == gold.c.question)
_CHECKED = select(_other.c.annotator).where(_other.c.question == gold.c.question, _other.c.kind == GOLD_CHECK)
_LEFT = (
    select(func.count())
    .select_from(_person)
    .where(_person.c.removed.is_(None), _person.c.role.in_(ROLES))
    .where(_person.c.id.not_in(_VOTED), _person.c.id.not_in(_CHECKED))
    .correlate(gold)
    .scalar_subquery()
)


def gold_pairs(connection: Connection) -> tuple[Gold, ...]:
    """All gold pairs, the newest first. "Unsure" is not correct, and a skip is not an answer.

    Annotators who voted on a pair or answered it as a check do not get it again.
    """
    columns = (question.c.id, question.c.query, question.c.candidate, gold.c.answer, gold.c.note)
    statement = (
        select(*columns, _ANSWERS, _CORRECT, _LEFT)
        .select_from(gold.join(question, question.c.id == gold.c.question))
        .outerjoin(check, (check.c.question == gold.c.question) & (check.c.kind == GOLD_CHECK))
        .group_by(*columns, gold.c.at, gold.c.question)
        .order_by(gold.c.at.desc(), question.c.id.desc())
    )
    return tuple(Gold(*row) for row in connection.execute(statement))


def gold_scores(connection: Connection) -> Sequence[Any]:
    """For each annotator with answers to gold pairs: the name, the number of answers and of correct ones."""
    statement = (
        select(annotator.c.name, _ANSWERS.label("answers"), _CORRECT.label("correct"))
        .select_from(check.join(gold, gold.c.question == check.c.question))
        .join(annotator, annotator.c.id == check.c.annotator)
        .where(_ANSWERED)
        .group_by(annotator.c.id, annotator.c.name)
        .order_by(annotator.c.name)
    )
    return connection.execute(statement).all()


def make_gold(
    connection: Connection, query: str, candidate: str, answer: str, note: str, by: int, now: int
) -> None:
    """Make two images of the catalog a gold pair. A pair that is gold already gets the new answer."""
    found = known_images(connection, query, candidate)
    if len(found) < 2:
        raise VoteError(
            "A gold pair needs two different images of the catalog.",
            fix="Copy the image ids from the page of a pair, or from the catalog.",
            code="unknown",
        )
    if found[query].item == found[candidate].item:
        raise ArgumentError(
            "These two photos show the same item.", fix="Choose photos of two different items."
        )
    pair = NewPair(query, candidate, found[candidate].item, found[query].category, GOLD, place=0)
    add_gold(connection, pair, answer, note, by, now)


def remove_gold(connection: Connection, which: int) -> None:
    """Stop using a pair as a gold pair. Answers to it are kept."""
    waiting = (
        check.c.question == which,
        check.c.kind == GOLD_CHECK,
        check.c.answer == "",
        check.c.token.is_(None),
    )
    connection.execute(delete(check).where(*waiting))
    connection.execute(delete(gold).where(gold.c.question == which))
