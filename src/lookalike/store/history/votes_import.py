"""A history from a file is added to a workspace's database in one transaction, by the rules of labelling."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Table, bindparam, delete, select, text, update

from lookalike.annotate.agreement.pace import HOUR_MS
from lookalike.annotate.agreement.patterns import pattern
from lookalike.annotate.protocol import OPEN, SETTLED
from lookalike.store.formats.designs import design_from_text
from lookalike.store.history.rows import (
    CHECK,
    COMMENT,
    DECISION,
    GOLD,
    PROPOSAL,
    SKIP,
    UNDO,
    VOTE,
    Row,
    history,
)
from lookalike.store.history.votes_file import Pair, VoteFile
from lookalike.store.history.votes_merge import Merged, merged, with_undone_votes
from lookalike.store.labelling.annotators import active_time
from lookalike.store.labelling.campaigns import read_campaign
from lookalike.store.labelling.closing import label_pairs, recount, unlabel_pairs
from lookalike.store.labelling.questions import takers
from lookalike.store.sql import labelling_schema as tables
from lookalike.store.sql.rows import execute_all, insert_all, insert_or_add, insert_or_replace
from lookalike.store.sql.samples import DrawnDesign, DrawnPair, keep_designs

IMPORTED = "imported"
TABLE_OF: Mapping[str, Table] = {
    VOTE: tables.vote,
    SKIP: tables.vote,
    UNDO: tables.vote,
    PROPOSAL: tables.verdict,
    DECISION: tables.verdict,
    COMMENT: tables.comment,
    CHECK: tables.check,
    GOLD: tables.gold,
}

Changes = Mapping[Pair, Merged]


@dataclass(frozen=True)
class AddedHistory:
    """The number of new questions, changed questions and new votes, and the names of new annotators.

    `resolved_again` counts pairs with a label that are resolved again from all their votes.
    """

    questions: int
    changed: int
    resolved_again: int
    votes: int
    annotators: tuple[str, ...]


def add_history(connection: Connection, file: VoteFile, now: int) -> AddedHistory:
    """Add the history of a file to a database. Pairs that cannot be merged become faults of the file.

    The caller rolls back the transaction if it wants all pairs or none.
    """
    if connection.dialect.name != "sqlite":
        connection.execute(text("LOCK TABLE annotator, question IN EXCLUSIVE MODE"))
    here = VoteFile()
    for row in history(connection):
        here.add(row)
    if file.borrowed:
        file.events = with_undone_votes(file.events, here.events)
    new_names, ids = _add_annotators(connection, file, now)
    changes = merged(file, here, ids, read_campaign(connection).grace)
    new_ids = {id(row) for change in changes.values() for row in change.new}
    new = [row for row in file.events if id(row) in new_ids]  # in the order of the file
    questions = _write_questions(connection, changes, now)
    _write_labels(connection, changes, here)
    keep_designs(connection, (_design(row) for row in file.drawn if row.pair not in file.wrong))
    for table in dict.fromkeys(TABLE_OF.values()):
        rows = [_table_row(row, questions, ids) for row in new if TABLE_OF[row.event] is table]
        if table is tables.check:
            _drop_planned(connection, rows)
        insert_all(connection, table, rows)
    recount(connection)
    _add_to_tally(connection, changes, here, ids)
    _add_to_pace(connection, new, (*here.events, *file.events), ids)
    changed = sum(pair in here.questions for pair in changes)
    votes = sum(row.event == VOTE for row in new)
    again = sum(
        here.questions[pair].state != OPEN and change.question.state == OPEN
        for pair, change in changes.items()
        if pair in here.questions
    )
    return AddedHistory(len(changes) - changed, changed, again, votes, tuple(new_names))


def _add_annotators(
    connection: Connection, file: VoteFile, now: int
) -> tuple[Sequence[str], Mapping[str, int]]:
    """Add unknown annotators, who cannot log in. Returns their names, and the ids of all by casefolded name."""
    own = tables.annotator
    known = set(connection.execute(select(own.c.folded)).scalars())
    new: dict[str, str] = {}
    for row in file.events:
        if row.who and row.who.casefold() not in known and row.pair not in file.wrong:
            new.setdefault(row.who.casefold(), row.who)
    rows = ({"name": name, "folded": key, "role": IMPORTED, "created": now} for key, name in new.items())
    insert_all(connection, own, rows)
    ids = {folded: number for folded, number in connection.execute(select(own.c.folded, own.c.id))}
    return list(new.values()), ids


def _write_questions(connection: Connection, changes: Changes, now: int) -> Mapping[Pair, int]:
    """Write questions and their claims; returns the id of each question. Leases on them end."""
    own, claim = tables.question, tables.claim
    plain = ("query", "candidate", "kind", "needed", "both", "item", "category", "place")
    rows = (
        {
            **{name: getattr(change.question, name) for name in plain},
            "low": low,
            "high": high,
            "free": max(change.after.free, 0),
            "takers": takers(one.annotator for one in change.after.claims),
            "state": change.after.state,
            "label": change.after.label,
            "resolves_at": change.after.resolves_at,
            "changed": now,
        }
        for (low, high), change in changes.items()
    )
    execute_all(connection, insert_or_replace(connection, own, "low", "high"), rows)
    known = connection.execute(select(own.c.low, own.c.high, own.c.id))
    ids = {(low, high): number for low, high, number in known}
    ended = delete(claim).where(claim.c.question == bindparam("which"))
    execute_all(connection, ended, ({"which": ids[pair]} for pair in changes))
    claims = (
        {"question": ids[pair], **vars(one)}
        for pair, change in changes.items()
        for one in change.after.claims
    )
    insert_all(connection, claim, claims)
    return ids


def _write_labels(connection: Connection, changes: Changes, here: VoteFile) -> None:
    had = (here.questions[pair] for pair in changes if pair in here.questions)
    unlabel_pairs(connection, (ends for row in had if row.state == SETTLED for ends in _directions(row)))
    new = (
        (*ends, change.after.label)
        for change in changes.values()
        if change.after.state == SETTLED and change.after.label is not None
        for ends in _directions(change.question)
    )
    label_pairs(connection, new)


def _directions(row: Row) -> Sequence[Pair]:
    return [(row.query, row.candidate), (row.candidate, row.query)][: 1 + (row.both or 0)]


def _table_row(row: Row, questions: Mapping[Pair, int], ids: Mapping[str, int]) -> dict[str, Any]:
    """An event as a row of its table."""
    base: dict[str, Any] = {"question": questions[row.pair], "at": row.at}
    if row.event == GOLD:
        return {**base, "by": ids.get(row.who.casefold()), "answer": row.answer, "note": row.text}
    base["annotator"] = ids[row.who.casefold()]
    if row.event in (PROPOSAL, DECISION):
        return {**base, "kind": row.event, "verdict": row.answer}
    base["token"] = row.token
    if row.event == COMMENT:
        return {**base, "text": row.text}
    base |= {"side": row.side, "took": row.took, "reason": row.reason}
    if row.event == CHECK:
        planned = {"kind": row.kind, "turn": row.turn, "due": row.place}
        return {**base, **planned, "answer": row.answer, "since": (row.at or 0) - (row.took or 0)}
    return {**base, "answer": row.answer or row.event, "place": row.place}


def _design(row: Row) -> DrawnDesign:
    found = design_from_text(row.text)
    return DrawnPair(row.query, row.candidate, row.item, found.stratum, found.probability), found


def _drop_planned(connection: Connection, rows: Sequence[Mapping[str, Any]]) -> None:
    """Drop unanswered checks of the same kind and turn as answered ones that are added."""
    own = tables.check
    keys = ("annotator", "question", "kind", "turn")
    planned = delete(own).where(*(own.c[key] == bindparam(f"of_{key}") for key in keys), own.c.answer == "")
    execute_all(connection, planned, ({f"of_{key}": row[key] for key in keys} for row in rows))


def _add_to_tally(connection: Connection, changes: Changes, here: VoteFile, ids: Mapping[str, int]) -> None:
    """Count the blind votes of questions that are no longer open."""
    counts: Counter[tuple[str, str]] = Counter()
    for pair, change in changes.items():
        voted = {ids[who]: answer for who, answer in change.voted.items()}
        votes = {one.annotator: one.answer for one in change.after.votes}
        for row, given, sign in ((here.questions.get(pair), voted, -1), (change.question, votes, 1)):
            if row is not None and row.state != OPEN and given and len(given) == row.needed:
                counts[row.category, pattern(given)] += sign
    rows = ({"category": of, "pattern": votes, "questions": n} for (of, votes), n in counts.items() if n)
    execute_all(connection, insert_or_add(connection, tables.tally, "questions"), rows)
    connection.execute(delete(tables.tally).where(tables.tally.c.questions <= 0))


def _add_to_pace(
    connection: Connection, new: Sequence[Row], known: Sequence[Row], ids: Mapping[str, int]
) -> None:
    """Count live answers and working time by hour, and all answers of each annotator."""
    person = tables.annotator
    voted = {f"{UNDO}:{row.token}": row for row in known if row.event == VOTE}
    hours: dict[tuple[int, int], list[int]] = defaultdict(lambda: [0, 0])
    times: dict[int, list[int]] = defaultdict(list)
    for row in new:
        if row.event in (VOTE, CHECK) and row.answer != SKIP:
            who, at = ids[row.who.casefold()], row.at or 0
            hour = hours[who, at // HOUR_MS]
            hour[0] += 1
            hour[1] += active_time(times[who][-1] if times[who] else None, at, row.took or 0)
            times[who].append(at)
        elif undone := voted.get(row.token):
            hours[ids[undone.who.casefold()], (undone.at or 0) // HOUR_MS][0] -= 1
    rows = (
        {"annotator": who, "hour": hour, "answers": n, "active": active}
        for (who, hour), (n, active) in hours.items()
    )
    execute_all(connection, insert_or_add(connection, tables.pace, "answers", "active"), rows)
    for who, given in times.items():
        had = connection.execute(select(person.c.answers, person.c.last).where(person.c.id == who)).one()
        last = max(given) if had.last is None else max(*given, had.last)
        change = {"answers": had.answers + len(given), "last": last}
        connection.execute(update(person).where(person.c.id == who).values(**change))
