"""The rows of hidden checks, of many annotators at a time."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy import ClauseElement, Connection, and_, bindparam, delete, insert, select, update

from lookalike.store.listed import Dialect, all_of, as_list, as_rows, for_both, is_listed, listed
from lookalike.store.prepared import Later, Prepared, only
from lookalike.store.votes_schema import check, claim, gold, question

REPEAT, GOLD = "repeat", "gold"
NONE = ""
FIRST_TURN = 2  # of a repeat: the vote itself was the first


@dataclass(frozen=True)
class Check:
    """A pair that is asked to see whether the answer is the same, or the known one, as it stands.

    `id` 0 is not in the database yet, `due` is after so many answers, `token` None was not shown yet.
    """

    id: int
    annotator: int
    question: int
    kind: str
    turn: int
    due: int
    token: str | None = None
    side: int = 0
    since: int | None = None
    answer: str = NONE
    at: int | None = None
    took: int = 0
    query: str = ""
    candidate: str = ""


_NAMES = tuple(field.name for field in fields(Check) if field.name in check.c)
_NEW = tuple(name for name in _NAMES if name != "id")
_STANDS = ("id", "token", "side", "since", "answer", "at", "took")
_READ = (*(check.c[name] for name in _NAMES), question.c.query, question.c.candidate)
_WAITING = check.c.answer == NONE
_COMING = and_(_WAITING, check.c.token.is_(None))
SHOWN = and_(_WAITING, check.c.token.is_not(None))  # and waits for the answer
_WITH_PAIR = check.join(question, question.c.id == check.c.question)


def _add(dialect: Dialect) -> ClauseElement:
    return insert(check).from_select(
        _NEW, all_of(dialect, listed(dialect, *(check.c[name] for name in _NEW)))
    )


def _change(dialect: Dialect) -> ClauseElement:
    given = listed(dialect, *(check.c[name] for name in _STANDS))
    stands = {name: given.c[name] for name in _STANDS if name != "id"}
    return update(check).where(check.c.id == given.c.id).values(stands)


_ONES = for_both(lambda dialect: select(*_READ).select_from(_WITH_PAIR).where(is_listed(dialect, check.c.id)))
_OF = for_both(
    lambda dialect: (
        select(*_READ)
        .select_from(_WITH_PAIR)
        .where(is_listed(dialect, check.c.annotator), _COMING)
        .order_by(check.c.due, check.c.id)
    )
)
_REPEATED = Prepared(
    select(check.c.question).where(
        check.c.annotator == bindparam("who"), check.c.kind == REPEAT, check.c.turn == FIRST_TURN
    )
)
_SEEN = select(check.c.question).where(check.c.annotator == bindparam("who"), check.c.kind == GOLD)
_VOTED = select(claim.c.question).where(claim.c.annotator == bindparam("who"))
_GOLD = Prepared(
    select(gold.c.question)
    .where(gold.c.question.not_in(_SEEN), gold.c.question.not_in(_VOTED))
    .order_by(gold.c.at, gold.c.question)
    .limit(1)
)
_DROP = Prepared(
    delete(check).where(
        check.c.annotator == bindparam("who"),
        check.c.question == bindparam("question"),
        check.c.kind == REPEAT,
        _WAITING,
    )
)
_ADD, _CHANGE = for_both(_add), for_both(_change)


def ask_checks(connection: Connection, which: Collection[int]) -> Later[dict[int, Check]]:
    """Checks by their id; those that do not exist are left out."""
    rows = _ONES.ask(connection, rows=as_list(which))
    return lambda: {row[0]: Check(*row) for row in rows()}


def ask_coming(connection: Connection, numbers: Collection[int]) -> Later[dict[int, list[Check]]]:
    """The checks that these annotators were not shown yet, the next one first."""
    rows = _OF.ask(connection, rows=as_list(numbers))
    return lambda: _by_annotator(rows(), numbers)


def _by_annotator(rows: Sequence[Any], numbers: Collection[int]) -> dict[int, list[Check]]:
    found: dict[int, list[Check]] = {who: [] for who in numbers}
    for row in rows:
        one = Check(*row)
        found[one.annotator].append(one)
    return found


def repeated(connection: Connection, who: int) -> set[int]:
    """The questions of an annotator that come back, or came back."""
    return {which for (which,) in _REPEATED.rows(connection, who=who)}


def next_gold(connection: Connection, who: int) -> int | None:
    """The question of the oldest gold pair that an annotator has neither voted on nor been checked with."""
    found = only(_GOLD.rows(connection, who=who))
    return int(found[0]) if found else None


def add_checks(connection: Connection, new: Iterable[Check]) -> None:
    """Add checks; their ids are the database's."""
    rows = [[getattr(one, name) for name in _NEW] for one in new]
    if rows:
        _ADD.run(connection, rows=as_rows(rows))


def change_checks(connection: Connection, changed: Iterable[Check]) -> None:
    """Write how checks stand."""
    rows = [[getattr(one, name) for name in _STANDS] for one in changed]
    if rows:
        _CHANGE.run(connection, rows=as_rows(rows))


def drop_repeats(connection: Connection, who: int, which: int) -> None:
    """Forget the repeats of a pair that were not answered."""
    _DROP.run(connection, who=who, question=which)
