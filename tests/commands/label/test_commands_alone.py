"""One person labels alone: a choice at the start; votes that wait for somebody else are named."""

import random
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from lookalike.annotate.campaign import Campaign
from lookalike.cli.label import serve as command
from lookalike.core.clock import now_ms
from lookalike.store.labelling.campaigns import Rules, read_campaign, write_campaign
from lookalike.store.labelling.due import apply_all_due
from lookalike.store.labelling.giving import next_pairs
from lookalike.store.labelling.votes import answer, take_answer_back
from lookalike.store.people import people
from lookalike.store.sql.labelling_schema import annotator, question
from lookalike.store.workspace import Workspace
from lookalike.workflows.label.serve import look


@pytest.fixture
def shop(lookalike, photos, tmp_path, database_place, monkeypatch) -> Path:
    """A workspace with a pool, one lead, and no time to undo, in each database. A server ends once it is started."""
    at = () if isinstance(database_place, Path) else ("--database", database_place)
    assert lookalike("init", photos, *at).status == 0
    assert lookalike("embed", "descriptor:color", "descriptor:hog").status == 0
    assert lookalike("discover", "--top", 2, "--queries", 20).status == 0
    monkeypatch.setattr(command, "_run", lambda _, listening, __: listening.close())
    workspace = Workspace(tmp_path)
    person(workspace, "Lea")
    time_to_undo(workspace, 0)
    assert look(workspace).new > 0
    return tmp_path


def time_to_undo(workspace: Workspace, seconds: int) -> None:
    with workspace.database.write() as connection:
        found = read_campaign(connection).model_dump(by_alias=True)
        write_campaign(connection, Campaign(**{**found, "undo_seconds": seconds}))


def person(workspace: Workspace, name: str) -> int:
    row = {"name": name, "folded": name.casefold(), "role": "lead", "created": 1, "password": "x"}
    with workspace.database.write() as connection:
        connection.execute(insert(annotator), row)
        return connection.execute(select(annotator.c.id).where(annotator.c.name == name)).scalar_one()


def vote(workspace: Workspace, who: int, count: int) -> list[str]:
    """Answer pairs; the tokens of the answers."""
    draw, tokens = random.Random(who), []
    with workspace.database.write() as connection:
        rules = Rules(read_campaign(connection))
        for at in range(count):
            given = next_pairs(connection, rules, who, now_ms(), draw)[0]
            choice = ("similar", "dissimilar")[at % 2]
            answer(connection, rules, who, given.token, choice, now_ms(), draw)
            tokens.append(given.token)
    apply_all_due(workspace.database)
    return tokens


def undo(workspace: Workspace, who: int, tokens: list[str]) -> None:
    with workspace.database.write() as connection:
        for token in tokens:
            take_answer_back(connection, Rules(read_campaign(connection)), who, token, now_ms())


def test_six_answers_wait_and_alone_they_are_labels(lookalike, shop):
    workspace = Workspace(shop)
    assert look(workspace).lacks_a_second
    vote(workspace, 1, 6)
    found = lookalike("status", "--json").json
    assert (found["labels"], found["votes_waiting"]) == (0, 6)
    assert found["next"] == "lookalike serve --alone"
    assert look(workspace).waiting == 6
    started = lookalike("serve", "--port", 0)
    assert started.status == 0, started.err
    assert "lookalike serve --alone" in started.out
    assert "6 pairs" in started.out
    assert lookalike("status", "--json").json["labels"] == 0
    alone = lookalike("serve", "--port", 0, "--alone")
    assert alone.status == 0, alone.err
    assert "--alone" not in alone.out
    apply_all_due(workspace.database)
    found = lookalike("status", "--json").json
    assert found["votes_waiting"] == 0
    labels = workspace.labels()
    assert found["labels"] == len(labels) >= 6
    assert set(labels.label.tolist()) == {0, 1}
    ready = look(workspace)
    assert (ready.votes, ready.waiting, ready.lacks_a_second) == (1, 0, False)
    vote(workspace, 1, 3)
    assert len(workspace.labels()) >= len(labels) + 3
    with workspace.database.read() as connection:
        needed = connection.execute(select(question.c.needed).where(question.c.state == "open")).scalars()
        assert set(needed) == {1}


def test_the_history_still_follows_the_rules(lookalike, shop, photos):
    """Also of pairs that two people answered, whose answers were undone: they keep their two votes."""
    workspace = Workspace(shop)
    ann = person(workspace, "Ann")
    time_to_undo(workspace, 3600)
    hers, mine = vote(workspace, ann, 30), vote(workspace, 1, 30)
    undo(workspace, ann, hers[:20])
    undo(workspace, 1, mine[10:])
    time_to_undo(workspace, 0)
    with workspace.database.write() as connection:
        people.remove(connection, ann, now_ms())
    look(workspace, alone=True)
    apply_all_due(workspace.database)
    vote(workspace, 1, 4)
    assert lookalike("labels", "export", "one.csv", "--format", "votes").status == 0
    assert lookalike("init", photos, "--workspace", "other").status == 0
    assert lookalike("labels", "import", "one.csv", "--workspace", "other").status == 0
    assert lookalike("labels", "export", "two.csv", "--format", "votes", "--workspace", "other").status == 0
    assert Path("one.csv").read_bytes() == Path("two.csv").read_bytes()


def test_it_can_be_chosen_before_the_first_answer_and_again(lookalike, shop):
    workspace = Workspace(shop)
    for _ in range(2):
        assert look(workspace, alone=True).votes == 1
    vote(workspace, 1, 5)
    assert len(workspace.labels()) >= 5
    assert look(workspace).waiting == 0


def test_a_team_is_not_alone(lookalike, shop):
    workspace = Workspace(shop)
    person(workspace, "Ann")
    vote(workspace, 1, 3)
    refused = lookalike("serve", "--port", 0, "--alone")
    assert refused.status == 1
    assert "2 people" in refused.err
    ready = look(workspace)
    assert (ready.votes, ready.waiting, ready.lacks_a_second) == (2, 3, False)
    assert "--alone" not in lookalike("serve", "--port", 0).out
    assert lookalike("status", "--json").json["next"] == "lookalike serve"
