"""Questions between their rows and the state machine, one or many at a time."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, text, tuple_, update

from lookalike.annotate.question import Claim, Question, refused
from lookalike.store.listed import Dialect, all_of, as_list, as_rows, for_both, is_listed, listed
from lookalike.store.prepared import Later, sent_together
from lookalike.store.votes_schema import claim, question, verdict

CLAIM = (
    claim.c.annotator,
    claim.c.kind,
    claim.c.token,
    claim.c.since,
    claim.c.until,
    claim.c.answer,
    claim.c.side,
)
FREE = text("free > 0")  # spelled out: the partial indexes are found by these words
_STANDS = (question.c.needed, question.c.state, question.c.label, question.c.settles)
_PAIR = (question.c.id, question.c.query, question.c.candidate)
_PROPOSED = (
    select(verdict.c.annotator, verdict.c.kind, verdict.c.verdict)
    .where(verdict.c.question == bindparam("which"))
    .order_by(verdict.c.id)
)
Changed = tuple[int, Question, Question, int]  # a question's id, before, after, and when


@dataclass(frozen=True)
class Held:
    """A question as it stands, held against other writers until the transaction ends."""

    which: int
    query: str
    candidate: str
    question: Question


def _load(dialect: Dialect) -> Any:  # noqa: ANN401 - a statement
    with_claims = question.outerjoin(claim, claim.c.question == question.c.id)
    return select(*_PAIR, *_STANDS, *CLAIM).select_from(with_claims).where(is_listed(dialect, question.c.id))


def _lock(dialect: Dialect, *, skip: bool) -> Any:  # noqa: ANN401
    held = select(question.c.id).where(is_listed(dialect, question.c.id)).order_by(question.c.id)
    return held.with_for_update(skip_locked=skip)


def _put(dialect: Dialect) -> Any:  # noqa: ANN401
    """Claims' rows, new or in the place of those before."""
    keys = (claim.c.question, claim.c.annotator)
    rest = [one for one in claim.c if one not in set(keys)]
    given = listed(dialect, *keys, *rest)
    new = dialect.insert(claim).from_select([one.name for one in (*keys, *rest)], all_of(dialect, given))
    fresh = {one.name: new.excluded[one.name] for one in rest}
    return new.on_conflict_do_update(index_elements=[one.name for one in keys], set_=fresh)


def _drop(dialect: Dialect) -> Any:  # noqa: ANN401
    given = listed(dialect, claim.c.question, claim.c.annotator)
    gone = select(given.c.question, given.c.annotator)
    return delete(claim).where(tuple_(claim.c.question, claim.c.annotator).in_(gone))


_NEW = ("id", "free", "takers", "state", "label", "settles", "changed")


def _change(dialect: Dialect) -> Any:  # noqa: ANN401
    given = listed(dialect, *(question.c[name] for name in _NEW))
    new = {name: given.c[name] for name in _NEW if name != "id"}
    return update(question).where(question.c.id == given.c.id).values(new)


_LOAD, _PUT, _DROP, _CHANGE = (for_both(make) for make in (_load, _put, _drop, _change))
_LOCK = for_both(lambda dialect: _lock(dialect, skip=False))
_LOCK_FREE = for_both(lambda dialect: _lock(dialect, skip=True))


def hold(connection: Connection, which: Collection[int], *, wait: bool = True) -> dict[int, Held]:
    """Questions as they stand, held against other writers until the transaction ends.

    Without `wait` those that another transaction holds are left out (SKIP LOCKED); SQLite has one writer at a time
    anyway. Those that do not exist are left out too.
    """
    if not which:
        return {}
    with sent_together(connection):
        held = ask_held(connection, which, wait=wait)
    return held()


def ask_held(connection: Connection, which: Collection[int], *, wait: bool = True) -> Later[dict[int, Held]]:
    """Send what `hold` asks."""
    lock, rows = _LOCK if wait else _LOCK_FREE, as_list(which)
    locked = None if connection.dialect.name == "sqlite" else lock.ask(connection, rows=rows)
    loaded = _LOAD.ask(connection, rows=rows)  # it sees what was written until the rows were locked
    return lambda: _all_held(loaded(), set(which) if locked is None else {one for (one,) in locked()})


def _all_held(loaded: Sequence[Any], held: set[int]) -> dict[int, Held]:
    found: dict[int, list[Any]] = {}
    for row in loaded:
        found.setdefault(row[0], []).append(row)
    return {one: _held(rows) for one, rows in found.items() if one in held}


def _held(rows: Sequence[Any]) -> Held:
    which, query, candidate, needed, state, label, settles = rows[0][:7]
    claims = tuple(Claim(*row[7:]) for row in rows if row[7] is not None)
    return Held(which, query, candidate, Question(needed, state, claims, label, settles))


def load(connection: Connection, which: int, *, wait: bool = True) -> Question | None:
    """One question, held; without `wait` None where another transaction holds it."""
    found = hold(connection, [which], wait=wait).get(which)
    if found is None and (wait or connection.dialect.name == "sqlite"):
        raise refused("unknown")
    return None if found is None else found.question


def load_discussed(connection: Connection, which: int) -> Question:
    """A question with what was proposed since its discussion began."""
    found = load(connection, which)
    assert found is not None  # noqa: S101 - it waits for it
    proposals: dict[int, str] = {}
    for who, kind, said in connection.execute(_PROPOSED, {"which": which}):
        if kind == "proposal":
            proposals[who] = said
        elif said == "reopen":
            proposals.clear()
    return replace(found, proposals=tuple(proposals.items()))


def save(connection: Connection, which: int, before: Question, after: Question, now: int) -> None:
    """Write what a step has changed of one question and its claims."""
    save_all(connection, [(which, before, after, now)])


def save_all(connection: Connection, changed: Iterable[Changed]) -> None:
    """Write what changed of questions and their claims."""
    drop: list[tuple[int, int]] = []
    put: list[tuple[object, ...]] = []
    rows: list[tuple[object, ...]] = []
    for which, before, after, now in changed:
        had = {one.annotator: one for one in before.claims}
        has = {one.annotator: one for one in after.claims}
        drop += ((which, who) for who in had.keys() - has.keys())
        put += (_row(which, one) for who, one in has.items() if had.get(who) != one)
        rows.append((which, after.free, takers(has), after.state, after.label, after.settles, now))
    for statement, given in ((_DROP, drop), (_PUT, put), (_CHANGE, rows)):
        if given:
            statement.run(connection, rows=as_rows(given))


def _row(which: int, one: Claim) -> tuple[object, ...]:
    return (which, one.annotator, one.kind, one.answer, one.token, one.side, one.since, one.until)


def takers(annotators: Iterable[int]) -> str:
    """Who has a claim on a question, as text that finds one of them: ",3,12,".

    >>> takers([12, 3]), takers([])
    (',3,12,', '')
    """
    listed = ",".join(str(who) for who in sorted(annotators))
    return f",{listed}," if listed else ""


def count_questions(connection: Connection) -> Mapping[str, int]:
    """How many questions there are in each state, gold pairs left out: they are checks."""
    counted = select(question.c.state, func.count()).where(question.c.kind != "gold")
    found = connection.execute(counted.group_by(question.c.state))
    return {state: count for state, count in found}
