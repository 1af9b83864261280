"""The whole history as a file: one snapshot, the same bytes after import, nothing doubled, nothing half."""

import csv
import random
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import func, select
from voting_teams import Team, live_votes, shop, states

from lookalike.annotate.protocol import DISCUSSION, Outcome
from lookalike.annotate.replay import Event, replay
from lookalike.core.clock import now_ms
from lookalike.core.errors import LabelsError, VoteError
from lookalike.store.history.rows import COLUMNS, milliseconds, stamp
from lookalike.store.labelling import votes
from lookalike.store.labelling.campaigns import rules_of
from lookalike.store.labelling.due import apply_due
from lookalike.store.labelling.giving import next_pairs
from lookalike.store.labelling.queue import NewPair, add_pairs
from lookalike.store.labelling.statistics import read_worked
from lookalike.store.sql import labelling_schema
from lookalike.store.sql.database import Database
from lookalike.store.sql.labelling_schema import annotator, question
from lookalike.workflows.label.labels import export_labels
from lookalike.workflows.label.votes_files import export_votes, import_votes


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
                select(
                    *(labelling_schema.tables.tables["label"].c[n] for n in ("query", "candidate", "label"))
                )
            )
        }
        return live_votes(connection), states(connection), labels


def counts(workspace) -> dict[str, int]:
    with workspace.database.read() as connection:
        return {
            table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in labelling_schema.tables.sorted_tables
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


def test_labels_have_the_same_order_after_an_import_of_the_votes(tmp_path, places):
    place, other = places
    one, two = shop(tmp_path / "one", place), shop(tmp_path / "two", other)
    fill_queue(one, 30)
    draw, now = random.Random(3), now_ms() - 3_600_000
    with one.database.write() as connection:
        rules, people = rules_of(connection), connection.execute(select(annotator.c.id)).scalars().all()
        for _ in range(120):
            now += 5_000
            who = draw.choice(people)
            for pair in draw.sample(
                given := next_pairs(connection, rules, who, now, draw), min(len(given), 1)
            ):
                votes.answer(connection, rules, who, pair.token, draw.choice(("similar", "skip")), now, draw)
            apply_due(connection, rules, now)
    export_votes(one, tmp_path / "votes.csv")
    import_votes(two, tmp_path / "votes.csv")
    for number, workspace in enumerate((one, two)):
        export_labels(workspace, tmp_path / f"labels-{number}.csv")
    first, second = ((tmp_path / f"labels-{number}.csv").read_bytes() for number in (0, 1))
    assert one.labels().query.tolist() != two.labels().query.tolist()
    assert first == second
    assert len(first.splitlines()) > 10


def test_an_import_counts_the_answers_of_each_hour_without_undone_ones(tmp_path, places):
    one, two = (shop(tmp_path / name, place) for name, place in zip(("one", "two"), places, strict=True))
    for workspace in (one, two):
        fill_queue(workspace, 6)
    draw, now = random.Random(3), now_ms() - 7_200_000
    for turn in range(4):
        now += 1_200_000
        with one.database.write() as connection:
            rules = rules_of(connection)
            token = next_pairs(connection, rules, 1, now, draw)[0].token
            votes.answer(connection, rules, 1, token, ("similar", "skip")[turn == 2], now, draw)
        if turn == 1:
            export_votes(one, tmp_path / "first.csv")
        if turn:
            with one.database.write() as connection:
                votes.take_answer_back(connection, rules, 1, token, now + 600_000)
    export_votes(one, tmp_path / "votes.csv")
    for name in ("first", "votes"):
        import_votes(two, tmp_path / f"{name}.csv")
    worked = []
    for workspace in (one, two):
        with workspace.database.read() as connection:
            worked.append([(row.hour, row.answers) for row in read_worked(connection)])
    assert sum(answers for _, answers in worked[0]) == 1
    assert worked[0] == worked[1]


def test_a_file_of_one_kind_of_database_is_that_of_the_other(tmp_path, postgresql):
    for name, place in (("a", tmp_path / "a/lookalike.db"), ("b", postgresql.fresh())):
        export_votes(worked(tmp_path / name, place, seed=9), tmp_path / f"{name}.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def fill_queue(workspace, pairs: int) -> None:
    """Pairs in the queue, and three people to answer them."""
    images = workspace.catalog.image
    with workspace.database.write() as connection:
        add_pairs(
            connection,
            (
                NewPair(images[n % 24], images[(n + 3 + n // 24) % 24], "item", "bowl", "pool", n)
                for n in range(pairs)
            ),
            2,
            1,
        )
        for name in ("Ann", "Ben", "Cid"):
            row = {"name": name, "folded": name.lower(), "role": "annotator", "created": 1}
            connection.execute(annotator.insert().values(**row))


def labels_on(place, who: int, stop: threading.Event, done: list[int]) -> None:
    """One person's answers, through the function for all votes, until they are stopped."""
    database, draw, now = Database(place), random.Random(who), 1_000 * who
    while not stop.is_set():
        now += 10_000
        with database.write() as connection:
            rules = rules_of(connection)
            given = next_pairs(connection, rules, who, now, draw)
        for pair in given[:1]:
            answer = draw.choice(("similar", "dissimilar", "unsure", "skip"))
            with database.write() as connection:  # locks of two steps together can be a deadlock
                votes.answer(connection, rules, who, pair.token, answer, now, draw, took=5)
            done.append(who)
        if not given:
            return


def test_an_export_while_people_vote_is_one_snapshot(tmp_path, places):
    workspace = shop(tmp_path / "w", places[0])
    fill_queue(workspace, 60)
    with workspace.database.read() as connection:
        people = connection.execute(select(annotator.c.id)).scalars().all()
    place = places[0] if isinstance(places[0], str) else tmp_path / "w/lookalike.db"
    stop, done = threading.Event(), []
    threads = [threading.Thread(target=labels_on, args=(place, who, stop, done)) for who in people]
    for thread in threads:
        thread.start()
    sizes = []
    try:
        for n in range(3):
            limit = time.monotonic() + 20
            while len(done) < 8 * (n + 1) and time.monotonic() < limit:
                time.sleep(0.01)
            export_votes(workspace, tmp_path / f"{n}.csv")
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    for n in range(3):
        with (tmp_path / f"{n}.csv").open(newline="") as file:
            rows = list(csv.DictReader(file))
        pairs = {
            (row["query"], row["candidate"]): int(row["needed"]) for row in rows if row["event"] == "question"
        }
        live: dict[tuple[str, str], set[str]] = {pair: set() for pair in pairs}
        for row in rows:
            if row["event"] == "vote":
                live[row["query"], row["candidate"]].add(row["who"])
        assert all(len(live[pair]) <= needed for pair, needed in pairs.items())
        sizes.append(len(rows))
    assert len(done) >= 8
    assert sizes == sorted(sizes)
    other = shop(tmp_path / "other", places[1])
    import_votes(other, tmp_path / "2.csv")
    export_votes(other, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "2.csv").read_bytes()


def test_nothing_secret_goes_out(tmp_path):
    workspace = worked(tmp_path / "w", "", seed=3)
    export_votes(workspace, tmp_path / "votes.csv")
    assert "argon2" not in (tmp_path / "votes.csv").read_text()
    with (tmp_path / "votes.csv").open(newline="") as file:
        assert tuple(next(csv.reader(file))) == COLUMNS


def having(which: str, /, **cells: str):
    """Every row of an event with other cells."""
    return lambda rows: [{**row, **cells} if row["event"] == which else row for row in rows]


def without_first_question(rows):
    return [row for row in rows if row["event"] != "question" or row["place"] != rows[0]["place"]]


FAULTS = {
    "no question before it": without_first_question,
    "earlier row has the same token": lambda rows: [
        *rows,
        next(row for row in rows if row["event"] == "vote"),
    ],
    "answer is not one": having("vote", answer="maybe"),
    "at is not a time": having("vote", at="noon"),
    "is not a whole number": having("question", needed="two"),
    "no such image": lambda rows: [{**row, "query": "nowhere"} for row in rows],
    "cannot have led to": having("question", state="settled", label="1"),
    "event is not known": having("vote", event="wish"),
    "annotator is missing": lambda rows: [{**row, "who": ""} for row in rows],
    "more votes than it needs": having("question", needed="1"),
}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exported")
    workspace = worked(folder / "w", "", seed=5)
    export_votes(workspace, folder / "votes.csv")
    with (folder / "votes.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_history_is_refused_whole(tmp_path, exported, fault):
    with (tmp_path / "bad.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS)
        writer.writeheader()
        writer.writerows(FAULTS[fault](exported))
    workspace = shop(tmp_path / "w", "")
    before = counts(workspace)
    with pytest.raises(LabelsError, match=fault):
        import_votes(workspace, tmp_path / "bad.csv")
    assert counts(workspace) == before
    import_votes(workspace, tmp_path / "bad.csv", skip_invalid=True)
    workspace.database.check()


def test_what_both_sides_have_and_only_one_has_is_merged_or_refused(tmp_path):
    here, there = shop(tmp_path / "here", ""), shop(tmp_path / "there", "")
    for workspace in (here, there):
        fill_queue(workspace, 4)
    rng = random.Random(1)
    for workspace, who in ((here, 1), (there, 2)):
        with workspace.database.write() as connection:
            rules = rules_of(connection)
            for _ in range(4):
                pair = next_pairs(connection, rules, who, 5_000, rng)[0]
                votes.answer(connection, rules, who, pair.token, "similar", 6_000, rng)
    export_votes(there, tmp_path / "there.csv")
    done = import_votes(here, tmp_path / "there.csv")
    assert (done.votes, done.new_annotators) == (4, ())
    assert len(here.labels()) == 4
    assert import_votes(here, tmp_path / "there.csv").votes == 0
    for workspace, token in ((here, "only here"), (there, "only there")):
        row = {"question": 1, "annotator": 1, "text": "words", "at": 1, "token": token}
        with workspace.database.write() as connection:
            connection.execute(labelling_schema.comment.insert().values(**row))
            connection.execute(question.update().values(state="excluded", free=0))
    export_votes(there, tmp_path / "closed.csv")
    with pytest.raises(LabelsError, match="answered differently"):
        import_votes(here, tmp_path / "closed.csv")


@given(st.integers(-(2**40), 2**45))
def test_times_come_back(at: int):
    assert milliseconds(stamp(at)) == at


def test_a_history_that_breaks_a_rule_is_refused():
    two = [Event("vote", who, "similar", f"t{who}", who) for who in (1, 2)]
    assert (
        replay([*two, Event("undo", 2, "", "u", 3)], 2, Outcome("open")).votes
        == replay(two[:1], 2, Outcome("open")).votes
    )
    for events in (
        [*two, Event("vote", 3, "similar", "t3", 3)],
        [two[0], two[0]],
        [Event("undo", 1)],
        [Event("proposal", 1, "similar")],
    ):
        with pytest.raises(VoteError):
            replay(events, 2, Outcome("open"))
    unsure = [Event("vote", who, "unsure", f"t{who}", who) for who in (1, 2)]
    assert replay(unsure, 2, Outcome(DISCUSSION)).state == DISCUSSION
    agreed = [*unsure, *(Event("proposal", who, "dissimilar") for who in (1, 2))]
    assert replay(agreed, 2, Outcome("settled", 0)).label == 0
    with pytest.raises(VoteError, match="verdicts"):
        replay(agreed, 2, Outcome("settled", 1))
