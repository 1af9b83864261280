"""The reason of an answer: kept with the answer and its history, in files and in releases."""

import csv

import pytest
from shops import Shop
from sqlalchemy import select
from voting_teams import Team, shop

from lookalike.store.history.rows import COLUMNS, history
from lookalike.store.labelling.discussion.thread import thread
from lookalike.store.sql import labelling_schema as tables
from lookalike.workflows.label.votes_files import export_votes, import_votes
from lookalike.workflows.release.package import package

OWN = "the legs, differ"


def reasons(shop, table):
    columns = (table.c.answer, table.c.reason)
    return [tuple(row) for row in shop.rows(select(*columns).order_by(table.c.token))]


def history_of(shop):
    columns = (tables.vote.c.answer, tables.vote.c.reason)
    return [tuple(row) for row in shop.rows(select(*columns).order_by(tables.vote.c.id))]


def test_a_reason_is_kept_with_the_vote_and_an_undo_keeps_it_in_the_history(database_place):
    shop = Shop(database_place, pairs=1)
    mine, other = shop.give(1)[0], shop.give(2)[0]
    receipt = shop.give_answer(1, mine.token, "unsure", reason=" the legs,\n differ ")
    assert shop.give_answer(1, mine.token, "unsure", reason="colour") == receipt
    again = shop.undo(1, mine.token)
    shop.give_answer(1, again.token, "similar", reason="Shape")
    shop.give_answer(2, other.token, "unsure")
    assert history_of(shop) == [("unsure", OWN), ("undo", ""), ("similar", "shape"), ("unsure", "")]
    shop.wait(1)
    with shop.database.read() as connection:
        told = [(one.text, one.reason) for one in thread(connection, mine.question)]
    assert told == [("similar", "shape"), ("unsure", "")]


def test_a_skip_has_no_reason(database_place):
    shop = Shop(database_place, pairs=1)
    shop.give_answer(1, shop.give(1)[0].token, "skip", reason="colour")
    assert history_of(shop) == [("skip", "")]
    assert reasons(shop, tables.claim) == [("", "")]


def test_a_hidden_check_takes_a_reason_like_a_pair(database_place):
    shop = Shop(database_place, people=1, pairs=1, share=1.0, repeats=1, gap_least=1, gap_most=1)
    shop.give_answer(1, shop.give(1)[0].token, "similar", reason="colour")
    (check,) = shop.give(1)
    shop.give_answer(1, check.token, "unsure", reason="material")
    again = shop.undo(1, check.token)
    turn = select(tables.check.c.answer, tables.check.c.reason).where(tables.check.c.turn == 2)
    assert [tuple(row) for row in shop.rows(turn)] == [("", "")]
    shop.give_answer(1, again.token, "unsure", reason="shape")
    assert [tuple(row) for row in shop.rows(turn)] == [("unsure", "shape")]
    with shop.database.read() as connection:
        told = {(row.event, row.answer): row.reason for row in history(connection)}
    assert told["vote", "similar"] == "colour"
    assert told["check", "unsure"] == "shape"


@pytest.fixture
def worked(tmp_path):
    """A workspace whose votes have reasons, and the file of its votes."""
    made = shop(tmp_path / "worked", "")
    with made.database.write() as connection:
        team = Team(connection, seed=4)
        for _ in range(300):
            team.step()
    export_votes(made, tmp_path / "votes.csv")
    return made


def read(path):
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write(path, rows, columns=COLUMNS):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)


def test_a_file_without_reasons_from_an_earlier_version_is_imported(tmp_path, worked):
    rows = read(tmp_path / "votes.csv")
    assert {row["reason"] for row in rows if row["event"] == "vote"} == {"", "colour", 'the "legs", and'}
    write(tmp_path / "old.csv", rows, [name for name in COLUMNS if name != "reason"])
    other = shop(tmp_path / "other", "")
    import_votes(other, tmp_path / "old.csv")
    export_votes(other, tmp_path / "again.csv")
    assert read(tmp_path / "again.csv") == [{**row, "reason": ""} for row in rows]


@pytest.mark.parametrize(
    ("event", "reason"), [("skip", "colour"), ("vote", "two\nlines"), ("vote", "x" * 201)]
)
def test_a_reason_that_the_app_would_not_keep_is_a_fault(tmp_path, worked, event, reason):
    rows = [
        {**row, "reason": reason} if row["event"] == event else row for row in read(tmp_path / "votes.csv")
    ]
    write(tmp_path / "bad.csv", rows)
    done = import_votes(shop(tmp_path / "other", ""), tmp_path / "bad.csv", skip_invalid=True)
    assert sum(fault.count for fault in done.invalid) > 0


@pytest.mark.parametrize("names", [False, True])
def test_a_release_has_the_reasons_but_own_words_only_with_the_names(tmp_path, worked, names):
    package(worked, tmp_path / "out", "CC0-1.0", names=names)
    found = {row["reason"] for row in read(tmp_path / "out" / "votes.csv")}
    assert found == {"", "colour", "shape"} | ({'the "legs", and'} if names else set())
