"""Statistics, read from the small tables that are updated with every vote: nothing here walks over the questions."""

from collections.abc import Iterable

import numpy as np
from sqlalchemy import Connection, and_, bindparam, func, literal, select

from lookalike.annotate.agreement.pace import Worked
from lookalike.annotate.agreement.patterns import BY_CODE, SIGNS, Counts, VoteTable, vote_table
from lookalike.annotate.question import VOTE
from lookalike.core.checks import strings
from lookalike.store.labelling.checks import GOLD, REPEAT
from lookalike.store.labelling.progress import EVER, live_answers
from lookalike.store.sql import labelling_schema as schema


def read_people(connection: Connection) -> dict[int, tuple[str, bool]]:
    """Annotator -> name, and whether they can still log in."""
    statement = select(schema.annotator.c.id, schema.annotator.c.name, schema.annotator.c.removed)
    return {who: (name, removed is None) for who, name, removed in connection.execute(statement)}


def read_patterns(connection: Connection) -> VoteTable:
    """The blind votes of each annotator, over all categories."""
    pattern, pairs = schema.tally.c.pattern, func.sum(schema.tally.c.questions)
    statement = select(pattern, pairs).group_by(pattern).order_by(pattern)
    return vote_table(("", pattern, int(pairs)) for pattern, pairs in connection.execute(statement).all())


def read_counts(connection: Connection) -> Counts:
    """How often each answer was given, by category: a few rows for any number of annotators."""
    pattern, category = schema.tally.c.pattern, schema.tally.c.category
    each = [
        func.length(pattern) - func.length(func.replace(pattern, SIGNS[answer], "")) for answer in BY_CODE
    ]
    columns = [category, *(count.label(name) for count, name in zip(each, BY_CODE, strict=True))]
    statement = select(*columns, func.sum(schema.tally.c.questions)).group_by(*columns).order_by(*columns)
    rows = connection.execute(statement).all()
    answers = np.array([row[1:4] for row in rows], np.int64).reshape(-1, 3)
    return Counts(answers, np.array([int(row[4]) for row in rows], np.int64), strings(row[0] for row in rows))


def read_answers(connection: Connection) -> dict[int, int]:
    """Annotator -> answers, without those that were undone. This walks over an index of the votes."""
    own = schema.annotator.c.id
    votes, checks = live_answers(own, literal(EVER))
    return {who: count for who, count in connection.execute(select(own, votes + checks))}


def read_worked(connection: Connection) -> list[Worked]:
    """The answers and the working time of each annotator in each hour, in order of hours."""
    columns = [schema.pace.c[name] for name in Worked._fields]
    statement = select(*columns).order_by(schema.pace.c.hour, schema.pace.c.annotator)
    return [Worked(*row) for row in connection.execute(statement).all()]


def read_repeats(connection: Connection) -> dict[int, dict[tuple[str, ...], int]]:
    """Annotator -> their answers to one pair at three times -> pairs; "" for one that is not given yet.

    The first answer is the current vote. A pair without a current vote, because it was undone, is left out.
    """
    second, third, vote = schema.check.alias(), schema.check.alias(), schema.claim
    answered = func.coalesce(third.c.answer, "")
    mine = and_(vote.c.question == second.c.question, vote.c.annotator == second.c.annotator)
    again = and_(
        third.c.annotator == second.c.annotator,
        third.c.question == second.c.question,
        third.c.kind == REPEAT,
        third.c.turn == 3,
    )
    statement = (
        select(second.c.annotator, vote.c.answer, second.c.answer, answered, func.count())
        .select_from(
            second.join(vote, and_(mine, vote.c.kind == VOTE)).join(third, again, isouter=True),
        )
        .where(second.c.kind == REPEAT, second.c.turn == 2)
        .group_by(second.c.annotator, vote.c.answer, second.c.answer, answered)
    )
    found: dict[int, dict[tuple[str, ...], int]] = {}
    for annotator, *answers, pairs in connection.execute(statement):
        found.setdefault(annotator, {})[tuple(answers)] = pairs
    return found


def read_gold(connection: Connection) -> dict[int, list[tuple[str, str, int]]]:
    """Annotator -> (known answer, answer given, how many) of gold pairs that were answered."""
    check, gold = schema.check, schema.gold
    columns = (check.c.annotator, gold.c.answer, check.c.answer)
    statement = (
        select(*columns, func.count())
        .select_from(check.join(gold, gold.c.question == check.c.question))
        .where(check.c.kind == GOLD, check.c.answer != "")
        .group_by(*columns)
        .order_by(*columns)
    )
    found: dict[int, list[tuple[str, str, int]]] = {}
    for annotator, truth, answer, count in connection.execute(statement):
        found.setdefault(annotator, []).append((truth, answer, count))
    return found


def read_checks(connection: Connection) -> tuple[int, int]:
    """The number of hidden checks that are answered, and of those that are not."""
    answered = schema.check.c.answer != ""
    statement = select(answered, func.count()).group_by(answered)
    counts = {bool(done): count for done, count in connection.execute(statement)}
    return counts.get(True, 0), counts.get(False, 0)


def question_ids(connection: Connection, pairs: Iterable[tuple[str, str]]) -> dict[tuple[str, str], int]:
    """The questions of image pairs, in either order. Pairs that were never in the queue are missing."""
    question = schema.question
    statement = select(question.c.id).where(
        question.c.low == bindparam("one"), question.c.high == bindparam("other")
    )
    found = {}
    for pair in dict.fromkeys(pairs):
        one, other = sorted(pair)
        row = connection.execute(statement, {"one": one, "other": other}).first()
        if row is not None:
            found[pair] = int(row[0])
    return found
