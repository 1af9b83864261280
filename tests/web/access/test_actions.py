"""What people can change: each action has its effect and its line in the audit log, without a server."""

import pytest
from sqlalchemy import insert, select

from lookalike.annotate.campaign import Campaign
from lookalike.core.errors import AccessError, ArgumentError, LookalikeError
from lookalike.store.labelling.campaigns import read_campaign
from lookalike.store.labelling.gold import gold_pairs
from lookalike.store.labelling.guidelines import examples, read_guideline
from lookalike.store.people import access, invites, people
from lookalike.store.people.sessions import session_owner
from lookalike.store.sql import labelling_schema as tables
from lookalike.store.sql import schema
from lookalike.store.sql.database import Database
from lookalike.web import actions
from lookalike.web.actions import Actor
from lookalike.web.schemas import NewComment, NewExample, NewGold, NewGuidelines, NewToken

NOW, DAY_MS = 1_700_000_000_000, 24 * 3600 * 1000
PAIR = {"query": "p0", "candidate": "p2"}


@pytest.fixture
def database(tmp_path):
    made = Database(tmp_path / "shop.db")
    made.migrate()
    yield made
    made.close()


@pytest.fixture
def connection(database):
    with database.write() as connection:
        image = {"path": "", "category": "chair", "role": "both", "split": "train", "position": 0}
        size = {"digest": "d", "width": 1, "height": 1, "columns": "{}"}
        rows = [{"row": n, "image": f"p{n}", "item": f"i{n // 2}", **image, **size} for n in range(4)]
        connection.execute(insert(schema.image), rows)
        yield connection


@pytest.fixture
def lea(connection):
    return Actor(people.add(connection, "Lea", "lead", NOW, kept="x"), NOW, "192.0.2.1")


def logged(connection) -> list[tuple[str, str, str, str]]:
    return [(line.who, line.action, line.subject, line.address) for line in access.audit_log(connection)][
        ::-1
    ]


def test_settings_are_changed_only_as_a_whole(connection, lea):
    whole = Campaign().model_dump(by_alias=True) | {"votes": 3, "protocol": "majority"}
    actions.change_settings(connection, lea, Campaign(**whole))
    assert read_campaign(connection) == Campaign(**whole)
    with pytest.raises(ArgumentError, match="seed"):
        actions.change_settings(connection, lea, Campaign(votes=5))
    assert read_campaign(connection).votes == 3
    assert logged(connection) == [("Lea", "changed settings", "", "192.0.2.1")]


def test_gold_pairs_are_added_and_removed(connection, lea):
    actions.add_gold(connection, lea, NewGold(**PAIR, answer="similar", note="clear"))
    (gold,) = gold_pairs(connection)
    assert (gold.query, gold.candidate, gold.answer, gold.note) == ("p0", "p2", "similar", "clear")
    actions.remove_gold(connection, lea, gold.question)
    assert gold_pairs(connection) == ()
    lines = [(action, subject) for _, action, subject, _ in logged(connection)]
    assert lines == [
        ("added gold pair", "p0 · p2: similar"), ("removed gold pair", f"pair {gold.question}")
    ]  # fmt: skip


def test_guidelines_are_saved_and_restored_as_versions(connection, lea):
    actions.write_guidelines(connection, lea, NewGuidelines(text="One", based_on=0))
    first = read_guideline(connection).version
    actions.write_guidelines(connection, lea, NewGuidelines(text="Two", based_on=first))
    actions.restore_guidelines(connection, lea, first)
    assert read_guideline(connection).text == "One\n"
    assert read_guideline(connection).version > first + 1
    actions_of = [action for _, action, _, _ in logged(connection)]
    assert actions_of == ["saved guidelines", "saved guidelines", "restored guidelines"]


def test_texts_are_stripped_and_have_limits():
    assert NewGuidelines(text=" One\n", based_on=0).text == "One"
    assert NewComment(text="\n yes ").text == "yes"
    for text in ("", " \n", "x" * 40_001):
        with pytest.raises(ArgumentError):
            NewGuidelines(text=text, based_on=0)
    for text in ("", " \n", "x" * 4_001):
        with pytest.raises(ArgumentError):
            NewComment(text=text)
    for changed in ({"query": ""}, {"candidate": ""}, {"note": "x" * 501}):
        with pytest.raises(ArgumentError):
            NewExample(**PAIR | {"label": "similar"} | changed)
        with pytest.raises(ArgumentError):
            NewGold(**PAIR | {"answer": "similar"} | changed)


def test_an_example_is_shown_with_its_label(connection):
    actions.add_example(connection, NewExample(**PAIR, label="dissimilar", note=" why "))
    (shown,) = examples(connection)
    assert (shown.query, shown.candidate, shown.label, shown.note) == ("p0", "p2", 0, "why")


def test_people_join_change_roles_and_are_removed(connection, lea):
    actions.invite(connection, lea, "annotator", "secret")
    ann = actions.use_invite(connection, "secret", "Ann", "hash", NOW, "192.0.2.2", "one")
    with pytest.raises(LookalikeError):
        invites.look(connection, "secret", NOW)  # it works once
    assert actions.reset_password(connection, lea, ann.id, "again") == "Ann"
    assert actions.use_invite(connection, "again", "ignored", "other", NOW, "192.0.2.2", "two").id == ann.id
    actions.change_role(connection, lea, ann.id, "lead")
    assert people.person(connection, ann.id).is_lead
    actions.remove_person(connection, lea, ann.id)
    assert people.person(connection, ann.id).removed == NOW
    assert [line[:3] for line in logged(connection)] == [
        ("Lea", "created invitation", "annotator"),
        ("Ann", "joined", ""),
        ("Lea", "created password link", "Ann"),
        ("Ann", "set password by link", ""),
        ("Lea", "changed role to lead", "Ann"),
        ("Lea", "removed person", "Ann"),
    ]


def test_logins_and_passwords_begin_and_end_sessions(connection, lea):
    def known(nonce):
        return session_owner(connection, lea.person.id, nonce) is not None

    login = people.candidate(connection, "Lea")
    for nonce in ("one", "two", "three"):
        actions.log_in(connection, lea, login, "", nonce)
    actions.log_out(connection, lea, "one")
    assert [known(nonce) for nonce in ("one", "two", "three")] == [False, True, True]
    actions.end_other_sessions(connection, lea, "two")
    assert [known(nonce) for nonce in ("two", "three")] == [True, False]
    actions.change_password(connection, lea, "hash", "four", revoke_tokens=False)
    assert [known(nonce) for nonce in ("two", "four")] == [False, True]
    kept = select(tables.annotator.c.password).where(tables.annotator.c.id == lea.person.id)
    assert connection.execute(kept).scalar_one() == "hash"
    with pytest.raises(LookalikeError):
        actions.log_in(connection, lea, login, "", "five")  # verified before the password changed
    assert [line[1] for line in logged(connection)] == [
        *["logged in"] * 3, "logged out", "ended sessions", "changed password"
    ]  # fmt: skip


def test_ended_sessions_revoke_all_tokens_and_a_new_password_those_that_are_not_wanted(connection, lea):
    def live():
        return access.live_tokens(connection, lea.person.id, NOW)

    actions.create_token(connection, lea, NewToken(name="sorter"), "lk_1")
    actions.change_password(connection, lea, "hash", "one", revoke_tokens=False)
    assert live() == 1
    actions.change_password(connection, lea, "hash", "two", revoke_tokens=True)
    assert live() == 0
    for token in ("lk_2", "lk_3"):
        actions.create_token(connection, lea, NewToken(name="sorter"), token)
    actions.end_other_sessions(connection, lea, "two")
    assert live() == 0
    revoked = [line[1:3] for line in logged(connection) if line[1] == "revoked tokens"]
    assert revoked == [("revoked tokens", "1"), ("revoked tokens", "2")]


def test_only_leads_create_tokens_of_leads(connection, lea):
    ann = Actor(people.add(connection, "Ann", "annotator", NOW, kept="x"), NOW, "192.0.2.2")
    with pytest.raises(AccessError):
        actions.create_token(connection, ann, NewToken(name="sorter", scope="lead"), "lk_1")
    for wrong in ({"name": " "}, {"name": "x" * 61}, {"scope": "all"}, {"days": 0}, {"days": 366}):
        with pytest.raises(ArgumentError):
            NewToken(**{"name": "sorter"} | wrong)


def test_tokens_are_created_and_revoked(connection, lea):
    actions.create_token(connection, lea, NewToken(name=" sorter ", scope="lead"), "lk_secret")
    (token,) = access.tokens(connection, lea.person.id)
    assert (token.name, token.scope, token.until - NOW) == ("sorter", "lead", 90 * DAY_MS)
    assert access.token_owner(connection, "lk_secret", NOW) == lea.person
    actions.revoke_token(connection, lea, token.id)
    assert access.token_owner(connection, "lk_secret", NOW) is None
    assert [line[1:3] for line in logged(connection)] == [
        ("created token", "sorter (lead, 90 days)"), ("revoked token", str(token.id))
    ]  # fmt: skip
    assert all("lk_secret" not in part for line in logged(connection) for part in line)
