"""Links that work once, tokens and the audit log, the same on both databases."""

import threading

import pytest
from argon2 import PasswordHasher

from lookalike.core.errors import AccessError, ArgumentError
from lookalike.store.people import access, invites, passwords, people
from lookalike.store.people.sessions import begin_session, session_owner
from lookalike.store.sql.database import Database

KEPT = passwords.hashed("a long password", PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
DAY = 24 * 3600 * 1000
INCLUDED = {
    "search": ["search"],
    "read": ["search", "read"],
    "label": ["search", "read", "label"],
    "catalog": ["search", "catalog"],
    "lead": ["search", "read", "label", "catalog", "lead"],
}


@pytest.fixture
def database(database_place):
    made = Database(database_place)
    made.migrate()
    with made.write() as connection:
        people.add(connection, "Lea", "lead", 1, kept=KEPT)
    yield made
    made.close()


@pytest.fixture
def connection(database):
    with database.write() as opened:
        yield opened


def ended(connection, secret, now):
    with pytest.raises(AccessError, match="does not work") as refused:
        invites.redeem(connection, secret, "Ann", KEPT, now)
    return refused.value.code == "link-ended"


def test_an_invitation_works_once(connection):
    invites.invite(connection, "annotator", "secret", 10)
    assert invites.look(connection, "secret", 11).role == "annotator"
    ann = invites.redeem(connection, "secret", "Ann", KEPT, 12)
    assert (ann.name, ann.role) == ("Ann", "annotator")
    assert ended(connection, "secret", 13)


def test_an_invitation_ends_after_seven_days(connection):
    invites.invite(connection, "lead", "secret", 10)
    assert invites.look(connection, "secret", 10 + 7 * DAY).role == "lead"
    assert ended(connection, "secret", 11 + 7 * DAY)


def test_what_was_never_made_does_not_work(connection):
    invites.invite(connection, "annotator", "secret", 10)
    for secret in ("", "another", "secret ", "SECRET", "\udcff"):
        assert ended(connection, secret, 11)


def test_a_name_that_is_taken_leaves_the_link_unused(database):
    with database.write() as connection:
        invites.invite(connection, "annotator", "secret", 10)
    with pytest.raises(AccessError, match="taken"), database.write() as connection:
        invites.redeem(connection, "secret", "LEA", KEPT, 11)
    with database.write() as connection:
        assert invites.redeem(connection, "secret", "Ann", KEPT, 12).name == "Ann"


def test_a_link_used_twice_at_once_works_once(database):
    for turn in range(5):
        with database.write() as connection:
            invites.invite(connection, "annotator", f"secret {turn}", 10)
        start, outcomes = threading.Barrier(4), []

        def use(name, turn=turn, start=start, outcomes=outcomes):
            start.wait()
            try:
                with database.write() as connection:
                    invites.redeem(connection, f"secret {turn}", f"{name} {turn}", KEPT, 11)
                outcomes.append("in")
            except AccessError as error:
                outcomes.append(error.code)

        threads = [threading.Thread(target=use, args=(name,)) for name in "ABCD"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(outcomes) == ["in", "link-ended", "link-ended", "link-ended"]
    with database.read() as connection:
        assert len(people.everyone(connection)) == 1 + 5


def test_a_new_link_to_set_a_password_ends_the_one_before_and_using_it_ends_sessions(connection):
    ann = people.add(connection, "Ann", "annotator", 1, kept=KEPT)
    invites.reset(connection, ann.id, "first", 10)
    invites.reset(connection, ann.id, "second", 11)
    assert ended(connection, "first", 12)
    assert invites.look(connection, "second", 12).person == ann
    begin_session(connection, ann.id, "here", 12)
    done = invites.redeem(connection, "second", "a name that is not asked for", KEPT, 13)
    assert done == ann
    assert session_owner(connection, ann.id, "here") is None
    assert ended(connection, "second", 14)


def test_a_link_of_a_removed_person_does_not_work(connection):
    ann = people.add(connection, "Ann", "annotator", 1, kept=KEPT)
    invites.reset(connection, ann.id, "secret", 10)
    people.remove(connection, ann.id, 11)
    assert ended(connection, "secret", 12)
    with pytest.raises(AccessError, match="was removed"):
        invites.reset(connection, ann.id, "another", 13)


def test_neither_secrets_nor_tokens_are_in_the_database(connection):
    ann = people.add(connection, "Ann", "annotator", 1, kept=KEPT)
    invites.invite(connection, "annotator", "the-secret", 10)
    access.create_token(connection, ann.id, "sorter", "lk_the-token", 10)
    rows = [
        str(tuple(row))
        for table in ("invite", "api_token", "audit", "annotator")
        for row in connection.exec_driver_sql(f"SELECT * FROM {table}")
    ]
    assert rows
    assert not [row for row in rows if "the-secret" in row or "the-token" in row]


def test_a_token_is_its_owners_until_it_is_revoked_or_they_are_removed(connection):
    ann = people.add(connection, "Ann", "annotator", 1, kept=KEPT)
    for token in ("lk_1", "lk_2"):
        access.create_token(connection, ann.id, "sorter", token, 10)
    assert access.token_owner(connection, "lk_1", 11) == ann
    assert access.token_owner(connection, "lk_3", 11) is None
    newest, oldest = access.tokens(connection, ann.id)
    access.revoke_token(connection, ann.id, oldest.id, 11)
    access.revoke_token(connection, ann.id, oldest.id, 12)
    assert [one.revoked for one in access.tokens(connection, ann.id)] == [None, 11]
    assert access.token_owner(connection, "lk_1", 12) is None
    assert access.token_owner(connection, "lk_2", 12) == ann
    people.remove(connection, ann.id, 13)
    assert access.token_owner(connection, "lk_2", 14) is None
    assert newest.name == "sorter"


def test_a_token_ends_after_90_days_or_those_that_were_chosen(connection):
    ann = people.add(connection, "Ann", "annotator", 1, kept=KEPT)
    access.create_token(connection, ann.id, "sorter", "lk_1", 10)
    access.create_token(connection, ann.id, "sorter", "lk_2", 10, days=365)
    for token, days in (("lk_1", 90), ("lk_2", 365)):
        assert access.token_owner(connection, token, 9 + days * DAY) == ann
        assert access.token_owner(connection, token, 10 + days * DAY) is None
    assert [access.live_tokens(connection, ann.id, days * DAY) for days in (89, 91, 366)] == [2, 1, 0]
    for days in (0, -1, 366):
        with pytest.raises(ArgumentError):
            access.create_token(connection, ann.id, "sorter", "lk_3", 10, days=days)


def test_a_scope_allows_what_it_includes_and_makes_no_lead(connection):
    lea = people.named(connection, "Lea")
    ann = people.add(connection, "Ann", "annotator", 1, kept=KEPT)
    for owner in (lea, ann):
        for scope in access.SCOPES:
            token = f"lk_{owner.name}_{scope}"
            access.create_token(connection, owner.id, "sorter", token, 10, scope=scope)
            for needs in ("search", "read", "label", "catalog"):
                if needs not in INCLUDED[scope]:
                    with pytest.raises(AccessError) as refused:
                        access.token_owner(connection, token, 11, needs)
                    assert refused.value.code == "scope"
                else:
                    found = access.token_owner(connection, token, 11, needs)
                    is_lead = owner == lea and (scope == "lead" or needs == "catalog")
                    assert (found.id, found.is_lead) == (owner.id, is_lead)
    people.add(connection, "Max", "lead", 1, kept=KEPT)
    people.set_role(connection, lea.id, "annotator")
    assert access.token_owner(connection, "lk_Lea_lead", 11).is_lead is False
    with pytest.raises(ArgumentError):
        access.create_token(connection, ann.id, "sorter", "lk_1", 10, scope="all")


def test_all_tokens_of_a_person_end_with_a_link_to_set_a_password(connection):
    lea = people.named(connection, "Lea")
    ann = people.add(connection, "Ann", "annotator", 1, kept=KEPT)
    for owner, token in ((ann, "lk_1"), (ann, "lk_2"), (lea, "lk_3")):
        access.create_token(connection, owner.id, "sorter", token, 10)
    invites.reset(connection, ann.id, "secret", 11)
    assert access.live_tokens(connection, ann.id, 12) == 2
    invites.redeem(connection, "secret", "", KEPT, 12)
    assert [access.live_tokens(connection, one.id, 13) for one in (ann, lea)] == [0, 1]
    assert [one.revoked for one in access.tokens(connection, ann.id)] == [12, 12]


def test_people_revoke_only_their_own_tokens(connection):
    ann = people.add(connection, "Ann", "annotator", 1, kept=KEPT)
    ben = people.add(connection, "Ben", "annotator", 1, kept=KEPT)
    access.create_token(connection, ann.id, "sorter", "lk_1", 10)
    (one,) = access.tokens(connection, ann.id)
    with pytest.raises(AccessError, match="token"):
        access.revoke_token(connection, ben.id, one.id, 11)
    assert access.token_owner(connection, "lk_1", 12) == ann


def test_a_token_needs_a_name(connection):
    for name in ("", " ", "a" * 61, "a\nb"):
        with pytest.raises(ArgumentError, match="needs a name"):
            access.create_token(connection, 1, name, "lk_1", 10)


def test_the_audit_log_is_read_in_pages_and_never_changed(database):
    with database.write() as connection:
        lea = people.named(connection, "Lea")
        for at in range(5):
            access.record(connection, at, lea.id if at % 2 else None, f"deed {at}", "x" * 500, "127.0.0.1")
    with database.read() as connection:
        first = access.audit_log(connection, most=2)
        rest = access.audit_log(connection, before=first[-1].id)
    assert [line.action for line in (*first, *rest)] == [f"deed {at}" for at in (4, 3, 2, 1, 0)]
    assert [line.who for line in first] == ["", "Lea"]
    assert len(first[0].subject) == 200
    for change in ("UPDATE audit SET action = ''", "DELETE FROM audit"):
        with pytest.raises(Exception, match="append-only"), database.write() as connection:
            connection.exec_driver_sql(change)


def test_the_signing_key_is_made_once(database):
    keys = []

    def ask(made):
        with database.write() as connection:
            keys.append(access.signing_key(connection, made))

    threads = [threading.Thread(target=ask, args=(f"key {at}",)) for at in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(keys) == 4
    assert len(set(keys)) == 1
