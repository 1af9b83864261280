"""Fifty experts at the writer of a server, without the web: how fast votes are kept, and whether all of them are.

    python benchmarks/load.py SQLITE_FILE_OR_POSTGRESQL_ADDRESS [--pairs 10000] [--think 0.5]

The place must be empty. Every expert is a thread that votes, gets the next pairs, and thinks for an exponential time;
0: not at all. Afterwards the database is asked what it kept, and that is compared with what was acknowledged.
"""

import argparse
import random
import threading
import time
from collections import Counter
from pathlib import Path

from sqlalchemy import select
from votes import PEOPLE, fill, spread, sync_times

from lookalike.store.database import Database
from lookalike.store.leases import Rules
from lookalike.store.settling import now_ms
from lookalike.store.unit_of_work import Foreseen, UnitOfWork
from lookalike.store.votes import answer, next_pairs
from lookalike.store.votes_schema import claim, vote
from lookalike.store.writer import Writer


def main() -> None:
    """Print the line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("place")
    parser.add_argument("--pairs", type=int, default=10_000)
    parser.add_argument("--think", type=float, default=0.0)
    given = parser.parse_args()
    database = Database(given.place if "://" in given.place else Path(given.place))
    rules = fill(database, given.pairs)
    writer, experts = Writer(database), []
    began, cpu = time.perf_counter(), time.process_time()
    for who in range(1, PEOPLE + 1):
        experts.append(Expert(writer, rules, who, given.think))
        experts[-1].start()
    for expert in experts:
        expert.join()
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    writer.close()
    told = {token: said for expert in experts for token, said in expert.told.items()}
    took = [one for expert in experts for one in expert.took]
    name = database.url.get_backend_name()
    print(f"{name}, think {given.think:g} s: {len(told):,} votes, {len(told) / seconds:.0f} a second")
    print(
        f"vote and next p50 {spread(took)}; bare sync p50 {spread(sync_times())}; {cpu / len(told) * 1e3:.2f} ms of CPU"
    )
    print(check(database, told, given.pairs))


class Expert(threading.Thread):
    """Votes until nothing is left."""

    def __init__(self, writer: Writer, rules: Rules, who: int, think: float) -> None:
        super().__init__()
        self.writer, self.rules, self.who, self.think = writer, rules, who, think
        self.draw, self.told, self.took = random.Random(who), {}, []

    def run(self) -> None:
        """Ask, answer, think."""
        given = self.writer.label(
            lambda work: next_pairs(work, self.rules, self.who, now_ms(), self.draw), Foreseen(self.who)
        ).result()
        while given:
            if self.think:
                time.sleep(self.draw.expovariate(1 / self.think))
            token, said = given[0].token, self.draw.choice(("similar", "dissimilar"))
            began = time.perf_counter()
            given = self.writer.label(
                lambda work, t=token, s=said: self.vote(work, t, s),
                Foreseen(self.who, question=given[0].question),
            ).result()
            self.took.append(time.perf_counter() - began)
            self.told[token] = said

    def vote(self, work: UnitOfWork, token: str, said: str):
        """A vote and the next pairs, in one transaction."""
        answer(work, self.rules, self.who, token, said, now_ms(), self.draw)
        return next_pairs(work, self.rules, self.who, now_ms(), self.draw)


def check(database: Database, told: dict[str, str], pairs: int) -> str:
    """What was lost, doubled and over-assigned."""
    with database.read() as connection:
        kept = dict(connection.execute(select(vote.c.token, vote.c.answer)).all())
        checks = {token for token in told if token not in kept}
        claims = connection.execute(select(claim.c.question, claim.c.kind)).all()
        answered = (
            connection.exec_driver_sql("SELECT token FROM hidden_check WHERE answer <> ''").scalars().all()
        )
    lost = len(checks - set(answered)) + sum(kept[t] != said for t, said in told.items() if t in kept)
    seats = Counter(question for question, kind in claims if kind != "skip")
    over = sum(count > 2 for count in seats.values())
    done = sum(count == 2 for count in seats.values())
    doubled = len(kept) - len(set(told) & set(kept))
    return f"lost {lost}, doubled {doubled}, over-assigned {over}, pairs done {done} of {pairs}"


if __name__ == "__main__":
    main()
