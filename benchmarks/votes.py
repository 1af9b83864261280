"""How long the next pair takes in a queue of a million, on SQLite and PostgreSQL, in the cases that are hard.

    python benchmarks/votes.py SQLITE_FILE_OR_POSTGRESQL_ADDRESS [--pairs 1000000]

The place must be empty. Each line is one case: the next pairs of who holds none, found and leased; and a vote and the
next pair in one transaction, on the disk. Two pairs are given ahead, so that each of these has to look for some. Beside
them a bare sync of the same disk in the same run, and the plans by which pairs are found.
"""

import argparse
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import Connection, insert, text

from lookalike.annotate.campaign import Campaign
from lookalike.store.labelling.campaigns import Rules
from lookalike.store.labelling.due import apply_due
from lookalike.store.labelling.giving import next_pairs
from lookalike.store.labelling.queue import NewPair, add_pairs
from lookalike.store.labelling.votes import answer
from lookalike.store.people.people import release_all
from lookalike.store.sql import labelling_schema as tables
from lookalike.store.sql.database import Database

PEOPLE, LIMIT_MS, NOW = 50, 20.0, 1_700_000_000_000
AHEAD = 300_000  # pairs that annotator 1 has voted on and that wait for a second vote


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("place")
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--times", type=int, default=300)
    given = parser.parse_args()
    database = Database(given.place if "://" in given.place else Path(given.place))
    began = time.perf_counter()
    rules = fill(database, given.pairs)
    print(f"{database.url.get_backend_name()}: {given.pairs:,} pairs in {time.perf_counter() - began:.0f} s")
    print(f"bare sync of the disk: p50 {spread(sync_times())}")
    bench = Bench(database, rules, given.times)
    bench.show("nothing answered yet, one annotator", [2])
    bench.show("nothing answered yet, 50 annotators in turn", range(1, PEOPLE + 1))
    vote_ahead(database, min(AHEAD, given.pairs // 3))
    bench.show(f"{min(AHEAD, given.pairs // 3):,} of annotator 1 wait for a second vote: annotator 1", [1])
    bench.show("the same, the others", range(2, PEOPLE + 1))
    bench.nothing_due()
    scatter(database)
    bench.show("2,000 sets of takers stand before what is left", [1])
    finish(database)
    bench.show("all but 300 are done, 50 annotators in turn", range(1, PEOPLE + 1))
    bench.show("the same, annotator 1 alone", [1])
    bench.plan()


def fill(database: Database, pairs: int) -> Rules:
    """A queue of so many pairs, each needing two votes."""
    database.migrate()
    with database.write() as connection:
        people = [
            {"name": f"p{n}", "folded": f"p{n}", "role": "annotator", "created": NOW} for n in range(PEOPLE)
        ]
        connection.execute(insert(tables.annotator), people)
        listed = (
            NewPair(f"query-{n // 20:06}", f"photo-{n:07}", f"i{n}", "chairs", "pool", n)
            for n in range(pairs)
        )
        add_pairs(connection, listed, 2, NOW)
    analyse(database)
    return Rules(Campaign(prefetch=2), 0.01)


def analyse(database: Database) -> None:
    """Let PostgreSQL know its tables, as its own autovacuum soon would."""
    if not database.is_sqlite:
        with database.open() as connection:
            connection.execution_options(isolation_level="AUTOCOMMIT").execute(text("VACUUM ANALYZE"))


def vote_ahead(database: Database, pairs: int) -> None:
    """Annotator 1 has voted on the first pairs of the queue."""
    with database.write() as connection:
        release(connection)
        connection.execute(
            text(
                "INSERT INTO claim (question, annotator, kind, answer, token, side, since, until) SELECT id, 1, "
                "'vote', 'similar', 'made ' || id, 0, 0, 0 FROM question WHERE place < :pairs AND takers = ''"
            ),
            {"pairs": pairs},
        )
        connection.execute(
            text("UPDATE question SET free = 1, takers = ',1,' WHERE place < :pairs AND takers = ''"),
            {"pairs": pairs},
        )
    analyse(database)


def scatter(database: Database) -> None:
    """Pairs that annotator 1 and one or two others of a thousand have a claim on: many sets of takers."""
    with database.write() as connection:
        release(connection)
        connection.execute(
            text(
                "UPDATE question SET free = 1, takers = ',1,' || (100 + id % 50) || ',' || (200 + id % 41) || ',' "
                "WHERE free = 1 AND takers = ',1,'"
            )
        )
    analyse(database)


def finish(database: Database) -> None:
    """All pairs but the last 300 are done."""
    with database.write() as connection:
        release(connection)
        connection.execute(
            text(
                "UPDATE question SET free = 0, state = 'settled', label = 1 WHERE state = 'open' AND place < "
                "(SELECT MAX(place) - 299 FROM question)"
            )
        )
    analyse(database)


def release(connection: Connection) -> None:
    """Give back what everybody holds."""
    for who in range(1, PEOPLE + 1):
        release_all(connection, who, NOW)


class Bench:
    """The cases, timed on a connection that stays open like a server's."""

    def __init__(self, database: Database, rules: Rules, times: int) -> None:
        self.database, self.rules, self.times = database, rules, times
        self.draw, self.now = random.Random(0), NOW

    def show(self, name: str, people: range | list[int]) -> None:
        """Time one case."""
        database = Database(
            self.database.name if not self.database.is_sqlite else Path(self.database.name), connections=1
        )
        voting, looking, cpu, left = [], [], 0.0, 0
        for turn in range(self.times):
            who, self.now = people[turn % len(people)], self.now + 50
            seconds, given = self.next(database, who)
            looking.append(seconds)
            left += bool(given)
            if given:
                began = time.thread_time()
                seconds, _ = clocked(lambda who=who, token=given[0].token: self.vote(database, who, token))
                voting.append(seconds)
                cpu += time.thread_time() - began
        database.close()
        worst = sorted(looking)[int(len(looking) * 0.99)] * 1e3
        said = f"{name:62} next {spread(looking)}"
        if voting:
            said += f"  vote and next {spread(voting)}, {cpu / len(voting) * 1e3:.2f} ms of CPU"
        print(said + ("" if worst < LIMIT_MS else f"  OVER {LIMIT_MS:.0f} ms"), flush=True)

    def next(self, database: Database, who: int):
        """Seconds until the next pairs of who holds none are found and leased, the commit left out; and these."""
        with database.write() as connection:
            release_all(connection, who, self.now)
        with database.write() as connection:
            return clocked(lambda: next_pairs(connection, self.rules, who, self.now, self.draw))

    def vote(self, database: Database, who: int, token: str):
        """A vote and the next pairs."""
        with database.write() as connection:
            answer(connection, self.rules, who, token, "similar", self.now, self.draw, took=900)
            return next_pairs(connection, self.rules, who, self.now, self.draw)

    def nothing_due(self) -> None:
        """Time what a server does each second, where nothing is due."""
        seconds = []
        for _ in range(self.times):
            with self.database.write() as connection:
                seconds.append(clocked(lambda c=connection: apply_due(c, self.rules, NOW))[0])
        print(f"{'applying what is due, with nothing due':62} {spread(seconds)}", flush=True)

    def plan(self) -> None:
        """How the database finds the first open pairs, and the sets of takers."""
        for statement in (
            "SELECT id FROM question WHERE free > 0 ORDER BY place LIMIT 48",
            "SELECT MIN(takers) FROM question WHERE free > 0 AND takers > ''",
        ):
            word = "EXPLAIN QUERY PLAN " if self.database.is_sqlite else "EXPLAIN "
            with self.database.read() as connection:
                lines = [str(row[-1]) for row in connection.execute(text(word + statement))]
            print(" | ".join(line.strip() for line in lines))


def clocked(does: Callable):
    """Seconds and the result."""
    began = time.perf_counter()
    found = does()
    return time.perf_counter() - began, found


def spread(seconds: list[float]) -> str:
    """Median and 99th percentile in milliseconds."""
    ordered = sorted(seconds)
    middle, high = ordered[len(ordered) // 2], ordered[int(len(ordered) * 0.99)]
    return f"{middle * 1e3:6.2f} p99 {high * 1e3:6.2f} ms"


def sync_times(times: int = 100) -> list[float]:
    """How long a bare write and sync of 4 KiB takes in this folder."""
    path, found = Path("bare-sync.tmp"), []
    with path.open("wb") as file:
        for _ in range(times):
            began = time.perf_counter()
            file.write(b"x" * 4096)
            file.flush()
            os.fdatasync(file.fileno())
            found.append(time.perf_counter() - began)
    path.unlink()
    return found


if __name__ == "__main__":
    main()
