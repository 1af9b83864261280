"""Hidden checks stay hidden: in the order of what is given, in its times, and in what is shown of other pairs."""

from dataclasses import replace

import pytest
from shops import MINUTE, Shop
from sqlalchemy import select, update

from lookalike.core.errors import VoteError
from lookalike.store.labelling.discussion.lists import DiscussionList, discussed, discussions
from lookalike.store.labelling.discussion.thread import add_comment, add_proposal, thread
from lookalike.store.labelling.gold import gold_pairs
from lookalike.store.labelling.progress import annotator_progress, count_open, count_states
from lookalike.store.labelling.queue import NewPair, add_gold
from lookalike.store.people.people import remove
from lookalike.store.sql import labelling_schema as tables


@pytest.fixture
def shop(database_place):
    """Person 3 is a lead; each pair is repeated twice, after the next pair."""
    shop = Shop(database_place, people=3, pairs=4, share=1.0, repeats=10, gap_least=1, gap_most=1, prefetch=4)
    with shop.database.write() as connection:
        connection.execute(update(tables.annotator).where(tables.annotator.c.id == 3).values(role="lead"))
    return shop


def differ(shop):
    """Two people answer the first pair differently; its number."""
    mine = shop.give(1)[0]
    which = mine.question
    shop.give_answer(1, mine.token, "similar")
    other = next(pair for pair in shop.give(2) if pair.question == which)
    shop.give_answer(2, other.token, "dissimilar")
    shop.wait(1)
    assert shop.rows(select(tables.question.c.state).where(tables.question.c.id == which)) == [
        ("discussion",)
    ]
    return which


def listed(shop, **chosen):
    with shop.database.read() as connection:
        return [one.question for one in discussions(connection, DiscussionList(**chosen))]


def counted(shop):
    """Open pairs and pairs in discussion, as everybody sees them; and open pairs that need votes."""
    with shop.database.read() as connection:
        states = count_states(connection)
        progress = annotator_progress(connection, 2, shop.now, shop.now)
        assert (progress.open, progress.discussion) == (states["open"], states["discussion"])
        return states["open"], states["discussion"], count_open(connection)


def test_a_pair_that_a_voter_gets_again_is_not_discussed_until_that_is_answered(shop):
    which = differ(shop)
    for reader in (1, 2, None):
        assert listed(shop, reader=reader) == []
    assert listed(shop, state="repeats", reader=1) == []
    assert listed(shop, state="repeats") == [which]
    assert counted(shop) == (4, 0, 3)
    with shop.database.write() as connection:
        for who in (1, 2):
            for does, *given in (
                (discussed, who),
                (thread, who),
                (add_comment, who, "legs", "t", shop.now),
                (add_proposal, who, "similar", shop.now),
            ):
                with pytest.raises(VoteError, match="pair"):
                    does(connection, which, *given)
        add_comment(connection, which, 3, "a lead sees it", "t", shop.now)
    answer_repeats(shop, 1, which)
    assert (listed(shop), counted(shop)[1]) == ([], 0)  # person 2 gets it again, too
    answer_repeats(shop, 2, which)
    assert listed(shop, reader=1) == listed(shop, reader=2) == listed(shop) == [which]
    assert counted(shop)[1] == 1
    with shop.database.read() as connection:
        texts = [entry.text for entry in thread(connection, which, 1)]
    assert texts == ["similar", "dissimilar", "a lead sees it"]


def test_a_pair_does_not_wait_for_a_voter_who_left(shop):
    which = differ(shop)
    answer_repeats(shop, 1, which)
    assert listed(shop, reader=1) == []
    with shop.database.write() as connection:
        remove(connection, 2, shop.now)
    assert listed(shop, reader=1) == [which]
    assert counted(shop)[1] == 1


def answer_repeats(shop, who, which):
    """Answer what comes until every repeat of a pair is answered."""
    while waiting(shop, who, which):
        for pair in shop.give(who):
            shop.give_answer(who, pair.token, "similar")


def waiting(shop, who, which):
    mine = (tables.check.c.annotator == who, tables.check.c.question == which, tables.check.c.answer == "")
    return shop.rows(select(tables.check.c.id).where(*mine))


def test_only_leads_see_gold_pairs_and_who_can_still_get_them(shop):
    which = differ(shop)
    with shop.database.write() as connection:
        connection.execute(tables.check.delete())
        ends = connection.execute(select(tables.question).where(tables.question.c.id == which)).one()
        pair = NewPair(ends.query, ends.candidate, ends.item, "", "gold", 0)
        with pytest.raises(VoteError, match="gold pair"):
            add_gold(connection, pair, "similar", "", 3, shop.now)
    with shop.database.write() as connection:
        settled = {"state": "settled", "label": 1}
        connection.execute(update(tables.question).where(tables.question.c.id == which).values(settled))
        assert [one.question for one in discussions(connection, DiscussionList("settled", reader=1))] == [
            which
        ]
        add_gold(connection, pair, "similar", "", 3, shop.now)
        assert [one.question for one in discussions(connection, DiscussionList("settled", reader=1))] == []
        assert [one.question for one in discussions(connection, DiscussionList("settled"))] == [which]
        (gold,) = gold_pairs(connection)
        assert (gold.answers, gold.left) == (0, 1)


def test_an_open_pair_is_made_no_gold_pair(shop):
    with shop.database.write() as connection, pytest.raises(VoteError, match="gold pair"):
        add_gold(connection, NewPair("c0", "q0", "i0", "", "gold", 0), "similar", "", 3, shop.now)
    assert shop.states() == ["open"] * 4
    assert shop.rows(select(tables.gold)) == []


def test_a_repeat_keeps_its_gap_after_what_was_planned_was_taken_out(database_place):
    """As importing the answers of planned checks does."""
    shop = Shop(
        database_place, people=1, pairs=40, share=1.0, repeats=40, gap_least=3, gap_most=3, prefetch=1
    )
    shop.give_answer(1, shop.give(1)[0].token, "similar")
    with shop.database.write() as connection:
        connection.execute(tables.check.delete())
    shop.rules = replace(shop.rules, repeat_share=0.0)
    for _ in range(4):
        shop.give_answer(1, shop.give(1)[0].token, "similar")
    shop.rules = replace(shop.rules, repeat_share=1.0)
    shop.give_answer(1, shop.give(1)[0].token, "similar")
    ((due,),) = shop.rows(select(tables.check.c.due).where(tables.check.c.turn == 2))
    assert due > 5  # answers so far
    assert all(not shop.ticket(one.token).check for one in shop.give(1))


def test_a_pair_that_came_back_is_undone_and_voted_on_again(database_place):
    """Its repeat that was answered stays, and it does not come back anew."""
    shop = Shop(database_place, people=1, pairs=9, share=1.0, repeats=9, gap_least=1, gap_most=1, prefetch=1)
    first = shop.give(1)[0]
    shop.give_answer(1, first.token, "similar")
    while not shop.ticket((given := shop.give(1)[0]).token).check:
        shop.give_answer(1, given.token, "similar")
    shop.give_answer(1, given.token, "similar")
    again = shop.undo(1, first.token)
    shop.give_answer(1, again.token, "dissimilar")
    mine = (tables.check.c.question == first.question,)
    assert shop.rows(select(tables.check.c.turn, tables.check.c.answer).where(*mine)) == [(2, "similar")]


def test_a_check_has_the_order_and_the_time_of_a_lease(database_place):
    shop = Shop(
        database_place, people=1, pairs=40, share=1.0, repeats=40, gap_least=1, gap_most=2, prefetch=6
    )
    seen = []
    for turn in range(60):
        given = shop.give(1)
        assert given == shop.give(1)
        ends = [pair.until - shop.now for pair in given]
        assert min(ends) >= shop.rules.campaign.lease // 2
        assert max(ends) <= shop.rules.campaign.lease
        votes = {token for (token,) in shop.rows(select(tables.claim.c.token))}
        seen += [place for place, pair in enumerate(given) if pair.token not in votes]
        if turn == 30:
            shop.wait(4)
            continue
        shop.now += 1_000
        shop.give_answer(1, given[0].token, "similar")
    assert len(seen) > 20
    assert len(set(seen)) > 2  # first, last and between


def batches(shop):
    """What person 1 is given at once, again and again until nothing new is given."""
    seen = set()
    while given := shop.give(1):
        new = [pair for pair in given if pair.token not in seen]
        seen.update(pair.token for pair in new)
        yield new
        shop.now += 1_000
        shop.give_answer(1, given[0].token, "similar")


def test_a_check_keeps_its_times_like_the_pairs_it_was_given_with(database_place):
    shop = Shop(
        database_place, people=1, pairs=40, share=0.3, repeats=40, gap_least=1, gap_most=2, prefetch=6
    )
    together = next(
        new for new in batches(shop) if {bool(shop.ticket(pair.token).check) for pair in new} == {False, True}
    )
    lease = shop.rules.campaign.lease
    for _ in range(40):
        shop.now += lease // 7
        untils = {pair.token: pair.until for pair in shop.give(1)}
        assert len({untils[pair.token] for pair in together}) == 1


def test_a_check_undone_twice_is_given_once_with_the_same_time(database_place):
    shop = Shop(database_place, people=1, pairs=1, share=1.0, repeats=1, gap_least=1, gap_most=1)
    shop.give_answer(1, shop.give(1)[0].token, "similar")
    (check,) = shop.give(1)
    shop.give_answer(1, check.token, "similar")
    again = shop.undo(1, check.token)
    shop.now += 1_000
    assert shop.undo(1, check.token) == again == shop.give(1)[0]


def test_gold_pairs_have_no_place_of_their_own(database_place):
    shop = Shop(database_place, people=1, pairs=60, repeats=0, gold_every=2, prefetch=6)
    with shop.database.write() as connection:
        for n in range(20):
            add_gold(
                connection, NewPair(f"g{n}", f"h{n}", f"j{n}", "", "gold", 0), "similar", "", None, shop.now
            )
    first, last = set(), set()
    for new in batches(shop):
        kinds = [bool(shop.ticket(pair.token).check) for pair in new]
        if len(set(kinds)) == 2:
            first.add(kinds[0])
            last.add(kinds[-1])
    assert first == last == {False, True}


def test_a_checks_time_moves_only_when_a_leases_would(database_place):
    shop = Shop(database_place, people=1, pairs=1, share=1.0, repeats=1, gap_least=1, gap_most=1)
    shop.give_answer(1, shop.give(1)[0].token, "similar")
    (check,) = shop.give(1)
    untils = set()
    for _ in range(60):
        shop.now += MINUTE // 6
        (again,) = shop.give(1)
        assert again.token == check.token
        untils.add(again.until)
    lease = shop.rules.campaign.lease
    assert 2 <= len(untils) <= 60 * MINUTE // 6 // (lease // 2) + 2
