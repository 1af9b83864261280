"""Sessions are rows: each ends alone or with all of its person, the same on both databases."""

import threading

import pytest
from argon2 import PasswordHasher

from lookalike.core.errors import AccessError
from lookalike.store.people import passwords, people
from lookalike.store.people.sessions import (
    LONGEST_SESSION,
    begin_session,
    end_other_sessions,
    end_session,
    session_owner,
)
from lookalike.store.sql.database import Database

PASSWORD = "a long password"
KEPT, OTHER = (
    passwords.hashed(words, PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    for words in (PASSWORD, "quite another one")
)


@pytest.fixture
def database(database_place):
    made = Database(database_place)
    made.migrate()
    yield made
    made.close()


@pytest.fixture
def connection(database):
    with database.write() as opened:
        yield opened


@pytest.fixture
def lea(connection):
    return people.add(connection, "Lea", "lead", 5, kept=KEPT)


@pytest.fixture
def ann(connection):
    return people.add(connection, "Ann", "annotator", 5, kept=KEPT)


def test_a_session_is_its_persons_until_it_ends(connection, lea, ann):
    begin_session(connection, ann.id, "here", 10)
    begin_session(connection, ann.id, "there", 10)
    assert session_owner(connection, ann.id, "here") == ann
    assert session_owner(connection, lea.id, "here") is None
    assert session_owner(connection, ann.id, "nowhere") is None
    end_session(connection, "here")
    assert session_owner(connection, ann.id, "here") is None
    assert session_owner(connection, ann.id, "there") == ann


def test_all_sessions_of_a_person_but_one_end(connection, lea, ann):
    for who, nonce in ((ann.id, "here"), (ann.id, "there"), (lea.id, "other")):
        begin_session(connection, who, nonce, 10)
    end_other_sessions(connection, ann.id, "here")
    assert session_owner(connection, ann.id, "here") == ann
    assert session_owner(connection, ann.id, "there") is None
    assert session_owner(connection, lea.id, "other") == lea


def test_a_new_password_another_role_and_removal_end_all_sessions(connection, lea, ann):
    begin_session(connection, lea.id, "other", 10)
    changes = [
        lambda: people.set_password(connection, ann.id, OTHER),
        lambda: people.set_role(connection, ann.id, "lead"),
        lambda: people.remove(connection, ann.id, 9),
    ]
    for change in changes:
        begin_session(connection, ann.id, "here", 10)
        assert session_owner(connection, ann.id, "here") == people.person(connection, ann.id)
        change()
        assert session_owner(connection, ann.id, "here") is None
        assert session_owner(connection, lea.id, "other") == lea
    begin_session(connection, ann.id, "after", 10)  # a row that should not be there
    assert session_owner(connection, ann.id, "after") is None


def test_the_same_role_again_ends_nothing(connection, ann):
    begin_session(connection, ann.id, "here", 10)
    people.set_role(connection, ann.id, "annotator")
    assert session_owner(connection, ann.id, "here") == ann


def test_sessions_that_are_too_old_are_forgotten_and_no_nonce_is_in_the_database(connection, ann):
    begin_session(connection, ann.id, "old-nonce", 10)
    begin_session(connection, ann.id, "new-nonce", 10 + LONGEST_SESSION)
    assert session_owner(connection, ann.id, "old-nonce") == ann
    begin_session(connection, ann.id, "newest-nonce", 11 + LONGEST_SESSION)
    rows = [str(tuple(row)) for row in connection.exec_driver_sql("SELECT * FROM session")]
    assert session_owner(connection, ann.id, "old-nonce") is None
    assert len(rows) == 2
    assert not [row for row in rows if "nonce" in row]


def test_no_login_with_the_old_password_outlives_a_new_password(database):
    with database.write() as connection:
        ann = people.add(connection, "Ann", "annotator", 5, kept=KEPT)
    for turn in range(8):
        with database.write() as connection:
            people.set_password(connection, ann.id, KEPT)
        with database.read() as connection:
            login = people.verified(people.candidate(connection, "Ann"), PASSWORD)
        start, outcomes = threading.Barrier(2), []

        def log_in(turn=turn, login=login, start=start, outcomes=outcomes):
            start.wait()
            try:
                with database.write() as connection:
                    people.require_unchanged(connection, login)
                    begin_session(connection, ann.id, f"turn {turn}", 10)
                outcomes.append("in")
            except AccessError as error:
                outcomes.append(error.code)

        thread = threading.Thread(target=log_in)
        thread.start()
        start.wait()
        with database.write() as connection:
            people.set_password(connection, ann.id, OTHER)
        thread.join()
        assert outcomes in (["in"], ["password"])
        with database.read() as connection:
            assert session_owner(connection, ann.id, f"turn {turn}") is None
