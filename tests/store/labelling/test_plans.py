"""Every statement of answering, giving and applying what is due uses an index, as both databases say themselves."""

import re
from contextlib import contextmanager

import pytest
from shops import Shop
from sqlalchemy import event, text

from lookalike.store.labelling.corrections import correct, own_answers
from lookalike.store.labelling.queue import NewPair, add_gold

BIG = ("question", "claim", "vote", "lease", "hidden_check", "annotator", "label", "pace")
PAIRS = 90


@pytest.fixture
def shop(database_place):
    """Answers bring repeats and gold pairs."""
    shop = Shop(
        database_place,
        people=2,
        pairs=PAIRS,
        share=1.0,
        repeats=9,
        gap_least=1,
        gap_most=2,
        gold_every=3,
        undo_seconds=10.0,
    )
    with shop.database.write() as connection:
        add_gold(connection, NewPair("g", "h", "i", "", "gold", 0), "similar", "", None, shop.now)
    return shop


@contextmanager
def statements_of(shop):
    """The statements that are sent in this block, each once, with the parameters of its first execution."""
    seen = {}

    def note(connection, cursor, statement, parameters, context, executemany):
        if re.match(r"\s*(SELECT|WITH|INSERT|UPDATE|DELETE)\b", statement):
            seen.setdefault(statement, parameters[0] if executemany else parameters)

    engine = shop.database._engine
    event.listen(engine, "before_cursor_execute", note)
    yield seen
    event.remove(engine, "before_cursor_execute", note)


def work(shop):
    """Answers, repeated answers, skips, undos, hidden checks, late answers; pairs that are resolved or run out."""
    kinds = set()
    for turn in range(24):
        shop.now += 1_000
        for who in (1, 2):
            given = shop.give(who)
            kinds.add(bool(shop.ticket(given[0].token).check))
            answer = ("similar", "dissimilar", "skip", "similar")[turn % 4]
            shop.give_answer(who, given[0].token, answer)
            shop.give_answer(who, given[0].token, answer)
            if turn % 5 == 0:
                shop.undo(who, given[0].token)
        shop.sweep()
    for own in shop.does(own_answers, 1, shop.now):
        if own.correctable:
            shop.does(correct, 1, own.token, "unsure", shop.now, shop.draw)
    assert kinds == {False, True}
    last = shop.give(2)[0].token
    shop.wait(11)
    shop.give_answer(2, last, "unsure")
    while given := shop.give(1):  # until nothing is left for annotator 1, who comes first everywhere
        shop.give_answer(1, given[0].token, "similar")
    shop.wait(1)


def walks(connection, statement, parameters):
    """The tables that the database would read from one end to the other."""
    if connection.dialect.name == "sqlite":
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
        lines = [row.detail for row in plan]
        found = [re.match(r"SCAN (\w+)(?! USING (COVERING )?INDEX question_open)", line) for line in lines]
    else:
        plan = connection.exec_driver_sql(f"EXPLAIN {statement}", parameters)
        lines = [row[0] for row in plan]
        found = [re.search(r"Seq Scan on (\w+)", line) for line in lines]
    assert not any("question_state" in line for line in lines), statement
    return [one.group(1) for one in found if one is not None and one.group(1) in BIG]


def test_no_statement_of_labelling_walks_a_table(shop):
    with statements_of(shop) as statements:
        work(shop)
    assert len(statements) > 30
    with shop.database.write() as connection:
        if not shop.database.is_sqlite:  # whether there is an index that serves, however small the tables are
            connection.execute(text("SET LOCAL enable_seqscan = off"))
        walked = {
            statement: found
            for statement, parameters in statements.items()
            if (found := walks(connection, statement, parameters))
        }
    assert walked == {}


def test_the_plans_show_a_statement_that_walks(shop):
    with shop.database.write() as connection:
        if not shop.database.is_sqlite:
            connection.execute(text("SET LOCAL enable_seqscan = off"))
        assert walks(connection, "SELECT id FROM question WHERE item = 'i1'", ()) == ["question"]
        assert walks(connection, "SELECT id FROM vote WHERE answer = 'similar'", ()) == ["vote"]
