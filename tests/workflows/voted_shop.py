"""A database with votes as the labelling leaves them: people, tallies, pace, repeats, gold pairs."""

from collections.abc import Mapping

from sqlalchemy import Connection, insert

from lookalike.annotate.agreement.pace import HOUR_MS
from lookalike.store.sql import labelling_schema as schema
from lookalike.store.sql.database import Database

NOW = 480_000 * HOUR_MS
TALLY = {
    ("lamp", "1+ 2+"): 60,
    ("lamp", "1- 2-"): 50,
    ("lamp", "1+ 2-"): 6,
    ("sofa", "1+ 3+"): 40,
    ("sofa", "1- 3-"): 40,
    ("sofa", "2+ 3-"): 4,
    ("sofa", "2? 3+"): 5,
}


def voted(place) -> Database:
    """Three annotators, one of them removed; three hidden repeats of Ann, gold pairs of Ben, 20 hours of work."""
    database = Database(place)
    database.migrate()
    with database.write() as connection:
        for at, (name, removed) in enumerate((("Ann", None), ("Ben", None), ("Cem", 5)), start=1):
            row = {
                "name": name,
                "folded": name.casefold(),
                "role": "annotator",
                "created": 1,
                "removed": removed,
            }
            connection.execute(insert(schema.annotator), {"id": at, **row})
        rows = [{"category": c, "pattern": p, "questions": n} for (c, p), n in TALLY.items()]
        connection.execute(insert(schema.tally), rows)
        add_questions(connection, 6)
        _repeats(connection)
        _gold(connection)
        hours = [
            {
                "annotator": 1 + hour % 2,
                "hour": NOW // HOUR_MS - 2 * hour,
                "answers": 15 + hour % 3,
                "active": HOUR_MS // 8,
            }
            for hour in range(20)
        ]
        connection.execute(insert(schema.pace), hours)
        connection.execute(
            insert(schema.progress),
            [
                {"kind": "pool", "state": "open", "questions": 100},
                {"kind": "random", "state": "open", "questions": 20},
                {"kind": "gold", "state": "open", "questions": 9},
                {"kind": "pool", "state": "settled", "questions": 190},
            ],
        )
    return database


def add_questions(connection: Connection, count: int) -> None:
    """Questions 1 to count, between the images a and b1, b2 and so on."""
    for at in range(1, count + 1):
        connection.execute(
            insert(schema.question),
            {
                "id": at,
                "place": at,
                "query": f"b{at}",
                "candidate": "a",
                "low": "a",
                "high": f"b{at}",
                "item": "a",
                "kind": "pool",
                "needed": 2,
                "free": 0,
                "state": "settled",
                "changed": 1,
            },
        )


def _repeats(connection: Connection) -> None:
    """Ann on four pairs: consistent, changed at the third time, without a third time, and a vote that was undone."""
    given: Mapping[int, tuple[str, str, str]] = {
        1: ("similar", "similar", "similar"),
        2: ("similar", "similar", "dissimilar"),
        3: ("unsure", "similar", ""),
        4: ("", "similar", "similar"),
    }
    for question, (first, *later) in given.items():
        kind = "vote" if first else "lease"
        row = {"question": question, "annotator": 1, "kind": kind, "answer": first, "token": f"t{question}"}
        connection.execute(insert(schema.claim), {**row, "since": 1, "until": 2, "side": 0})
        for turn, answer in enumerate(later, start=2):
            check = {"annotator": 1, "question": question, "kind": "repeat", "turn": turn, "due": turn}
            connection.execute(insert(schema.check), {**check, "answer": answer})


def _gold(connection: Connection) -> None:
    """Ben on two gold pairs, one right and one wrong, and one that is still due."""
    for question, (truth, answer) in {
        4: ("similar", "similar"),
        5: ("similar", "dissimilar"),
        6: ("dissimilar", ""),
    }.items():
        connection.execute(insert(schema.gold), {"question": question, "answer": truth, "at": 1})
        check = {"annotator": 2, "question": question, "kind": "gold", "turn": 1, "due": 1}
        connection.execute(insert(schema.check), {**check, "answer": answer})
