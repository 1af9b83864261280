"""Names, passwords, roles and removal, the same on both databases."""

import threading

import pytest
from argon2 import PasswordHasher

from lookalike.core.errors import AccessError, ArgumentError
from lookalike.store.people import passwords, people
from lookalike.store.sql.database import Database

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
PASSWORD = "a long password"


@pytest.fixture
def database(database_place):
    made = Database(database_place)
    made.migrate()
    yield made
    made.close()


def kept(password: str = PASSWORD) -> str:
    return passwords.hashed(password, QUICK)


def add(database, name, role="annotator", password=PASSWORD):
    with database.write() as connection:
        return people.add(connection, name, role, 5, kept=kept(password) if password else "")


def log_in(database, name, password=PASSWORD):
    with database.read() as connection:
        return people.verified(people.candidate(connection, name), password)


def test_a_person_is_added_and_known_by_name_and_password(database):
    added = add(database, "  Ann   Lee ", "lead")
    assert (added.name, added.role, added.removed, added.created) == ("Ann Lee", "lead", None, 5)
    assert log_in(database, "ANN LEE ").person == added


@pytest.mark.parametrize("name", ["", "   ", "a" * 61, "a\nb", "a\x00b", "a\u202eb", "a\u200bb", "\t"])
def test_names_that_cannot_be_read_are_refused(name):
    with pytest.raises(ArgumentError, match="cannot be used"):
        people.clean_name(name)


def test_other_names_are_kept_as_they_are(database):
    for name in ("Łucja Straße", "李 小", "Robert'); DROP TABLE annotator;--", "<script>x</script>"):
        assert add(database, name).name == name
        assert log_in(database, name).person.name == name


def test_names_that_differ_by_case_or_style_only_are_one(database):
    add(database, "Ann")
    for other in ("ann", "ANN", " Ann ", "\uff21\uff4e\uff4e"):
        with pytest.raises(AccessError, match="is taken") as refused:
            add(database, other)
        assert refused.value.code == "name-taken"


def test_a_role_is_one_of_two(database):
    with pytest.raises(ArgumentError, match="annotator, lead"), database.write() as connection:
        people.add(connection, "Ann", "imported", 1)


def test_a_short_password_is_refused_with_its_length():
    with pytest.raises(ArgumentError, match=r"9 .* 10"):
        passwords.hashed("a" * 9, QUICK)
    with pytest.raises(ArgumentError, match="1,000"):
        passwords.hashed("a" * 1001, QUICK)
    assert passwords.matches(passwords.hashed("ü" * 10, QUICK), "ü" * 10)


def test_a_failed_login_does_not_show_whether_the_name_exists(database):
    add(database, "Lea", "lead")
    add(database, "Unset", password="")
    gone = add(database, "Gone")
    with database.write() as connection:
        people.remove(connection, gone.id, 9)
    answers = set()
    for name, password in (("Nobody", PASSWORD), ("Lea", "another one"), ("Gone", PASSWORD), ("Unset", "")):
        with pytest.raises(AccessError) as refused:
            log_in(database, name, password)
        answers.add((refused.value.code, refused.value.problem, refused.value.fix))
    ((code, _, _),) = answers
    assert code == "password"


def test_a_password_is_verified_also_for_unknown_names(monkeypatch):
    """So that the time does not reveal names."""
    verified = []
    monkeypatch.setattr(
        PasswordHasher, "verify", lambda self, kept, password: verified.append(kept) or True, raising=True
    )
    assert not passwords.matches("", "a guess")
    assert verified[0].startswith("$argon2id$")
    assert passwords.HASHER.check_needs_rehash(verified[0]) is False  # as slow as a real one


def test_an_outdated_hash_is_replaced_unless_the_password_changed_meanwhile(database):
    ann = add(database, "Ann")
    login = log_in(database, "Ann")
    assert login.is_outdated
    fresh = passwords.hashed(PASSWORD)
    with database.write() as connection:
        people.keep_rehashed(connection, login, fresh)
    again = log_in(database, "Ann")
    assert not again.is_outdated
    assert again.person == ann
    with database.write() as connection:
        people.set_password(connection, ann.id, kept("quite another one"))
        people.keep_rehashed(connection, again, fresh)
    assert log_in(database, "Ann", "quite another one")


def test_a_removed_person_is_listed_but_cannot_log_in(database):
    add(database, "Lea", "lead")
    ann = add(database, "Ann")
    with database.write() as connection:
        people.remove(connection, ann.id, 9)
    with database.read() as connection:
        assert people.candidate(connection, "Ann") is None
        assert [one.name for one in people.everyone(connection)] == ["Ann", "Lea"]
        assert people.active(connection) == 1


def test_a_removed_person_cannot_be_changed(database):
    add(database, "Lea", "lead")
    ann = add(database, "Ann")
    with database.write() as connection:
        people.remove(connection, ann.id, 9)
    for change in (
        lambda c: people.set_role(c, ann.id, "lead"),
        lambda c: people.set_password(c, ann.id, kept()),
        lambda c: people.remove(c, ann.id, 10),
    ):
        with pytest.raises(AccessError, match="was removed"), database.write() as connection:
            change(connection)


def test_the_last_lead_who_can_log_in_stays(database):
    lea = add(database, "Lea", "lead")
    add(database, "Invited", "lead", password="")  # has not set a password: could not manage anything
    for change in (
        lambda c: people.set_role(c, lea.id, "annotator"),
        lambda c: people.remove(c, lea.id, 9),
    ):
        with pytest.raises(AccessError, match="last lead") as refused, database.write() as connection:
            change(connection)
        assert refused.value.code == "last-lead"
    with database.read() as connection:
        assert people.person(connection, lea.id) == lea


def at_once(database, *calls):
    """Run each in a transaction of its own, all at the same time; the errors of those refused."""
    start, refused = threading.Barrier(len(calls)), []

    def one(call):
        start.wait()
        try:
            with database.write() as connection:
                call(connection)
        except AccessError as error:
            refused.append(error.code)

    threads = [threading.Thread(target=one, args=(call,)) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return refused


def test_two_leads_cannot_demote_each_other_at_once(database):
    for turn in range(5):
        lea, max_ = add(database, f"Lea{turn}", "lead"), add(database, f"Max{turn}", "lead")
        refused = at_once(
            database,
            lambda c, max_=max_: people.set_role(c, max_.id, "annotator"),
            lambda c, lea=lea: people.remove(c, lea.id, 9),
        )
        assert refused == ["last-lead"]
        with database.write() as connection:
            left = [one for one in people.everyone(connection) if one.is_lead and one.removed is None]
            assert len(left) == 1
            connection.exec_driver_sql("UPDATE annotator SET role = 'annotator'")


def test_of_many_accounts_with_one_name_at_once_one_is_created(database):
    refused = at_once(
        database, *(lambda c, i=i: people.add(c, ("Ann", "ANN")[i % 2], "annotator", 1) for i in range(6))
    )
    assert refused == ["name-taken"] * 5


def test_an_id_that_is_nobodys(database):
    with pytest.raises(AccessError, match="person"), database.read() as connection:
        people.person(connection, 12)
