"""Questions that change their state: their labels, the number of questions in each state, the tally of blind votes."""

from collections import Counter
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, bindparam, delete, func, insert, select, text, tuple_

from lookalike.annotate.agreement import patterns
from lookalike.annotate.protocol import SETTLED
from lookalike.annotate.question import Question
from lookalike.store.labelling.questions import Held, Transition, save
from lookalike.store.sql import schema
from lookalike.store.sql.labelling_schema import progress, question, tally
from lookalike.store.sql.rows import execute_all, insert_new, insert_or_add

SOURCE = "votes"  # of labels that votes were resolved to
LabelledPair = tuple[str, str, int | None]
"""Query, candidate, label."""


def close(connection: Connection, changes: Sequence[Transition], now: int) -> None:
    """Write questions whose state changes, their labels, and the number of questions in each state."""
    save(connection, changes, now)
    old: list[LabelledPair] = []
    new: list[LabelledPair] = []
    counts: Counter[tuple[str, str]] = Counter()
    for held, after in changes:
        old += labels_of(held, held.question)
        new += labels_of(held, after)
        counts[held.kind, held.question.state] -= 1
        counts[held.kind, after.state] += 1
    unlabel_pairs(connection, (pair[:2] for pair in old))
    label_pairs(connection, new)
    rows = [{"kind": kind, "state": state, "questions": n} for (kind, state), n in counts.items() if n]
    if rows:
        connection.execute(insert_or_add(connection, progress, "questions"), rows)


def tally_votes(connection: Connection, changes: Sequence[Transition]) -> None:
    """Count the blind votes of questions, as they were before anybody saw another's."""
    counts = Counter((held.category, pattern(held.question)) for held, _ in changes)
    rows = [{"category": of, "pattern": votes, "questions": n} for (of, votes), n in counts.items()]
    if rows:
        connection.execute(insert_or_add(connection, tally, "questions"), rows)


def labels_of(held: Held, found: Question) -> list[LabelledPair]:
    """The labels that a question has in its state: of one direction, or of both."""
    if found.state != SETTLED:
        return []
    ends = ((held.query, held.candidate), (held.candidate, held.query))[: 1 + held.both]
    return [(*pair, found.label) for pair in ends]


def existing_labels(connection: Connection, pairs: Iterable[LabelledPair]) -> set[LabelledPair]:
    """Those of these labels that exist already."""
    own = schema.label.c
    ends = tuple_(own.query, own.candidate).in_([pair[:2] for pair in pairs])
    return {tuple(row) for row in connection.execute(select(own.query, own.candidate, own.label).where(ends))}


def label_pairs(connection: Connection, pairs: Iterable[LabelledPair]) -> None:
    """Write labels that votes were resolved to. A label that exists already stays as it is."""
    rows = ({"query": q, "candidate": c, "label": label, "source": SOURCE} for q, c, label in pairs)
    execute_all(connection, insert_new(connection, schema.label), rows)


def unlabel_pairs(connection: Connection, pairs: Iterable[tuple[str, str]]) -> None:
    """Delete the labels of pairs that votes were resolved to. Labels from files are kept."""
    own = schema.label.c
    same = (own.query == bindparam("of_query"), own.candidate == bindparam("of_candidate"))
    gone = ({"of_query": query, "of_candidate": candidate} for query, candidate in pairs)
    execute_all(connection, delete(schema.label).where(*same, own.source == SOURCE), gone)


def recount(connection: Connection) -> None:
    """Count the questions in each state again, after many were added or changed at once."""
    if connection.dialect.name != "sqlite":  # other transactions that close a question wait
        connection.execute(text("LOCK TABLE progress IN EXCLUSIVE MODE"))
    kind, state = question.c.kind, question.c.state
    found = connection.execute(select(kind, state, func.count().label("questions")).group_by(kind, state))
    rows = [dict(row) for row in found.mappings()]
    connection.execute(delete(progress))
    if rows:
        connection.execute(insert(progress), rows)


def pattern(voted: Question) -> str:
    """The votes on a question as text, as the tally counts them."""
    return patterns.pattern({one.annotator: one.answer for one in voted.votes})
