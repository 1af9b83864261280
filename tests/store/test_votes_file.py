"""The whole history as a file: one snapshot, the same bytes after import, nothing doubled, nothing half."""

import csv
import random
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shops import Team, live_votes, shop, states
from sqlalchemy import func, select

from lookalike.annotate.campaign import Campaign
from lookalike.annotate.replay import Event, replay
from lookalike.annotate.protocol import DISCUSSION, Outcome
from lookalike.annotate.question import DISCUSSION as IN_DISCUSSION
from lookalike.core.errors import LabelsError, LookalikeError, VoteError
from lookalike.recipes.votes_files import export_votes, import_votes
from lookalike.store import votes, votes_schema
from lookalike.store.database import Database
from lookalike.store.history import COLUMNS, milliseconds, stamp
from lookalike.store.queue import Asked, ask
from lookalike.store.settling import rules_of, settle_due
from lookalike.store.votes_schema import annotator, question


@pytest.fixture
def places(database_place, tmp_path, request):
    """Two fresh places of the same kind."""
    if isinstance(database_place, str):
        return database_place, request.getfixturevalue("postgresql").fresh()
    return database_place, tmp_path / "other.db"


def worked(folder, place, seed: int, steps: int = 450):
    made = shop(folder, place)
    with made.database.write() as connection:
        team = Team(connection, seed)
        for _ in range(steps):
            team.step()
    return made


def standing(workspace) -> tuple:
    with workspace.database.read() as connection:
        labels = {
            tuple(row)
            for row in connection.execute(
                select(*(votes_schema.tables.tables["label"].c[n] for n in ("query", "candidate", "label")))
            )
        }
        return live_votes(connection), states(connection), labels


def counts(workspace) -> dict[str, int]:
    with workspace.database.read() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in votes_schema.tables.sorted_tables
        }


@pytest.mark.parametrize(("seed", "ending"), [(0, "csv"), (1, "parquet")])
def test_in_and_out_again_are_the_same_bytes(tmp_path, places, seed, ending):
    first = worked(tmp_path / "first", places[0], seed)
    rows = export_votes(first, tmp_path / f"a.{ending}")
    assert all(
        rows[event]
        for event in ("question", "vote", "skip", "undo", "proposal", "decision", "comment", "check", "gold")
    )
    second = shop(tmp_path / "second", places[1])
    import_votes(second, tmp_path / f"a.{ending}")
    export_votes(second, tmp_path / f"b.{ending}")
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()
    assert standing(second)[:2] == standing(first)[:2]
    before = counts(second)
    import_votes(second, tmp_path / f"a.{ending}")
    import_votes(first, tmp_path / f"a.{ending}")
    assert counts(second) == before


def test_a_file_of_one_kind_of_database_is_that_of_the_other(tmp_path, postgresql):
    for name, place in (("a", tmp_path / "a/lookalike.db"), ("b", postgresql.fresh())):
        export_votes(worked(tmp_path / name, place, seed=9), tmp_path / f"{name}.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
