"""Samples: a drawn pair keeps its design in the database, in exported labels and votes, and in backups."""

import csv
import json

import numpy as np
import pytest
from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from voting_teams import Team, shop

from lookalike.core.errors import LabelsError, LookalikeError
from lookalike.core.types import Labels
from lookalike.store.formats.designs import DesignOfPair
from lookalike.store.labelling.queue import NewPair, add_pairs, states_of
from lookalike.store.sql import samples
from lookalike.store.sql.labelling_schema import question
from lookalike.store.sql.samples import DrawnPair, StoredSample
from lookalike.workflows.label.labels import export_labels, import_labels
from lookalike.workflows.label.votes_files import export_votes, import_votes
from lookalike.workflows.release.package import package
from lookalike.workflows.start.backup import backup, restore

NAME = 'HR@5 color - "hog", round 2'
SEED = 2**40


@pytest.fixture
def places(database_place, tmp_path, request):
    """Two fresh places of the same kind."""
    if isinstance(database_place, str):
        return database_place, request.getfixturevalue("postgresql").fresh()
    return database_place, tmp_path / "other.db"


def drawn(workspace, name=NAME, first=0, count=6, made=5):
    """A sample of some pairs of the queue, with a frame of any bytes."""
    columns = (question.c.query, question.c.candidate, question.c.item)
    with workspace.database.write() as connection:
        found = connection.execute(select(*columns).order_by(question.c.low, question.c.high)).all()
        pairs = [
            DrawnPair(*row, stratum=n % 2, probability=1 / (n + 3))
            for n, row in enumerate(found[first:][:count])
        ]
        one = StoredSample(
            name, {"measure": "HR@5"}, SEED, (50, 100), "abc", made, bytes(range(256)), tuple(pairs)
        )
        samples.write_sample(connection, one)
    return one


def worked(folder, place):
    made = shop(folder, place)
    with made.database.write() as connection:
        team = Team(connection, 3)
        for _ in range(200):
            team.step()
    return made


def content(workspace):
    with workspace.database.read() as connection:
        return [vars(one) for one in samples.read_samples(connection)]


def test_a_sample_comes_back_as_it_was_written(tmp_path, database_place):
    workspace = worked(tmp_path / "a", database_place)
    one, other = drawn(workspace), drawn(workspace, "other", first=4)
    assert content(workspace) == [vars(one), vars(other)]
    with workspace.database.read() as connection:
        designs = samples.read_designs(connection)
        twice = one.pairs[4].ends
        assert designs[twice] == [
            DesignOfPair(NAME, 0, 1 / 7, SEED),
            DesignOfPair("other", 0, 1 / 3, SEED),
        ]
        states = states_of(connection, [pair.ends for pair in one.pairs] + [("no", "pair")])
        assert set(states) == {pair.ends for pair in one.pairs}
    with pytest.raises((LookalikeError, IntegrityError)):
        drawn(workspace)
    assert len(content(workspace)) == 2


def test_votes_and_designs_go_in_and_out_as_the_same_bytes(tmp_path, places):
    first = worked(tmp_path / "first", places[0])
    drawn(first), drawn(first, "a second", first=3)
    rows = export_votes(first, tmp_path / "a.csv")
    assert rows["drawn"] == 12
    second = shop(tmp_path / "second", places[1])
    for _ in range(2):
        import_votes(second, tmp_path / "a.csv")
        export_votes(second, tmp_path / "b.csv")
        assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    here, there = content(first), content(second)
    assert {one["name"]: one["pairs"] for one in there} == {one["name"]: one["pairs"] for one in here}
    assert [one["frame"] for one in there] == [None, None]
    before = content(first)
    import_votes(first, tmp_path / "a.csv")
    assert content(first) == before


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_labels_and_designs_go_in_and_out_as_the_same_bytes(tmp_path, places, ending):
    first, second = shop(tmp_path / "first", places[0]), shop(tmp_path / "second", places[1])
    images = first.catalog.image
    pairs = [NewPair(images[n], images[n + 2], f"item {(n + 2) // 2}", "", "pool", n) for n in range(12)]
    with first.database.write() as connection:
        add_pairs(connection, pairs, 1, 0)
    one, _ = drawn(first), drawn(first, "other", first=5, count=2)
    first.add_labels(Labels.of(images[:10], images[2:12], np.arange(10) % 2), "votes")
    export_labels(first, tmp_path / f"a.{ending}")
    found = import_labels(second, tmp_path / f"a.{ending}")
    assert (found.added, found.repeated, found.invalid) == (10, 0, ())
    export_labels(second, tmp_path / f"b.{ending}")
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
    kept = {one["name"]: one["pairs"] for one in content(second)}
    assert kept[NAME] == one.pairs
    assert len(kept["other"]) == 2
    if ending == "csv":
        rows = list(csv.DictReader((tmp_path / "a.csv").read_text().splitlines()))
        assert len(rows) == 11  # one pair is in both samples
        assert sum(row["sample"] == "" for row in rows) == 10 - 7


def test_a_sample_that_was_drawn_here_takes_no_pairs_from_a_file(tmp_path, database_place):
    workspace = worked(tmp_path / "a", database_place)
    one = drawn(workspace)
    more = DrawnPair("i00.jpg", "i23.jpg", "item 11", 0, 0.5)
    with workspace.database.write() as connection:
        assert samples.keep_designs(connection, [(more, DesignOfPair(NAME, 0, 0.5, SEED))]) == 0
    assert content(workspace) == [vars(one)]


@pytest.mark.parametrize("cell", ["probability,2", "probability,", "stratum,x", "seed,-1", "sample,"])
def test_a_design_that_is_none_is_a_fault_of_its_row(tmp_path, cell):
    workspace = shop(tmp_path / "a", tmp_path / "a.db")
    name, text = cell.split(",")
    row = {"sample": "s", "stratum": "0", "probability": "0.5", "seed": "1"} | {name: text}
    lines = [
        ",".join(["query", "candidate", "label", *row]),
        ",".join(["i00.jpg", "i02.jpg", "1", *row.values()]),
    ]
    (tmp_path / "labels.csv").write_text("\n".join(lines) + "\n")
    with pytest.raises(LabelsError, match="the design is not"):
        import_labels(workspace, tmp_path / "labels.csv")
    assert content(workspace) == []


def test_a_backup_has_samples_with_what_they_were_drawn_from(tmp_path, database_place):
    workspace = worked(tmp_path / "a", database_place)
    one = drawn(workspace)
    backup(workspace, tmp_path / "kept")
    drawn(workspace, "later")
    restore(workspace.folder, tmp_path / "kept", replace=True)
    assert content(workspace) == [vars(one)]


def test_a_release_keeps_the_designs_and_what_the_samples_ask(tmp_path, database_place):
    workspace = worked(tmp_path / "a", database_place)
    one = drawn(workspace)
    package(workspace, tmp_path / "release", "CC0-1.0")
    (told,) = json.loads((tmp_path / "release" / "samples.json").read_text())
    assert (told["name"], told["seed"], told["looks"], told["pairs"]) == (
        NAME,
        SEED,
        [50, 100],
        len(one.pairs),
    )
    assert told["question"] == one.question
    votes = list(csv.DictReader((tmp_path / "release" / "votes.csv").read_text().splitlines()))
    designs = [json.loads(row["text"]) for row in votes if row["event"] == "drawn"]
    assert [found["probability"] for found in designs] == [pair.probability for pair in one.pairs]
