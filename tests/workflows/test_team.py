"""The team's figures and the plan from a database, the same on SQLite and PostgreSQL."""

import json
import math
from itertools import combinations

import pytest
from sqlalchemy import insert
from voted_shop import NOW, voted

from lookalike.annotate.agreement.by_group import agreement, by_two
from lookalike.annotate.agreement.patterns import vote_table
from lookalike.annotate.campaign import Campaign
from lookalike.core.json import to_json
from lookalike.store.labelling.statistics import question_ids, read_patterns, read_repeats
from lookalike.store.sql import labelling_schema
from lookalike.store.sql.database import Database
from lookalike.workflows.label.plan import plan
from lookalike.workflows.label.team import team


@pytest.fixture
def database(database_place):
    return voted(database_place)


@pytest.fixture
def empty(database_place):
    made = Database(database_place)
    made.migrate()
    return made


def test_the_teams_figures_are_those_of_the_tables(database):
    found = team(database, NOW, seed=3)
    with database.read() as connection:
        votes = vote_table(
            [(row[0], row[1], row[2]) for row in connection.exec_driver_sql("SELECT * FROM tally")]
        )
    assert found.agreement["fleiss"].value == agreement(votes.counts, replicates=0)["fleiss"].value
    assert (found.agreement.pairs, found.agreement.shared) == (205, 200)
    assert set(found.categories) == {"lamp", "sofa"}
    assert found.categories["lamp"]["percent"].value == pytest.approx(110 / 116)
    assert {two.annotators: two.shared for two in found.twos} == {(1, 2): 116, (1, 3): 80, (2, 3): 4}
    assert found.twos[0]["cohen"] == by_two(votes, seed=3)[1, 2]["cohen"]


def test_of_many_annotators_those_who_share_the_most_pairs_are_compared(database):
    with database.write() as connection:
        rows = [
            {"category": "lamp", "pattern": f"{a}+ {b}-", "questions": 200 + a + b}
            for a, b in combinations(range(10, 21), 2)
        ]
        connection.execute(insert(labelling_schema.tally), rows)
        connection.execute(
            insert(labelling_schema.annotator),
            [
                {"id": n, "name": f"P{n}", "folded": f"p{n}", "role": "annotator", "created": 1}
                for n in range(10, 21)
            ],
        )
    found, every = team(database, NOW), team(database, NOW, all_twos=True)
    assert (len(found.twos), found.more_twos, len(every.twos), every.more_twos) == (45, 13, 58, 0)
    most = sorted(every.twos, key=lambda two: -two.shared)
    assert min(two.shared for two in found.twos) >= most[45].shared
    with database.read() as connection:
        assert {two.annotators: two["cohen"] for two in every.twos} == {
            ids: one["cohen"] for ids, one in by_two(read_patterns(connection)).items()
        }


def test_each_member_has_their_own_figures_and_removed_members_are_kept(database):
    found = team(database, NOW)
    ann, ben, cem = found.annotators
    assert [(one.name, one.is_there) for one in found.annotators] == [
        ("Ann", True),
        ("Ben", True),
        ("Cem", False),
    ]
    assert [one.answers for one in found.annotators] == [3, 0, 0]  # live votes; one of Ann's was undone
    assert (ann.consistency.asked, ann.consistency.finished, ann.consistency.same.value) == (3, 2, 0.5)
    assert ben.consistency is None
    assert (ben.gold.answers, ben.gold.correct.value) == (2, 0.5)
    assert ann.gold is None
    assert cem.pace is None
    assert cem.agreement.shared == 84


def test_pace_is_of_active_hours_and_recent_ones_are_listed(database):
    found = team(database, NOW)
    answers = sum(15 + hour % 3 for hour in range(20))
    assert found.pace.per_hour.value == pytest.approx(answers / (20 / 8))
    assert len(found.recent) == 20
    assert team(database, NOW + 30 * 3_600_000).recent[0].hour == found.recent[11].hour


def test_repeats_begin_with_the_vote_that_counts(database):
    with database.read() as connection:
        assert read_repeats(connection) == {
            1: {
                ("similar", "similar", "similar"): 1,
                ("similar", "similar", "dissimilar"): 1,
                ("unsure", "similar", ""): 1,
            }
        }


def test_the_plan_counts_what_is_left_and_against_what_was_planned(database):
    found = plan(database, Campaign(planned_hours=5.0), NOW)
    answers, checks, settled = sum(15 + hour % 3 for hour in range(20)), 7 + 2, 2 * 205
    assert found.questions == 120
    assert found.votes == 240 - max(0, answers - checks - settled) == 240
    assert found.checks == 2
    assert found.left.value == pytest.approx(242 / found.pace.per_hour.value)
    assert found.left.low < found.left.value < found.left.high
    assert found.over == pytest.approx(found.spent + found.left.value - 5.0)
    assert NOW < found.end_low < found.end < found.end_high
    assert found.discussed.value == pytest.approx(15 / 205)
    assert found.to_discuss == pytest.approx(120 * 15 / 205)


def test_votes_given_on_open_pairs_are_not_left_to_give(database):
    with database.write() as connection:
        connection.exec_driver_sql("UPDATE pace SET answers = answers + 10")
    found = plan(database, Campaign(), NOW)
    answers = sum(25 + hour % 3 for hour in range(20))
    assert found.votes == 240 - (answers - 9 - 2 * 205)
    assert math.isnan(found.over)


def test_what_a_vote_more_buys_follows_the_protocol(database):
    consensus = plan(database, Campaign(), NOW).errors
    majority = plan(database, Campaign(protocol="majority", votes=3), NOW).errors
    assert [one.votes for one in consensus.from_agreement] == [1, 2, 3, 5]
    assert consensus.of_one_vote == pytest.approx((1 - math.sqrt(2 * 190 / 200 - 1)) / 2)
    wrong = [one.wrong for one in consensus.from_agreement]
    assert wrong == sorted(wrong, reverse=True)
    assert [one.settled for one in majority.from_agreement] == [1.0] * 4
    assert consensus.wrong_together.count == 2
    assert (consensus.agreed, consensus.needed) == (200, 0)
    assert consensus.repeated == 3
    assert all(math.isnan(one.wrong) for one in consensus.from_slips)  # three pairs were answered again


def test_votes_on_few_pairs_do_not_say_how_many_labels_are_wrong(database):
    with database.write() as connection:
        connection.exec_driver_sql("DELETE FROM tally")
        connection.execute(
            insert(labelling_schema.tally), [{"category": "lamp", "pattern": "1+ 2+", "questions": 4}]
        )
    found = plan(database, Campaign(), NOW).errors
    assert (found.agreed, found.needed) == (4, 26)
    assert all(math.isnan(one.wrong) for one in found.from_agreement)


def test_a_new_database_has_no_figures_and_says_why(empty):
    found, ahead = team(empty, NOW), plan(empty, Campaign(), NOW)
    assert found.annotators == ()
    assert found.remarks == ()
    assert "two votes" in found.agreement["gwet"].reason
    assert math.isnan(found.pace.per_hour.value)
    assert (ahead.questions, ahead.votes, ahead.left.value) == (0, 0, 0.0)
    assert math.isnan(ahead.discussed.value)


def test_as_plain_values_nothing_is_lost_and_json_takes_it(database):
    read = json.loads(to_json(team(database, NOW)))
    assert read["twos"][0]["annotators"] == [1, 2]
    assert read["annotators"][1]["gold"]["correct"]["value"] == 0.5
    assert read["agreement"]["figures"]["gwet"]["count"] == 200
    assert read["annotators"][1]["consistency"] is None
    found = plan(database, Campaign(), NOW)
    ahead = json.loads(to_json(found))
    assert math.isnan(found.over)
    assert ahead["errors"]["from_agreement"][1]["votes"] == 2


def test_questions_are_found_by_their_images_in_either_order(database):
    with database.read() as connection:
        found = question_ids(connection, [("b2", "a"), ("a", "b3"), ("b1", "b2")])
    assert found == {("b2", "a"): 2, ("a", "b3"): 3}
