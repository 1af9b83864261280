"""The team page's figures and the review list: CPU seconds, at the size of a large labelling.

1,000,000 questions with two blind votes each by four and by fifty annotators, in 20 categories, as the tally keeps
them; a year of hours; hidden repeats of everybody. And the triangles among 63,298 labels (VSD-Furniture) between
10,458 images in families. `python benchmarks/team.py [repeats]`
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

import numpy as np
from sqlalchemy import insert

from lookalike.annotate.campaign import Campaign
from lookalike.core.checks import strings
from lookalike.core.types import Catalog, Labels
from lookalike.positive.graph import label_graph
from lookalike.store.sql import labelling_schema as schema
from lookalike.store.sql.database import Database
from lookalike.workflows.label.plan import plan
from lookalike.workflows.label.review import suspects
from lookalike.workflows.label.team import team

QUESTIONS, CATEGORIES, REPEATS = 1_000_000, 20, 200
HOURS, NOW = 480_000, 480_001 * 3_600_000
IMAGES, LABELS, SIMILAR, FAMILY = 10_458, 63_298, 39_194, 16
LIMITS, REVIEW_LIMIT = {4: 0.5, 50: 3.0}, 2.0


def main(repeats: int) -> None:
    """Print a line for each, and fail where a limit is passed."""
    lines = []
    for people in (4, 50):
        with tempfile.TemporaryDirectory() as folder:
            database = filled(Path(folder) / "votes.db", people)
            taken = median(lambda database=database: team(database, NOW), repeats)
            lines.append((f"team of {people}, {QUESTIONS:,} questions", taken, LIMITS[people]))
            taken = median(lambda database=database: plan(database, Campaign(), NOW), repeats)
            lines.append((f"plan of {people}", taken, LIMITS[people]))
            database.close()
    catalog, labels = families()
    graph = label_graph(catalog, labels, split=None)
    found = suspects(catalog, graph)
    name = f"review of {len(labels):,} labels, {found.triangles:,} triangles"
    taken = median(lambda: suspects(catalog, label_graph(catalog, labels, split=None)), repeats)
    lines.append((name, taken, REVIEW_LIMIT))
    for line, seconds, limit in lines:
        print(f"{line:55} {seconds:6.3f} s (limit {limit:g} s)")
    assert all(seconds <= limit for _, seconds, limit in lines)


def median(work: Callable[[], object], repeats: int) -> float:
    """The median of some runs, in seconds of the processor: other work on the machine does not count."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return statistics.median(times)


def filled(place: Path, people: int) -> Database:
    """A database with the small tables of a large labelling."""
    database, random = Database(place), np.random.default_rng(0)
    database.migrate()
    twos = list(combinations(range(1, people + 1), 2))
    patterns = [f"{a}{x} {b}{y}" for a, b in twos for x in "+-?" for y in "+-?"]
    share = np.tile([0.5, 0.05, 0.01, 0.05, 0.36, 0.01, 0.01, 0.01, 0.0], len(twos)) / len(twos)
    counts = random.multinomial(QUESTIONS // CATEGORIES, share / share.sum(), size=CATEGORIES)
    rows = [
        {"category": f"category {c:02}", "pattern": pattern, "questions": int(count)}
        for c in range(CATEGORIES)
        for pattern, count in zip(patterns, counts[c], strict=True)
        if count
    ]
    with database.write() as connection:
        for at in range(1, people + 1):
            row = {
                "id": at,
                "name": f"expert {at}",
                "folded": f"expert {at}",
                "role": "annotator",
                "created": 1,
            }
            connection.execute(insert(schema.annotator), row)
        connection.execute(insert(schema.tally), rows)
        hours = [
            {
                "annotator": at,
                "hour": HOURS - 8 * hour,
                "answers": int(random.integers(90, 150)),
                "active": 3_300_000,
            }
            for at in range(1, people + 1)
            for hour in range(QUESTIONS * 2 // people // 120 if people > 4 else 1000)
        ]
        connection.execute(insert(schema.pace), hours)
        _repeats(connection, people, random)
    return database


def _repeats(connection, people: int, random) -> None:
    for q in range(1, REPEATS + 1):
        row = {
            "id": q,
            "place": q,
            "query": f"q{q}",
            "candidate": "c",
            "low": "c",
            "high": f"q{q}",
            "item": "c",
        }
        connection.execute(
            insert(schema.question), {**row, "kind": "pool", "needed": 2, "free": 0, "changed": 1}
        )
    said = np.array(["similar", "dissimilar"])[
        (random.random((people, REPEATS, 3)) < 0.5).astype(int)
    ].tolist()
    places = [(at, q) for at in range(people) for q in range(REPEATS)]
    connection.execute(
        insert(schema.claim),
        [
            {
                "question": q + 1,
                "annotator": at + 1,
                "kind": "vote",
                "answer": said[at][q][0],
                "token": "",
                "side": 0,
                "since": 1,
                "until": 1,
            }
            for at, q in places
        ],
    )
    connection.execute(
        insert(schema.check),
        [
            {
                "annotator": at + 1,
                "question": q + 1,
                "kind": "repeat",
                "turn": turn,
                "due": 1,
                "answer": said[at][q][turn - 1],
            }
            for at, q in places
            for turn in (2, 3)
        ],
    )


def families() -> tuple[Catalog, Labels]:
    """Images in families: labels mostly similar within one; the others wherever."""
    random = np.random.default_rng(1)
    names = strings(f"{at // FAMILY}/{at}" for at in range(IMAGES))
    blank = strings([""] * IMAGES)
    size = np.zeros(IMAGES, np.int64)
    split = strings(["train"] * IMAGES)
    catalog = Catalog(names, names, names, blank, blank, split, np.arange(IMAGES), blank, size, size)
    a = random.integers(0, IMAGES, 4 * LABELS)
    near = np.minimum(a // FAMILY * FAMILY + random.integers(0, FAMILY, len(a)), IMAGES - 1)
    a, near = a[a != near], near[a != near]
    pair = np.unique(np.minimum(a, near) * IMAGES + np.maximum(a, near))
    pair = random.permutation(pair)[:LABELS]
    label = (np.arange(len(pair)) < SIMILAR).astype(int)
    return catalog, Labels.of(names[pair // IMAGES], names[pair % IMAGES], label)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
