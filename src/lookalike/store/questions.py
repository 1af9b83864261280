"""Questions between their rows and the state machine."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection, bindparam, delete, func, select, update
from sqlalchemy.dialects import postgresql, sqlite

from lookalike.annotate.question import Claim, Question, refused
from lookalike.store.prepared import Prepared
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
_ONE = question.c.id == bindparam("which")
_LOAD = Prepared(
    select(question.c.needed, question.c.state, question.c.label, question.c.settles, *CLAIM)
    .select_from(question.outerjoin(claim, claim.c.question == question.c.id))
    .where(_ONE)
)
_HELD = Prepared(select(question.c.id).where(_ONE).with_for_update())
_HELD_IF_FREE = Prepared(select(question.c.id).where(_ONE).with_for_update(skip_locked=True))
_PROPOSED = (
    select(verdict.c.annotator, verdict.c.kind, verdict.c.verdict)
    .where(verdict.c.question == bindparam("which"))
    .order_by(verdict.c.id)
)
_NEW = ("free", "takers", "state", "label", "settles", "changed")
_UPDATE = Prepared(update(question).where(_ONE).values({name: bindparam(f"new_{name}") for name in _NEW}))
_DROP = Prepared(
    delete(claim).where(claim.c.question == bindparam("which"), claim.c.annotator == bindparam("who"))
)


def _put(dialect: Any) -> Any:  # noqa: ANN401 - both dialects' own classes
    """A claim's row, new or in the place of the one before."""
    keys = ("question", "annotator")
    columns = ("kind", "answer", "token", "side", "since", "until")
    statement = dialect.insert(claim).values({name: bindparam(name) for name in (*keys, *columns)})
    fresh = {name: statement.excluded[name] for name in columns}
    return statement.on_conflict_do_update(index_elements=keys, set_=fresh)


_PUT = Prepared({"sqlite": _put(sqlite), "postgresql": _put(postgresql)})


def load(connection: Connection, which: int, *, wait: bool = True) -> Question | None:
    """A question as it stands, held against other writers until the transaction ends.

    Without `wait` it is None where another transaction holds it (SKIP LOCKED); SQLite has one writer at a time anyway.
    """
    if connection.dialect.name != "sqlite":
        held = (_HELD if wait else _HELD_IF_FREE).rows(connection, which=which)
        if not held and not wait:
            return None
    rows = _LOAD.rows(connection, which=which)
    if not rows:
        raise refused("unknown")
    needed, state, label, settles = rows[0][:4]
    claims = tuple(Claim(*row[4:]) for row in rows if row[4] is not None)
    return Question(needed, state, claims, label, settles)


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
    """Write what a step has changed of a question and its claims."""
    had = {one.annotator: one for one in before.claims}
    has = {one.annotator: one for one in after.claims}
    for who in had.keys() - has.keys():
        _DROP.run(connection, which=which, who=who)
    for who, one in has.items():
        if had.get(who) != one:
            _PUT.run(connection, question=which, **vars(one))
    _UPDATE.run(
        connection,
        which=which,
        new_free=after.free,
        new_takers=takers(has),
        new_state=after.state,
        new_label=after.label,
        new_settles=after.settles,
        new_changed=now,
    )


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
