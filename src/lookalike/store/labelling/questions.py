"""Questions between their rows and the state machine (annotate/question.py)."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

from sqlalchemy import (
    BindParameter,
    Connection,
    Select,
    bindparam,
    delete,
    literal_column,
    select,
    update,
)

from lookalike.annotate.question import Claim, Question, refused
from lookalike.store.sql.labelling_schema import claim, question, verdict
from lookalike.store.sql.rows import insert_or_replace

FREE = question.c.free > literal_column("0")  # a literal: a partial index is not used for a parameter


@dataclass(frozen=True)
class Held:
    """A question that no other transaction can change until this one ends, and its pair."""

    which: int
    query: str
    candidate: str
    both: int
    kind: str
    category: str
    question: Question


class Transition(NamedTuple):
    """A question, and what a step of the state machine makes of it."""

    held: Held
    after: Question


def hold(connection: Connection, which: Collection[int], *, wait: bool = True) -> list[Held]:
    """Lock and read questions, in the order of their ids. Those that do not exist are left out.

    PostgreSQL locks rows; without `wait`, rows that another transaction holds are left out (SKIP LOCKED). SQLite has
    one writer at a time anyway.
    """
    return _found(connection, _HOLD if wait else _HOLD_FREE, which) if which else []


def hold_one(connection: Connection, which: int) -> Held:
    """Lock and read one question. Raises VoteError where it does not exist."""
    for found in hold(connection, [which]):
        return found
    raise refused("unknown")


def read(connection: Connection, which: Collection[int]) -> list[Held]:
    """Read questions without a lock, in the order of their ids."""
    return _found(connection, _READ, which)


def with_proposals(connection: Connection, which: int, found: Question) -> Question:
    """A question in discussion, with what was proposed since its discussion began."""
    statement = select(verdict.c.annotator, verdict.c.kind, verdict.c.verdict).where(
        verdict.c.question == which
    )
    proposals: dict[int, str] = {}
    for who, kind, choice in connection.execute(statement.order_by(verdict.c.id)):
        if kind == "proposal":
            proposals[who] = choice
        elif choice == "reopen":
            proposals.clear()
    return replace(found, proposals=tuple(proposals.items()))


def save(connection: Connection, changes: Iterable[Transition], now: int) -> None:
    """Write questions and their claims."""
    removed, written, questions = [], [], []
    for held, after in changes:
        which, had = held.which, {one.annotator: one for one in held.question.claims}
        has = {one.annotator: one for one in after.claims}
        removed += [{"of": which, "who": who} for who in had.keys() - has.keys()]
        written += [{"question": which, **vars(one)} for who, one in has.items() if had.get(who) != one]
        questions.append(
            {
                "which": which,
                "new_free": after.free,
                "new_takers": takers(has),
                "new_state": after.state,
                "new_label": after.label,
                "new_resolves_at": after.resolves_at,
                "now": now,
            }
        )
    if removed:
        connection.execute(_REMOVE, removed)
    if written:
        connection.execute(insert_or_replace(connection, claim), written)
    if questions:
        connection.execute(_CHANGE, questions)


def takers(annotators: Iterable[int]) -> str:
    """The annotators with a claim on a question, as text in which each of them can be found: ",3,12,".

    >>> takers([12, 3]), takers([])
    (',3,12,', '')
    """
    listed = ",".join(str(who) for who in sorted(annotators))
    return f",{listed}," if listed else ""


_SOME: BindParameter[Any] = bindparam("which", expanding=True)
_PAIR = ("id", "query", "candidate", "both", "kind", "category")
_STANDING = ("needed", "state", "label", "resolves_at")
_READ = (
    select(*(question.c[name] for name in (*_PAIR, *_STANDING)))
    .where(question.c.id.in_(_SOME))
    .order_by(question.c.id)
)
_HOLD, _HOLD_FREE = _READ.with_for_update(), _READ.with_for_update(skip_locked=True)
_CLAIMS = select(claim.c.question, *(claim.c[field.name] for field in fields(Claim))).where(
    claim.c.question.in_(_SOME)
)
_REMOVE = delete(claim).where(claim.c.question == bindparam("of"), claim.c.annotator == bindparam("who"))
_CHANGE = (
    update(question)
    .where(question.c.id == bindparam("which"))
    .values(
        free=bindparam("new_free"),
        takers=bindparam("new_takers"),
        state=bindparam("new_state"),
        label=bindparam("new_label"),
        resolves_at=bindparam("new_resolves_at"),
        changed=bindparam("now"),
    )
)


def _found(connection: Connection, statement: Select[Any], which: Collection[int]) -> list[Held]:
    rows = connection.execute(statement, {"which": which}).all()
    claims: dict[int, list[Claim]] = {row.id: [] for row in rows}
    for of, *values in connection.execute(_CLAIMS, {"which": list(claims)}):
        claims[of].append(Claim(*values))
    found = []
    for row in rows:
        one = Question(row.needed, row.state, tuple(claims[row.id]), row.label, row.resolves_at)
        found.append(Held(row.id, row.query, row.candidate, row.both, row.kind, row.category, one))
    return found
