"""The promises of labelling against processes that are killed, threads that race and requests that come twice."""

import contextlib
import itertools
import random
import secrets
import subprocess
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest
import voting
from databases import postgresql_server
from shops import Shop, fill
from sqlalchemy import delete, event, func, select, text, update
from sqlalchemy.exc import DatabaseError

from lookalike.annotate.campaign import Campaign
from lookalike.core.clock import now_ms
from lookalike.core.errors import LookalikeError, VoteError
from lookalike.store.labelling.campaigns import Rules
from lookalike.store.labelling.discussion.lists import DiscussionList, discussed, discussions
from lookalike.store.labelling.discussion.thread import add_comment, add_proposal, thread
from lookalike.store.labelling.due import apply_due
from lookalike.store.labelling.giving import next_pairs
from lookalike.store.labelling.votes import answer
from lookalike.store.labelling.writer import Writer
from lookalike.store.sql import labelling_schema as tables
from lookalike.store.sql.database import Database

OVER = (
    select(tables.question.c.id)
    .join(tables.claim, tables.claim.c.question == tables.question.c.id)
    .where(tables.claim.c.kind != "skip")
    .group_by(tables.question.c.id, tables.question.c.needed)
    .having(func.count() > tables.question.c.needed)
)


def opened(place, people, pairs, needed=2):
    database = Database(place)
    database.migrate()
    with database.write() as connection:
        fill(connection, people, pairs, needed)
    return database


def vote(place, first, last, *how):
    """A process that votes."""
    return subprocess.Popen(
        [sys.executable, voting.__file__, str(place), str(first), str(last), *how],
        stdout=subprocess.PIPE,
        text=True,
    )


def address_of(database):
    return database.url.database if database.is_sqlite else database.url.render_as_string(hide_password=False)


def rows(database, statement):
    with database.read() as connection:
        return connection.execute(statement).all()


def acknowledged(lines):
    """The complete lines: a killed process may leave half a line."""
    words = [tuple(line.split()) for line in lines]
    return {line[1:] for line in words if line[:1] == ("ack",) and len(line) == 5}


def kept(database):
    found = rows(database, select(tables.vote))
    return {(str(row.annotator), str(row.question), row.token, row.answer) for row in found}


def consistent(database):
    """Claims are what the history says, counters are what claims say, and no pair has too many."""
    with (
        database.read() as connection
    ):  # one snapshot: the server may still commit the last vote of a killed process
        _consistent(lambda statement: connection.execute(statement).all())


def _consistent(rows):
    assert rows(OVER) == []
    votes = rows(select(tables.vote.c.question, tables.vote.c.annotator))
    assert len(set(votes)) == len(votes)
    claims = rows(select(tables.claim.c.question, tables.claim.c.annotator, tables.claim.c.kind))
    assert {(row.question, row.annotator) for row in claims if row.kind == "vote"} == set(votes)
    held = Counter(row.question for row in claims)
    for row in rows(select(tables.question)):
        assert row.free == row.needed - held[row.id]
    answers = Counter(row.annotator for row in votes)
    assert {row.id: row.answers for row in rows(select(tables.annotator))} == {
        who: answers[who] for who in range(1, 1 + len(rows(select(tables.annotator.c.id))))
    }


def test_acknowledged_votes_survive_kill_9_at_any_moment(database_place):
    database, draw, acknowledged_answers = (
        opened(database_place, people=4, pairs=5_000),
        random.Random(1),
        set(),
    )
    for _ in range(3):
        with vote(address_of(database), 1, 4) as process:
            lines = [process.stdout.readline() for _ in range(draw.randint(5, 120))]
            process.kill()
            lines += process.stdout.read().splitlines()
        acknowledged_answers |= acknowledged(lines)
    assert len(acknowledged_answers) > 20
    assert acknowledged_answers <= kept(database)
    consistent(database)


def test_acknowledged_votes_survive_a_database_server_that_stops_dead():
    with postgresql_server() as server:
        database = opened(server.fresh(), people=3, pairs=5_000)
        with vote(address_of(database), 1, 3) as process:
            lines = [process.stdout.readline() for _ in range(60)]
            server.stop("immediate")
            server.start()
            while len(acknowledged(lines)) < 100:
                lines.append(process.stdout.readline())
            process.kill()
            lines += process.stdout.read().splitlines()
        acknowledged_answers = acknowledged(lines)
        assert len(acknowledged_answers) > 60
        assert acknowledged_answers <= kept(database)
        consistent(database)


def test_thirty_annotators_at_once_answer_everything_once_and_all_get_pairs(database_place):
    people, pairs = 30, 60
    database = opened(database_place, people=people, pairs=pairs)
    seen, lines = [], []
    with contextlib.ExitStack() as stack:
        processes = [stack.enter_context(vote(address_of(database), n, n + 9)) for n in (1, 11, 21)]
        while any(process.poll() is None for process in processes):
            seen.append(rows(database, OVER))
            time.sleep(0.05)
        for process in processes:
            lines += process.stdout.read().splitlines()
    assert len(seen) > 3
    assert all(found == [] for found in seen)
    assert [line for line in lines if line.startswith(("starved", "error"))] == []
    assert sum(line.startswith("done") for line in lines) == people
    assert acknowledged(lines) == kept(database)
    assert len(kept(database)) == 2 * pairs
    consistent(database)


def test_one_annotator_in_two_processes_votes_once_per_pair(database_place):
    database = opened(database_place, people=1, pairs=40)
    with vote(address_of(database), 1, 1) as one, vote(address_of(database), 1, 1) as two:
        lines = [line for process in (one, two) for line in process.communicate()[0].splitlines()]
    refused = "You have already answered this pair."
    assert {line.split(" ", 2)[2] for line in lines if line.startswith("error")} <= {refused}
    assert acknowledged(lines) == kept(database)
    assert len(kept(database)) == 40
    consistent(database)


def test_the_same_answer_sent_by_many_at_once_is_one_vote_with_one_receipt(database_place):
    shop = Shop(database_place)
    token = shop.give(1)[0].token
    writer = Writer(shop.database)
    call = lambda connection: answer(connection, shop.rules, 1, token, "similar", shop.now, shop.draw)  # noqa: E731
    with ThreadPoolExecutor(12) as threads:
        receipts = list(threads.map(lambda _: writer.submit(call).result(), range(40)))
    writer.close()
    assert len(set(receipts)) == 1
    assert len(shop.rows(select(tables.vote))) == 1


def test_of_two_different_answers_at_once_the_first_counts_and_the_other_is_refused(database_place):
    shop = Shop(database_place)
    token, writer, found = shop.give(1)[0].token, Writer(shop.database), []

    def send(choice):
        call = lambda connection: answer(connection, shop.rules, 1, token, choice, shop.now, shop.draw)  # noqa: E731
        try:
            return writer.submit(call).result().answer
        except VoteError as refusal:
            return refusal.code

    with ThreadPoolExecutor(2) as threads:
        found = list(threads.map(send, ("similar", "dissimilar")))
    writer.close()
    ((counted,),) = shop.rows(select(tables.vote.c.answer))
    assert sorted(found) == sorted(("answered", counted))


def test_history_cannot_be_changed_or_taken_away(database_place):
    shop = Shop(database_place)
    shop.give_answer(1, shop.give(1)[0].token, "similar")
    for statement in (delete(tables.vote), update(tables.vote).values(answer="dissimilar")):
        with (
            pytest.raises((LookalikeError, DatabaseError), match="append-only"),
            shop.database.write() as connection,
        ):
            connection.execute(statement)
    assert [row.answer for row in shop.rows(select(tables.vote))] == ["similar"]


def test_a_second_annotator_gets_a_waiting_pair_at_any_position_in_the_queue(database_place):
    shop = Shop(database_place, people=3, pairs=120)
    for _ in range(110):  # far more than are looked at first
        shop.now += 10
        shop.give_answer(1, shop.give(1)[0].token, "similar")
    for _ in range(120):
        shop.now += 10
        shop.give_answer(2, shop.give(2)[0].token, "similar")
    left = [shop.give(1), shop.give(3)]
    assert shop.give(2) == ()
    assert all(left)
    assert not {given.question for given in left[0]} & {given.question for given in left[1]}


def test_pairs_that_another_transaction_is_at_are_waited_for_rather_than_called_none(database_place):
    shop = Shop(database_place, people=2, pairs=1)
    begun, found = threading.Event(), []

    def second():
        begun.wait()
        found.append(shop.give(2))

    waiting = threading.Thread(target=second)
    waiting.start()
    with shop.database.write() as connection:
        next_pairs(connection, shop.rules, 1, shop.now, shop.draw)
        begun.set()
        waiting.join(0.3)
        assert found == []
    waiting.join()
    assert [len(given) for given in found] == [1]


def test_a_pair_is_found_though_others_take_it_between_any_two_statements(postgresql):
    database = opened(postgresql.fresh(), people=3, pairs=1, needed=3)
    rules, draw, now = Rules(Campaign()), random.Random(0), now_ms()

    def lease(connection, who):
        connection.begin()
        assert next_pairs(connection, rules, who, now, draw)
        return connection

    with database.open() as second, database.open() as third, database.write() as first:
        lease(second, 2)  # so that annotator 1 meets a pair that is held
        faster = [second.commit, lambda: lease(third, 3).commit()]

        def others_first(connection, _cursor, statement, *_):
            if (
                connection is first
                and "question.takers <=" in statement
                and "RECURSIVE" not in statement
                and faster
            ):
                faster.pop(0)()

        event.listen(database._engine, "before_cursor_execute", others_first)
        found = next_pairs(first, rules, 1, now, draw)
    assert faster == []
    assert [given.query for given in found] == ["q0"]


def life_of_a_second_annotator(place, secret, monkeypatch):
    """Everything that annotator 2 can get to see while annotator 1 votes `secret` on the same pairs."""
    shop = Shop(place, people=2, pairs=3)
    shop.draw, made = random.Random(7), itertools.count()
    monkeypatch.setattr(secrets, "token_urlsafe", lambda _: f"token {next(made)}")
    other, seen = random.Random(3), []

    def look(does):
        with shop.database.write() as connection:
            try:
                seen.append(repr(does(connection)))
            except LookalikeError as refusal:
                seen.append(str(refusal))

    with shop.database.write() as connection:
        theirs = next_pairs(connection, shop.rules, 1, shop.now, other)
    for pair in theirs:
        shop.now += 1_000
        with shop.database.write() as connection:
            answer(connection, shop.rules, 1, pair.token, secret, shop.now, other)
        for number in range(1, 4):
            look(lambda c, n=number: discussed(c, n))
            look(lambda c, n=number: thread(c, n))
            look(lambda c, n=number: add_comment(c, n, 2, "what did you say?", "form", shop.now))
            look(lambda c, n=number: add_proposal(c, n, 2, "similar", shop.now))
    for state in ("open", "discussion", "settled", "excluded"):
        look(lambda c, s=state: discussions(c, DiscussionList(state=s)))
        look(lambda c, s=state: discussions(c, DiscussionList(state=s, who=2)))
    for _ in range(3):
        look(lambda c: next_pairs(c, shop.rules, 2, shop.now, shop.draw))
        with shop.database.write() as connection:
            mine = next_pairs(connection, shop.rules, 2, shop.now, shop.draw)[0]
        for given_answer in ("similar", "similar", "dissimilar", "skip"):
            look(lambda c, s=given_answer, t=mine.token: answer(c, shop.rules, 2, t, s, shop.now, shop.draw))
        look(lambda c, n=mine.question: thread(c, n))  # both are in, but may still be undone
        look(lambda c: discussions(c, DiscussionList(state="open", who=2)))
    look(lambda c: next_pairs(c, shop.rules, 2, shop.now, shop.draw))
    shop.now += 60_000
    with shop.database.write() as connection:
        apply_due(connection, shop.rules, shop.now)
        after = repr([thread(connection, number) for number in (1, 2, 3)])
    shop.database.close()
    return seen, after


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_nothing_anybody_sees_depends_on_anothers_vote_before_the_pair_is_closed(
    kind, tmp_path, request, monkeypatch
):
    server = request.getfixturevalue("postgresql") if kind == "postgresql" else None
    lives = []
    for number, secret in enumerate(("similar", "dissimilar", "unsure")):
        place = server.fresh() if server else tmp_path / f"{number}.db"
        lives.append(life_of_a_second_annotator(place, secret, monkeypatch))
    assert lives[0][0] == lives[1][0] == lives[2][0]
    assert len(lives[0][0]) > 50
    assert len({after for _, after in lives}) == 3  # once closed, each shows what was voted


def test_the_newest_history_of_a_pair_counts(database_place):
    shop = Shop(database_place, people=2, pairs=1)
    token = shop.give(1)[0].token
    for given_answer in ("similar", "dissimilar", "unsure", "similar"):
        shop.now += 1_000
        shop.give_answer(1, token, given_answer)
        shop.now += 1_000
        token = shop.undo(1, token).token
    shop.give_answer(1, token, "dissimilar")
    history = shop.rows(select(tables.vote.c.answer).order_by(tables.vote.c.id))
    assert len(history) == 9
    ((counted,),) = shop.rows(text("SELECT answer FROM claim WHERE kind = 'vote'"))
    assert (counted, history[-1].answer) == ("dissimilar", "dissimilar")
