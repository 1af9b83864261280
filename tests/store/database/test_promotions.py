"""The served encoder: the newest promotion, or what came before it after a rollback."""

import contextlib

import pytest

from lookalike.core.errors import ArgumentError
from lookalike.core.types import Origin
from lookalike.store.promotions import history, promote, promoted, rollback
from lookalike.store.sql.database import Database

COLOR, HOG = Origin("descriptor:color", "whole"), Origin("descriptor:hog", "whole")


@pytest.fixture
def database(database_place):
    made = Database(database_place)
    made.migrate()
    yield made
    made.close()


def add(database, encoder, origin, **more):
    with database.write() as connection:
        return promote(connection, encoder, origin, gate={"value": 0.5}, **more)


def back(database):
    with database.write() as connection:
        return rollback(connection)


def test_nothing_is_served_at_first(database):
    assert database.fetch(promoted) is None
    assert database.fetch(history) == ()
    with pytest.raises(ArgumentError, match="nothing to return to"):
        back(database)


def test_the_newest_promotion_is_served_as_it_was_given(database):
    first = add(database, "color", COLOR)
    second = add(database, "hog", HOG, index="hog")
    assert database.fetch(promoted) == second
    assert (second.encoder, second.origin, second.index, second.returns) == ("hog", HOG, "hog", first.id)
    assert second.gate == {"value": 0.5}
    assert second.id > first.id
    assert database.fetch(history) == (second, first)


def test_each_rollback_goes_one_promotion_back_and_is_kept(database):
    for name in ("a", "b", "c"):
        add(database, name, COLOR)
    assert [back(database).encoder, back(database).encoder] == ["b", "a"]
    with pytest.raises(ArgumentError, match="nothing to return to"):
        back(database)
    add(database, "d", HOG)
    assert back(database).encoder == "a"
    listed = [(one.action, one.encoder) for one in database.fetch(history)][::-1]
    assert listed == [
        *(("promote", name) for name in "abc"),
        ("rollback", "b"),
        ("rollback", "a"),
        ("promote", "d"),
        ("rollback", "a"),
    ]


def test_a_promotion_that_does_not_commit_changes_nothing(database):
    first = add(database, "color", COLOR)
    with contextlib.suppress(InterruptedError), database.write() as connection:
        promote(connection, "hog", HOG, gate={})
        raise InterruptedError
    assert database.fetch(promoted) == first
