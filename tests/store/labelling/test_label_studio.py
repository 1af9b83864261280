"""Two annotators in Label Studio: every vote is kept, whatever happened to the pairs in the app meanwhile."""

import json
import random
from datetime import UTC, datetime

import pytest
from sqlalchemy import select, update
from voting_teams import shop

from lookalike.annotate.campaign import Campaign
from lookalike.core.clock import now_ms
from lookalike.store.history.rows import history
from lookalike.store.labelling import votes
from lookalike.store.labelling.campaigns import rules_of, write_campaign
from lookalike.store.labelling.discussion.thread import add_decision, add_proposal
from lookalike.store.labelling.due import apply_all_due
from lookalike.store.labelling.giving import next_pairs
from lookalike.store.labelling.queue import GOLD, NewPair, add_gold, add_pairs, close_labelled
from lookalike.store.sql.labelling_schema import annotator, question, tally
from lookalike.workflows.label.votes_files import export_tasks, export_votes, import_any_votes, import_votes

PAIRS = 12
HALF, AGREED, DIFFERED, DECIDED, SETTLED_BY_TALK, FROM_FILE, TO_GOLD = range(1, 8)
"""What happens in the app to the first pairs; the others stay as they are."""


@pytest.fixture
def places(database_place, tmp_path, request):
    """Two fresh places of the same kind."""
    if isinstance(database_place, str):
        return database_place, request.getfixturevalue("postgresql").fresh()
    return database_place, tmp_path / "other.db"


@pytest.fixture
def workspace(tmp_path, places):
    """Twelve pairs for two votes each, and the people of the app."""
    made = shop(tmp_path / "w", places[0])
    images, item = made.catalog.image, made.catalog.item
    pairs = [NewPair(images[n], images[n + 4], item[n + 4], "bowl", "pool", n) for n in range(PAIRS)]
    with made.database.write() as connection:
        write_campaign(connection, Campaign(undo_seconds=0, repeats=0, gold_every=0))
        add_pairs(connection, pairs, 2, 1)
        for name, role in (("Ann", "annotator"), ("Bob", "annotator"), ("Lea", "lead")):
            row = {"name": name, "folded": name.lower(), "role": role, "created": 1}
            connection.execute(annotator.insert().values(**row))
    return made


def annotation(task: int, number: int, who: int, choice: str | None, **more) -> dict:
    """As Label Studio 1.13 exports one."""
    value = {"value": {"choices": [choice]}, "id": f"a{number}", "from_name": "similarity", "to_name": "left"}
    made = datetime.fromtimestamp(1_760_000_000 + number, UTC).isoformat().replace("+00:00", ".25Z")
    return {
        "id": number, "completed_by": {"id": who, "email": f"p{who}@shop.example", "first_name": "", "last_name": ""},
        "result": [{**value, "type": "choices", "origin": "manual"}] if choice else [], "was_cancelled": choice is None,
        "ground_truth": False, "created_at": made, "updated_at": made, "draft_created_at": None, "lead_time": 4.2,
        "prediction": {}, "result_count": len(value) if choice else 0, "unique_id": f"u{number}", "import_id": None,
        "last_action": None, "bulk_created": False, "task": task, "project": 3, "updated_by": who,
        "parent_prediction": None, "parent_annotation": None, "last_created_by": None, **more,
    }  # fmt: skip


def exported(tasks, choices) -> list[dict]:
    """The export of a project: annotators 7 and 8 answer each task with these choices."""
    return [
        {
            "id": 100 + at, "annotations": [
                annotation(100 + at, 10 * at + n, 7 + n, choice) for n, choice in enumerate(choices(at + 1))
            ],
            "file_upload": "0c2f-tasks.json", "drafts": [], "predictions": [], "data": task["data"], "meta": {},
            "created_at": "2025-10-09T08:00:00Z", "updated_at": "2025-10-09T09:00:00Z", "inner_id": at + 1,
            "total_annotations": 2, "cancelled_annotations": 0, "total_predictions": 0, "comment_count": 0,
            "unresolved_comment_count": 0, "last_comment_updated_at": None, "project": 3, "updated_by": 8,
            "comment_authors": [],
        }
        for at, task in enumerate(tasks)
    ]  # fmt: skip


def tasks_of(workspace, tmp_path, name="tasks"):
    done = export_tasks(workspace, tmp_path / f"{name}.json", "http://here/")
    return json.loads((tmp_path / f"{name}.json").read_text()), done


def imported(workspace, tmp_path, results, name="results"):
    (tmp_path / f"{name}.json").write_text(json.dumps(results))
    return import_any_votes(workspace, tmp_path / f"{name}.json")


def answer_pairs(workspace, last: int, answer_of) -> None:
    """Ann and Bob answer the pairs up to one of them; `answer_of` gives the answer to a pair, None for none."""
    with workspace.database.write() as connection:
        connection.execute(update(question).where(question.c.id > last).values(free=0))
        for who in (1, 2):
            rules, now, draw = rules_of(connection), now_ms(), random.Random(0)
            while given := [
                pair
                for pair in next_pairs(connection, rules, who, now, draw)
                if answer_of(who, pair.question)
            ]:
                for pair in given:
                    choice = answer_of(who, pair.question)
                    votes.answer(connection, rules, who, pair.token, choice, now, draw)
        connection.execute(update(question).where(question.c.id > last).values(free=2))
    apply_all_due(workspace.database)


def in_the_app(who: int, which: int) -> str | None:
    if which == HALF and who == 2:
        return None
    return "dissimilar" if who == 2 and which in (DIFFERED, DECIDED, SETTLED_BY_TALK) else "similar"


def work_in_the_app(workspace) -> None:
    """Half a pair's votes, pairs resolved in every way, a pair closed by a label from a file, and one made gold."""
    answer_pairs(workspace, SETTLED_BY_TALK, in_the_app)
    with workspace.database.write() as connection:
        add_decision(connection, DECIDED, 3, "dissimilar", now_ms())
        for who in (1, 2):
            add_proposal(connection, SETTLED_BY_TALK, who, "similar", now_ms())
        rows = connection.execute(select(question).where(question.c.id.in_((FROM_FILE, TO_GOLD)))).all()
        close_labelled(connection, [(rows[0].query, rows[0].item)], [], now_ms())
        gone = {"state": "excluded", "free": 0, "kind": GOLD, "needed": 0}
        connection.execute(update(question).where(question.c.id == TO_GOLD).values(gone))
        pair = NewPair(rows[1].query, rows[1].candidate, rows[1].item, "bowl", GOLD, 0)
        add_gold(connection, pair, "similar", "", 3, now_ms())


def results_of(workspace):
    """Of each pair: its state, its label, and its votes."""
    apply_all_due(workspace.database)
    with workspace.database.read() as connection:
        rows = list(history(connection))
        numbers = {
            (row.low, row.high): row.id
            for row in connection.execute(select(question.c.id, question.c.low, question.c.high))
        }
    found = {numbers[row.pair]: [row.state, row.label, 0] for row in rows if row.event == "question"}
    for row in rows:
        found[numbers[row.pair]][2] += {"vote": 1, "undo": -1}.get(row.event, 0)
    return {which: tuple(values) for which, values in found.items()}


def test_a_round_trip_with_two_annotators_loses_nothing(tmp_path, places, workspace):
    tasks, done = tasks_of(workspace, tmp_path)
    assert (done.tasks, done.have_votes) == (PAIRS, 0)
    work_in_the_app(workspace)
    before = results_of(workspace)
    assert [before[which][:2] for which in range(HALF, TO_GOLD + 1)] == [
        ("open", None), ("settled", 1), ("discussion", None), ("settled", 0), ("settled", 1), ("settled", None),
        ("excluded", None),
    ]  # fmt: skip
    answers = {
        AGREED: ("similar", "dissimilar"),
        PAIRS - 1: ("similar", "dissimilar"),
        PAIRS: ("similar", None),
    }
    results = exported(tasks, lambda which: answers.get(which, ("similar", "similar")))
    done = imported(workspace, tmp_path, results)
    assert (done.votes, done.invalid, done.new_questions, done.resolved_again) == (2 * PAIRS - 1, (), 0, 1)
    after = results_of(workspace)
    assert {which: after[which][2] - before[which][2] for which in after} == {
        which: 1 if which == PAIRS else 2 for which in range(1, PAIRS + 1)
    }
    assert {which: after[which][:2] for which in after} == {
        HALF: ("settled", 1),  # by three votes
        AGREED: ("discussion", None),  # resolved again from four votes, which differ
        DIFFERED: ("discussion", None),
        DECIDED: ("settled", 0),
        SETTLED_BY_TALK: ("settled", 1),
        FROM_FILE: ("settled", None),
        TO_GOLD: ("excluded", None),
        **dict.fromkeys(range(TO_GOLD + 1, PAIRS - 1), ("settled", 1)),
        PAIRS - 1: ("discussion", None),
        PAIRS: ("open", None),
    }
    assert imported(workspace, tmp_path, results).votes == 0
    export_votes(workspace, tmp_path / "votes.csv")
    other = shop(tmp_path / "other", places[1])
    import_votes(other, tmp_path / "votes.csv")
    export_votes(other, tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "votes.csv").read_bytes()
    counted = []
    for one in (workspace, other):
        with one.database.read() as connection:
            rows = connection.execute(select(tally.c.pattern, tally.c.questions)).all()
        assert all(row.questions > 0 for row in rows)
        counted.append(sum(row.questions * len(row.pattern.split()) for row in rows))
    assert counted[0] == counted[1]


def test_an_agreeing_vote_leaves_a_label_and_a_dissenting_one_takes_it_back(tmp_path, workspace):
    tasks, _ = tasks_of(workspace, tmp_path)
    answer_pairs(workspace, 2, lambda who, which: "similar")
    assert len(workspace.labels()) == 2
    imported(
        workspace, tmp_path, exported(tasks[:2], lambda which: ["similar"] if which == 1 else ["unsure"])
    )
    assert len(workspace.labels()) == 1
    with workspace.database.read() as connection:
        found = connection.execute(select(tally.c.pattern).where(tally.c.questions != 0)).scalars().all()
    assert found == []  # counted again once they are resolved
    apply_all_due(workspace.database)
    assert len(workspace.labels()) == 1
    with workspace.database.read() as connection:
        found = connection.execute(select(tally.c.pattern, tally.c.questions)).all()
    assert sorted(tuple(row) for row in found) == [("1+ 2+ 4+", 1), ("1+ 2+ 4?", 1)]


def test_tasks_are_the_open_pairs_without_votes(tmp_path, workspace):
    work_in_the_app(workspace)
    tasks, done = tasks_of(workspace, tmp_path)
    assert (done.tasks, done.have_votes) == (PAIRS - TO_GOLD, 1)
    with workspace.database.read() as connection:
        state = select(question.c.query, question.c.candidate).where(question.c.id > TO_GOLD)
        expected = {tuple(row) for row in connection.execute(state)}
    assert {(task["data"]["query"], task["data"]["candidate"]) for task in tasks} == expected


def test_of_two_annotations_of_one_person_the_later_counts_and_both_are_kept(tmp_path, workspace):
    tasks, _ = tasks_of(workspace, tmp_path)
    results = exported(tasks[:1], lambda _: ("similar", "similar"))
    imported(workspace, tmp_path, results)
    more = [annotation(100, 5, 7, "dissimilar"), annotation(100, 6, 8, None)]
    results[0]["annotations"] += more
    done = imported(workspace, tmp_path, results)
    assert (done.votes, done.invalid) == (1, ())
    assert results_of(workspace)[1] == ("discussion", None, 2)
    with workspace.database.read() as connection:
        events = [(row.event, row.answer) for row in history(connection) if row.event != "question"]
    assert events == [("vote", "similar"), ("vote", "similar"), ("undo", ""), ("vote", "dissimilar")]
    assert imported(workspace, tmp_path, results).votes == 0


def test_an_annotation_that_is_edited_later_replaces_its_vote(tmp_path, workspace):
    tasks, _ = tasks_of(workspace, tmp_path)
    first = exported(tasks[:1], lambda _: ("similar", "similar"))
    imported(workspace, tmp_path, first)
    assert results_of(workspace)[1] == ("settled", 1, 2)
    edited = [
        exported(tasks[:1], lambda _, choice=choice: ("similar", choice))
        for choice in ("dissimilar", "similar")
    ]
    for day, results in enumerate(edited):
        results[0]["annotations"][1]["updated_at"] = f"2025-11-{day + 1:02}T10:00:00.5Z"
    expected = ("discussion", None, 2), ("settled", 1, 2)
    for results, after in zip(edited, expected, strict=True):
        done = imported(workspace, tmp_path, results)
        assert (done.votes, done.invalid) == (1, ())
        assert results_of(workspace)[1] == after
    for results in (first, *edited):  # an older export, or the same again, changes nothing
        done = imported(workspace, tmp_path, results)
        assert (done.votes, done.invalid, results_of(workspace)[1]) == (0, (), expected[1])
    with workspace.database.read() as connection:
        given = [
            row.answer for row in history(connection) if row.event == "vote" and row.who.startswith("p8")
        ]
    assert given == ["similar", "dissimilar", "similar"]
