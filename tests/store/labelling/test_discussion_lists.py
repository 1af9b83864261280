"""Lists of pairs in discussion: votes and comments, filters, orders, and what follows a pair."""

import pytest
from shops import Shop

from lookalike.store.labelling.discussion.lists import DiscussionList, discussed, discussions, following
from lookalike.store.labelling.discussion.thread import add_comment, add_decision, add_proposal

PAIRS = 5


@pytest.fixture
def shop(database_place):
    """Persons 1 and 2 differ on pairs 1 to 4 and agree on pair 5, with a reason."""
    shop = Shop(database_place, people=3, pairs=PAIRS, repeats=0, prefetch=PAIRS, undo_seconds=0)
    for who, answer in ((1, "similar"), (2, "dissimilar")):
        for given in sorted(shop.give(who), key=lambda one: one.question):
            shop.now += 1_000
            same = given.question == PAIRS
            shop.give_answer(
                who, given.token, "similar" if same else answer, reason="shape" if who == 2 else ""
            )
            shop.sweep()
    return shop


def listed(shop, *, after=0, limit=9, **chosen):
    with shop.database.read() as connection:
        found = discussions(connection, DiscussionList(**chosen), after=after, limit=limit)
    return [one.question for one in found]


def test_votes_and_the_number_of_comments_are_listed(shop):
    with shop.database.write() as connection:
        for text in ("legs", "seat"):
            add_comment(connection, 2, 1, text, text, shop.now)
        first, second, *_ = discussions(connection)
        assert [(one.name, one.answer, one.reason) for one in first.votes] == [
            ("p1", "similar", ""), ("p2", "dissimilar", "shape")
        ]  # fmt: skip
        assert (first.comments, second.comments) == (0, 2)
        assert discussed(connection, 2) == second
    assert listed(shop, state="settled") == [5]


def test_pairs_are_listed_in_each_order_a_page_at_a_time(shop):
    with shop.database.write() as connection:
        for which, comments in ((3, 2), (1, 1), (2, 1)):
            for number in range(comments):
                add_comment(connection, which, 1, "legs", f"{which} {number}", shop.now)
        shop.now += 1_000
        for verdict in ("similar", "reopen"):
            add_decision(connection, 2, 3, verdict, shop.now)
    orders = {
        "number": [1, 2, 3, 4],
        "oldest": [1, 3, 4, 2],
        "newest": [2, 4, 3, 1],
        "comments": [3, 2, 1, 4],
    }
    for sort, order in orders.items():
        assert listed(shop, sort=sort) == order
        pages = [listed(shop, sort=sort, after=after, limit=1) for after in (0, *order)]
        assert pages == [[one] for one in order] + [[]]
        with shop.database.read() as connection:
            follow = [following(connection, DiscussionList(sort=sort), one, 9) for one in order]
            assert following(connection, DiscussionList(sort=sort), 99, 9) == ()  # there is no such pair
        assert follow == [tuple(order[place + 1 :]) for place in range(4)]


def test_a_decided_pair_still_has_one_that_follows(shop):
    with shop.database.write() as connection:
        add_decision(connection, 2, 3, "similar", shop.now)
        assert following(connection, DiscussionList(), 2, 9) == (3, 4)


def test_pairs_are_listed_until_a_voter_has_proposed(shop):
    assert listed(shop, who=3) == []
    assert listed(shop, who=1, is_todo=True) == [1, 2, 3, 4]
    with shop.database.write() as connection:
        add_proposal(connection, 2, 1, "similar", shop.now)
    assert listed(shop, who=1, is_todo=True) == [1, 3, 4]
    assert listed(shop, who=1) == listed(shop, who=2, is_todo=True) == [1, 2, 3, 4]
    with shop.database.write() as connection:
        for verdict in ("similar", "reopen"):
            add_decision(connection, 2, 3, verdict, shop.now)
    assert listed(shop, who=1, is_todo=True) == [1, 2, 3, 4]  # what was proposed before no longer counts


def test_a_category_is_listed(shop):
    assert listed(shop, category="chairs") == [1, 2, 3, 4]
    assert listed(shop, category="lamps") == []
