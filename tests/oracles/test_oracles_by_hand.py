"""The oracles themselves, on cases small enough to do on paper."""

from fractions import Fraction
from math import isclose

from oracles import matching, pooling, ranking, scoring, softness
from oracles.matching import Vote
from oracles.ranking import Photo, Place, Rules
from oracles.scoring import Row

SHOP = [
    Photo("chair/1", "chair"),
    Photo("stool/1", "stool"),
    Photo("stool/2", "stool"),
    Photo("sofa/1", "sofa", role="query"),
    Photo("chair/2", "chair", role="gallery"),
    Photo("bench/1", "bench", split="test"),
]
VECTORS = [[1, 0], [0, 1], [1, 1], [2, 1], [1, 0], [3, 3]]


def test_candidates_leave_out_the_query_and_its_item():
    assert ranking.candidate_units(SHOP, 0, Rules()) == {"stool": [1, 2], "bench": [5]}


def test_own_item_keeps_the_other_photos_of_the_query():
    assert ranking.candidate_rows(SHOP, 0, Rules(own_item=True)) == [1, 2, 4, 5]


def test_split_keeps_candidates_within_it():
    assert ranking.candidate_rows(SHOP, 5, Rules(split="test")) == []
    assert ranking.candidate_rows(SHOP, 0, Rules(split="train")) == [1, 2]


def test_an_item_ranks_at_its_best_photo():
    assert ranking.place(SHOP, VECTORS, 0, "stool", Rules())[:3] == Place(0, 1, 2, 0)[:3]
    assert ranking.place(SHOP, VECTORS, 0, "stool/1", Rules(level="image"))[:3] == (2, 0, 3)


def test_similarities_order_differently():
    assert ranking.place(SHOP, VECTORS, 0, "stool", Rules(similarity="dot"))[:2] == (1, 0)
    assert ranking.place(SHOP, VECTORS, 0, "stool", Rules(similarity="euclidean"))[:2] == (0, 0)


def test_top_lists_equals_in_catalog_order():
    assert ranking.top(SHOP, VECTORS, 3, 9, Rules()) == [2, 5, 0]


def test_votes_become_labels_or_are_counted_as_left_out():
    votes = [
        Vote("chair/1", "stool/1", 1),
        Vote("chair/1", "stool/2", 0),
        Vote("bench/1", "chair/1", 1),
        Vote("chair/1", "bench/1", 0),
        Vote("stool/1", "stool/2", 1),
        Vote("stool/1", "stool/1", 1),
        Vote("stool/1", "bench/1", 1),
        Vote("stool/1", "table/1", 1),
        Vote("stool/1", "sofa/1", 1),
        Vote("chair/2", "stool/1", 1),
    ]
    matched = matching.match_votes(SHOP, votes, Rules())
    assert matched.label == {("stool/1", "bench"): 1}
    assert matched.left_out == {
        "unknown image": 1,
        "one image": 1,
        "one item": 1,
        "both ways": 2,
        "may not be asked": 1,
        "not in the gallery": 1,
        "within an item": 2,
    }


def row(label: int, above: int, tied: int = 0, n: int = 9, query: str = "q", score: float = 0.0) -> Row:
    return Row(query, f"c{above}", label, above, tied, score, n)


def test_membership_under_ties_is_the_share_of_orders():
    assert scoring.membership(row(1, above=1, tied=2), 3) == Fraction(2, 3)


def test_phi_at_the_middle_of_a_linear_and_a_steep_curve():
    assert scoring.phi(Fraction(1, 2), 0) == 0.5
    assert isclose(scoring.phi(Fraction(1, 2), 10), 1 / (1 + 148.4131591025766))


def test_dcs_of_one_positive_on_top_and_one_negative_at_the_bottom_is_one():
    assert scoring.dcs([row(1, 0), row(0, 8)]) == 1.0


def test_top_five_of_one_query():
    rows = [row(1, 0), row(0, 3), row(1, 7)]
    assert (scoring.hr(rows, 5), scoring.ehr(rows, 5), scoring.coverage(rows, 5)) == (0.2, 0.5, 0.4)


def test_an_uncovered_query_does_not_move_ehr():
    assert scoring.ehr([row(1, 0), row(0, 3), row(0, 7, query="other")], 5) == 0.5


def test_areas_of_three_candidates():
    rows = [row(1, 0, score=0.9), row(0, 3, score=0.5), row(1, 7, score=0.1)]
    assert scoring.auc_mac(rows) == scoring.auc_mic(rows) == 0.5
    assert isclose(scoring.pr_auc_mac(rows), (1 + 2 / 3) / 2)
    assert isclose(scoring.pr_auc_mic(rows), (1 + 2 / 3) / 2)


def test_bpref_where_positives_and_negatives_differ_in_number():
    rows = [row(0, 0), row(1, 1), row(0, 2), row(0, 3)]
    assert scoring.bpref(rows) == 0.0
    assert scoring.bpref([*rows, row(1, 4)]) == (1 / 2 + 0) / 2


def test_pool_of_two_generators():
    lists = {"color": {0: [2, 5]}, "hog": {0: [1, 3]}}
    assert pooling.pool(SHOP, lists) == {
        ("chair/1", "stool"): {"color": 0, "hog": 0},
        ("chair/1", "bench"): {"color": 1},
        ("chair/1", "sofa"): {"hog": 1},
    }
    assert pooling.photo_shown(SHOP, lists, ("chair/1", "stool")) == "stool/1"
    assert pooling.overlap(SHOP, lists, "color", "hog", 2) == 50
    assert (pooling.questions(SHOP, lists), pooling.only_from(SHOP, lists, "hog")) == (3, 1)


def test_positiveness_by_hand():
    """a - b - c are similar, c and a dissimilar, d has no pair: P(a, b) = P(b, c) = 1, P(c, a) = 0 though 2 hops."""
    photos = [Photo(name, name) for name in "abcd"]
    votes = [Vote("a", "b", 1), Vote("c", "b", 1), Vote("c", "a", 0), Vote("d", "a", 1), Vote("a", "d", 0)]
    assert softness.hops_from([frozenset("ab"), frozenset("bc")], "a") == {"a": 0, "b": 1, "c": 2}
    found = softness.soft_positives(photos, votes, beta=0.7, most=7)
    assert found[frozenset("ab")] == (1.0, 1, 1)
    assert found[frozenset("ac")] == (0.0, 2, 0)
    assert found[frozenset("ad")] == (0.0, None, None)
    found = softness.soft_positives(photos, votes[:2], beta=0.5, most=2)
    assert isclose(found[frozenset("ac")].positiveness, 0.36787944117144233)
    assert softness.soft_positives(photos, votes[:2], beta=0.5, most=1)[frozenset("ac")] == (0.0, None, None)
    assert softness.node_labels(photos, votes, "image", "train")[1] == {"both ways": 2}
