"""`lookalike labels agreement`: what it prints with votes, and without."""

from sqlalchemy import insert

from lookalike.store.sql import labelling_schema as schema
from lookalike.store.workspace import Workspace

TALLY = {"1+ 2+": 60, "1- 2-": 50, "1+ 2-": 6, "1+ 3+": 40, "1- 3-": 40, "2+ 3-": 24, "2? 3+": 5, "2- 3-": 9}


def vote(folder):
    with Workspace(folder).database.write() as connection:
        for at, name in enumerate(("Ann", "Ben", "C[b]em"), start=1):
            row = {"name": name, "folded": name.casefold(), "role": "annotator", "created": 1}
            connection.execute(insert(schema.annotator), {"id": at, **row})
        for category in ("bowl", "box"):
            rows = [{"category": category, "pattern": p, "questions": n} for p, n in TALLY.items()]
            connection.execute(insert(schema.tally), rows)
        connection.execute(
            insert(schema.pace), {"annotator": 1, "hour": 5, "answers": 65, "active": 1_800_000}
        )


def test_without_votes_it_says_so(lookalike, workspace):
    result = lookalike("labels", "agreement")
    assert result.status == 0
    assert "undefined" in result.out
    assert "lookalike serve" in result.out  # the next step is to vote
    assert lookalike("labels", "agreement", "--json").json["agreement"]["pairs"] == 0


def test_it_prints_every_coefficient_with_its_interval(lookalike, workspace):
    vote(workspace)
    result = lookalike("labels", "agreement")
    assert result.status == 0
    for part in (
        "458 pairs",
        "Fleiss' kappa",
        "alpha",
        "AC1",
        "bowl",
        "box",
        "Cohen's kappa",
        "Ann, Ben",
        "C[b]em",
    ):
        assert part in result.out
    assert "87% [" in result.out
    assert "130" in result.out


def test_json_holds_the_same_and_a_seed_repeats_it(lookalike, workspace):
    vote(workspace)
    one, again, other = (
        lookalike("labels", "agreement", "--json", "--seed", seed).json for seed in (1, 1, 2)
    )
    assert one == again
    assert one["agreement"]["figures"]["gwet"]["low"] != other["agreement"]["figures"]["gwet"]["low"]
    assert one["agreement"]["shared"] == 458
    assert one["annotators"][0]["pace"]["per_hour"]["value"] == 130.0
    assert one["annotators"][0]["pace"]["per_hour"]["low"] is None
    assert [two["annotators"] for two in one["twos"]] == [[1, 2], [1, 3], [2, 3]]
