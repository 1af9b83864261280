"""Guidelines with their versions and examples, gold pairs, progress and discussions, on both databases."""

import random

import pytest
from shops import Shop
from sqlalchemy import insert, select

from lookalike.annotate.campaign import Campaign
from lookalike.core.errors import ArgumentError, VoteError
from lookalike.store.labelling.campaigns import Rules
from lookalike.store.labelling.discussion.lists import DiscussionList, discussed, discussions
from lookalike.store.labelling.discussion.thread import add_decision, add_proposal
from lookalike.store.labelling.due import apply_due
from lookalike.store.labelling.giving import next_pairs
from lookalike.store.labelling.gold import gold_pairs, gold_scores, make_gold, remove_gold
from lookalike.store.labelling.guidelines import (
    add_example,
    examples,
    guideline_versions,
    read_guideline,
    remove_example,
    write_guideline,
)
from lookalike.store.labelling.progress import annotator_progress
from lookalike.store.labelling.queue import NewPair, add_pairs
from lookalike.store.labelling.statistics import read_answers
from lookalike.store.labelling.votes import answer
from lookalike.store.sql import labelling_schema as tables
from lookalike.store.sql import schema
from lookalike.store.sql.database import Database

NOW = 1_700_000_000_000


@pytest.fixture
def shop(database_place):
    database = Database(database_place)
    database.migrate()
    with database.write() as connection:
        people = [
            {"name": name, "folded": name, "role": role, "created": NOW}
            for name, role in (("ann", "annotator"), ("bob", "annotator"), ("lea", "lead"))
        ]
        connection.execute(insert(tables.annotator), people)
        image = {"path": "", "category": "chair", "role": "both", "split": "train", "position": 0}
        size = {"digest": "d", "width": 1, "height": 1, "columns": "{}"}
        rows = [{"row": n, "image": f"p{n}", "item": f"i{n // 2}", **image, **size} for n in range(8)]
        connection.execute(insert(schema.image), rows)
        add_pairs(connection, [NewPair("p0", "p2", "i1", "chair", "pool", 0)], 2, NOW)
    yield database
    database.close()


def test_guidelines_keep_every_version_and_no_unseen_version_is_overwritten(shop):
    with shop.write() as connection:
        assert read_guideline(connection).version == 0
        first = write_guideline(connection, "# Ours\r\nText", 3, 0, NOW)
        assert write_guideline(connection, "# Ours\nText\n", 3, 0, NOW) == first
        with pytest.raises(VoteError, match="lea"):
            write_guideline(connection, "Mine", 1, 0, NOW)
        write_guideline(connection, read_guideline(connection, 0).text, 3, first, NOW)
        kept = [one.version for one in guideline_versions(connection)]
        assert kept == [first + 1, first, 0]
        assert read_guideline(connection, first).text == "# Ours\nText\n"
        with pytest.raises(VoteError, match="version"):
            read_guideline(connection, 99)


def test_examples_are_of_the_catalog_and_one_pair_is_there_once(shop):
    with shop.write() as connection:
        add_example(connection, "p0", "p2", 1, "same legs")
        add_example(connection, "p0", "p4", 0, "")
        add_example(connection, "p0", "p2", 0, "other legs")
        assert [(one.candidate, one.label, one.note) for one in examples(connection)] == [
            ("p4", 0, ""),
            ("p2", 0, "other legs"),
        ]
        for query, candidate in (("p0", "nothing"), ("p0", "p0")):
            with pytest.raises(VoteError):
                add_example(connection, query, candidate, 1, "")
        remove_example(connection, examples(connection)[0].id)
        assert len(examples(connection)) == 1


def test_gold_pairs_are_shown_and_counted_and_are_not_discussed(shop):
    draw, rules = random.Random(0), Rules(Campaign(gold_every=1, repeats=0))
    with shop.write() as connection:
        make_gold(connection, "p4", "p6", "similar", "clear", 3, NOW)
        for query, candidate in (("p4", "p4"), ("p4", "none")):
            with pytest.raises(VoteError):
                make_gold(connection, query, candidate, "similar", "", 3, NOW)
        with pytest.raises(ArgumentError, match="item"):
            make_gold(connection, "p4", "p5", "similar", "", 3, NOW)
        first = next_pairs(connection, rules, 1, NOW, draw)[0]
        answer(connection, rules, 1, first.token, "similar", NOW, draw)
        check = next_pairs(connection, rules, 1, NOW, draw)[0]
        assert (check.query, check.candidate) == ("p4", "p6")
        answer(connection, rules, 1, check.token, "dissimilar", NOW, draw)
        (gold,) = gold_pairs(connection)
        assert (gold.answers, gold.correct, gold.note) == (1, 0, "clear")
        assert [(one.name, one.answers, one.correct) for one in gold_scores(connection)] == [("ann", 1, 0)]
        assert discussions(connection, DiscussionList("excluded")) == ()
        for forbidden in (discussed, lambda c, which: add_decision(c, which, 3, "reopen", NOW)):
            with pytest.raises(VoteError):
                forbidden(connection, gold.question)
        remove_gold(connection, gold.question)
        assert gold_pairs(connection) == ()


def test_progress_counts_answers_of_today_and_pairs_of_each_state(shop):
    draw, rules = random.Random(0), Rules(Campaign(undo_seconds=0.0, repeats=0))
    with shop.write() as connection:
        for who, given_answer in ((1, "similar"), (2, "dissimilar")):
            given = next_pairs(connection, rules, who, NOW, draw)[0]
            answer(connection, rules, who, given.token, given_answer, NOW, draw, took=90_000)
        apply_due(connection, rules, NOW + 1)
        progress = annotator_progress(connection, 1, NOW + 1, NOW - NOW % 86_400_000)
        assert (progress.answered, progress.today, progress.open, progress.discussion) == (1, 1, 0, 1)
        assert progress.per_hour == pytest.approx(40)
        tomorrow = annotator_progress(connection, 1, NOW + 86_400_000, NOW + 86_400_000)
        assert (tomorrow.answered, tomorrow.today) == (1, 0)
        assert tomorrow.per_hour == pytest.approx(40)  # the pace of earlier days, until there is a newer one


def test_answers_that_were_undone_are_not_shown(database_place):
    shop = Shop(database_place, pairs=12, share=1.0, repeats=2, gap_least=1, gap_most=1, undo_seconds=60)
    shown = set()

    def figures():
        with shop.database.read() as connection:
            found = annotator_progress(connection, 1, shop.now, NOW - NOW % 86_400_000)
            each = read_answers(connection)
        assert each == {1: found.answered, 2: 0}
        return found.answered, found.today

    for turn in range(1, 10):
        shop.now += 1_000
        token = shop.give(1)[0].token
        is_check = bool(shop.ticket(token).check)
        shop.give_answer(1, token, "similar")
        assert figures() == (turn, turn)
        again = shop.undo(1, token)
        assert figures() == (turn - 1, turn - 1)
        shop.give_answer(1, again.token, "dissimilar")
        assert figures() == (turn, turn)
        shown.add(is_check)
    assert shown == {False, True}
    skipped = shop.give(1)[0].token
    shop.give_answer(1, skipped, "skip")
    assert figures() == (9, 9)
    (counter,) = shop.rows(select(tables.annotator.c.answers).where(tables.annotator.c.id == 1))
    assert counter.answers == 18  # schedules checks, and counts everything that was answered
    shop.now += 86_400_000
    with shop.database.read() as connection:
        assert annotator_progress(connection, 1, shop.now, shop.now).today == 0


def test_a_verdict_button_pressed_twice_is_one_verdict(shop):
    draw, rules = random.Random(0), Rules(Campaign(undo_seconds=0.0, repeats=0))
    with shop.write() as connection:
        for who, given_answer in ((1, "similar"), (2, "dissimilar")):
            given = next_pairs(connection, rules, who, NOW, draw)[0]
            answer(connection, rules, who, given.token, given_answer, NOW, draw)
        apply_due(connection, rules, NOW + 1)
        for _ in range(2):
            add_proposal(connection, 1, 1, "similar", NOW + 2)
        for _ in range(2):
            add_decision(connection, 1, 3, "exclude", NOW + 3)
        assert len(connection.execute(select(tables.verdict)).all()) == 2
        with pytest.raises(VoteError, match="no longer open"):
            add_decision(connection, 1, 3, "exclude", NOW + 60_000)
        assert discussions(connection, DiscussionList("excluded", category="chair"))[0].question == 1
        assert discussions(connection, DiscussionList("excluded", category="lamp")) == ()
