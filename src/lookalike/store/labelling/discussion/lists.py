"""Lists of pairs that are no longer open: which of them a person sees, in which order, with votes and comments."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import (
    BindParameter,
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
    exists,
    false,
    func,
    or_,
    select,
    true,
)

from lookalike.annotate.protocol import DISCUSSION, EXCLUDED, OPEN, SETTLED
from lookalike.annotate.question import REOPEN, VOTE, refused
from lookalike.store.labelling.checks import waits_for_repeat
from lookalike.store.labelling.queue import GOLD
from lookalike.store.sql.labelling_schema import (
    annotator,
    check,
    claim,
    comment,
    gold,
    question,
    tally,
    verdict,
)

PAGE = 50
REPEATS = "repeats"  # pairs in discussion that wait for a hidden repeat: leads can list and decide them
LISTS = (DISCUSSION, SETTLED, EXCLUDED)
NUMBER, OLDEST, NEWEST, COMMENTS = "number", "oldest", "newest", "comments"
SORTS = (NUMBER, OLDEST, NEWEST, COMMENTS)

_COMMENTS = (
    select(func.count())
    .select_from(comment)
    .where(comment.c.question == question.c.id)
    .correlate(question)
    .scalar_subquery()
)
_LISTED = [
    *(question.c[name] for name in ("id", "query", "candidate", "category", "state", "label", "changed")),
    _COMMENTS,
]
_SHOWN = (question.c.state != OPEN) & (question.c.kind != GOLD)
_WAITS = (question.c.state == DISCUSSION) & waits_for_repeat()
_ORDERS: Mapping[
    str, tuple[ColumnElement[Any], bool]
] = {  # what a list is sorted by, and whether it descends
    NUMBER: (question.c.id, False),
    OLDEST: (question.c.changed, False),
    NEWEST: (question.c.changed, True),
    COMMENTS: (_COMMENTS, True),
}


def _blind(reader: int | None) -> ColumnElement[bool]:
    """The pairs that an annotator may see: no gold pairs, none in discussion that somebody gets again, none that is
    still planned as their own hidden check.
    """
    if reader is None:
        return true()
    coming = select(check.c.question).where(check.c.annotator == reader, check.c.answer == "")
    return ~_WAITS & question.c.id.not_in(coming) & question.c.id.not_in(select(gold.c.question))


def blind_images(connection: Connection, image: str, reader: int | None) -> frozenset[str]:
    """The images whose label for one image an annotator may not see, because it would answer a hidden check."""
    if reader is None:
        return frozenset()
    ends = (question.c.low == image) | (question.c.high == image)
    found = connection.execute(select(question.c.low, question.c.high).where(ends, ~_blind(reader)))
    return frozenset(high if low == image else low for low, high in found)


@dataclass(frozen=True)
class VoteShown:
    """A vote on a pair that is no longer open: who voted what, and why."""

    annotator: int
    name: str
    answer: str
    reason: str = ""


@dataclass(frozen=True)
class Discussed:
    """One pair in a list of discussions, with its votes and the number of comments."""

    question: int
    query: str
    candidate: str
    category: str
    state: str
    label: int | None
    changed: int
    comments: int = 0
    votes: tuple[VoteShown, ...] = ()


@dataclass(frozen=True)
class DiscussionList:
    """Which pairs are listed, in which order, and who reads: an annotator, or None for a lead.

    `state` is a state or `REPEATS`. `who` keeps the pairs that they voted on; `is_todo` those of them in which they
    have proposed nothing since the discussion began.
    """

    state: str = DISCUSSION
    who: int | None = None
    is_todo: bool = False
    category: str = ""
    sort: str = NUMBER
    reader: int | None = None


def discussions(
    connection: Connection, listed: DiscussionList | None = None, *, after: int = 0, limit: int = PAGE
) -> tuple[Discussed, ...]:
    """The pairs of a list that come after one of them, for the pages of the list.

    Open pairs are not listed, because their votes are blind, nor are pairs in discussion that an annotator gets again
    as a hidden repeat. Annotators see no gold pairs, and the pair of another hidden check after they answered.
    """
    listed = listed or DiscussionList()
    statement = select(*_LISTED).where(*_chosen(listed))
    return _read(connection, _ordered(connection, statement, listed.sort, after).limit(limit))


def discussed(connection: Connection, which: int, reader: int | None = None) -> Discussed:
    """One pair, if `reader` may see it as `discussions` says. A lead sees pairs that wait for a repeat, too."""
    for found in _read(connection, select(*_LISTED).where(question.c.id == which, _SHOWN, _blind(reader))):
        return found
    raise refused("unknown")


def following(connection: Connection, listed: DiscussionList, which: int, most: int) -> tuple[int, ...]:
    """The numbers of at most `most` pairs of a list that come after one, which may have left the list."""
    statement = select(question.c.id).where(*_chosen(listed))
    found = connection.execute(_ordered(connection, statement, listed.sort, which).limit(most))
    return tuple(found.scalars())


def _chosen(listed: DiscussionList) -> Iterator[ColumnElement[bool]]:
    """The conditions of a list."""
    yield from (_SHOWN, _blind(listed.reader))
    if listed.state == REPEATS:
        yield _WAITS
    else:
        yield question.c.state == listed.state
        yield ~_WAITS
    if listed.category:
        yield question.c.category == listed.category
    if listed.who is not None:
        yield question.c.id.in_(
            select(claim.c.question).where(claim.c.annotator == listed.who, claim.c.kind == VOTE)
        )
    if listed.is_todo:
        yield ~exists().where(
            verdict.c.question == question.c.id, verdict.c.annotator == listed.who, verdict.c.kind == "proposal",
            verdict.c.id > _REOPENED,
        )  # fmt: skip


_earlier = verdict.alias()
_REOPENED = (
    select(func.coalesce(func.max(_earlier.c.id), 0))
    .where(_earlier.c.question == question.c.id, _earlier.c.verdict == REOPEN)
    .correlate(question)
    .scalar_subquery()
)


def _ordered(connection: Connection, statement: Select[Any], sort: str, after: int) -> Select[Any]:
    """A list in its order, from behind a pair on."""
    by, descends = _ORDERS[sort]
    if after:
        place = connection.execute(select(by).where(question.c.id == after)).scalar()
        if place is None:
            return statement.where(false())
        beyond = (by < place, question.c.id < after) if descends else (by > place, question.c.id > after)
        statement = statement.where(or_(beyond[0], and_(by == place, beyond[1])))
    return statement.order_by(*((by.desc(), question.c.id.desc()) if descends else (by, question.c.id)))


def _read(connection: Connection, statement: Select[Any]) -> tuple[Discussed, ...]:
    """Pairs with their votes."""
    found = [Discussed(*row) for row in connection.execute(statement)]
    votes: dict[int, list[VoteShown]] = {one.question: [] for one in found}
    for which, *vote in connection.execute(_VOTES, {"which": list(votes)}) if votes else ():
        votes[which].append(VoteShown(*vote))
    return tuple(replace(one, votes=tuple(votes[one.question])) for one in found)


_SOME: BindParameter[Any] = bindparam("which", expanding=True)
_VOTES = (
    select(claim.c.question, annotator.c.id, annotator.c.name, claim.c.answer, claim.c.reason)
    .join(annotator, annotator.c.id == claim.c.annotator)
    .where(claim.c.question.in_(_SOME), claim.c.kind == VOTE)
    .order_by(annotator.c.id)
)


def categories(connection: Connection) -> tuple[str, ...]:
    """The categories of the pairs that are listed."""
    statement = select(tally.c.category).distinct().order_by(tally.c.category)
    return tuple(connection.execute(statement).scalars())
