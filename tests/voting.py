"""A process that votes: what the tests of the guarantees start, kill and trace. It prints the receipts that it gets.

    python voting.py PLACE FIRST LAST [once] [lazy]

One thread for each annotator from FIRST to LAST asks for pairs and answers them until nothing is left. Each line
it writes is one acknowledgement: "ack ANNOTATOR QUESTION TOKEN ANSWER", "starved ANNOTATOR", "done ANNOTATOR".
`once`: one thread after another. `lazy`: the disk is not waited for, which a test of the tests must notice.
"""

import os
import random
import sys
import threading
from pathlib import Path

from sqlalchemy import event, text

from lookalike.annotate.campaign import Campaign
from lookalike.core.clock import now_ms
from lookalike.core.errors import LookalikeError
from lookalike.store.labelling.campaigns import Rules
from lookalike.store.labelling.giving import next_pairs
from lookalike.store.labelling.votes import answer
from lookalike.store.labelling.writer import Writer
from lookalike.store.sql.database import Database

ELIGIBLE = text(
    "SELECT COUNT(*) FROM question WHERE state = 'open' AND needed > (SELECT COUNT(*) FROM claim "
    "WHERE claim.question = question.id AND claim.kind <> 'skip') AND NOT EXISTS (SELECT 1 FROM claim "
    "WHERE claim.question = question.id AND claim.annotator = :who)"
)


def tell(*words: object) -> None:
    """One line in one system call."""
    os.write(1, (" ".join(map(str, words)) + "\n").encode())


def work(writer: Writer, rules: Rules, who: int) -> None:
    """Answer pairs until none is left; what the database cannot do just now is tried again."""
    draw, errors, held = random.Random(who), 0, None

    def ask(connection):
        found = next_pairs(connection, rules, who, now_ms(), draw)
        starved = not found and connection.execute(ELIGIBLE, {"who": who}).scalar()
        return found, starved

    while errors < 200:
        try:
            if held is None:
                given, starved = writer.submit(ask).result()
                if starved:
                    tell("starved", who)
                if not given:
                    break
                held = given[0], draw.choice(("similar", "dissimilar"))
            pair, given_answer = held
            writer.submit(
                lambda connection, t=pair.token, s=given_answer: answer(
                    connection, rules, who, t, s, now_ms(), draw
                )
            ).result()
            tell("ack", who, pair.question, pair.token, given_answer)
            held = None
        except LookalikeError as error:
            errors += 1
            tell("error", who, error.problem.replace("\n", " "))
    tell("done", who)


def main(place: str, first: int, last: int, *how: str) -> None:
    database = Database(place if "://" in place else Path(place))
    if "lazy" in how and database.is_sqlite:
        event.listen(database._engine, "connect", lambda c, _: c.execute("PRAGMA synchronous=OFF"))
    rules, writer = Rules(Campaign()), Writer(database)
    threads = [threading.Thread(target=work, args=(writer, rules, who)) for who in range(first, last + 1)]
    for thread in threads:
        thread.start()
        if "once" in how:
            thread.join()
    for thread in threads:
        thread.join()
    writer.close()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
