"""A person's own answers: listed with hidden checks among them, and corrected while their pair is open."""

import pytest
from shops import MINUTE, Shop
from sqlalchemy import select

from lookalike.core.errors import VoteError
from lookalike.store.labelling.corrections import LISTED, correct, own_answers
from lookalike.store.labelling.queue import NewPair, add_gold
from lookalike.store.sql import labelling_schema as tables
from lookalike.store.sql import schema

DAY = 24 * 60 * MINUTE


@pytest.fixture
def shop(database_place):
    return Shop(database_place, pairs=4)


def listed(shop, who=1):
    return shop.does(own_answers, who, shop.now)


def corrected(shop, token, answer, who=1, reason=""):
    return shop.does(correct, who, token, answer, shop.now, shop.draw, reason=reason)


def history(shop):
    columns = (tables.vote.c.answer, tables.vote.c.reason)
    return [tuple(row) for row in shop.rows(select(*columns).order_by(tables.vote.c.id))]


def test_an_answer_is_corrected_while_its_pair_is_open_and_the_history_keeps_both(shop):
    pair = shop.give(1)[0]
    shop.give_answer(1, pair.token, "similar", reason="shape")
    shop.now += DAY
    (own,) = listed(shop)
    assert (own.answer, own.reason, own.correctable) == ("similar", "shape", True)
    sides = (pair.candidate, pair.query) if pair.side else (pair.query, pair.candidate)
    assert (own.left, own.right) == sides
    done = corrected(shop, own.token, "dissimilar", reason="colour")
    assert done.change.endswith("similar → dissimilar")
    (now,) = listed(shop)
    assert (now.answer, now.reason, now.at, (now.left, now.right)) == (
        "dissimilar",
        "colour",
        shop.now,
        sides,
    )
    assert history(shop) == [("similar", "shape"), ("undo", ""), ("dissimilar", "colour")]
    other = next(one for one in shop.give(2) if one.question == pair.question)
    shop.give_answer(2, other.token, "dissimilar")
    shop.wait(1)
    assert [row.label for row in shop.rows(select(schema.label.c.label))] == [0]


def test_a_correction_sent_twice_corrects_once(shop):
    shop.give_answer(1, shop.give(1)[0].token, "similar")
    token = listed(shop)[0].token
    first = corrected(shop, token, "unsure")
    shop.now += 1_000
    again = corrected(shop, token, "unsure")
    assert (again.receipt.at, again.change) == (first.receipt.at, "")
    with pytest.raises(VoteError) as refusal:
        corrected(shop, token, "dissimilar")
    assert refusal.value.code == "nothing-to-undo"
    assert [answer for answer, _ in history(shop)] == ["similar", "undo", "unsure"]


def test_an_answer_to_a_resolved_pair_and_answers_of_others_are_not_corrected(database_place):
    shop = Shop(database_place, pairs=1)
    for who in (1, 2):
        shop.give_answer(who, shop.give(who)[0].token, "similar")
    own = listed(shop)[0]
    assert own.correctable
    with pytest.raises(VoteError) as refusal:
        corrected(shop, own.token, "dissimilar", who=2)
    assert refusal.value.code == "not-leased"
    shop.wait(1)
    assert not listed(shop)[0].correctable
    with pytest.raises(VoteError) as refusal:
        corrected(shop, own.token, "dissimilar")
    assert refusal.value.code == "settled"
    assert [answer for answer, _ in history(shop)] == ["similar", "similar"]


def test_the_last_hundred_are_listed_without_skips_and_undone_answers(database_place):
    shop = Shop(database_place, pairs=LISTED + 8, prefetch=1)
    given = []
    for turn in range(LISTED + 6):
        shop.now += 1_000
        pair = shop.give(1)[0]
        shop.give_answer(1, pair.token, "skip" if turn == 50 else "similar")
        if turn == 60:
            pair = shop.undo(1, pair.token)
            shop.give_answer(1, pair.token, "unsure")
        given += [pair.token] * (turn != 50)
    assert [one.token for one in listed(shop)] == given[::-1][:LISTED]
    shop.undo(1, given[-1])
    assert [one.token for one in listed(shop)] == given[-2::-1][:LISTED]


@pytest.fixture
def checked(database_place):
    """A person who answered pairs, repeats and gold pairs, each a minute after the one before."""
    shop = Shop(
        database_place, pairs=40, share=1.0, repeats=9, gap_least=2, gap_most=5, gold_every=4, prefetch=6
    )
    with shop.database.write() as connection:
        for n in range(9):
            pair = NewPair(f"g{n}", f"h{n}", f"j{n}", "", "gold", 0)
            add_gold(connection, pair, "similar", "", None, shop.now)
    shop.first = []
    for _ in range(40):
        shop.now += MINUTE
        shop.first.append(shop.give(1)[0].token)
        shop.give_answer(1, shop.first[-1], "similar")
    return shop


def kinds(shop, own):
    """Of each answer listed: repeat, gold or pair."""
    found = {token: kind for token, kind in shop.rows(select(tables.check.c.token, tables.check.c.kind))}
    return [found.get(one.token, "pair") for one in own]


def answer_the_others(shop, tokens):
    """The second person answers the pairs of these tokens, so they close."""
    questions = {shop.ticket(token).question for token in tokens}
    while open_ := [one for one in shop.give(2) if one.question in questions] or shop.give(2)[:1]:
        for one in open_:
            shop.give_answer(2, one.token, "similar" if one.question in questions else "skip")
            questions.discard(one.question)
        if not questions:
            break
    shop.wait(1)


def test_checks_are_listed_among_pairs_and_are_correctable_as_long_as_they_are(checked):
    own = listed(checked)
    assert [one.token for one in own] == checked.first[::-1]
    assert set(kinds(checked, own)) == {"pair", "repeat", "gold"}
    checked.now += DAY
    assert all(one.correctable for one in listed(checked))
    for one in own:  # an undo later than the time to undo works for both kinds
        if kinds(checked, [one]) != ["pair"]:
            back = checked.undo(1, one.token)
            checked.give_answer(1, back.token, "similar")
            break
    pairs = [one.token for one, kind in zip(own, kinds(checked, own), strict=True) if kind == "pair"]
    answer_the_others(checked, pairs)
    checked.now += DAY
    assert not any(one.correctable for one in listed(checked)[1:])


def test_a_check_that_was_just_answered_is_correctable_like_a_pair(checked):
    pairs = [
        one.token
        for one, kind in zip(listed(checked), kinds(checked, listed(checked)), strict=True)
        if kind == "pair"
    ]
    answer_the_others(checked, pairs)
    newest = {}
    while len(newest) < 2:
        checked.now += 1_000
        token = checked.give(1)[0].token
        checked.give_answer(1, token, "similar")
        own = listed(checked)[0]
        assert own.token == token
        assert own.correctable
        newest[kinds(checked, [own])[0] == "pair"] = own


@pytest.mark.parametrize("kind", ["repeat", "gold"])
def test_a_corrected_check_is_no_vote_and_looks_corrected(checked, kind):
    own = listed(checked)
    one = next(own[n] for n, found in enumerate(kinds(checked, own)) if found == kind)
    votes = history(checked)
    done = corrected(checked, one.token, "unsure", reason="material")
    assert done.change.endswith("similar → unsure")
    assert history(checked) == votes
    (now,) = [new for new in listed(checked) if new.at == checked.now and new.answer == "unsure"]
    assert (now.reason, now.correctable, {now.left, now.right}) == ("material", True, {one.left, one.right})
    assert len(listed(checked)) == len(own)
    assert corrected(checked, one.token, "unsure").change == ""


def test_votes_that_came_from_a_file_need_a_lead(shop):
    shop.give_answer(1, shop.give(1)[0].token, "similar")
    with shop.database.write() as connection:
        connection.execute(tables.claim.update().values(token="from a file"))
    assert [one.correctable for one in listed(shop)] == [False]
