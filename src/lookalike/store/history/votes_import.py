"""A history from a file into a workspace's database: all of it in one transaction, through the rules of labelling."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, insert, select, text, update

from lookalike.annotate.agreement.pace import HOUR_MS
from lookalike.annotate.protocol import OPEN, SETTLED
from lookalike.annotate.question import SKIP, VOTE
from lookalike.store.history.rows import (
    CHECK,
    COMMENT,
    DECISION,
    GOLD,
    PROPOSAL,
    QUESTION,
    UNDO,
    Row,
    history,
)
from lookalike.store.history.votes_file import Pair, VoteFile
from lookalike.store.history.votes_merge import Here, Merged, merged
from lookalike.store.labelling.annotators import PAUSE
from lookalike.store.labelling.campaigns import read_campaign
from lookalike.store.labelling.closing import SOURCE, pattern, recount
from lookalike.store.labelling.questions import takers
from lookalike.store.sql import labelling_schema, schema
from lookalike.store.sql.rows import execute_all, insert_all, insert_new

IMPORTED = "imported"
COUNTED = (VOTE, CHECK)  # what adds to an annotator's answers


@dataclass(frozen=True)
class Brought:
    """What came in: new questions, votes and annotators, questions that changed; and why which pairs could not."""

    questions: int
    changed: int
    votes: int
    annotators: tuple[str, ...]
    refusals: Mapping[Pair, str]


def bring_in(connection: Connection, file: VoteFile, now: int) -> Brought:
    """Add a file's history to a database. Pairs that cannot be merged are left out and named; it is for the caller to
    take all of it back.
    """
    if connection.dialect.name != "sqlite":
        connection.execute(text("LOCK TABLE annotator, question IN EXCLUSIVE MODE"))
    here = _here(connection)
    ids, fresh = _people(connection, file, now)
    changes, refusals = merged(file, here, lambda name: ids[name.casefold()], read_campaign(connection).grace)
    numbers = _write_questions(connection, changes, here, now)
    _write_claims(connection, changes, numbers, now)
    _write_labels(connection, changes, here)
    rows = _new_rows(file, changes)
    _write_events(connection, rows, numbers, ids)
    _write_figures(connection, rows, changes, here, ids)
    return Brought(
        questions=sum(pair not in here.questions for pair in changes),
        changed=sum(pair in here.questions for pair in changes),
        votes=sum(row.event == VOTE for row in rows),
        annotators=tuple(fresh),
        refusals=refusals,
    )


def _here(connection: Connection) -> Here:
    questions: dict[Pair, Row] = {}
    events: dict[Pair, list[Row]] = defaultdict(list)
    for row in history(connection):
        if row.event == QUESTION:
            questions[row.pair] = row
        else:
            events[row.pair].append(row)
    return Here(questions, events)


def _people(connection: Connection, file: VoteFile, now: int) -> tuple[dict[str, int], list[str]]:
    """Annotators by name, those who are new among them: nobody logs in as they."""
    own = labelling_schema.annotator
    there = {folded for (folded,) in connection.execute(select(own.c.folded))}
    fresh: dict[str, str] = {}
    for row in file.events:
        if row.who and row.who.casefold() not in there and row.pair not in file.wrong:
            fresh.setdefault(row.who.casefold(), row.who)
    rows = [
        {"name": name, "folded": folded, "role": IMPORTED, "created": now} for folded, name in fresh.items()
    ]
    insert_all(connection, own, rows)
    found = {folded: number for folded, number in connection.execute(select(own.c.folded, own.c.id))}
    return {"": 0, **{row.who.casefold(): 0 for row in file.events}, **found}, list(fresh.values())


def _write_questions(
    connection: Connection, changes: Mapping[Pair, Merged], here: Here, now: int
) -> dict[Pair, int]:
    """Write the questions, and return the number of each."""
    own = labelling_schema.question
    rows = {pair: _question_row(change, now) for pair, change in changes.items()}
    insert_all(connection, own, (row for pair, row in rows.items() if pair not in here.questions))
    known = select(own.c.low, own.c.high, own.c.id)
    numbers = {(low, high): number for low, high, number in connection.execute(known)}
    names = [name for name in next(iter(rows.values()), {}) if name not in ("low", "high")]
    change = (
        update(own)
        .where(own.c.id == bindparam("which"))
        .values({name: bindparam(f"new_{name}") for name in names})
    )
    execute_all(
        connection,
        change,
        (
            {"which": numbers[pair], **{f"new_{name}": row[name] for name in names}}
            for pair, row in rows.items()
            if pair in here.questions
        ),
    )
    return numbers


def _question_row(change: Merged, now: int) -> dict[str, Any]:
    asked, after = change.question, change.after
    low, high = asked.pair
    plain = ("query", "candidate", "kind", "needed", "both", "item", "category", "place")
    return {
        **{name: getattr(asked, name) for name in plain},
        "low": low,
        "high": high,
        "free": max(after.free, 0),
        "takers": takers(claim.annotator for claim in after.claims),
        "state": after.state,
        "label": after.label,
        "resolves_at": after.resolves_at,
        "changed": now,
    }


def _write_claims(
    connection: Connection, changes: Mapping[Pair, Merged], numbers: Mapping[Pair, int], now: int
) -> None:
    """What stands of each pair; a lease that somebody had on it is gone, and comes back with their answer."""
    own = labelling_schema.claim
    execute_all(
        connection,
        delete(own).where(own.c.question == bindparam("which")),
        ({"which": numbers[pair]} for pair in changes),
    )
    insert_all(
        connection,
        own,
        (
            {"question": numbers[pair], **vars(claim)}
            for pair, change in changes.items()
            for claim in change.after.claims
        ),
    )


def _write_labels(connection: Connection, changes: Mapping[Pair, Merged], here: Here) -> None:
    own = schema.label
    had = [here.questions[pair] for pair in changes if pair in here.questions]
    execute_all(
        connection,
        delete(own).where(
            own.c.query == bindparam("q"), own.c.candidate == bindparam("c"), own.c.source == SOURCE
        ),
        ({"q": q, "c": c} for asked in had if asked.state == SETTLED for q, c in _ends(asked)),
    )
    rows = (
        {"query": q, "candidate": c, "label": change.after.label, "source": SOURCE}
        for change in changes.values()
        if change.after.state == SETTLED and change.after.label is not None
        for q, c in _ends(change.question)
    )
    execute_all(connection, insert_new(connection, own), rows)


def _ends(asked: Row) -> list[Pair]:
    return [(asked.query, asked.candidate), (asked.candidate, asked.query)][: 1 + (asked.both or 0)]


def _new_rows(file: VoteFile, changes: Mapping[Pair, Merged]) -> list[Row]:
    """The new events of all pairs, in the file's order."""
    new = {id(row) for change in changes.values() for row in change.new}
    return [row for row in file.events if id(row) in new]


def _write_events(
    connection: Connection, rows: Sequence[Row], numbers: Mapping[Pair, int], ids: Mapping[str, int]
) -> None:
    def of(events: Sequence[str], **names: str) -> Iterable[dict[str, Any]]:
        for row in rows:
            if row.event in events:
                base = {"question": numbers[row.pair], "at": row.at, "annotator": ids[row.who.casefold()]}
                yield {**base, **{column: getattr(row, name) for column, name in names.items()}}

    same = {name: name for name in ("place", "side", "took", "token")}
    votes = (
        {**row, "answer": row["answer"] or row["event"]}
        for row in of((VOTE, SKIP, UNDO), answer="answer", event="event", **same)
    )
    _insert(connection, labelling_schema.vote, votes, "event")
    _insert(connection, labelling_schema.verdict, of((PROPOSAL, DECISION), kind="event", verdict="answer"))
    _insert(connection, labelling_schema.comment, of((COMMENT,), text="text", token="token"))
    names = {"kind": "kind", "turn": "turn", "due": "place", "side": "side", "took": "took"}
    checks = of((CHECK,), token="token", answer="answer", **names)
    _replace_checks(connection, [{**row, "since": row["at"] - row["took"]} for row in checks])
    golds = ({**row, "by": row["annotator"] or None} for row in of((GOLD,), answer="answer", note="text"))
    _insert(connection, labelling_schema.gold, golds, "annotator")


def _replace_checks(connection: Connection, rows: list[dict[str, Any]]) -> None:
    """Answered checks; one of the same kind and turn that was planned here makes way."""
    own = labelling_schema.check
    keys = ("annotator", "question", "kind", "turn")
    gone = delete(own).where(*(own.c[key] == bindparam(f"of_{key}") for key in keys), own.c.answer == "")
    execute_all(connection, gone, ({f"of_{key}": row[key] for key in keys} for row in rows))
    insert_all(connection, own, rows)


def _insert(connection: Connection, table: Table, rows: Iterable[dict[str, Any]], without: str = "") -> None:
    insert_all(connection, table, ({name: row[name] for name in row if name != without} for row in rows))


def _write_figures(
    connection: Connection,
    rows: Sequence[Row],
    changes: Mapping[Pair, Merged],
    here: Here,
    ids: Mapping[str, int],
) -> None:
    """Bring the figures that are kept up to date: states, patterns of votes, and who answered how much when."""
    recount(connection)
    patterns: Counter[tuple[str, str]] = Counter()
    for pair, change in changes.items():
        was_open = pair not in here.questions or here.questions[pair].state == OPEN
        voted = change.after.votes
        if was_open and change.after.state != OPEN and voted and len(voted) == change.question.needed:
            patterns[change.question.category, pattern(change.after)] += 1
    tally = labelling_schema.tally
    there = {(row.category, row.pattern): row.questions for row in connection.execute(select(tally))}
    for (category, signs), more in patterns.items():
        key = (tally.c.category == category, tally.c.pattern == signs)
        connection.execute(delete(tally).where(*key))
        total = there.get((category, signs), 0) + more
        connection.execute(insert(tally), {"category": category, "pattern": signs, "questions": total})
    _write_pace(connection, rows, ids)


def _write_pace(connection: Connection, rows: Sequence[Row], ids: Mapping[str, int]) -> None:
    mine: dict[int, list[Row]] = defaultdict(list)
    for row in rows:
        if row.event in COUNTED and row.answer != SKIP:
            mine[ids[row.who.casefold()]].append(row)
    own, person = labelling_schema.pace, labelling_schema.annotator
    for who, answers in mine.items():
        hours: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        last: int | None = None
        for row in answers:
            at, took = row.at or 0, row.took or 0
            since = at - last if last is not None else took
            hour = hours[at // HOUR_MS]
            hour[0] += 1
            hour[1] += since if 0 <= since <= PAUSE else min(took, PAUSE)
            last = at
        found = connection.execute(
            select(own.c.hour, own.c.answers, own.c.active).where(own.c.annotator == who)
        )
        for hour_number, count, active in found.all():
            if hour_number in hours:
                hours[hour_number][0] += count
                hours[hour_number][1] += active
                connection.execute(delete(own).where(own.c.annotator == who, own.c.hour == hour_number))
        insert_all(
            connection,
            own,
            (
                {"annotator": who, "hour": hour, "answers": n, "active": active}
                for hour, (n, active) in hours.items()
            ),
        )
        had = connection.execute(select(person.c.answers, person.c.last).where(person.c.id == who)).one()
        latest = max(row.at or 0 for row in answers)
        change = {"answers": had.answers + len(answers), "last": max(latest, had.last or latest)}
        connection.execute(update(person).where(person.c.id == who).values(**change))
