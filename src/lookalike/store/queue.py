"""Pairs into the queue of questions, and out of it where a photo has gone."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from sqlalchemy import ClauseElement, Connection, delete, func, insert, select, update

from lookalike.annotate.protocol import DISCUSSION, EXCLUDED, LABELS, OPEN, SETTLED
from lookalike.annotate.question import refused
from lookalike.core.checks import one_of
from lookalike.store import schema
from lookalike.store.closing import label_pairs
from lookalike.store.listed import Dialect, as_rows, for_both, listed
from lookalike.store.rows import BATCH, insert_new
from lookalike.store.sweep import recount
from lookalike.store.votes_schema import claim, gold, question

POOL, RANDOM, CHOSEN, GOLD = "pool", "random", "chosen", "gold"
KINDS = (POOL, RANDOM, CHOSEN, GOLD)


@dataclass(frozen=True)
class Asked:
    """A pair that joins the queue. `both`: its reverse was put forward too; `kind` says by what it came."""

    query: str
    candidate: str
    item: str
    category: str
    kind: str
    place: int
    both: bool = False


def _both(dialect: Dialect) -> ClauseElement:
    given = listed(dialect, question.c.low, question.c.high, question.c.query)
    same = (getattr(question.c, name) == given.c[name] for name in ("low", "high", "query"))
    now = update(question).where(*same, question.c.both == 0).values(both=1)
    return now.returning(question.c.query, question.c.candidate, question.c.state, question.c.label)


_TURNED = for_both(_both)


def ask(connection: Connection, pairs: Iterable[Asked], needed: int, now: int) -> int:
    """Add pairs to the queue, each needing so many votes; returns how many are new: (a, b) and (b, a) are one.

    Where (b, a) is there already the answer counts for both directions from now on, also one that was given before;
    a pair of which both are new is listed with `both`.
    """
    before, walk = _count(connection), iter(pairs)
    while batch := list(islice(walk, BATCH)):
        connection.execute(insert_new(connection, question), [_row(pair, needed, now) for pair in batch])
        if before:
            _count_for_both(connection, batch, needed, now)
    recount(connection)
    return _count(connection) - before


def _count_for_both(connection: Connection, pairs: Sequence[Asked], needed: int, now: int) -> None:
    """Let questions that were put the other way round be of both directions, and label those that have settled.

    One that was closed by a label from a file, which is of one direction, is asked in the other.
    """
    ends = {(pair.candidate, pair.query): pair for pair in pairs}
    ends |= {(pair.query, pair.candidate): pair for pair in pairs if pair.both}
    turned = _TURNED.rows(connection, rows=as_rows((min(end), max(end), end[0]) for end in ends))
    label_pairs(connection, [(b, a, label) for a, b, _, label in turned if label is not None])
    for a, b, state, label in turned:
        if state == SETTLED and label is None:
            same = (question.c.low == min(a, b), question.c.high == max(a, b))
            connection.execute(update(question).where(*same).values(**_row(ends[a, b], needed, now)))


def ask_first(connection: Connection, pairs: Iterable[Asked], needed: int, now: int) -> int:
    """Add pairs in front of all others; those that wait in the queue already move there. Returns how many are new."""
    chosen = list(pairs)
    new = ask(connection, chosen, needed, now)
    for pair in chosen:
        low, high = sorted((pair.query, pair.candidate))
        same = (question.c.low == low, question.c.high == high, question.c.state == OPEN)
        connection.execute(update(question).where(*same).values(place=pair.place))
    return new


def asked_pairs(connection: Connection) -> set[tuple[str, str]]:
    """All pairs of the queue, whatever became of them, each as its two images in order."""
    found = connection.execute(select(question.c.low, question.c.high))
    return {(low, high) for low, high in found}


def lowest_place(connection: Connection) -> int:
    """The place of the pair that is asked first."""
    found = connection.execute(select(func.min(question.c.place))).scalar()
    return int(found or 0)


def withdraw_missing(connection: Connection, now: int) -> int:
    """Exclude open pairs whose photos are no longer in the catalog; returns how many. Their votes are kept."""
    there = select(schema.image.c.image)
    gone = (question.c.state == OPEN, question.c.query.not_in(there) | question.c.candidate.not_in(there))
    which = connection.execute(select(question.c.id).where(*gone).with_for_update()).scalars().all()
    for first in range(0, len(which), BATCH):
        some = which[first : first + BATCH]
        connection.execute(delete(claim).where(claim.c.question.in_(some), claim.c.kind != "vote"))
        away = {"state": EXCLUDED, "free": 0, "settles": None, "changed": now}
        connection.execute(update(question).where(question.c.id.in_(some)).values(**away))
    if which:
        recount(connection)
    return len(which)


def add_gold(connection: Connection, pair: Asked, answer: str, note: str, by: int | None, now: int) -> None:
    """Make a pair a gold pair: its answer is known, annotators are checked with it. It takes no label from this.

    Raises VoteError for a pair whose votes are not in yet, or are discussed: it would be asked as both.
    """
    one_of(answer, tuple(LABELS), "answer")
    low, high = sorted((pair.query, pair.candidate))
    row = {**_row(pair, 0, now), "kind": GOLD, "state": EXCLUDED, "free": 0}
    connection.execute(insert_new(connection, question), row)
    same = (question.c.low == low, question.c.high == high)
    which, state = connection.execute(select(question.c.id, question.c.state).where(*same)).one()
    if state in (OPEN, DISCUSSION):
        raise refused("in-work")
    connection.execute(delete(gold).where(gold.c.question == which))
    connection.execute(insert(gold), {"question": which, "answer": answer, "note": note, "by": by, "at": now})
    recount(connection)


def settled_elsewhere(connection: Connection, labelled: Collection[tuple[str, str]], now: int) -> int:
    """Close open pairs that nobody has taken and that got a label from a file meanwhile; returns how many.

    `labelled` are (query image, candidate item).
    """
    untouched = (question.c.state == OPEN, question.c.takers == "")
    rows = connection.execute(select(question.c.id, question.c.query, question.c.item).where(*untouched))
    which = [row.id for row in rows if (row.query, row.item) in labelled]
    for first in range(0, len(which), BATCH):
        away = {"state": SETTLED, "free": 0, "changed": now}
        some = which[first : first + BATCH]
        connection.execute(update(question).where(question.c.id.in_(some), *untouched).values(**away))
    if which:
        recount(connection)
    return len(which)


def _row(pair: Asked, needed: int, now: int) -> dict[str, object]:
    low, high = sorted((pair.query, pair.candidate))
    return {
        "place": pair.place,
        "query": pair.query,
        "candidate": pair.candidate,
        "low": low,
        "high": high,
        "both": int(pair.both),
        "item": pair.item,
        "category": pair.category,
        "kind": one_of(pair.kind, KINDS, "kind"),
        "needed": needed,
        "free": needed,
        "state": OPEN,
        "changed": now,
    }


def _count(connection: Connection) -> int:
    return int(connection.execute(select(func.count()).select_from(question)).scalar_one())
