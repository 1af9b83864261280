"""Samples in the database: pairs drawn at random for one value, each with the design by which it was drawn."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import Connection, func, insert, select

from lookalike.store.formats.designs import DesignOfPair
from lookalike.store.sql.rows import insert_all
from lookalike.store.sql.schema import sample, sample_pair


class DrawnPair(NamedTuple):
    """A pair of a sample: query image, candidate photo and item, stratum and inclusion probability."""

    query: str
    candidate: str
    item: str
    stratum: int
    probability: float

    @property
    def ends(self) -> tuple[str, str]:
        """The two images in alphabetical order: (a, b) and (b, a) are one question."""
        return (self.query, self.candidate) if self.query < self.candidate else (self.candidate, self.query)


DrawnDesign = tuple[DrawnPair, DesignOfPair]


@dataclass(frozen=True, eq=False)
class StoredSample:
    """A sample as it was drawn. `pairs` are in the order of labelling; `frame` is what they were drawn from.

    `question` says what is estimated. It is empty, and `frame` is None, where the pairs were imported: then nothing can
    be estimated from them here.
    """

    name: str
    question: Mapping[str, Any]
    seed: int
    looks: tuple[int, ...]
    catalog: str
    made: int
    frame: bytes | None
    pairs: tuple[DrawnPair, ...]


def write_sample(connection: Connection, one: StoredSample) -> None:
    """Add a sample. Its name must be new."""
    row = {
        "name": one.name,
        "question": json.dumps(one.question, sort_keys=True),
        "seed": one.seed,
        "looks": json.dumps(one.looks),
        "catalog": one.catalog,
        "made": one.made,
        "frame": one.frame,
    }
    key = connection.execute(insert(sample).values(row).returning(sample.c.id)).scalar_one()
    _add_pairs(connection, key, 0, one.pairs)


def count_samples(connection: Connection) -> int:
    """How many samples were drawn."""
    return connection.execute(select(func.count()).select_from(sample)).scalar_one()


def read_samples(connection: Connection) -> list[StoredSample]:
    """All samples, in the order in which they were drawn."""
    pairs: dict[int, list[DrawnPair]] = {}
    columns = (sample_pair.c[name] for name in ("sample", *DrawnPair._fields))
    listed = select(*columns).order_by(sample_pair.c.sample, sample_pair.c.place)
    for of, *values in connection.execute(listed):
        pairs.setdefault(of, []).append(DrawnPair(*values))
    return [
        StoredSample(
            row.name,
            json.loads(row.question),
            row.seed,
            tuple(json.loads(row.looks)),
            row.catalog,
            row.made,
            row.frame,
            tuple(pairs.get(row.id, ())),
        )
        for row in connection.execute(select(sample).order_by(sample.c.id))
    ]


def read_designs(connection: Connection) -> dict[tuple[str, str], list[DesignOfPair]]:
    """The designs of every drawn pair, by its two images in alphabetical order; of each sample in its order."""
    columns = (sample.c.name, sample_pair.c.stratum, sample_pair.c.probability, sample.c.seed)
    joined = select(sample_pair.c.low, sample_pair.c.high, *columns).join_from(sample_pair, sample)
    found: dict[tuple[str, str], list[DesignOfPair]] = {}
    for low, high, *design in connection.execute(joined.order_by(sample.c.id, sample_pair.c.place)):
        found.setdefault((low, high), []).append(DesignOfPair(*design))
    return found


def drawn_ends(connection: Connection) -> set[tuple[str, str]]:
    """The two images of every drawn pair, in alphabetical order."""
    rows = connection.execute(select(sample_pair.c.low, sample_pair.c.high))
    return {(low, high) for low, high in rows}


def keep_designs(connection: Connection, rows: Iterable[DrawnDesign]) -> int:
    """Add the designs of pairs from a file. Returns how many are new.

    A sample that was drawn here keeps its pairs. Others are made without a frame, and pairs join them in the order of
    the rows.
    """
    found: dict[str, list[DrawnDesign]] = {}
    for row in rows:
        found.setdefault(row[1].sample, []).append(row)
    known = {name: (key, made) for key, name, made in connection.execute(_KNOWN)}
    new = 0
    for name, listed in found.items():
        if name not in known:
            nothing = {"question": "{}", "looks": "[]", "catalog": "", "made": 0}
            imported = {"name": name, "seed": listed[0][1].seed, **nothing}
            made = insert(sample).values(imported).returning(sample.c.id)
            known[name] = (connection.execute(made).scalar_one(), 0)
        key, made_at = known[name]
        if made_at:
            continue
        own = sample_pair.c
        there = {
            (low, high)
            for low, high in connection.execute(select(own.low, own.high).where(own.sample == key))
        }
        more = {pair.ends: pair for pair, _ in listed if pair.ends not in there}
        _add_pairs(connection, key, len(there), more.values())
        new += len(more)
    return new


_KNOWN = select(sample.c.id, sample.c.name, sample.c.made)


def _add_pairs(connection: Connection, key: int, first: int, pairs: Iterable[DrawnPair]) -> None:
    rows = (
        {**pair._asdict(), "low": pair.ends[0], "high": pair.ends[1], "sample": key, "place": first + at}
        for at, pair in enumerate(pairs)
    )
    insert_all(connection, sample_pair, rows)
