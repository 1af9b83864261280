"""Gold pairs: pairs whose answer is known, and how often annotators give it."""

from dataclasses import dataclass

from sqlalchemy import Connection, case, delete, func, select

from lookalike.core.errors import ArgumentError, VoteError
from lookalike.store.labelling.checks import GOLD as GOLD_CHECK
from lookalike.store.labelling.guidelines import LONGEST_NOTE, known_images
from lookalike.store.labelling.queue import GOLD, Asked, add_gold
from lookalike.store.people.people import ROLES
from lookalike.store.sql import schema
from lookalike.store.sql.labelling_schema import annotator, check, claim, gold, question


@dataclass(frozen=True)
class Gold:
    """A gold pair with its answer, the numbers of given and correct answers, and of annotators who can still get it."""

    question: int
    query: str
    candidate: str
    answer: str
    note: str
    asked: int
    right: int
    left: int


@dataclass(frozen=True)
class GoldScore:
    """The number of gold pairs that an annotator has answered, and answered correctly."""

    annotator: int
    name: str
    asked: int
    right: int


_other, _person = check.alias(), annotator.alias()
_ANSWERED = (check.c.kind == GOLD_CHECK) & check.c.answer.not_in(("", "skip"))
_ASKED = func.sum(case((_ANSWERED, 1), else_=0))
_RIGHT = func.sum(case((_ANSWERED & (check.c.answer == gold.c.answer), 1), else_=0))
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
    asked = (
        select(*columns, _ASKED, _RIGHT, _LEFT)
        .select_from(gold.join(question, question.c.id == gold.c.question))
        .outerjoin(check, (check.c.question == gold.c.question) & (check.c.kind == GOLD_CHECK))
        .group_by(*columns, gold.c.at, gold.c.question)
        .order_by(gold.c.at.desc(), question.c.id.desc())
    )
    return tuple(Gold(*row) for row in connection.execute(asked))


def gold_scores(connection: Connection) -> tuple[GoldScore, ...]:
    """The scores of everybody who has answered gold pairs."""
    asked = (
        select(annotator.c.id, annotator.c.name, _ASKED, _RIGHT)
        .select_from(check.join(gold, gold.c.question == check.c.question))
        .join(annotator, annotator.c.id == check.c.annotator)
        .where(_ANSWERED)
        .group_by(annotator.c.id, annotator.c.name)
        .order_by(annotator.c.name)
    )
    return tuple(GoldScore(*row) for row in connection.execute(asked))


def make_gold(
    connection: Connection, query: str, candidate: str, answer: str, note: str, by: int, now: int
) -> None:
    """Make two images of the catalog a gold pair. A pair that is gold already gets the new answer."""
    if query == candidate or not known_images(connection, query, candidate):
        raise VoteError(
            "A gold pair needs two different images of the catalog.",
            fix="Copy the image ids from the page of a pair, or from the catalog.",
            code="unknown",
        )
    if len(note) > LONGEST_NOTE:
        raise ArgumentError(f"A note can have at most {LONGEST_NOTE} characters.", fix="Shorten the note.")
    ends = select(schema.image.c.image, schema.image.c.item, schema.image.c.category)
    found = {
        row.image: row for row in connection.execute(ends.where(schema.image.c.image.in_((query, candidate))))
    }
    if found[query].item == found[candidate].item:
        raise ArgumentError(
            "These two photos show the same item.", fix="Choose photos of two different items."
        )
    pair = Asked(query, candidate, found[candidate].item, found[query].category, GOLD, place=0)
    add_gold(connection, pair, answer, note.replace("\0", "").strip(), by, now)


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
