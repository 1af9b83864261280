"""Pairs that join the queue: each once, and of both directions if both were proposed, at once or later."""

import pytest
from shops import NOW, Shop
from sqlalchemy import select

from lookalike.store.labelling.queue import NewPair, add_pairs, close_labelled
from lookalike.store.sql import labelling_schema as tables
from lookalike.store.sql import schema


@pytest.fixture
def shop(database_place):
    return Shop(database_place, pairs=3)


def put(shop, *ends, **more):
    listed = [NewPair(a, b, f"item of {b}", "", "pool", 50 + n, **more) for n, (a, b) in enumerate(ends)]
    with shop.database.write() as connection:
        return add_pairs(connection, listed, 2, NOW)


def resolve(shop, answer="similar"):
    for who in (1, 2):
        while given := shop.give(who):
            shop.give_answer(who, given[0].token, answer)
    shop.wait(1)


def labels(shop):
    found = schema.label.c
    return {tuple(row) for row in shop.rows(select(found.query, found.candidate, found.label))}


def test_a_pair_and_its_reverse_are_one_question_and_its_answer_a_label_of_both(shop):
    assert put(shop, ("c1", "q1"), ("new", "c2")) == 1
    assert [row.both for row in shop.rows(select(tables.question.c.both).order_by("id"))] == [0, 1, 0, 0]
    resolve(shop)
    both = {("q1", "c1", 1), ("c1", "q1", 1)}
    assert labels(shop) == both | {("q0", "c0", 1), ("q2", "c2", 1), ("new", "c2", 1)}


def test_the_reverse_of_a_settled_pair_takes_its_label(shop):
    resolve(shop, "dissimilar")
    before = labels(shop)
    for _ in range(2):
        assert put(shop, ("c1", "q1"), ("q2", "c2")) == 0
        assert labels(shop) == before | {("c1", "q1", 0)}
    assert shop.states() == ["settled"] * 3


def test_a_pair_that_is_put_forward_both_ways_at_once_later_counts_for_both(shop):
    assert put(shop, ("q0", "c0"), both=True) == 0
    resolve(shop)
    assert ("c0", "q0", 1) in labels(shop)


def test_an_imported_label_is_kept(shop):
    with shop.database.write() as connection:
        row = {"query": "c1", "candidate": "q1", "label": 0, "source": "a file"}
        connection.execute(schema.label.insert(), [row])
    resolve(shop)
    put(shop, ("c1", "q1"))
    found = schema.label.c
    mine = shop.rows(select(found.label, found.source).where(found.query == "c1"))
    assert sorted(mine) == [(0, "a file"), (1, "votes")]


def test_the_reverse_of_a_pair_with_an_imported_label_is_in_the_queue(shop):
    with shop.database.write() as connection:
        assert close_labelled(connection, [("q1", "i1")], [], NOW) == 1
    assert shop.states() == ["open", "open", "settled"]
    assert put(shop, ("c1", "q1")) == 0
    (found,) = shop.rows(select(tables.question).where(tables.question.c.low == "c1"))
    assert (found.query, found.candidate, found.item, found.both) == ("c1", "q1", "item of q1", 0)
    resolve(shop)
    assert labels(shop) == {("q0", "c0", 1), ("c1", "q1", 1), ("q2", "c2", 1)}
    figures = tables.progress.c
    kept = shop.rows(select(figures.state, figures.questions).where(figures.questions > 0))
    assert kept == [("settled", 3)]


def test_many_are_looked_through_in_batches(shop, monkeypatch):
    monkeypatch.setattr("lookalike.store.labelling.queue.BATCH", 2)
    assert put(shop, *[(f"c{n}", f"q{n}") for n in range(3)], *[(f"a{n}", f"b{n}") for n in range(4)]) == 4
    assert [row.both for row in shop.rows(select(tables.question.c.both).order_by("id"))] == [1] * 3 + [0] * 4
    assert len(shop.states()) == 7
